"""`BiLm.encode`: raw text to words, offsets and vectors."""

import copy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import spacy
import torch
from torch import nn

from elmo_plugin.bilm import BiLm, BiLmError, EncodedText, select_layers
from elmo_plugin.bilm.encoding import make_tokenizer
from tests.bilm.conftest import BiLmMaker
from tests.close import assert_near

TEXT = "The play ended.  Didn't it?"
WORDS = ["The", "play", "ended", ".", "Did", "n't", "it", "?"]


class Token(NamedTuple):
    text: str


@pytest.fixture
def bilm(make_bilm: BiLmMaker) -> BiLm:
    return make_bilm().requires_grad_(False)


def test_encode_returns_words_offsets_and_vectors(bilm: BiLm) -> None:
    encoded = bilm.encode(TEXT, layers="all")
    assert encoded.words == WORDS and encoded.offsets is not None
    assert [TEXT[begin:end] for begin, end in encoded.offsets] == WORDS
    torch.testing.assert_close(encoded.vectors, bilm.embed([WORDS])[0])


def test_encode_accepts_texts_and_word_lists_mixed_and_from_a_generator(bilm: BiLm) -> None:
    encoded = list(bilm.encode((text for text in ("Hello", WORDS, "")), layers="all", batch_size=2))
    assert [text.words for text in encoded] == [["Hello"], WORDS, []]
    assert encoded[1].offsets is None
    assert_near(encoded[1].vectors, bilm.embed([WORDS])[0])


@pytest.mark.parametrize(
    ("layers", "shape"),
    [("all", (3, 2, 12)), ("mean", (2, 12)), (1, (2, 12)), ([1, 0, 0], (2, 12))],
)
@pytest.mark.parametrize("pooling", [None, "mean", "max", "first"])
def test_layers_are_selected_and_words_are_pooled(
    bilm: BiLm, layers: Any, shape: tuple[int, ...], pooling: str | None
) -> None:
    words = [["The", "play"], [], ["Hello"]]
    one, empty, other = (select_layers(vectors, layers) for vectors in bilm.embed(words))
    if pooling is None:
        encoded = [text.vectors for text in bilm.encode(words, layers=layers)]
        assert encoded[0].shape == shape and encoded[1].shape == empty.shape
        assert_near(encoded[0], one)
        return
    vectors = bilm.encode(words, layers=layers, pooling=pooling)
    assert vectors.shape == (3, *shape[:-2], shape[-1]) and not vectors[1].any()
    expected = {"mean": one.mean(dim=-2), "max": one.amax(dim=-2), "first": one[..., 0, :]}
    assert_near(vectors[0], expected[pooling])
    assert_near(vectors[2], other[..., 0, :])
    assert_near(bilm.encode(" ".join(words[0]), layers=layers, pooling=pooling), vectors[0])
    assert bilm.encode([], layers=layers, pooling=pooling).shape == (0, *vectors.shape[1:])


def test_the_result_for_an_empty_list_has_the_type_of_the_weights(bilm: BiLm) -> None:
    for dtype in (torch.float32, torch.float64):
        converted = copy.deepcopy(bilm).to(dtype)
        assert converted.encode([], pooling="mean").dtype == dtype
        assert converted.encode([WORDS], pooling="mean").dtype == dtype


@pytest.mark.parametrize("batch_size", [2, 100])
def test_texts_of_any_length_keep_their_order(bilm: BiLm, batch_size: int) -> None:
    texts = [WORDS[:length] for length in (5, 1, 8, 3, 1, 2)]
    encoded = bilm.encode(texts, batch_size=batch_size)
    for words, text in zip(texts, encoded, strict=True):
        assert text.words == words
        assert_near(text.vectors, bilm.encode([words])[0].vectors)


@pytest.mark.parametrize("layers", ["all", "top", "token", 1])
def test_vectors_of_a_text_keep_no_other_vectors_in_memory(bilm: BiLm, layers: Any) -> None:
    for text in bilm.encode([WORDS, WORDS[:2]], layers=layers):
        vectors = text.vectors
        assert vectors.untyped_storage().nbytes() == vectors.numel() * vectors.element_size()


@pytest.mark.parametrize("pooling", [None, "mean"])
@pytest.mark.parametrize("texts", ["Hello", ["Hello", "you"], []], ids=str)
def test_numpy_output_equals_torch_output(bilm: BiLm, texts: Any, pooling: Any) -> None:
    tensors: Any = bilm.encode(texts, pooling=pooling)
    arrays: Any = bilm.encode(texts, pooling=pooling, output="numpy")
    if pooling is None:
        tensors, arrays = (
            encoded if texts == [*texts] else [encoded] for encoded in (tensors, arrays)
        )
        tensors, arrays = ([text.vectors for text in encoded] for encoded in (tensors, arrays))
    for tensor, array in zip(tensors, arrays, strict=True):
        assert isinstance(array, np.ndarray | np.float32)
        assert_near(torch.as_tensor(array), tensor)


