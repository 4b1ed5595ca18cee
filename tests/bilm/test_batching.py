from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.bilm.batching import split_by_tokens


@given(st.lists(st.integers(0, 9), max_size=8), st.integers(1, 30))
def test_runs_contain_every_sentence_once_in_order_within_the_token_limit(
    lengths: list[int], max_tokens: int
) -> None:
    runs = split_by_tokens(lengths, max_tokens)
    assert [number for run in runs for number in range(run.start, run.stop)] == list(
        range(len(lengths))
    )
    for run in runs:
        part = lengths[run]
        assert len(part) == 1 or max(part) * len(part) <= max_tokens
