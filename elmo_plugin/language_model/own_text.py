"""A user's own text for a biLM, in sentences and words: files to train, validate and test on."""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TextIO

from elmo_plugin.bilm import check_no_boundaries
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.fasta import is_fasta, read_fasta, residues
from elmo_plugin.common.formats.sentences import (
    has_attached_full_stop,
    sentence_lines,
    sentence_place,
)
from elmo_plugin.common.formats.text_files import decode, read_lines
from elmo_plugin.common.parts import PARTS
from elmo_plugin.common.progress import describe_seconds
from elmo_plugin.common.spacy_rules import SpacyRules

# Lines that stay together when a text is split: neighbouring sentences resemble one another.
BLOCK_LINES = 10
# In each period of this many blocks, one block is for dev and one for test.
SHORTEST_PERIOD = 20
# Periods of a long text are longer, so that dev and test have about this many blocks at most.
_MOST_BLOCKS_OF_PART = 500
# A text of fewer lines or sentences cannot be split: the last block of a period is for test.
_LEAST_TO_SPLIT = BLOCK_LINES * (SHORTEST_PERIOD - 1) + 1
# Stands for a part, for the files of one text that is to be split among all parts.
_ALL_PARTS = ""
_MOST_FILES_IN_ERROR = 3  # enough to recognize them
# How often a word must occur to be predicted.
MIN_COUNT = 5


class Recipe(NamedTuple):
    """How to train on a text of a certain size."""

    max_words: float  # the most running words that the text may have
    size: str  # a name in bilm.libsonnet
    epochs: int
    max_vocabulary: int  # the most words that the softmax predicts
    negatives: int | None  # `None` computes the full softmax
    dropout: float
    batch_size: int
    rate: float
    speed: int  # about the words per second of a CPU core


RECIPES = (
    Recipe(150_000, "micro", 10, 5_000, None, 0.1, 32, 0.005, 5000),
    Recipe(500_000, "mini", 6, 5_000, None, 0.1, 64, 0.005, 3500),
    Recipe(2_000_000, "mini", 4, 10_000, None, 0.1, 64, 0.005, 3000),
    Recipe(20_000_000, "tiny", 4, 30_000, 2048, 0, 128, 0.005, 9000),
    Recipe(200_000_000, "base", 2, 30_000, 4096, 0, 128, 0.003, 5500),
    Recipe(float("inf"), "small", 10, 200_000, 8192, 0.1, 128, 0.001, 2200),
)


@dataclass
class TextFigures:
    """Counts the sentences and words of a file, and the signs of likely mistakes in it."""

    sentences: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    # Counts of sentences:
    stop_at_end: int = 0  # whose last word has its full stop, as in "The end."
    stop_inside: int = 0  # in which an earlier word has a full stop, as in "The end. Then"
    cut_at_end: int = 0  # that end in a letter, a digit or a comma, as in "The end of the"
    repeated: int = 0  # of dev.txt that are also in train.txt

    @property
    def words(self) -> int:
        """The number of running words."""
        return self.counts.total()

    @property
    def frequent(self) -> list[int]:
        """The counts of the words that are frequent enough to be predicted."""
        return [count for count in self.counts.values() if count >= MIN_COUNT]

    def add(self, words: Sequence[str]) -> None:
        """Counts a sentence, its words, and the signs of likely mistakes in it."""
        self.sentences += 1
        self.counts.update(words)
        last_word = words[-1]
        if has_attached_full_stop(last_word):
            self.stop_at_end += 1
        if any(_ends_raw_sentence(word) for word in words[:-1]):
            self.stop_inside += 1
        last_character = last_word[-1]
        if last_character.isalnum() or last_character == ",":
            self.cut_at_end += 1

    @property
    def looks_wrapped(self) -> bool:
        """Whether the lines break in the middle of sentences, as in a book."""
        # Lines that end in a word may also be headings or tokenized without full stops. But if full
        # stops are inside many of the lines as well, the sentences go across lines.
        lines_end_within_sentences = self.cut_at_end > self.sentences / 2
        sentences_end_within_lines = self.stop_inside > self.sentences / 5
        return lines_end_within_sentences and sentences_end_within_lines


