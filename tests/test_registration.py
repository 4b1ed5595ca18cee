"""Who says `import elmo_plugin` and no more gets the plugin when AllenNLP is asked for one of its names."""

import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY

ASK = """
assert "elmo_plugin.plugin" not in sys.modules
from allennlp.common.checks import ConfigurationError
from allennlp.common import Params
from allennlp.data.tokenizers import Tokenizer
from allennlp.models import Model
from allennlp.modules import TokenEmbedder
TokenEmbedder.by_name("embedding")
assert "elmo_plugin.plugin" not in sys.modules
tokenizer = Tokenizer.from_params(Params({"type": "penn_treebank"}))
print(type(tokenizer).__module__, Model.by_name("ner_bilstm_crf").__module__)
for kind in (Tokenizer, Model):
    try:
        kind.from_params(Params({"type": "no_such_name"}))
    except ConfigurationError as error:
        assert "no_such_name not in acceptable choices" in str(error)
try:
    Model.by_name("no_such_model")
except ConfigurationError as error:
    print(error)
"""
IMPORTED_FIRST = "import sys, elmo_plugin\nassert not {'allennlp', 'torch'} & set(sys.modules)\n"
IMPORTED_LAST = "import sys, allennlp.predictors, elmo_plugin\n"


@pytest.mark.slow
@pytest.mark.parametrize("imports", [IMPORTED_FIRST, IMPORTED_LAST])
def test_a_name_of_the_plugin_is_found(imports: str) -> None:
    program = [sys.executable, "-c", imports + ASK]
    process = subprocess.run(program, cwd=REPOSITORY, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    modules, error = process.stdout.splitlines()
    assert modules == "elmo_plugin.tasks.tokenizers elmo_plugin.tasks.ner.model"
    assert error.startswith("'no_such_model' is not a registered name for 'Model'")
