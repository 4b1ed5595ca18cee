"""Tag encodings, against AllenNLP's own conversion and back and forth."""

from itertools import pairwise

import pytest
from allennlp.data.dataset_readers.dataset_utils import to_bioul
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.tasks.ner.tags import is_legal
from elmo_plugin.tasks.spans import Span, parse_tag, spans_to_tags, tags_to_spans


def are_legal(tags: list[str], encoding: str) -> bool:
    return all(is_legal(encoding, *map(parse_tag, pair)) for pair in pairwise(["O", *tags, "O"]))


@st.composite
def sentences(draw: st.DrawFn) -> tuple[int, list[Span]]:
    """A number of words, and entities among them that do not overlap."""
    parts = draw(
        st.lists(st.tuples(st.integers(1, 4), st.sampled_from([None, "PER", "LOC"])), max_size=6)
    )
    spans, start = [], 0
    for length, entity_type in parts:
        if entity_type is not None:
            spans.append(Span(start, start + length, entity_type))
        start += length
    return start, spans


@pytest.mark.parametrize("encoding", ["BIO", "BIOUL"])
@given(sentence=sentences())
def test_entities_survive_a_round_trip_through_tags(encoding: str, sentence: tuple) -> None:
    length, spans = sentence
    tags = spans_to_tags(spans, length, encoding)
    assert are_legal(tags, encoding)
    assert tags_to_spans(tags) == spans


@given(sentence=sentences())
def test_bio_becomes_bioul_as_in_allennlp(sentence: tuple) -> None:
    length, spans = sentence
    assert spans_to_tags(spans, length, "BIOUL") == to_bioul(
        spans_to_tags(spans, length, "BIO"), "BIO"
    )


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("I-PER I-PER O I-LOC", [Span(0, 2, "PER"), Span(3, 4, "LOC")]),
        ("I-PER I-LOC", [Span(0, 1, "PER"), Span(1, 2, "LOC")]),
        ("I-PER B-PER I-PER", [Span(0, 1, "PER"), Span(1, 3, "PER")]),
        ("O O", []),
    ],
)
def test_in_iob1_only_an_entity_next_to_one_of_its_type_begins_with_b(
    tags: str, spans: list
) -> None:
    assert are_legal(tags.split(), "IOB1")
    assert tags_to_spans(tags.split()) == spans
    assert to_bioul(tags.split(), "IOB1") == spans_to_tags(spans, len(tags.split()), "BIOUL")


@pytest.mark.parametrize(
    ("encoding", "tags"),
    [
        *(("BIO", tags) for tags in ("I-PER", "B-LOC I-PER", "B-PER L-PER")),
        *(("IOB1", tags) for tags in ("O B-PER", "U-PER", "I-LOC B-PER")),
        *(("BIOUL", tags) for tags in ("B-PER O", "O B-PER", "U-PER L-PER", "S-PER")),
        *(("BIOES", tags) for tags in ("B-PER S-PER", "E-PER", "U-PER")),
    ],
)
def test_illegal_tag_sequences_are_found(encoding: str, tags: str) -> None:
    assert not are_legal(tags.split(), encoding)