def _ends_raw_sentence(word: str) -> bool:
    """
    Returns whether a word seems to end a sentence of raw text: it has a full stop, and is too long
    for an abbreviation.
    """
    return len(word) > len("Mrs.") and has_attached_full_stop(word)


def write_text(
    files: Mapping[str, Sequence[Path]],
    folder: Path,
    language: str | None = None,
    column: int | None = None,
) -> dict[str, TextFigures]:
    """
    Writes train.txt, dev.txt and maybe test.txt: one sentence per line, its words between spaces,
    in NFC.

    # Parameters

    files : `Mapping[str, Sequence[Path]]`
        The files for "train", for "dev" and maybe for "test"; or only "", with the files of one
        text that is to be split among these parts.
    folder : `Path`
        Gets the files.
    language : `str`, optional
        The code of the language of raw text, with a paragraph or more per line: spaCy's rules for
        it find the sentences and words. By default each line is a sentence whose words stand
        between spaces.
    column : `int`, optional
        The texts are tables, and this is the number of their column of words.

    Returns figures of the file of each part. Raises `BiLmError` if a text cannot be read, naming
    the file and the place in it; if a part gets no sentence; or if no word of the training text is
    frequent enough to be predicted.
    """
    rules = None
    if language is not None:
        rules = SpacyRules(language, "sentencizer")
    figures = _write_sentences(files, folder, rules, column)
    for part, figures_of_part in figures.items():
        if figures_of_part.sentences == 0:
            # Why there may be fewer sentences than the user expects.
            hint = ""
            if column is not None:
                hint = "; a blank line ends a sentence"
            elif language is None:
                hint = "; --language CODE finds the sentences in raw text"
            raise BiLmError(f"{_expected_text(files)}; {part} got no sentence{hint}")
    _check_frequencies(figures["train"])
    figures["dev"].repeated = _count_repeated(folder)
    return figures


def _check_frequencies(train: TextFigures) -> None:
    """
    Raises `BiLmError` if no word of the training text is frequent enough to be predicted, as when
    each line of raw text is taken for one word.
    """
    if train.sentences < MIN_COUNT:
        return  # for a text so small, `text_recipe` takes rarer words as well
    if not train.frequent:
        raise BiLmError(
            f"none of {len(train.counts):,} words occurs {MIN_COUNT} times, so there is nothing "
            "to learn: is the text split into words? --language CODE does it"
        )


def _write_sentences(
    files: Mapping[str, Sequence[Path]],
    folder: Path,
    rules: SpacyRules | None,
    column: int | None,
) -> dict[str, TextFigures]:
    """
    Writes the sentences of each part into its file in the folder, and returns the figures of each
    part. `rules` and `column` say how the texts are read, as for `write_text`.
    """
    parts = [part for part in PARTS if part in files or _ALL_PARTS in files]
    figures = {part: TextFigures() for part in parts}
    with ExitStack() as stack:
        outputs: dict[str, TextIO] = {}
        for part in parts:
            file = (folder / f"{part}.txt").open("w", encoding="utf-8")
            outputs[part] = stack.enter_context(file)
        for part, words in _assigned_sentences(files, rules, column):
            figures[part].add(words)
            outputs[part].write(" ".join(words) + "\n")
    return figures


def _expected_text(files: Mapping[str, Sequence[Path]]) -> str:
    """Returns the beginning of an error message: what the files should contain."""
    expected = "text"
    if _ALL_PARTS in files:
        expected = f"at least {_LEAST_TO_SPLIT} sentences to train, validate and test on"
    all_files = list(chain.from_iterable(files.values()))
    named_files = ", ".join(str(file) for file in all_files[:_MOST_FILES_IN_ERROR])
    return f"{named_files}: expected {expected}"


