import allennlp.modules.elmo as peer
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_plugin import ElmoEmbedder, batch_to_ids
from elmo_plugin.bilm import BiLmError
from tests.allennlp_api.conftest import Files

SENTENCES = [["The", "play", "ended", "."], [], ["Wörterbuch"], ["A", "play", "by", "a", "child"]]
WORDS = st.lists(st.text(max_size=60), max_size=4)


@settings(max_examples=40)
@given(st.lists(WORDS, min_size=1, max_size=4).filter(any))
def test_ids_are_those_of_allennlp(batch: list[list[str]]) -> None:
    ids = batch_to_ids(batch)
    assert ids.dtype == torch.int64
    assert torch.equal(ids, peer.batch_to_ids(batch))


def test_each_sentence_has_the_activations_that_allennlp_computes_for_it_alone(
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


@pytest.mark.parametrize("batch_size", [0, -1, "2"])
def test_a_batch_has_at_least_one_sentence(batch_size: int, files: Files) -> None:
    with pytest.raises(BiLmError, match=r"batch_size: expected .*at least 1, got"):
        list(ElmoEmbedder(*files).embed_sentences([["a"]], batch_size))


def test_text_is_not_taken_for_words(files: Files) -> None:
    embedder = ElmoEmbedder(*files)
    for embed, text in (
        (embedder.embed_sentence, "the cat"),
        (embedder.embed_batch, ["the", "cat"]),
        (embedder.batch_to_embeddings, ["the", "cat"]),
        (batch_to_ids, "the cat"),
    ):
        with pytest.raises(BiLmError, match=r"sentences.*: expected a list of .*words, got"):
            embed(text)  # type: ignore[operator]
