"""Who says `import elmo_plugin` and no more gets the plugin when AllenNLP is asked for one of its names."""

import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY

ASK = """
assert "elmo_plugin.plugin" not in sys.modules
from allennlp.common.checks import ConfigurationError
from allennlp.models import Model
from allennlp.modules import TokenEmbedder
TokenEmbedder.by_name("embedding")
assert "elmo_plugin.plugin" not in sys.modules
print(Model.by_name("ner_bilstm_crf").__module__)
try:
    Model.by_name("no_such_model")
except ConfigurationError as error:
    print(error)
"""
IMPORTED_FIRST = "import sys, elmo_plugin\nassert not {'allennlp', 'torch'} & set(sys.modules)\n"
IMPORTED_LAST = "import sys, allennlp.predictors, elmo_plugin\n"


@pytest.mark.parametrize("imports", [IMPORTED_FIRST, pytest.param(IMPORTED_LAST, marks=pytest.mark.slow)])
def test_a_name_of_the_plugin_is_found(imports: str) -> None:
    program = [sys.executable, "-c", imports + ASK]
    process = subprocess.run(program, cwd=REPOSITORY, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    module, error = process.stdout.splitlines()
    assert module == "elmo_plugin.tasks.ner.model"
    assert error.startswith("'no_such_model' is not a registered name for 'Model'")
