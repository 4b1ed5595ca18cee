"""brat's texts with their entities, by their characters, in a file .ann beside each."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.integers import DIGITS
from elmo_plugin.importers.document_lines import sentences_of_document
from elmo_plugin.importers.entity_places import (
    AnnotatedText,
    Entity,
    encloses_covered_text,
    entity_of_pieces,
)
from elmo_plugin.importers.tagged_file import TaggedFile
from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.importers.text import read_lines, read_text

_PLACES = f"{DIGITS} {DIGITS}"
_ENTITY = re.compile(rf"T\d+\t(?P<kind>\S+) (?P<places>{_PLACES}(;{_PLACES})*)(\t(?P<text>.*))?")


def is_brat(source: TaggedFile) -> bool:
    """Returns whether a file is a text or the entities of brat, or is a folder of them."""
    return len(_texts_of_brat(source.file)) > 0


def sentences_of_brat(source: TaggedFile) -> Iterator[TaggedSentence]:
    """
    Yields the lines of all texts, each a sentence, with entities in BIO. Raises
    `ConfigurationError`, naming file and line, if an entity is malformed.
    """
    source.report.took("texts, each line a sentence, with brat's entities in .ann")
    for file in _texts_of_brat(source.file):
        entities = _read_entities(str(Path(file).with_suffix(".ann")), source)
        text = read_text(file, source.options, source.report)
        if _count_carriage_returns(text, entities):
            entities = [_without_carriage_returns(text, entity) for entity in entities]
        yield from sentences_of_document(Path(file).name, AnnotatedText(text, entities), source)


def _texts_of_brat(path: str) -> list[str]:
    """
    Returns the paths of brat's texts. `path` may be a folder with texts, or one .txt or .ann file.
    A .txt file without an .ann file beside it is not a text of brat, and is left out.

    Raises `ConfigurationError`, naming the file, if an .ann file is without its text.
    """
    if Path(path).is_dir():
        annotation_files = sorted(Path(path).rglob("*.ann"))
    elif path.endswith((".ann", ".txt")):
        annotation_files = [Path(path).with_suffix(".ann")]
    else:
        annotation_files = []
    text_files = []
    for annotation_file in annotation_files:
        if not annotation_file.exists():
            continue  # `path` is a .txt file without annotations
        text_file = annotation_file.with_suffix(".txt")
        if not text_file.exists():
            raise ConfigurationError(
                f"{annotation_file}: expected the text of this file beside it, {text_file}"
            )
        text_files.append(str(text_file))
    return text_files


def _read_entities(file: str, source: TaggedFile) -> list[Entity]:
    """
    Reads the entities of an .ann file. Raises `ConfigurationError`, naming file and line, if an
    entity is malformed.
    """
    entities = []
    for number, line in enumerate(read_lines(file, source.options, source.report), start=1):
        if not line.startswith("T"):
            continue  # relations, events, attributes and notes
        found = _ENTITY.fullmatch(line)
        if found is None:
            raise ConfigurationError(
                f"{file}, line {number}: expected such as T1, the type and the characters "
                f"of an entity, and its text between tabs, got {line!r:.60}"
            )
        # The start and the end of each piece of the entity
        places = [int(digits) for digits in re.findall(r"\d+", found["places"])]
        entities.append(entity_of_pieces(places, found["kind"], found["text"] or ""))
    return entities


def _count_carriage_returns(text: str, entities: Sequence[Entity]) -> bool:
    """
    Returns whether the places of entities count a carriage return at the end of each line. brat
    counts it in files of Windows, but it was removed when `text` was read.
    """
    # An .ann file repeats the text of each entity, so both ways to count can be tried. An entity in
    # pieces does not help, because its text leaves out the words between the pieces.
    whole_entities = [entity for entity in entities if not entity.is_in_pieces]
    if all(encloses_covered_text(text, entity) for entity in whole_entities):
        return False
    for entity in whole_entities:
        if not encloses_covered_text(text, _without_carriage_returns(text, entity)):
            return False
    return True


def _without_carriage_returns(text: str, entity: Entity) -> Entity:
    """
    Returns an entity with its places in `text`, in which a line ends with one character. The places
    of `entity` count two characters, a carriage return and a line feed.
    """
    text_of_windows = text.replace("\n", "\r\n")
    n_ends_before_start = text_of_windows.count("\n", 0, entity.start)
    n_ends_before_end = text_of_windows.count("\n", 0, entity.end)
    return entity._replace(
        start=entity.start - n_ends_before_start, end=entity.end - n_ends_before_end
    )
