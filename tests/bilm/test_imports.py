import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PROGRAM = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        blocked = ("allennlp", "overrides", "spacy", "transformers", "torchvision", "cached_path", "requests")
        if name.partition(".")[0] in blocked:
            raise ImportError(f"{name} is blocked")
sys.meta_path.insert(0, Blocker())

from elmo_plugin.bilm import BiLm
bilm = BiLm.from_files("tests/fixtures/bilm/options.json", "tests/fixtures/bilm/weights.hdf5")
vectors = bilm.embed([["The", "play", "."], ["Hello"]])
print([tuple(vector.shape) for vector in vectors])
"""


def test_the_bilm_needs_no_allennlp() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], cwd=REPOSITORY, capture_output=True, text=True)
    assert run.stdout.strip() == "[(3, 3, 12), (3, 1, 12)]", run.stderr
