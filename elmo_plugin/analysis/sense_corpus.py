"""Sentences whose words have senses, in two formats, and the first sense of each lemma."""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.formats.json_files import is_list_of, parse_json
from elmo_plugin.tasks import Line, read_text_lines

LemmaKey = tuple[str, str]  # a lemma and its part of speech (n, v, a or r)
_PARTS_OF_SPEECH = {"NOUN": "n", "VERB": "v", "ADJ": "a", "ADV": "r"}


class Target(NamedTuple):
    """One or several words with a sense."""

    first: int  # the position of the first word in its sentence
    length: int
    lemma: str  # in lower case, with "_" for spaces
    part_of_speech: str  # n, v, a or r
    senses: list[str]  # the correct ones, as keys of WordNet

    @property
    def lemma_key(self) -> LemmaKey:
        """The lemma and part of speech."""
        return self.lemma, self.part_of_speech


class SenseSentence(NamedTuple):
    """Words, and which of them have senses."""

    words: list[str]
    targets: list[Target]


def read_senses(path: str | os.PathLike[str]) -> Iterator[SenseSentence]:
    """
    Reads sentences with senses from a file in one of two formats.

    A file whose name ends in `.xml` is a corpus of the unified evaluation framework of Raganato et
    al. (2017). The senses of `semcor.data.xml`, for example, are in `semcor.gold.key.txt` next to
    it.

    Any other file has a JSON object in each line, with the fields `tokens` and `targets`. A target
    has the fields `index`, `length`, `lemma`, `pos` and `senses`.

    Raises `ConfigurationError`, naming the file and a line or an instance, if a file is malformed.
    """
    if str(path).endswith(".xml"):
        senses_path = Path(str(path).removesuffix(".data.xml") + ".gold.key.txt")
        yield from _read_xml(str(path), _read_instance_senses(senses_path))
        return
    for line in read_text_lines(str(path)):
        if line.text.strip():
            yield _parse_line(line)


def _parse_line(line: Line) -> SenseSentence:
    """
    Returns the sentence in a line of JSON. Raises `ConfigurationError`, naming file and line, if it
    does not describe one.
    """
    with as_configuration_error():
        content = parse_json(line.text, line.location, is_line=True)
    try:
        return _sentence_of_json(content)
    except (KeyError, TypeError, AttributeError):
        raise line.error(
            'expected an object with "tokens" and "targets", each target with "index" and '
            '"length" among the tokens, "lemma", "pos" (n, v, a or r) and "senses", got '
            f"{content!r:.200}"
        ) from None


def _sentence_of_json(content: Any) -> SenseSentence:
    """
    Returns the sentence that a value of JSON describes. Raises `KeyError`, `TypeError` or
    `AttributeError` if it does not describe one; the caller names file and line.
    """
    words = content["tokens"]
    if not is_list_of(words, str) or not is_list_of(content["targets"], dict):
        raise TypeError
    targets = [_target_of_json(target) for target in content["targets"]]
    for target in targets:
        if target.first + target.length > len(words):
            raise TypeError
    return SenseSentence(words, targets)


def _target_of_json(content: dict[str, Any]) -> Target:
    """
    Returns the target that an object of JSON describes. Raises `KeyError`, `TypeError` or
    `AttributeError` if it does not describe one; the caller names file and line.
    """
    index = content["index"]
    length = content.get("length", 1)
    lemma = content["lemma"]
    part_of_speech = content["pos"]
    senses = content["senses"]
    # Not by `isinstance`, because `True` is an `int`.
    are_integers = type(index) is int and type(length) is int
    if not are_integers or index < 0 or length < 1:
        raise TypeError
    if not is_list_of(senses, str) or not senses or "" in senses:
        raise TypeError
    if not lemma or part_of_speech not in _PARTS_OF_SPEECH.values():
        raise TypeError
    return Target(index, length, _as_in_wordnet(lemma), part_of_speech, senses)


def _as_in_wordnet(lemma: str) -> str:
    """Returns a lemma in lower case, with "_" for spaces, as WordNet has it."""
    return lemma.lower().replace(" ", "_")


