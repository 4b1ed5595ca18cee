import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.bilm.packing import pack


def test_the_example_in_the_docstring_of_a_packing() -> None:
    packing = pack(torch.tensor([1, 3, 2]))  # "No", "The play ended", "It rained"
    assert packing.batch_sizes == [3, 2, 1]
    assert packing.longest_first.tolist() == [1, 2, 0]
    assert packing.sentence_of_row.tolist() == [1, 2, 0, 1, 2, 1]
    assert packing.time_of_row.tolist() == [0, 0, 0, 1, 1, 2]


@given(st.lists(st.integers(0, 9), max_size=8))
def test_packed_rows_equal_torchs_packed_sequence(lengths: list[int]) -> None:
    packing = pack(torch.tensor(lengths, dtype=torch.long))
    assert sorted(packing.longest_first.tolist()) == list(range(len(lengths)))
    ordered = sorted((length for length in lengths if length), reverse=True)
    if not ordered:
        assert packing.batch_sizes == []
        return
    tokens = torch.arange(len(lengths) * 10).view(len(lengths), 10)
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        tokens[packing.longest_first[: len(ordered)]], ordered, batch_first=True
    )
    assert packing.batch_sizes == packed.batch_sizes.tolist()
    assert torch.equal(tokens[packing.sentence_of_row, packing.time_of_row], packed.data)