def _count_repeated(folder: Path) -> int:
    """Returns the number of sentences of dev.txt that are also in train.txt."""
    with (folder / "dev.txt").open("rb") as dev:
        dev_counts = Counter(dev)
    # train.txt may be large, so only its lines that are also in dev.txt are kept in memory.
    repeated: set[bytes] = set()
    with (folder / "train.txt").open("rb") as train:
        for line in train:
            if line in dev_counts:
                repeated.add(line)
    return sum(dev_counts[line] for line in repeated)


def _assigned_sentences(
    files: Mapping[str, Sequence[Path]], rules: SpacyRules | None, column: int | None
) -> Iterator[tuple[str, list[str]]]:
    """Yields the part of each sentence, and its words."""
    for part, paths in files.items():
        if part == _ALL_PARTS:
            yield from _split_sentences(paths, rules, column)
        else:
            for line, place in _lines(paths, column):
                for words in _sentences(line, place, rules):
                    yield part, words


def _split_sentences(
    paths: Sequence[Path], rules: SpacyRules | None, column: int | None
) -> Iterator[tuple[str, list[str]]]:
    """
    Divides one text among the parts, and yields the part of each sentence, and its words. The text
    is divided in blocks of lines, so that all sentences of a line get the same part. If there are
    too few lines, it is divided in blocks of sentences.
    """
    num_lines = sum(1 for _ in _lines(paths, column))
    divides_lines = num_lines >= _LEAST_TO_SPLIT
    if divides_lines:
        num_blocks = num_lines // BLOCK_LINES
    else:
        num_blocks = _count_sentences(paths, rules, column) // BLOCK_LINES
    period = max(SHORTEST_PERIOD, num_blocks // _MOST_BLOCKS_OF_PART)
    num_sentences_before = 0
    for num_lines_before, (line, place) in enumerate(_lines(paths, column)):
        for words in _sentences(line, place, rules):
            if divides_lines:
                block = num_lines_before // BLOCK_LINES
            else:
                block = num_sentences_before // BLOCK_LINES
            yield _part_of(block, period), words
            num_sentences_before += 1


def _count_sentences(paths: Sequence[Path], rules: SpacyRules | None, column: int | None) -> int:
    """Returns the number of sentences in a text. Its lines may be very long, as whole books are."""
    count = 0
    for line, place in _lines(paths, column):
        count += sum(1 for _ in _sentences(line, place, rules))
    return count


def _part_of(block: int, period: int) -> str:
    """
    Returns the part of the block with this index. In each period of so many blocks, the last block
    of the first half is for dev, the last block of the second half is for test, and the others are
    for train.
    """
    block_in_period = block % period
    if block_in_period == period // 2 - 1:
        return "dev"
    if block_in_period == period - 1:
        return "test"
    return "train"


def _lines(paths: Sequence[Path], column: int | None) -> Iterator[tuple[str, str]]:
    """
    Yields each line with text in these files, and its place for errors. A protein in FASTA, and a
    sentence in a `column` of a table, come as a line.
    """
    for path in paths:
        if is_fasta(str(path)):
            yield from _proteins(str(path))
        else:
            yield from _text_lines(str(path), column)


def _proteins(file: str) -> Iterator[tuple[str, str]]:
    """
    Yields the letters of each record of FASTA, with spaces between them as if they were words, and
    the place of the record for errors.
    """
    for protein in read_fasta(file):
        if protein.letters:
            letters = [residue.text for residue in residues(protein.letters)]
            yield " ".join(letters), protein.place


def _text_lines(file: str, column: int | None) -> Iterator[tuple[str, str]]:
    """Yields each line with text in a file, and its place for errors."""
    for number, line in enumerate(sentence_lines(read_lines(file), file, column), start=1):
        if not line.isspace():
            place = sentence_place(file, number, column)
            yield decode(line, place), place


def _sentences(line: str, place: str, rules: SpacyRules | None) -> Iterator[list[str]]:
    """
    Yields the words of each sentence in a line, in NFC. The rules find the sentences and words;
    without rules the line is a sentence with its words between spaces. Raises `BiLmError`,
    beginning with `place`, if the rules cannot read the line or a word is a sentence boundary.
    """
    line = unicodedata.normalize("NFC", line)
    if rules is None:
        sentences = [line.split()]
    else:
        sentences = []
        try:
            for found in rules.sentences(line):
                sentences.append([word.text for word in found])
        except BiLmError as error:
            raise BiLmError(f"{place}: {error}") from None
    for words in sentences:
        if words:
            check_no_boundaries(words, place)
            yield words


def text_recipe(train: TextFigures) -> dict[str, str]:
    """
    Returns the arguments that suit a training text, each as an expression of Jsonnet. They are
    arguments of `bilm.train` and `bilm.adamw` in bilm.libsonnet.
    """
    recipe = _choose_recipe(train)
    # `</S>` must be in the vocabulary, and it occurs once in each sentence.
    min_count = min(MIN_COUNT, train.sentences)
    limits = (
        f"min_count: {{ words: {min_count} }}, max_vocab_size: {{ words: {recipe.max_vocabulary} }}"
    )
    # Each row of a batch is a stream of sentences, so there are at least as many sentences as rows.
    batch_size = min(recipe.batch_size, train.sentences)
    return {
        "sizes": f"bilm.sizes.{recipe.size}",
        "vocabulary": f"{{ {limits} }}",
        "epochs": str(recipe.epochs),
        "negatives": "null" if recipe.negatives is None else str(recipe.negatives),
        "dropout": str(recipe.dropout),
        "batch_size": str(batch_size),
        "rate": str(recipe.rate),
    }


def _choose_recipe(train: TextFigures) -> Recipe:
    """
    Returns the recipe for a training text of this size. If its vocabulary is too small to sample
    negatives from, the softmax is the full one.
    """
    fitting = [recipe for recipe in RECIPES if train.words <= recipe.max_words]
    recipe = fitting[0]  # the last recipe is for any size, so one always fits
    vocabulary_size = len(train.frequent)
    # The model takes fewer negatives than a third of the vocabulary.
    if recipe.negatives is not None and 3 * recipe.negatives >= vocabulary_size:
        return recipe._replace(negatives=None)
    return recipe


def describe_text(figures: Mapping[str, TextFigures]) -> Iterator[str]:
    """
    Yields lines for the user: the sizes of the files, likely mistakes in them, and the recipe that
    was chosen.
    """
    for part, figures_of_part in figures.items():
        num_sentences = figures_of_part.sentences
        yield f"{part}.txt: {num_sentences:,} sentences, {figures_of_part.words:,} words"
    train = figures["train"]
    dev = figures["dev"]
    if dev.repeated > dev.sentences / 5:  # a few sentences are repeated in any text
        yield (
            f"{dev.repeated:,} sentences of dev.txt are also in train.txt: their perplexity is "
            "too good"
        )
    yield (
        f"different words: {len(train.counts):,}; at least {MIN_COUNT} times: "
        f"{len(train.frequent):,}"
    )
    yield from _likely_mistakes(train)
    yield _describe_recipe(train)


def _likely_mistakes(train: TextFigures) -> Iterator[str]:
    """Yields a line for each sign that the training text is not split into sentences and words."""
    if sum(train.frequent) < train.words / 4:
        yield (
            "most words are too rare to be predicted: is the text split into words? --language "
            "CODE does it"
        )
    if train.stop_at_end > train.sentences / 2:
        yield "most sentences end in a word with its full stop: split raw text with --language CODE"
    if train.looks_wrapped:
        yield (
            "most lines end in the middle of a sentence: if the text is wrapped, write each "
            "paragraph in one line, and split it with --language CODE"
        )


def _describe_recipe(train: TextFigures) -> str:
    """Returns a line on the recipe for a training text, with about the time that it takes."""
    recipe = _choose_recipe(train)
    softmax = "the full softmax"
    if recipe.negatives is not None:
        softmax = f"{recipe.negatives:,} negatives"
    time = describe_seconds(train.words * recipe.epochs / recipe.speed)
    return (
        f"chosen: size {recipe.size}, {recipe.epochs} epochs, {softmax}; about {time} of a CPU core"
    )
