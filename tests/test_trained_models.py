"""The trained models in this package: each predicts, and scores as its card says."""

import json
import re
from pathlib import Path

import pytest
import torch
from allennlp.commands.evaluate import evaluate_from_archive
from allennlp.data import Token, Vocabulary

from elmo_plugin import load_predictor
from elmo_plugin.archives import load_archive
from elmo_plugin.common.bundled import archive_path, trained_models
from elmo_plugin.common.formats.archives import unpack
from elmo_plugin.embedding.word_vectors import WordVectorsEmbedder, WordVectorsIndexer
from tests.conftest import REPOSITORY

DATA = REPOSITORY / "experiments" / "data" / "ner"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ner")
    unpack(archive_path("ner"), folder)
    return folder


def test_the_tagger_finds_names() -> None:
    entities = load_predictor("ner").predict("Ada Lovelace lived in London.")["entities"]
    assert [(entity["text"], entity["type"]) for entity in entities] == [
        ("Ada Lovelace", "PER"),
        ("London", "LOC"),
    ]


def test_a_bundled_archive_contains_no_machine_path_bilm_or_word_vectors(unpacked: Path) -> None:
    paths = re.findall(r'"[^"]*_path": "(.*?)"', (unpacked / "config.json").read_text())
    assert paths and not any(path.startswith("/") for path in paths)
    state = torch.load(unpacked / "weights.th")
    assert not [name for name in state if ".bilm." in name or name.endswith(".vectors")]


def words(part: str) -> list[str]:
    lines = (DATA / f"{part}.txt").read_text(encoding="utf-8").splitlines()
    return [line.split()[0] for line in lines if line.strip()]


def test_words_missing_from_the_training_data_get_distinct_vectors() -> None:
    known = {word.lower() for word in words("train")}
    unseen = {
        word.lower(): word for word in words("dev") if word.isalpha() and word.lower() not in known
    }
    indexer = WordVectorsIndexer()
    ids = indexer.tokens_to_indices([Token(word) for word in unseen.values()], Vocabulary())
    keys = indexer.as_padded_tensor_dict(ids, {"word_keys": len(unseen)})["word_keys"]
    modules = load_archive("ner").model.modules()
    (embedder,) = (module for module in modules if isinstance(module, WordVectorsEmbedder))
    vectors = embedder(keys[None])[0]
    embedded = vectors[vectors.abs().sum(dim=1) > 0]
    assert len(embedded) >= 200 and len(embedded.unique(dim=0)) == len(embedded)


@pytest.mark.slow
def test_the_tagger_reaches_the_score_on_its_card(tmp_path: Path) -> None:
    output = tmp_path / "scores.json"
    evaluate_from_archive(
        str(archive_path("ner")), str(DATA / "test.txt"), metrics_output_file=str(output)
    )
    score = json.loads(output.read_text())["f1-measure-overall"]
    assert trained_models()["ner"].score == f"{100 * score:.1f} F1"
