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
from elmo_plugin.common.formats.text_files import decode, looks_raw, read_lines, sentence_lines
from elmo_plugin.common.parts import PARTS
from elmo_plugin.common.progress import describe_seconds
from elmo_plugin.common.spacy_rules import SpacyRules

# Lines that stay together when a text is split: neighbouring sentences resemble one another.
BLOCK_LINES = 10
# Of this many blocks, one is for dev and one for test. A long text has more blocks, so that dev and
# test have at most 5,000 lines each.
BLOCKS = 20
_MAX_BLOCKS = 500
# How often a word must occur to be predicted.
MIN_COUNT = 5


class Recipe(NamedTuple):
    """How to train on a text of up to this many `words`."""

    words: float
    size: str  # a name in bilm.libsonnet
    epochs: int
    vocabulary: int  # the most words that the softmax predicts
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
    stop_inside: int = 0  # in which an earlier word has a full stop
    are_cut: int = 0  # that end in a letter, a digit or a comma
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
        """Counts a sentence."""
        self.sentences += 1
        self.counts.update(words)
        last = words[-1]
        if looks_raw(last):
            self.stop_at_end += 1
        if any(_ends_raw_sentence(word) for word in words[:-1]):
            self.stop_inside += 1
        if last[-1].isalnum() or last[-1] == ",":
            self.are_cut += 1

    @property
    def looks_wrapped(self) -> bool:
        """Whether the lines break in the middle of sentences, as in a book."""
        lines_end_within_sentences = self.are_cut > self.sentences / 2
        sentences_end_within_lines = self.stop_inside > self.sentences / 5
        return lines_end_within_sentences and sentences_end_within_lines


