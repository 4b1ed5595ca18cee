"""A key is of one sentence and one biLM."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.embedding.cache import sentence_keys
from elmo_plugin.embedding.sqlite_store import read_record, to_record

DIGEST = bytes(32)
sentences = st.lists(st.text(st.sampled_from("ab "), max_size=3), max_size=4)


@given(st.lists(sentences, min_size=1, max_size=8), st.integers(0, 3))
def test_sentences_share_a_key_exactly_if_their_words_are_equal(
    batch: list[list[str]], padding: int
) -> None:
    ids = torch.from_numpy(sentences_to_character_ids(batch))
    keys, lengths = sentence_keys(nn.functional.pad(ids, (0, 0, 0, padding)), DIGEST, "float32")
    assert lengths == list(map(len, batch))
    for one, key in zip(batch, keys, strict=True):
        for other, other_key in zip(batch, keys, strict=True):
            assert (key == other_key) == (one == other)


def test_keys_differ_between_bilms_and_number_types() -> None:
    ids = torch.from_numpy(sentences_to_character_ids([["a"]]))
    digests_and_types = [(DIGEST, "float32"), (DIGEST, "float16"), (bytes([1] * 32), "float32")]
    assert len({sentence_keys(ids, *each)[0][0] for each in digests_and_types}) == 3


vectors = st.tuples(
    st.integers(0, 3), st.integers(0, 3), st.sampled_from(["float16", "float32"])
).map(lambda drawn: np.random.default_rng(0).standard_normal((3, *drawn[:2])).astype(drawn[2]))


@given(st.binary(min_size=16, max_size=16), vectors, st.data())
def test_a_record_with_a_changed_or_missing_byte_is_rejected(
    key: bytes, vectors: np.ndarray, data: st.DataObject
) -> None:
    record = to_record(key, vectors)
    row = np.zeros_like(vectors)
    assert read_record(key, record, row)
    assert np.array_equal(row, vectors)
    place = data.draw(st.integers(0, len(record) - 1))
    wrong = bytearray(record)
    wrong[place] ^= data.draw(st.integers(1, 255))
    row.fill(0)
    for damaged in (bytes(wrong), record[:place]):
        assert not read_record(key, damaged, row)
        assert not row.any()
    assert not read_record(bytes([key[0] ^ 1]) + key[1:], record, row)
