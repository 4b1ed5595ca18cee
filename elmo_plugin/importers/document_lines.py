"""A document whose entities are given by their characters, as its lines: each is a sentence."""

from collections import deque
from collections.abc import Iterator, Sequence

from elmo_plugin.importers.entity_places import Entity, sentence_of_places, words_of_text
from elmo_plugin.importers.report import Report, Unusable
from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.tasks.tokenizers import RawTextTokenizer


def sentences_of_document(
    name: str,
    text: str,
    entities: Sequence[Entity],
    tokenizer: RawTextTokenizer,
    report: Report,
) -> Iterator[TaggedSentence]:
    """
    Yields the lines of a document, with the entities in BIO. A line is left out if an entity in it
    cannot be used, such as one that reaches into another line, or one in pieces.
    """
    start = 0  # of the line, in characters of the document
    reached = 0  # the end of the entities that began in earlier lines
    in_pieces = [entity for entity in entities if entity.is_in_pieces]
    # The entities in one piece that begin after the lines that have been read.
    rest = deque(sorted(entity for entity in entities if not entity.is_in_pieces))
    for number, line in enumerate(text.split("\n"), start=1):
        end = start + len(line)
        here = []
        while rest and rest[0].start < end:
            here.append(rest.popleft())
        furthest = max([reached, *(entity.end for entity in here)])
        place = f"{name}, line {number}"
        if not line.strip():
            pass  # a blank line
        elif reached > start or furthest > end:
            report.leave_out("with entities in several lines", place)
        elif _has_pieces(start, end, in_pieces):
            report.leave_out("with entities in several pieces", place)
        else:
            try:
                sentence = _sentence_of_line(place, line, start, here, tokenizer)
                yield sentence._replace(document=name)
            except Unusable as error:
                report.leave_out(error.reason, f"{place} ({error})")
        reached = furthest
        start = end + 1
    for entity in rest:
        report.leave_out("with entities that are not in the text", f"{name} ({entity.kind})")


def _sentence_of_line(
    place: str, line: str, start: int, entities: Sequence[Entity], tokenizer: RawTextTokenizer
) -> TaggedSentence:
    """Returns a line with its entities in BIO. It begins at the character `start` of the text."""
    in_line = []
    for entity in entities:
        in_line.append(entity._replace(start=entity.start - start, end=entity.end - start))
    return sentence_of_places(place, words_of_text(line, tokenizer), line, in_line)


def _has_pieces(start: int, end: int, in_pieces: Sequence[Entity]) -> bool:
    """Returns whether an entity in several pieces has characters between two places."""
    return any(entity.start < end and entity.end > start for entity in in_pieces)