def _read_instance_senses(path: Path) -> dict[str, list[str]]:
    """
    Reads the file with the senses of a corpus in XML, and returns the senses of each instance by
    its id. Raises `ConfigurationError`, naming file and line, if a line is without senses, or if
    two lines have the same id.
    """
    senses_by_id: dict[str, list[str]] = {}
    for line in read_text_lines(str(path)):
        if not line.columns:
            continue  # a blank line
        identifier = line.columns[0]
        senses = line.columns[1:]
        if not senses:
            raise line.error("expected the id of an instance and its senses")
        if identifier in senses_by_id:
            raise line.error(f"an earlier line has the senses of {identifier!r}")
        senses_by_id[identifier] = senses
    return senses_by_id


def _read_xml(path: str, senses_by_id: dict[str, list[str]]) -> Iterator[SenseSentence]:
    """Reads the sentences of a corpus in XML, given the senses of its instances."""
    try:
        for _, element in ElementTree.iterparse(path):
            if element.tag == "sentence":
                yield _parse_sentence(element, senses_by_id, path)
                element.clear()  # otherwise all sentences would stay in memory
    except ElementTree.ParseError as error:
        raise ConfigurationError(f"{path}: not well-formed XML ({error})") from None


def _parse_sentence(
    sentence: Iterable[ElementTree.Element], senses_by_id: dict[str, list[str]], path: str
) -> SenseSentence:
    """
    Reads a sentence of XML. Its elements are instances, with senses, and words without a sense. An
    element may have several words, with spaces between them.
    """
    words: list[str] = []
    targets = []
    for element in sentence:
        if element.tag == "instance":
            targets.append(_parse_instance(element, len(words), senses_by_id, path))
        words += _words_of_element(element)
    return SenseSentence(words, targets)


def _parse_instance(
    element: ElementTree.Element, first: int, senses_by_id: dict[str, list[str]], path: str
) -> Target:
    """
    Returns the target that an instance describes; `first` is the position of its first word. Raises
    `ConfigurationError`, naming file and instance, if something is missing.
    """
    identifier = element.get("id", "")
    if identifier not in senses_by_id:
        raise ConfigurationError(f"{path}: the instance {identifier!r} is not in the file of keys")
    length = len(_words_of_element(element))
    lemma = _as_in_wordnet(element.get("lemma", ""))
    part_of_speech = _PARTS_OF_SPEECH.get(element.get("pos", ""))
    if length == 0 or not lemma or part_of_speech is None:
        raise ConfigurationError(
            f"{path}: the instance {identifier!r} needs words, a lemma, and as pos one of "
            f"{', '.join(_PARTS_OF_SPEECH)}"
        )
    return Target(first, length, lemma, part_of_speech, senses_by_id[identifier])


def _words_of_element(element: ElementTree.Element) -> list[str]:
    """Returns the words between the tags of an element."""
    if element.text is None:
        return []
    return element.text.split()


def read_first_senses(path: str | os.PathLike[str]) -> dict[LemmaKey, str]:
    """
    Reads the first sense of each lemma. A line has four columns with tabs between them: lemma, part
    of speech, rank, and the key of the sense. Senses of another rank than 1 are left out. Raises
    `ConfigurationError`, naming file and line, if a line has too few columns.
    """
    senses = {}
    for line in read_text_lines(str(path)):
        columns = line.text.rstrip("\r\n").split("\t")
        if len(columns) < 4:
            raise line.error("expected lemma, part of speech, rank and key, with tabs between them")
        lemma, part_of_speech, rank, key = columns[:4]
        if rank == "1":
            senses[_as_in_wordnet(lemma), part_of_speech] = key
    return senses


def wordnet_first_senses() -> Callable[[LemmaKey], str | None]:
    """
    Returns a function that looks up the first sense of a lemma and part of speech in nltk's
    WordNet. Raises `ConfigurationError` if WordNet is not installed.
    """
    from nltk.corpus import wordnet  # here, because the import looks for WordNet's files

    try:
        wordnet.ensure_loaded()
    except LookupError:
        raise ConfigurationError(
            "WordNet not found: download it by `python -m nltk.downloader wordnet`, or name a "
            "file of first senses"
        ) from None

    def first_sense(lemma_key: LemmaKey) -> str | None:
        """Returns the sense key of a lemma's most frequent meaning, or `None` if it has none."""
        lemma, part_of_speech = lemma_key
        synsets = wordnet.synsets(lemma, part_of_speech)
        if not synsets:
            return None
        # WordNet lists the most frequent meaning first. Several lemmas share a meaning, and each of
        # them has its own key.
        most_frequent_meaning = synsets[0]
        for sense in most_frequent_meaning.lemmas():
            if sense.name().lower() == lemma:
                return str(sense.key())
        return None

    return first_sense
