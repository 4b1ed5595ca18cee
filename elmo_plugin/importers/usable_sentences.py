"""Checks that tagged sentences are words with one tag each, so that a model can learn from them."""

import re
from collections.abc import Iterator, Sequence

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.typography import SEPARATE
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.tasks.spans import parse_tag

_MOST_WORDS = 1_000  # of a sentence
_MANY_WORDS = 100  # of the only sentence of a file; it may be several
_MOST_CHARACTERS = 15  # Han or kana, of a word
_MOST_SPACES = 2  # in a word, such as "10 000 000"
_BETWEEN_COLUMNS = re.compile(r"[\t\r\n]+")  # in the files that are written
_BETWEEN_TAGS = re.compile(r"[|,;/+]")


def usable_sentences(
    file: str, sentences: Sequence[TaggedSentence], report: Report
) -> Iterator[TaggedSentence]:
    """
    Yields the sentences, without words that are blank. Raises `ConfigurationError`, naming file and
    place, if a word is a whole text, a tag belongs to a whole sentence, a word has several tags, or
    a sentence is as long as a document.
    """
    _check_spaces(file, sentences)
    for sentence in sentences:
        num_words = len(sentence.words)
        if num_words == 0:
            place = sentence.places[0] if sentence.places else ""
            report.leave_out("without a word", place)
            continue
        if num_words > _MOST_WORDS:
            raise ConfigurationError(
                f"{file}, {sentence.places[0]}: a sentence of {num_words:,} words; a blank line, "
                "or a column with the number of the sentence, ends one"
            )
        if len(sentences) == 1 and num_words > _MANY_WORDS:
            report.took(
                f"all {num_words} words are one sentence; a blank line, or a column with the "
                "number of the sentence, ends one"
            )
        usable = _without_blank_words(sentence, report)
        usable = _with_words_for_columns(usable, report)
        for place, word, tag in zip(usable.places, usable.words, usable.tags, strict=True):
            _check_word(f"{file}, {place}", word)
            _check_tag(f"{file}, {place}", tag)
        if usable.words:
            yield usable


def _check_spaces(file: str, sentences: Sequence[TaggedSentence]) -> None:
    """
    Raises `ConfigurationError` for the first word with many spaces, as in a text, or if more than
    half of the words have a space.
    """
    with_spaces = []
    num_words = 0
    for sentence in sentences:
        for place, word in zip(sentence.places, sentence.words, strict=True):
            num_words += 1
            if word.count(" ") > _MOST_SPACES:
                raise _text_for_word(f"{file}, {place}", word)
            if " " in word:
                with_spaces.append((place, word))
    if 2 * len(with_spaces) > num_words:
        place, word = with_spaces[0]
        raise _text_for_word(f"{file}, {place}", word)


def _text_for_word(where: str, word: str) -> ConfigurationError:
    """Returns the error that a whole text stands in place of a word."""
    return ConfigurationError(
        f"{where}: expected words, got a whole text, {word!r:.60}; it must be split into words, "
        "each with its tag, or --column word=NAME chooses another column"
    )


def _without_blank_words(sentence: TaggedSentence, report: Report) -> TaggedSentence:
    """Returns a sentence without the words that are blank."""
    kept = []
    for number, word in enumerate(sentence.words):
        if word.strip(" \t\r\n"):
            kept.append(number)
        else:
            report.took(f"the blank word in {sentence.places[number]} is left out")
    if len(kept) == len(sentence.words):
        return sentence
    return sentence._replace(
        places=[sentence.places[number] for number in kept],
        words=[sentence.words[number] for number in kept],
        tags=[sentence.tags[number] for number in kept],
    )


def _with_words_for_columns(sentence: TaggedSentence, report: Report) -> TaggedSentence:
    """
    Returns a sentence whose words have spaces for their tabs and line ends. Words in JSON may have
    them, but columns cannot.
    """
    words = []
    for word in sentence.words:
        if _BETWEEN_COLUMNS.search(word):
            # The report shows this line once, however often it comes.
            report.took("tabs and line ends within words become spaces")
            word = _BETWEEN_COLUMNS.sub(" ", word).strip(" ")
        words.append(word)
    return sentence._replace(words=words)


def _check_word(where: str, word: str) -> None:
    """Raises `ConfigurationError` if a word is rather a text, in Chinese or Japanese characters."""
    if len(SEPARATE.findall(word)) > _MOST_CHARACTERS:
        raise _text_for_word(where, word)


def _check_tag(where: str, tag: str) -> None:
    """Raises `ConfigurationError` for the tags of a sentence, or for several tags of one word."""
    has_space = " " in tag or _BETWEEN_COLUMNS.search(tag) is not None
    if has_space or tag.startswith(("[", "(")):
        raise ConfigurationError(
            f"{where}: expected a word and its tag in each line, got the tag {tag!r:.50}; "
            "--separator or --column tag=NAME chooses another, and JSON lines have all words and "
            "tags of a sentence"
        )
    if _has_several_tags(tag):
        raise ConfigurationError(
            f"{where}: expected one tag for each word, got several, {tag!r:.50}; keep one of them, "
            "or --column tag=NAME chooses another column"
        )


def _has_several_tags(tag: str) -> bool:
    """Returns whether a tag is several tags of entities, at least one with a type: `B-PER|O`."""
    tags = [parse_tag(part) for part in _BETWEEN_TAGS.split(tag)]
    if len(tags) == 1:
        return False
    if any(part is None for part in tags):
        return False  # a tag of another kind may have such characters
    return any(part.kind for part in tags if part is not None)
