"""Archives of models with ELMo are loaded without the files that their biLM came from."""

import copy
import hashlib
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from allennlp.common import Params
from allennlp.common.util import sanitize
from allennlp.data import DatasetReader, TextFieldTensors, Vocabulary
from allennlp.models import Model, load_archive
from allennlp.modules import TextFieldEmbedder
from torch import LongTensor, Tensor, nn

from elmo_plugin.bilm import BiLm, BiLmOptions
from elmo_plugin.commands.export import export
from elmo_plugin.common.downloads import download_directory
from tests.small_bilm import small_options
from tests.trained_bilm import random_bilm, write_training
from tests.trained_tagger import SENTENCES, tagger_config, train

URL = "https://models.invalid/elmo"


@Model.register("test_archived_own")
class OwnModel(Model):
    """Somebody's own model, with an embedder alone."""

    def __init__(self, vocab: Vocabulary, embedder: TextFieldEmbedder) -> None:
        super().__init__(vocab)
        self.embedder = embedder
        self.scores = nn.Linear(embedder.get_output_dim(), vocab.get_vocab_size("labels"))

    def forward(
        self, tokens: TextFieldTensors, tags: LongTensor | None = None, **_: Any
    ) -> dict[str, Tensor]:
        scores = self.scores(self.embedder(tokens))
        output = {"scores": scores}
        if tags is not None:
            output["loss"] = nn.functional.cross_entropy(scores.flatten(0, 1), tags.flatten())
        return output


def own_config(bilm: str) -> dict[str, Any]:
    config = tagger_config(bilm, [])
    embedder = config["model"]["contextual_encoder"]["text_field_embedder"]
    embedder["token_embedders"]["elmo"] = {"type": "elmo", "bilm": bilm}
    return config | {"model": {"type": "test_archived_own", "embedder": embedder}}


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError("the network is off")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def bilm(tmp_path: Path) -> Path:
    """The archive of a biLM."""
    return write_training(tmp_path / "training", random_bilm())


class Run(NamedTuple):
    """
    bilm: the archive of a biLM
    folder: of a training with this biLM at both placements
    predictions: those of the model as the training left it
    """

    bilm: Path
    folder: Path
    predictions: list[dict[str, Any]]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("trained")
    bilm = write_training(folder / "training", random_bilm())
    return Run(bilm, folder / "run", predictions(train(tagger_config(str(bilm)), folder / "run")))


@pytest.fixture
def run(trained: Run, tmp_path: Path) -> Iterator[Run]:
    """A run of one's own, whose biLM may be deleted."""
    folder, kept = tmp_path / "run", tmp_path / "kept"
    shutil.copytree(trained.folder, folder)
    shutil.copy(trained.bilm, kept)
    yield trained._replace(folder=folder)
    kept.replace(trained.bilm)


def write_sources(folder: Path) -> dict[str, Any]:
    """The same biLM in all the forms in which a configuration may name one."""
    archive = write_training(folder / "training", random_bilm())
    export(str(archive), folder / "exported")
    names = {"options": "options.json", "weights": "weights.hdf5"}
    download_directory().mkdir(parents=True, exist_ok=True)
    for name in names.values():
        shutil.copy(folder / "exported" / name, downloaded(name))
    return {
        "archive": str(archive),
        "directory of a training": str(folder / "training"),
        "directory of a pair": str(folder / "exported"),
        "pair": {kind: str(folder / "exported" / name) for kind, name in names.items()},
        "url": {kind: f"{URL}/{name}" for kind, name in names.items()},
    }


def downloaded(name: str) -> Path:
    """Where AllenNLP's cache has the file from the URL."""
    return download_directory() / hashlib.sha256(f"{URL}/{name}".encode()).hexdigest()


def delete_sources(folder: Path) -> None:
    shutil.rmtree(folder)
    for name in ("options.json", "weights.hdf5"):
        downloaded(name).unlink()