@pytest.mark.parametrize(
    "tokenizer", ["whitespace", str.split, lambda text: map(Token, text.split())]
)
def test_encode_splits_text_with_the_given_tokenizer(bilm: BiLm, tokenizer: Any) -> None:
    encoded = bilm.encode("a  b\tc\u3000d.", tokenizer=tokenizer)
    assert encoded.words == ["a", "b", "c", "d."]
    assert encoded.offsets == (
        [(0, 1), (3, 4), (5, 6), (7, 9)] if tokenizer == "whitespace" else None
    )


@pytest.mark.parametrize("language", ["en", "de", "xx"])
def test_raw_text_is_split_by_the_rules_of_the_language(language: str) -> None:
    raw = "  Don't stop, he  said. It's £3.50/kg!\t"
    expected = [
        (token.text, token.idx) for token in spacy.blank(language)(raw) if token.text.strip()
    ]
    words = make_tokenizer("spacy", language)(raw)
    assert [(word.text, word.start) for word in words] == expected
    assert all(raw[word.start : word.end] == word.text for word in words)
    assert (
        make_tokenizer("spacy", language)("") == make_tokenizer("whitespace", language)(" ") == []
    )


def test_the_name_of_a_file_is_not_embedded_as_a_text(
    bilm: BiLm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert bilm.encode("texts.txt").words == ["texts.txt"]
    Path("texts.txt").write_text("It rained.\n")
    with pytest.raises(BiLmError, match=r"texts: 'texts.txt' is a file; give its lines"):
        bilm.encode("texts.txt")


def test_the_armenian_full_stop_is_a_word_of_its_own() -> None:
    words = make_tokenizer("spacy", "hy")("\u053c\u0561\u057e \u0567\u0589")
    assert [word.text for word in words] == ["\u053c\u0561\u057e", "\u0567", "\u0589"]


def test_similarity_is_the_cosine(bilm: BiLm) -> None:
    texts = ["Hello", "The play ended.", ""]
    vectors = bilm.encode(texts, pooling="mean")
    similarities = bilm.similarity(vectors, vectors.numpy())
    expected = nn.functional.cosine_similarity(vectors[:, None], vectors[None], dim=-1)
    torch.testing.assert_close(similarities, expected)
    torch.testing.assert_close(bilm.similarity(vectors[0], list(vectors)), expected[:1])
    for wrong in ("Hello", texts, [], bilm.encode("Hello"), vectors[:, :3], vectors[None], None):
        with pytest.raises(BiLmError, match=r'as encode\(texts, pooling="mean"\) returns, got'):
            bilm.similarity(vectors, wrong)


def test_wrong_arguments_are_rejected_before_anything_is_computed(bilm: BiLm) -> None:
    with pytest.raises(BiLmError, match="layers: expected all, mean, sum, top, token"):
        bilm.encode("a", layers="average")
    texts = iter("a")
    for option, value in {
        "pooling": "sum",
        "output": "list",
        "tokenizer": "nltk",
        "batch_size": 0,
    }.items():
        with pytest.raises(BiLmError, match=f"{option}: expected .*, got {value!r}"):
            bilm.encode(texts, **{option: value})
    assert list(texts) == ["a"]


def test_the_repr_of_an_encoded_text_omits_the_vectors() -> None:
    text = EncodedText(["word"] * 5_000, None, torch.zeros(3, 5_000, 8))
    assert repr(text).startswith("EncodedText(['word', 'word'") and len(repr(text)) < 300
    assert repr(text).endswith("vectors of shape (3, 5000, 8))")


@pytest.mark.parametrize(
    "texts", [[["It rains.", "No one came."]], [[TEXT, TEXT]], [["It"], ["No way"]]]
)
def test_a_text_in_the_place_of_a_word_is_named(bilm: BiLm, texts: list[list[str]]) -> None:
    with pytest.raises(BiLmError, match=r"texts\[\d\]\[\d\]: expected a word, got a text"):
        list(bilm.encode(texts))


def test_a_word_may_have_a_space_that_does_not_break(bilm: BiLm) -> None:
    assert [text.words for text in bilm.encode([["10\u202f000", "a\u00a0b"]])] == [
        ["10\u202f000", "a\u00a0b"]
    ]


def test_columns_of_arrow_are_encoded_as_lists() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    bilm = BiLm.from_pretrained("tiny")
    texts = ["The play ended .", "Hello"]
    expected = bilm.encode(texts, pooling="mean")
    for column in (pyarrow.array(texts), pyarrow.chunked_array([texts[:1], texts[1:]])):
        assert torch.equal(bilm.encode(column, pooling="mean"), expected)
    (words,) = bilm.encode(pyarrow.array([["The", "play"]]))
    assert words.words == ["The", "play"]
    with pytest.raises(
        BiLmError, match=r"texts\[1\]: expected a text or a list of words, got None"
    ):
        bilm.encode(pyarrow.array(["Hello", None]))
