import io
import json
from pathlib import Path

import h5py
import numpy as np
import pytest

from elmo_plugin.bilm import BiLmError
from elmo_plugin.migration.allennlp_api import ElmoEmbedder

VECTORS = [np.arange(24.0).reshape(3, 2, 4), np.ones((3, 1, 4))]


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> ElmoEmbedder:
    """Gives two sentences vectors, whatever they are."""
    monkeypatch.setattr(ElmoEmbedder, "embed_sentences", lambda *_: iter(VECTORS))
    return ElmoEmbedder(bilm="tiny")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            "a b\nc\n",
            {"output_format": "last"},
            "output_format: expected one of all, top, average, got 'last'",
        ),
        ("a b\n\n", {}, r"empty lines are not supported \(line 2\)"),
        ("a b\na b\n", {"use_sentence_keys": True}, "occurs twice"),
        ("a\na/b\n", {"use_sentence_keys": True}, "HDF5 cannot have the sentence 'a/b' as a key"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused(
    embedder: ElmoEmbedder, tmp_path: Path, text: str, options: dict[str, str], message: str
) -> None:
    with pytest.raises(BiLmError, match=message):
        embedder.embed_file(io.StringIO(text), tmp_path / "vectors.hdf5", **options)
    assert not list(tmp_path.iterdir())


def test_a_file_stores_each_lines_vectors_by_number_or_by_sentence(
    embedder: ElmoEmbedder, tmp_path: Path
) -> None:
    first = VECTORS[0]
    for output_format, expected in (
        ("all", first),
        ("top", first[2]),
        ("average", first.mean(axis=0)),
    ):
        for options, keys in (
            ({}, {"0", "1", "sentence_to_index"}),
            ({"use_sentence_keys": True}, {"a b", "c"}),
            ({"forget_sentences": True}, {"0", "1"}),
        ):
            path = tmp_path / "vectors.hdf5"
            embedder.embed_file(io.StringIO("a b\nc\n"), path, output_format, **options)
            with h5py.File(path) as file:
                assert file.keys() == keys
                np.testing.assert_allclose(file["a b" if "a b" in keys else "0"][()], expected)
                if not options:
                    assert json.loads(file["sentence_to_index"][0]) == {"a b": "0", "c": "1"}
