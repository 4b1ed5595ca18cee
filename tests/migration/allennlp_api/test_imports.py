"""What a script gets from `elmo_plugin`, and that torch is enough for it."""

import importlib
import subprocess
import sys

import pytest

import elmo_plugin
from tests.conftest import REPOSITORY
from tests.without_allennlp import BLOCK_ALLENNLP

PROGRAM = (
    BLOCK_ALLENNLP
    + """
from elmo_plugin.bilm import BiLm
bilm = BiLm.from_files("tests/fixtures/bilm/options.json", "tests/fixtures/bilm/weights.hdf5")
print([tuple(vector.shape) for vector in bilm.embed([["The", "play", "."], ["Hello"]])])

from elmo_plugin import Elmo, ElmoEmbedder, batch_to_ids
output = Elmo(bilm="tiny", num_output_representations=2)(batch_to_ids([["The", "play", "."], ["Hello"]]))
print(output["mask"].tolist(), [tuple(vectors.shape) for vectors in output["elmo_representations"]])
print(ElmoEmbedder(bilm="tiny").embed_sentence(["Hello"]).shape)

from elmo_plugin import embedding
elmo = embedding.ElmoRepresentations(BiLm.from_pretrained("tiny"))
print(tuple(elmo(batch_to_ids([["The", "play"]])).representations[0].shape))
"""
)


@pytest.mark.slow
def test_the_bilm_both_elmos_and_the_embedder_work_without_allennlp() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert run.stdout.splitlines() == [
        "[(3, 3, 12), (3, 1, 12)]",
        "[[True, True, True], [True, False, False]] [(2, 3, 256), (2, 3, 256)]",
        "(3, 1, 256)",
        "(1, 2, 256)",
    ], run.stderr


def test_the_package_exports_exactly_the_names_that_it_lists() -> None:
    pytest.importorskip("sklearn", reason="needs elmo_plugin[sklearn]")
    assert {"Elmo", "ElmoEmbedder", "ElmoTokenEmbedder", "batch_to_ids", "__version__"} <= set(
        dir(elmo_plugin)
    )
    for name in elmo_plugin.__all__:
        assert getattr(elmo_plugin, name).__name__.removeprefix("AllenNlp") == name
    with pytest.raises(AttributeError, match="'elmo_plugin' has no attribute 'Elmos'"):
        elmo_plugin.Elmos  # noqa: B018


def test_including_a_whole_package_names_the_module_to_include(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "flair", None)
    monkeypatch.delitem(sys.modules, "elmo_plugin.integrations.flair_embeddings", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"use --include-package elmo_plugin\.plugin"):
        importlib.import_module("elmo_plugin.integrations.flair_embeddings")
