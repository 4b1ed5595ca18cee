"""`BiLm.encode`: raw text to words, offsets and vectors."""

from typing import Any

import pytest
import torch

from elmo_plugin.bilm import BiLm, BiLmError
from tests.bilm.conftest import BiLmMaker
from tests.close import assert_near

TEXT = "The play ended.  Didn't it?"
WORDS = ["The", "play", "ended", ".", "Did", "n't", "it", "?"]


@pytest.fixture
def bilm(make_bilm: BiLmMaker) -> BiLm:
    return make_bilm().requires_grad_(False)


def test_a_text_has_words_their_offsets_and_their_vectors(bilm: BiLm) -> None:
    (encoded,) = bilm.encode(TEXT)
    assert encoded.words == WORDS and encoded.offsets is not None
    assert [TEXT[begin:end] for begin, end in encoded.offsets] == WORDS
    torch.testing.assert_close(encoded.vectors, bilm.embed([WORDS])[0])


def test_texts_and_lists_of_words_may_be_mixed_and_come_from_a_generator(bilm: BiLm) -> None:
    encoded = list(bilm.encode((text for text in ("Hello", WORDS, "")), batch_size=2))
    assert [text.words for text in encoded] == [["Hello"], WORDS, []]
    assert encoded[1].offsets is None
    assert_near(encoded[1].vectors, bilm.embed([WORDS])[0])


def test_texts_are_read_batch_by_batch(bilm: BiLm) -> None:
    read: list[int] = []
    texts = (read.append(number) or "Hello" for number in range(9))
    next(bilm.encode(texts, batch_size=3))
    assert read == [0, 1, 2]


@pytest.mark.parametrize(
    ("layers", "shape"), [("all", (3, 2, 12)), ("mean", (2, 12)), (1, (2, 12)), ([1, 0, 0], (2, 12))]
)
@pytest.mark.parametrize("pooling", [None, "mean", "max"])
def test_layers_are_selected_and_words_are_pooled(
    bilm: BiLm, layers: Any, shape: tuple[int, ...], pooling: str | None
) -> None:
    (encoded,) = bilm.encode([["The", "play"]], layers, pooling)
    assert tuple(encoded.vectors.shape) == (shape if pooling is None else (*shape[:-2], shape[-1]))
    (every,) = bilm.embed([["The", "play"]])
    if layers == "mean" and pooling == "max":
        assert_near(encoded.vectors, every.mean(dim=0).amax(dim=0))


def test_wrong_arguments_are_rejected_at_once(bilm: BiLm) -> None:
    with pytest.raises(BiLmError, match="layers must be all, mean, top, token"):
        bilm.encode("a", layers="average")
    with pytest.raises(BiLmError, match="pooling must be mean, max or None, not 'sum'"):
        bilm.encode("a", pooling="sum")
    with pytest.raises(BiLmError, match="cannot pool a text without words"):
        list(bilm.encode(" ", pooling="mean"))
