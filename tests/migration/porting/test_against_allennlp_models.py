"""
What AllenNLP 0.9.0 and 1.5.0 predicted with archives of NER, SRL, coreference and others
(`../shared/parity/originals`), against what these archives predict when they are ported.
"""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("allennlp_models", reason="needs allennlp-models")
pytestmark = pytest.mark.slow


def test_ported_archives_predict_what_their_allennlp_predicted(shared: Path) -> None:
    """Reads every folder that is there, also those that are added to it later."""
    folder = shared / "parity" / "originals"
    archives = sorted(folder.glob("allennlp-*/*/model.tar.gz"))
    if not archives:
        pytest.skip("needs ../shared/parity/originals, which is not here")
    names = [str(archive.parent.relative_to(folder)) for archive in archives]
    program = [sys.executable, "-m", "tests.migration.porting.check_originals"]
    result = subprocess.run(
        [*program, str(folder / "check.py"), *names],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    assert result.returncode == 0, result.stdout + result.stderr
