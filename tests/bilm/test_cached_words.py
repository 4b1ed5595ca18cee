"""Which vectors of words are kept between calls, and when they are dropped."""

from typing import Any

import pytest
import torch
from torch import Tensor

from elmo_plugin.bilm.token_encoder import TokenEncoder
from tests.bilm.token_encoders import bilm_with_encoder, check_vectors, encode, skip_where_missing


def _count_encoded(encoder: TokenEncoder, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Returns a list that gets the number of words of each call of the encoder's `encode_words`."""
    encoded: list[int] = []

    def encode_words(ids: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if len(ids) > 0:
            encoded.append(len(ids))
        return TokenEncoder.encode_words(encoder, ids, *args, **kwargs)

    monkeypatch.setattr(encoder, "encode_words", encode_words)
    return encoded


def test_each_distinct_word_of_a_batch_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for frozen in (True, False):
        bilm = bilm_with_encoder(word_cache_size=0).requires_grad_(not frozen)
        encoded = _count_encoded(bilm.token_encoder, monkeypatch)
        sentences = [["to", "be"], ["or", "not", "to", "be"]]
        bilm(bilm.character_ids(sentences))
        bilm.embed(sentences)
        assert [number for number in encoded if number > 2] == [4, 4], "and the two boundaries"


def test_a_frozen_encoder_encodes_only_new_words(monkeypatch: pytest.MonkeyPatch) -> None:
    bilm = bilm_with_encoder()
    encoded = _count_encoded(bilm.token_encoder, monkeypatch)
    for words in (["to", "be"], ["be", "or", "not", "to"], ["not", "to", "be"]):
        check_vectors(bilm, words)
    assert encoded == [2, 2]


def test_vectors_of_another_precision_are_cached_separately() -> None:
    skip_where_missing("int8")
    bilm = bilm_with_encoder()
    exact = encode(bilm, ["to", "be"])
    bilm.precision = "int8"
    assert not torch.equal(encode(bilm, ["to", "be"]), exact)
    bilm.precision = "float32"
    assert torch.equal(encode(bilm, ["to", "be"]), exact)
