"""brat's texts with their entities, by their characters, in a file .ann beside each."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.document_lines import sentences_of_document
from elmo_plugin.importers.entity_places import Entity, encloses_covered_text, entity_of_pieces
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.importers.text import read_lines, read_text
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer

_PLACES = r"\d{1,18} \d{1,18}"
_ENTITY = re.compile(rf"T\d+\t(?P<kind>\S+) (?P<places>{_PLACES}(;{_PLACES})*)(\t(?P<text>.*))?")


def texts_of_brat(path: str) -> list[str]:
    """
    Returns the files of brat's texts: all below a folder, or the one that a path to its .txt or its
    .ann names. A text counts only if an .ann is beside it.

    Raises `ConfigurationError`, naming the file, if an .ann is without its text.
    """
    if Path(path).is_dir():
        annotations = sorted(Path(path).rglob("*.ann"))
    elif path.endswith((".ann", ".txt")):
        annotations = [Path(path).with_suffix(".ann")]
    else:
        annotations = []
    texts = []
    for file in annotations:
        text = file.with_suffix(".txt")
        if file.exists() and not text.exists():
            raise ConfigurationError(f"{file}: expected the text of this file beside it, {text}")
        if file.exists():
            texts.append(str(text))
    return texts


def sentences_of_brat(
    file: str, options: ImportOptions, report: Report
) -> Iterator[TaggedSentence]:
    """
    Yields the lines of a text, each a sentence, with entities in BIO. Raises `ConfigurationError`,
    naming file and line, if an entity is malformed.
    """
    annotations = str(Path(file).with_suffix(".ann"))
    report.took("texts, each line a sentence, with brat's entities in .ann")
    entities: list[Entity] = []
    for number, line in enumerate(read_lines(annotations, options, report), start=1):
        if not line.startswith("T"):
            continue  # relations, events, attributes and notes
        found = _ENTITY.fullmatch(line)
        if found is None:
            raise ConfigurationError(
                f"{annotations}, line {number}: expected such as T1, the type and the characters "
                f"of an entity, and its text between tabs, got {line!r:.60}"
            )
        places = [int(digits) for digits in re.findall(r"\d+", found["places"])]
        entities.append(entity_of_pieces(places, found["kind"], found["text"] or ""))
    text = read_text(file, options, report)
    if _counts_two_for_ends(text, entities):
        entities = [_with_one_for_ends(text, entity) for entity in entities]
    tokenizer = SpacyRulesTokenizer(options.language)
    yield from sentences_of_document(Path(file).name, text, entities, tokenizer, report)


def _counts_two_for_ends(text: str, entities: Sequence[Entity]) -> bool:
    """
    Returns whether places count the end of a line as two characters, as brat does in files of
    Windows: then the entities' texts are at the places that count two, and not at others.
    """
    # The text of an entity in pieces leaves out the words between them.
    whole = [entity for entity in entities if not entity.is_in_pieces]
    if all(encloses_covered_text(text, entity) for entity in whole):
        return False
    return all(encloses_covered_text(text, _with_one_for_ends(text, entity)) for entity in whole)


def _with_one_for_ends(text: str, entity: Entity) -> Entity:
    """
    Returns an entity whose places count two characters for each end of a line, with places that
    count one, as in `text`.
    """
    counted = text.replace("\n", "\r\n")
    ends_before_start = counted.count("\n", 0, entity.start)
    ends_before_end = counted.count("\n", 0, entity.end)
    return entity._replace(start=entity.start - ends_before_start, end=entity.end - ends_before_end)
