from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.embed_files.embedder import length_buckets


@given(
    lengths=st.lists(st.integers(0, 50), max_size=60),
    batch_size=st.integers(1, 10),
    max_tokens=st.integers(1, 100),
)
def test_each_sentence_is_in_one_batch_within_the_limits(
    lengths: list[int], batch_size: int, max_tokens: int
) -> None:
    buckets = list(length_buckets(lengths, batch_size, max_tokens))
    numbers = [number for bucket in buckets for number in bucket]
    assert sorted(numbers) == list(range(len(lengths)))
    in_order = [lengths[number] for number in numbers]
    assert in_order == sorted(in_order), "sentences of similar length are together"
    for bucket in buckets:
        assert 1 <= len(bucket) <= batch_size
        longest = max(lengths[number] for number in bucket)
        assert longest * len(bucket) <= max_tokens or len(bucket) == 1


def test_limits_that_do_not_matter_give_one_batch() -> None:
    assert list(length_buckets([3, 1, 2], batch_size=3, max_tokens=9)) == [[1, 2, 0]]
    assert list(length_buckets([], batch_size=3, max_tokens=9)) == []
