"""
Importing a part of the package registers nothing, installs no hook but the stand-ins for packages
that AllenNLP can do without, and imports nothing heavy.
"""

import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY


def run(program: str) -> None:
    process = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr


def test_importing_the_package_installs_no_hook_but_the_stand_ins_and_nothing_heavy() -> None:
    run(
        "import sys\n"
        "before = set(sys.meta_path), sys.path_hooks[:], sys.excepthook\n"
        "import elmo_plugin\n"
        "after = {each for each in sys.meta_path if type(each).__module__ != 'elmo_plugin.stand_ins'}\n"
        "assert after <= before[0] and before[1:] == (sys.path_hooks, sys.excepthook)\n"
        "assert not {'allennlp', 'torch', 'numpy'} & set(sys.modules)\n"
    )


@pytest.mark.slow
def test_this_package_does_not_make_a_blank_spacy_pipeline_import_torch() -> None:
    run(
        "import sys\n"
        "sys.modules['torch'] = None  # which spaCy imports where it can, and does not need\n"
        "import spacy\n"
        "spacy.blank('en')\n"
        "ours = {name for name in sys.modules if name.startswith('elmo_plugin')}\n"
        "assert 'elmo_plugin.integrations.spacy_component' in ours, 'its entry point was not "
        "read'\n"
        "assert not {'elmo_plugin.bilm', 'elmo_plugin.plugin'} & ours and 'allennlp' not in "
        "sys.modules\n"
    )
