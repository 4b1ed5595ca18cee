"""AllenNLP starts without the packages that nobody here uses, and says so where one is missing."""

import os
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
import torch
from allennlp.common.checks import ConfigurationError

from elmo_plugin import stand_ins
from tests.conftest import REPOSITORY

HIDE = f"""
import importlib.metadata, sys

class Hider:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in {[package.name for package in stand_ins.PACKAGES]}:
            return self.finder.find_spec(name, path, target)
    def find_distributions(self, *context):
        return getattr(self.finder, "find_distributions", lambda *_: [])(*context)

# As if the packages were not installed: the finders of what is installed do not find them.
# That of the stand-ins is there already where the package is installed, and stays the last.
for number, finder in enumerate(sys.meta_path):
    if type(finder).__module__ != "elmo_plugin.stand_ins":
        sys.meta_path[number] = Hider(finder)
"""


def run_without_the_packages(program: str, folder: Path = REPOSITORY) -> str:
    done = subprocess.run(
        [sys.executable, "-c", HIDE + program],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


ALLENNLP_AND_OTHERS = """
import elmo_plugin  # as elmo_plugin.pth does
import allennlp.commands
from allennlp.common.checks import ConfigurationError
from allennlp.training.optimizers import Optimizer
from allennlp.data import image_loader
from allennlp.nn import util
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from allennlp.modules.token_embedders import Embedding
import torch

def sentence(use):
    try:
        use()
    except ConfigurationError as error:
        print(error)

parameters = [("weight", torch.nn.Parameter(torch.zeros(1)))]
sentence(lambda: Optimizer.by_name("huggingface_adamw")(parameters))
sentence(lambda: image_loader.torchvision.io.read_image("cat.png"))
embedder = BasicTextFieldEmbedder({"tokens": Embedding(2, 2)})
print(type(util.find_embedding_layer(torch.nn.Sequential(embedder))).__name__)

import elmo_plugin.register
for name in ("transformers", "scipy.stats", "sklearn"):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        print(error)
"""


PREDICT = """
from elmo_plugin.commands.main import main
main(["predict", "ner", "Ada Lovelace met Charles Babbage in London."])
"""


@pytest.fixture(scope="module")
def printed_without_packages(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Returns what both programs print, in one process, as AllenNLP takes seconds to import."""
    folder = tmp_path_factory.mktemp("without")
    return run_without_the_packages(ALLENNLP_AND_OTHERS + PREDICT, folder).splitlines()


@pytest.mark.slow
def test_who_uses_a_missing_package_reads_what_to_install(
    printed_without_packages: list[str],
) -> None:
    assert printed_without_packages[:2] == [
        "transformers is not installed, and AllenNLP needs it for models, tokenizers and optimizers "
        "of transformers: pip install 'elmo_plugin[transformers]'",
        "torchvision is not installed, and AllenNLP needs it for images: "
        "pip install 'elmo_plugin[transformers]'",
    ]


@pytest.mark.slow
def test_allennlp_asks_whether_a_model_is_of_a_missing_package(
    printed_without_packages: list[str],
) -> None:
    assert printed_without_packages[2] == "Embedding"


@pytest.mark.slow
def test_for_others_a_missing_package_stays_missing(printed_without_packages: list[str]) -> None:
    assert printed_without_packages[3:6] == [
        "No module named 'transformers'",
        "No module named 'scipy'",
        "No module named 'sklearn'",
    ]


@pytest.mark.slow
def test_a_model_predicts_the_same_without_the_packages(
    printed_without_packages: list[str], printed_with_packages: list[str]
) -> None:
    prediction = printed_with_packages[7:]
    assert "[London]LOC" in "".join(prediction)
    assert printed_without_packages[6:] == prediction


def test_a_name_of_a_stand_in_is_a_class_and_making_one_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    transformers = stand_ins._MissingFinder(stand_ins.PACKAGES).create_module(
        ModuleSpec("transformers", None)
    )
    assert not isinstance(torch.nn.Linear(1, 1), transformers.PreTrainedModel)
    monkeypatch.setitem(sys.modules, "transformers", None)  # as if it were not installed
    with pytest.raises(ConfigurationError, match=r"pip install 'elmo_plugin\[transformers\]'$"):
        transformers.AdamW([])


def test_an_installed_package_is_used() -> None:
    import allennlp.common.cached_transformers

    transformers = pytest.importorskip("transformers", reason="needs elmo_plugin[transformers]")
    assert allennlp.common.cached_transformers.transformers is transformers
    assert not isinstance(transformers, stand_ins.StandIn)


def test_what_an_installed_package_lacks_stays_missing() -> None:
    finder = stand_ins._MissingFinder(stand_ins.PACKAGES)
    allennlp = {"__name__": "allennlp.common", "find_spec": finder.find_spec}
    exec("found = find_spec('transformers.absent')", allennlp)
    assert allennlp["found"] is None
    exec("found = find_spec('scipy')", allennlp)
    assert allennlp["found"].name == "scipy"
    assert finder.find_spec("scipy") is None  # this test is not AllenNLP


LATE = """
import sys
import elmo_plugin  # as elmo_plugin.pth does
import allennlp.commands

late = ("nltk", "huggingface_hub", "cached_path")
print([name for name in late if name in sys.modules])

from allennlp.common import file_utils
from allennlp.common.push_to_hf import HfApi
from allennlp.training.metrics import evalb_bracketing_scorer
print(isinstance("a tree", evalb_bracketing_scorer.Tree))
print(evalb_bracketing_scorer.Tree.fromstring("(1 (2 a) (3 b))").leaves())
print(isinstance(evalb_bracketing_scorer.Tree("S", []), evalb_bracketing_scorer.Tree))
print(file_utils.cached_path(__file__) == __file__)

import cached_path, huggingface_hub
import nltk.tree
import nltk
print(nltk.Tree("S", ["a"]).leaves(), nltk.edit_distance("ab", "ac"))
print(cached_path.common.PathOrStr, type(HfApi()) is huggingface_hub.HfApi)
"""


@pytest.fixture(scope="module")
def printed_with_packages(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Returns what `LATE` prints, and then a prediction, in one process."""
    program = tmp_path_factory.mktemp("with") / "program.py"
    program.write_text(LATE + PREDICT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, program],
        cwd=program.parent,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_late_packages_are_imported_when_a_name_is_used(printed_with_packages: list[str]) -> None:
    # If transformers is installed, it has imported the hub first.
    early = printed_with_packages[0]
    assert set(early[1:-1].split(", ")) <= {"'huggingface_hub'", ""}
    assert printed_with_packages[1:7] == [
        "False",
        "['a', 'b']",
        "True",
        "True",
        "['a'] 1",
        "typing.Union[str, os.PathLike] True",
    ]


def test_a_name_that_a_newer_version_lacks_is_said_when_it_is_used() -> None:
    module = stand_ins.StandIn("nltk", stand_ins.LATE[0])
    with pytest.raises(
        ConfigurationError, match="nltk does not have Absent in its installed version"
    ):
        module.Absent()


def test_installing_twice_adds_one_finder() -> None:
    stand_ins.install()
    finders = [finder for finder in sys.meta_path if isinstance(finder, stand_ins._Loader)]
    assert len(finders) == 2