def _ends_raw_sentence(word: str) -> bool:
    """
    Returns whether a word seems to end a sentence of raw text: it has a full stop, and is too long
    for an abbreviation.
    """
    return len(word) > len("Mrs.") and looks_raw(word)


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
        The files of each role. The files under "" are one text, to be split among the roles.
    folder : `Path`
        Gets the files.
    language : `str`, optional
        The code of the language of raw text, with a paragraph or more per line: spaCy's rules for
        it find the sentences and words. By default each line is a sentence whose words stand
        between spaces.
    column : `int`, optional
        The texts are tables, and this is the number of their column of words.

    Raises `BiLmError`, naming file and line, if a text cannot be read, and if it is too short to be
    split.
    """
    rules = None
    if language is not None:
        rules = SpacyRules(language, "sentencizer")
    figures = _write_sentences(files, folder, rules, column)
    for role, found in figures.items():
        if found.sentences == 0:
            hint = ""
            if column is not None:
                hint = "; a blank line ends a sentence"
            elif language is None:
                hint = "; --language CODE finds the sentences in raw text"
            raise BiLmError(f"{_what_is_needed(files)}; {role} got no sentence{hint}")
    figures["dev"].repeated = _count_repeated(folder)
    train = figures["train"]
    if not train.frequent and train.sentences >= MIN_COUNT:
        raise BiLmError(
            f"none of {len(train.counts):,} words occurs {MIN_COUNT} times, so there is nothing "
            "to learn: is the text split into words? --language CODE does it"
        )
    return figures


def _write_sentences(
    files: Mapping[str, Sequence[Path]],
    folder: Path,
    rules: SpacyRules | None,
    column: int | None,
) -> dict[str, TextFigures]:
    """Writes the sentences of each role into its file, and returns the figures of each role."""
    roles = [role for role in PARTS if role in files or "" in files]
    figures = {role: TextFigures() for role in roles}
    with ExitStack() as stack:
        outputs: dict[str, TextIO] = {}
        for role in roles:
            file = (folder / f"{role}.txt").open("w", encoding="utf-8")
            outputs[role] = stack.enter_context(file)
        for role, words in _assigned_sentences(files, rules, column):
            figures[role].add(words)
            outputs[role].write(" ".join(words) + "\n")
    return figures


def _what_is_needed(files: Mapping[str, Sequence[Path]]) -> str:
    """Returns the beginning of an error: the files, and how much text they should have."""
    needed = "text"
    if "" in files:
        least = BLOCK_LINES * (BLOCKS - 1) + 1
        needed = f"at least {least} sentences to train, validate and test on"
    named = list(chain.from_iterable(files.values()))
    listed = ", ".join(str(file) for file in named[:3])
    return f"{listed}: expected {needed}"


def _count_repeated(folder: Path) -> int:
    """Returns the number of sentences of dev.txt that are also in train.txt."""
    with (folder / "dev.txt").open("rb") as dev:
        dev_lines = Counter(dev)
    repeated: set[bytes] = set()
    with (folder / "train.txt").open("rb") as train:
        for line in train:
            if line in dev_lines:
                repeated.add(line)
    return sum(dev_lines[line] for line in repeated)


def _assigned_sentences(
    files: Mapping[str, Sequence[Path]], rules: SpacyRules | None, column: int | None
) -> Iterator[tuple[str, list[str]]]:
    """Yields the role of each sentence, and its words."""
    for role, paths in files.items():
        if role == "":
            yield from _split_sentences(paths, rules, column)
        else:
            for line, place in _lines(paths, column):
                for words in _sentences(line, place, rules):
                    yield role, words


def _split_sentences(
    paths: Sequence[Path], rules: SpacyRules | None, column: int | None
) -> Iterator[tuple[str, list[str]]]:
    """
    Divides a text among the roles, in blocks of lines; if it has too few lines, in blocks of
    sentences. Yields the role of each sentence, and its words.
    """
    num_lines = sum(1 for _ in _lines(paths, column))
    # Of every `period` blocks one is for dev and one for test.
    period = max(BLOCKS, num_lines // BLOCK_LINES // _MAX_BLOCKS)
    divides_lines = num_lines > BLOCK_LINES * (BLOCKS - 1)
    count = 0  # of the lines so far; or of the sentences, if those are divided
    for line, place in _lines(paths, column):
        for words in _sentences(line, place, rules):
            block = count // BLOCK_LINES
            yield _role_of(block % period, period), words
            if not divides_lines:
                count += 1
        if divides_lines:
            count += 1


def _role_of(block: int, period: int) -> str:
    """Returns the role of a block: dev in the middle of each period, test at its end."""
    if block == period // 2 - 1:
        return "dev"
    if block == period - 1:
        return "test"
    return "train"


def _lines(paths: Sequence[Path], column: int | None) -> Iterator[tuple[str, str]]:
    """Yields each line with text in these files, and its place for errors."""
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
            place = f"{file}, line {number}"
            yield decode(line, place), place


def _sentences(line: str, place: str, rules: SpacyRules | None) -> Iterator[list[str]]:
    """Yields the words of each sentence in a line, in NFC; without rules a line is a sentence."""
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
    Returns the arguments of `bilm.train` and `bilm.adamw` that suit a text, each as an expression
    of Jsonnet.
    """
    recipe = _recipe(train)
    # The end of a sentence occurs as often as there are sentences, and must be in the vocabulary.
    min_count = min(MIN_COUNT, train.sentences)
    limits = (
        f"min_count: {{ words: {min_count} }}, max_vocab_size: {{ words: {recipe.vocabulary} }}"
    )
    return {
        "sizes": f"bilm.sizes.{recipe.size}",
        "vocabulary": f"{{ {limits} }}",
        "epochs": str(recipe.epochs),
        "negatives": "null" if recipe.negatives is None else str(recipe.negatives),
        "dropout": str(recipe.dropout),
        "batch_size": str(min(recipe.batch_size, train.sentences)),
        "rate": str(recipe.rate),
    }


def _recipe(train: TextFigures) -> Recipe:
    """
    Returns the recipe for a text of this size. It has the full softmax if the vocabulary is too
    small for a sample.
    """
    fitting = [recipe for recipe in RECIPES if train.words <= recipe.words]
    recipe = fitting[0]  # there is one, because the last recipe is for any size
    if recipe.negatives is not None and 3 * recipe.negatives >= len(train.frequent):
        return recipe._replace(negatives=None)
    return recipe


def describe_text(figures: Mapping[str, TextFigures]) -> Iterator[str]:
    """Yields lines about the files, their likely mistakes, and the recipe, for the user."""
    for role, found in figures.items():
        yield f"{role}.txt: {found.sentences:,} sentences, {found.words:,} words"
    train = figures["train"]
    dev = figures["dev"]
    if dev.repeated > dev.sentences / 5:
        yield (
            f"{dev.repeated:,} sentences of dev.txt are also in train.txt: their perplexity is "
            "too good"
        )
    yield (
        f"different words: {len(train.counts):,}; at least {MIN_COUNT} times: "
        f"{len(train.frequent):,}"
    )
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
    recipe = _recipe(train)
    softmax = "the full softmax"
    if recipe.negatives is not None:
        softmax = f"{recipe.negatives:,} negatives"
    time = describe_seconds(train.words * recipe.epochs / recipe.speed)
    yield (
        f"chosen: size {recipe.size}, {recipe.epochs} epochs, {softmax}; about {time} of a CPU core"
    )
