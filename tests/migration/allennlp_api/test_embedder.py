import json
from itertools import chain
from pathlib import Path

import allennlp.modules.elmo as peer
import h5py
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin import ElmoEmbedder, batch_to_ids
from elmo_plugin.bilm import BiLmError
from tests.conftest import at_most
from tests.migration.allennlp_api.conftest import Files, write_bilm
from tests.small_bilm import loud_bilm

SENTENCES = [["The", "play", "ended", "."], [], ["Wörterbuch"], ["A", "play", "by", "a", "child"]]
WORDS = st.lists(st.text(max_size=60), max_size=4)


@at_most(40)
@given(st.lists(WORDS, min_size=1, max_size=4).filter(any))
def test_ids_equal_allennlps(batch: list[list[str]]) -> None:
    ids = batch_to_ids(batch)
    assert ids.dtype == torch.int64
    assert torch.equal(ids, peer.batch_to_ids(batch))


def test_each_sentence_gets_the_activations_that_allennlp_computes_for_it_separately(
    files: Files,
) -> None:
    embedder = ElmoEmbedder(*files)
    vectors = embedder.embed_batch(SENTENCES)
    padded, mask = embedder.batch_to_embeddings(SENTENCES)
    assert mask.sum(dim=1).tolist() == list(map(len, SENTENCES))
    for row, actual in zip(padded, vectors, strict=True):
        np.testing.assert_allclose(row[:, : actual.shape[1]].detach().numpy(), actual, atol=1e-5)
    for sentence, actual in zip(SENTENCES, vectors, strict=True):
        assert actual.shape == (3, len(sentence), 12)
        assert actual.dtype == np.float32
        if sentence:
            activations = peer._ElmoBiLm(*files)(batch_to_ids([sentence]))["activations"]
            expected = torch.cat(activations)[:, 1:-1].detach().numpy()
            np.testing.assert_allclose(actual, expected, atol=1e-5)


def test_stateful_reproduces_the_published_activations_batch_by_batch(shared: Path) -> None:
    folder = shared / "parity" / "elmo"
    texts = json.loads((folder / "sentences.json").read_text())
    batches = [[texts[row][number].split() for row in range(3)] for number in range(10)]
    published = [h5py.File(folder / f"lm_embeddings_{row}.hdf5", "r") for row in range(3)]
    pair = folder / "options.json", folder / "lm_weights.hdf5"
    embedder = ElmoEmbedder(*pair, stateful=True)
    stateless = ElmoEmbedder(*pair)
    sentences = chain.from_iterable(batches)
    streamed = ElmoEmbedder(*pair, stateful=True).embed_sentences(sentences, batch_size=3)
    for number, batch in enumerate(batches):
        from_zero = stateless.embed_batch(batch)
        for row, vectors in enumerate(embedder.embed_batch(batch)):
            forward, backward = published[row][str(number)][()]
            expected = np.concatenate([forward, backward], axis=1)
            np.testing.assert_allclose(vectors[-1], expected, atol=1e-6)
            np.testing.assert_array_equal(next(streamed), vectors)
            if number > 0:
                assert np.abs(from_zero[row][-1] - expected).max() > 0.1
    embedder.reset_state()
    again = embedder.embed_batch(batches[-1])
    for vectors, expected in zip(again, from_zero, strict=True):
        np.testing.assert_allclose(vectors, expected, atol=1e-6)


def _embed_as_in_0_9(bilm: peer._ElmoBiLm, batch: list[list[str]]) -> list[np.ndarray]:
    """Computes what AllenNLP 0.9's `embed_batch` does, with the biLM of a later version."""
    if batch == [[]]:
        return [np.zeros((3, 0, 12))]
    with torch.no_grad():
        output = bilm(peer.batch_to_ids(batch))
    layers = torch.stack(output["activations"], dim=1)
    return [layers[row, :, 1 : 1 + len(sentence)].numpy() for row, sentence in enumerate(batch)]


@at_most(15)
@given(
    st.lists(
        st.lists(
            st.lists(st.sampled_from(["a", "play", "Wörterbuch", "."]), max_size=4),
            min_size=1,
            max_size=4,
        ).filter(lambda batch: batch == [[]] or any(batch)),
        min_size=1,
        max_size=5,
    )
)
def test_stateful_equals_allennlp_0_9_for_any_batches(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[list[str]]]
) -> None:
    files = write_bilm(tmp_path_factory.mktemp("bilm"))
    embedder = ElmoEmbedder(*files, stateful=True)
    old = peer._ElmoBiLm(*files)
    for batch in batches:
        expected = _embed_as_in_0_9(old, batch)
        for vectors, old_vectors in zip(embedder.embed_batch(batch), expected, strict=True):
            assert vectors.dtype == np.float32
            np.testing.assert_allclose(vectors, old_vectors, atol=1e-5)


def test_words_are_cut_at_the_bilms_own_maximum_length() -> None:
    bilm = loud_bilm(char_cnn={"max_characters_per_token": 90})
    batch = [["x" * 70 + "a"], ["x" * 70 + "b"]]
    expected = [layers.numpy() for layers in bilm.embed(batch)]
    assert np.abs(expected[0] - expected[1]).max() > 0.1
    for stateful in (False, True):
        embedder = ElmoEmbedder(bilm=bilm, stateful=stateful)
        padded, _ = embedder.batch_to_embeddings(batch)
        np.testing.assert_allclose(padded.numpy(), expected, atol=1e-6)
        embedder.reset_state()
        np.testing.assert_allclose(embedder.embed_batch(batch), expected, atol=1e-6)


def test_a_batch_of_empty_sentences_does_not_change_the_state(files: Files) -> None:
    embedder = ElmoEmbedder(*files, stateful=True)
    undisturbed = ElmoEmbedder(*files, stateful=True)
    for other in (embedder, undisturbed):
        other.embed_batch([["a", "play"], ["."]])
    assert embedder.embed_sentence([]).shape == (3, 0, 12)
    assert [vectors.shape for vectors in embedder.embed_batch([[], []])] == [(3, 0, 12)] * 2
    np.testing.assert_array_equal(embedder.embed_sentence(["a"]), undisturbed.embed_sentence(["a"]))


@pytest.mark.parametrize("batch_size", [0, -1, "2"])
def test_a_batch_without_sentences_is_refused(batch_size: int, files: Files) -> None:
    with pytest.raises(BiLmError, match=r"batch_size: expected .*at least 1, got"):
        list(ElmoEmbedder(*files).embed_sentences([["a"]], batch_size))


def test_a_string_in_place_of_a_list_of_words_is_refused(files: Files) -> None:
    embedder = ElmoEmbedder(*files)
    for embed, text in (
        (embedder.embed_sentence, "the cat"),
        (embedder.embed_batch, ["the", "cat"]),
        (embedder.batch_to_embeddings, ["the", "cat"]),
        (batch_to_ids, "the cat"),
    ):
        with pytest.raises(BiLmError, match=r"sentences.*: expected a list of .*words, got"):
            embed(text)  # type: ignore[operator]
