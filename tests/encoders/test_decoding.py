"""Viterbi for a batch of sentences, against all sequences and AllenNLP's decoders."""

from itertools import product

import torch
from allennlp.modules.conditional_random_field import ConditionalRandomField
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.encoders.sequences import bio_transitions, viterbi
from tests.conftest import at_most

TAGS = ["O", "B-A0", "I-A0", "B-V", "I-V", "I-A1"]


def legal(path: tuple[str, ...]) -> bool:
    return all(
        not tag.startswith("I-") or before in (f"B-{tag[2:]}", tag)
        for before, tag in zip(("O", *path), path, strict=False)
    )


@at_most(25)
@given(
    seed=st.integers(0, 999),
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=3).filter(any),
)
def test_decoding_finds_the_best_of_all_legal_sequences(seed: int, lengths: list[int]) -> None:
    torch.manual_seed(seed)
    logits = 3 * torch.randn(len(lengths), max(lengths), len(TAGS))
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    found = viterbi(logits, mask, *bio_transitions(TAGS))
    for row, length in enumerate(lengths):
        paths = product(range(len(TAGS)), repeat=length)
        best = max(
            (path for path in paths if legal(tuple(TAGS[tag] for tag in path))),
            key=lambda path: sum(logits[row, time, tag].item() for time, tag in enumerate(path)),
        )
        assert tuple(found[row]) == best


@at_most(25)
@given(seed=st.integers(0, 999), lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_decoding_equals_allennlps_crf_including_the_last_tags(
    seed: int, lengths: list[int]
) -> None:
    torch.manual_seed(seed)
    crf = ConditionalRandomField(len(TAGS))
    logits = torch.randn(len(lengths), max(lengths), len(TAGS))
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    expected = [path for path, _ in crf.viterbi_tags(logits, mask)]
    found = viterbi(logits, mask, crf.transitions, crf.start_transitions, crf.end_transitions)
    assert found == expected
