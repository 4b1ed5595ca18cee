"""A document whose entities are given by their characters, as its lines: each is a sentence."""

from collections import deque
from collections.abc import Iterator, Sequence

from elmo_plugin.importers.entity_places import (
    AnnotatedText,
    Entity,
    sentence_of_places,
    words_of_text,
)
from elmo_plugin.importers.report import Unusable
from elmo_plugin.importers.tagged_file import TaggedFile
from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.tasks.tokenizers import RawTextTokenizer


def sentences_of_document(
    name: str, document: AnnotatedText, source: TaggedFile
) -> Iterator[TaggedSentence]:
    """
    Yields the lines of a document, with the entities in BIO. A line is left out if an entity in it
    cannot be used: for example, if it reaches into another line, or consists of several pieces.
    """
    in_pieces = [entity for entity in document.entities if entity.is_in_pieces]
    # The entities in one piece that begin in this line or below it.
    following = deque(sorted(entity for entity in document.entities if not entity.is_in_pieces))
    line_start = 0  # in characters of the document
    end_of_earlier = 0  # the furthest end of the entities that begin in earlier lines
    for number, line in enumerate(document.text.split("\n"), start=1):
        line_end = line_start + len(line)
        in_line = []
        while following and following[0].start < line_end:
            in_line.append(following.popleft())
        furthest_end = max([end_of_earlier, *(entity.end for entity in in_line)])
        crosses_lines = end_of_earlier > line_start or furthest_end > line_end
        place = f"{name}, line {number}"
        if not line.strip():
            pass  # a blank line is no sentence
        elif crosses_lines:
            source.report.leave_out("with entities in several lines", place)
        elif _has_pieces(line_start, line_end, in_pieces):
            source.report.leave_out("with entities in several pieces", place)
        else:
            try:
                sentence = _sentence_of_line(place, line, line_start, in_line, source.tokenizer)
                yield sentence._replace(document=name)
            except Unusable as error:
                source.report.leave_out(error.reason, f"{place} ({error})")
        end_of_earlier = furthest_end
        line_start = line_end + 1
    for entity in following:
        source.report.leave_out("with entities that are not in the text", f"{name} ({entity.kind})")


def _sentence_of_line(
    place: str, line: str, start: int, entities: Sequence[Entity], tokenizer: RawTextTokenizer
) -> TaggedSentence:
    """
    Returns a line with its entities in BIO. The line begins at the character `start` of the
    document, in which the entities are counted.
    """
    counted_in_line: list[Entity] = []
    for entity in entities:
        counted_in_line.append(entity._replace(start=entity.start - start, end=entity.end - start))
    words = words_of_text(line, tokenizer)
    return sentence_of_places(place, words, AnnotatedText(line, counted_in_line))


def _has_pieces(start: int, end: int, in_pieces: Sequence[Entity]) -> bool:
    """Returns whether an entity in several pieces has characters between two places."""
    return any(entity.start < end and entity.end > start for entity in in_pieces)