def predictions(model: Model, config: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """
    The predictions for the sentences of the test data, and before them the scores of all tags.
    """
    scores: list[Any] = []
    *_, layer = (module for module in model.modules() if isinstance(module, nn.Linear))
    handle = layer.register_forward_hook(
        lambda _module, _inputs, output: scores.append(output.tolist())
    )
    params = Params(copy.deepcopy((config or tagger_config(""))["dataset_reader"]))
    reader = DatasetReader.from_params(params)
    output = model.eval().forward_on_instances(list(reader.read(SENTENCES)))
    handle.remove()
    return [{"scores": scores}, *sanitize(output)]


def predictions_of_archive(
    path: Path, config: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    return predictions(load_archive(path).model, config)


def assert_same_predictions(actual: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    """
    Compares them but for the last bits: a CPU's products depend on where weights lie in memory.
    """
    assert [sorted(prediction) for prediction in actual] == [
        sorted(prediction) for prediction in expected
    ]
    torch.testing.assert_close(numbers(actual), numbers(expected), atol=1e-5, rtol=1e-5)
    assert words(actual) == words(expected)


def leaves(nested: Any) -> Iterator[Any]:
    if isinstance(nested, dict | list):
        for part in nested.values() if isinstance(nested, dict) else nested:
            yield from leaves(part)
    else:
        yield nested


def numbers(predictions: list[dict[str, Any]]) -> Tensor:
    return torch.tensor(
        [leaf for leaf in leaves(predictions) if isinstance(leaf, float)], dtype=torch.double
    )


def words(predictions: list[dict[str, Any]]) -> list[Any]:
    return [leaf for leaf in leaves(predictions) if not isinstance(leaf, float)]


@pytest.mark.slow
def test_an_archive_predicts_the_same_offline_without_the_files_of_its_bilms(
    tmp_path: Path, offline: None
) -> None:
    sources = write_sources(tmp_path / "sources")
    config = tagger_config(sources["pair"], ["output"])
    embedders = config["model"]["contextual_encoder"]["text_field_embedder"]["token_embedders"]
    indexers = config["dataset_reader"]["token_indexers"]
    for name, source in sources.items():
        embedders[name] = {"type": "elmo", "bilm": source}
        indexers[name] = {"type": "elmo"}
    expected = predictions(train(config, tmp_path / "run"), config)
    delete_sources(tmp_path / "sources")
    for archive in (tmp_path / "run" / "model.tar.gz", tmp_path / "run"):
        assert_same_predictions(predictions_of_archive(archive, config), expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [{"requires_grad": True}, {"layers": [2, 0], "precision": "int8"}],
    ids=["a trained biLM", "other options"],
)
def test_an_archived_embedder_keeps_its_trained_weights(
    options: dict[str, Any], bilm: Path, tmp_path: Path
) -> None:
    expected = predictions(train(tagger_config(str(bilm), **options), tmp_path / "run"))
    bilm.unlink()
    assert_same_predictions(predictions_of_archive(tmp_path / "run" / "model.tar.gz"), expected)


@pytest.mark.slow
def test_a_users_own_model_is_archived_with_its_bilm(bilm: Path, tmp_path: Path) -> None:
    expected = predictions(train(own_config(str(bilm)), tmp_path / "run"))
    bilm.unlink()
    assert_same_predictions(predictions_of_archive(tmp_path / "run" / "model.tar.gz"), expected)


@pytest.mark.slow
def test_a_different_bilm_at_the_same_path_is_not_used(run: Run, tmp_path: Path) -> None:
    other = BiLm(BiLmOptions.from_dict(small_options(lstm={"projection_dim": 9})))
    write_training(tmp_path / "other", other).replace(run.bilm)
    assert_same_predictions(predictions_of_archive(run.folder / "model.tar.gz"), run.predictions)


def test_a_training_is_recovered_without_the_files(run: Run) -> None:
    run.bilm.unlink()
    model = train(tagger_config(str(run.bilm)), run.folder, recover=True)
    assert_same_predictions(predictions(model), run.predictions)
