"""Tag encodings, against AllenNLP's own conversion and back and forth."""

import pytest
from allennlp.data.dataset_readers.dataset_utils import to_bioul
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.tasks.ner.tags import spans_to_tags, tags_to_spans, validate_tags


@st.composite
def sentences(draw: st.DrawFn) -> tuple[int, list[tuple[str, tuple[int, int]]]]:
    """A number of words, and entities among them that do not overlap."""
    parts = draw(st.lists(st.tuples(st.integers(1, 4), st.sampled_from([None, "PER", "LOC"])), max_size=6))
    spans, start = [], 0
    for length, entity_type in parts:
        if entity_type is not None:
            spans.append((entity_type, (start, start + length - 1)))
        start += length
    return start, spans


@pytest.mark.parametrize("encoding", ["BIO", "BIOUL"])
@given(sentence=sentences())
def test_entities_survive_their_encoding(encoding: str, sentence: tuple) -> None:
    length, spans = sentence
    tags = spans_to_tags(spans, length, encoding)
    assert validate_tags(tags, encoding) is None
    assert tags_to_spans(tags) == spans


@given(sentence=sentences())
def test_bio_becomes_bioul_as_in_allennlp(sentence: tuple) -> None:
    length, spans = sentence
    assert spans_to_tags(spans, length, "BIOUL") == to_bioul(spans_to_tags(spans, length, "BIO"), "BIO")


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("I-PER I-PER O I-LOC", [("PER", (0, 1)), ("LOC", (3, 3))]),
        ("I-PER I-LOC", [("PER", (0, 0)), ("LOC", (1, 1))]),
        ("I-PER B-PER I-PER", [("PER", (0, 0)), ("PER", (1, 2))]),
        ("O O", []),
    ],
)
def test_in_iob1_only_an_entity_next_to_one_of_its_type_begins_with_b(tags: str, spans: list) -> None:
    assert validate_tags(tags.split(), "IOB1") is None
    assert tags_to_spans(tags.split()) == spans
    assert to_bioul(tags.split(), "IOB1") == spans_to_tags(spans, len(tags.split()), "BIOUL")


@pytest.mark.parametrize(
    ("encoding", "tags", "word", "message"),
    [
        ("BIO", "I-PER", 0, "the tag 'I-PER' cannot be at the start of a sentence in BIO"),
        ("BIO", "B-LOC I-PER", 1, "the tag 'I-PER' cannot be after 'B-LOC' in BIO"),
        ("BIO", "B-PER L-PER", 1, "'L-PER' is not a BIO tag"),
        ("BIO", "person", 0, "'person' is not a BIO tag"),
        ("IOB1", "O B-PER", 1, "the tag 'B-PER' cannot be after 'O' in IOB1"),
        ("IOB1", "U-PER", 0, "'U-PER' is not an IOB1 tag"),
        ("BIOUL", "B-PER O", 1, "the tag 'O' cannot be after 'B-PER' in BIOUL"),
        ("BIOUL", "O B-PER", 1, "the tag 'B-PER' cannot be at the end of a sentence in BIOUL"),
    ],
)
def test_the_first_mistake_is_found(encoding: str, tags: str, word: int, message: str) -> None:
    assert validate_tags(tags.split(), encoding) == (word, message)
