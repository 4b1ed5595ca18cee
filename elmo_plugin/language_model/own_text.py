"""A user's own text for a biLM, in sentences and words: files to train, validate and test on."""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from elmo_plugin.bilm import check_no_boundaries
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.fasta import is_fasta, read_fasta, residues
from elmo_plugin.common.formats.text_files import decode, looks_raw, read_lines, sentence_lines
from elmo_plugin.common.progress import describe_seconds
from elmo_plugin.common.spacy_rules import SpacyRules

ROLES = ("train", "dev", "test")
# Lines that stay together when a text is split: neighbouring sentences resemble one another.
BLOCK_LINES = 10
# Of this many blocks, one is for dev and one for test. A long text has more blocks, so that dev and
# test have at most 5,000 lines each.
BLOCKS = 20
_MAX_BLOCKS = 500
# How often a word must occur to be predicted.
MIN_COUNT = 5


class Recipe(NamedTuple):
    """How to train on a text of up to `words` words."""

    words: float
    size: str  # a name in bilm.libsonnet
    epochs: int
    vocabulary: int  # size limit of the softmax
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
    sentences: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    looks_raw: int = 0  # sentences that end in a word with its full stop
    have_raw_inside: int = 0  # sentences that have such a word before their end
    are_cut: int = 0  # sentences that end without a mark
    repeated: int = 0  # sentences of dev.txt that are also in train.txt

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
        self.looks_raw += looks_raw(words[-1])
        self.have_raw_inside += any(_ends_raw_sentence(word) for word in words[:-1])
        self.are_cut += words[-1][-1].isalnum() or words[-1].endswith(",")

    @property
    def looks_wrapped(self) -> bool:
        """Whether lines end anywhere in a sentence, as in a book: others end within the lines."""
        is_often_cut = self.are_cut > self.sentences / 2
        return is_often_cut and self.have_raw_inside > self.sentences / 5


def _ends_raw_sentence(word: str) -> bool:
    """Returns whether a word has the full stop of its sentence, and is no short abbreviation."""
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
        The files of each role, or all of one text as "", which is split.
    folder : `Path`
        Gets the files.
    language : `str`, optional
        The text is raw, a paragraph or more per line: spaCy's rules for this
        language find sentences and words. By default each line is a sentence whose words stand
        between spaces.
    column : `int`, optional
        The texts are tables, and this is the number of their column of words.

    Raises `BiLmError`, naming file and line, if a text cannot be read, and if it is too short to be
    split.
    """
    rules = None if language is None else SpacyRules(language, "sentencizer")
    figures = {role: TextFigures() for role in ROLES if role in files or "" in files}
    with ExitStack() as stack:
        outputs = {
            role: stack.enter_context((folder / f"{role}.txt").open("w", encoding="utf-8"))
            for role in figures
        }
        for role, words in _assigned_sentences(files, rules, column):
            figures[role].add(words)
            outputs[role].write(" ".join(words) + "\n")
    for role, found in figures.items():
        if not found.sentences:
            hint = ""
            if column is not None:
                hint = "; a blank line ends a sentence"
            elif language is None:
                hint = "; --language CODE finds the sentences in raw text"
            raise BiLmError(f"{_what_is_needed(files)}; {role} got no sentence{hint}")
    figures["dev"].repeated = _repeated(folder)
    train = figures["train"]
    if not train.frequent and train.sentences >= MIN_COUNT:
        raise BiLmError(
            f"none of {len(train.counts):,} words occurs {MIN_COUNT} times, so there is nothing "
            "to learn: is the text split into words? --language CODE does it"
        )
    return figures


def _what_is_needed(files: Mapping[str, Sequence[Path]]) -> str:
    """Says how much text the files should have."""
    needed = "text"
    if "" in files:
        least = BLOCK_LINES * (BLOCKS - 1) + 1
        needed = f"at least {least} sentences to train, validate and test on"
    named = list(chain.from_iterable(files.values()))
    listed = ", ".join(str(file) for file in named[:3])
    return f"{listed}: expected {needed}"


def _repeated(folder: Path) -> int:
    """Returns the number of sentences of dev.txt that are also in train.txt."""
    with (folder / "dev.txt").open("rb") as dev, (folder / "train.txt").open("rb") as train:
        left = Counter(dev)
        count = 0
        for line in train:
            count += left.pop(line, 0)
        return count


def _assigned_sentences(
    files: Mapping[str, Sequence[Path]], rules: SpacyRules | None, column: int | None
) -> Iterator[tuple[str, list[str]]]:
    """Yields the words of each sentence and its role."""
    for role, paths in files.items():
        if role == "":
            yield from _split_sentences(paths, rules, column)
            continue
        for line, place in _lines(paths, column):
            for words in _sentences(line, place, rules):
                yield role, words


def _split_sentences(
    paths: Sequence[Path], rules: SpacyRules | None, column: int | None
) -> Iterator[tuple[str, list[str]]]:
    """
    Divides a text among the roles, in blocks of lines; a text with few lines in blocks of
    sentences.
    """
    num_lines = sum(1 for _ in _lines(paths, column))
    stride = max(BLOCKS, num_lines // BLOCK_LINES // _MAX_BLOCKS)
    by_line = num_lines > BLOCK_LINES * (BLOCKS - 1)
    count = 0  # of lines, or of sentences
    for line, place in _lines(paths, column):
        for words in _sentences(line, place, rules):
            yield _role_of(count // BLOCK_LINES % stride, stride), words
            if not by_line:
                count += 1
        if by_line:
            count += 1


def _role_of(block: int, stride: int) -> str:
    """Returns the role of a block, one of `stride` blocks: one in the middle, and the last."""
    if block == stride // 2 - 1:
        return "dev"
    return "test" if block == stride - 1 else "train"


def _lines(paths: Sequence[Path], column: int | None) -> Iterator[tuple[str, str]]:
    """Yields the lines of files that are not blank, each with its place."""
    for path in paths:
        if is_fasta(str(path)):
            yield from _proteins(str(path))
        else:
            yield from _text_lines(str(path), column)


def _proteins(file: str) -> Iterator[tuple[str, str]]:
    """Yields the letters of each record of FASTA, as words, with the record's place."""
    for protein in read_fasta(file):
        if protein.letters:
            yield " ".join(letter.text for letter in residues(protein.letters)), protein.place


def _text_lines(file: str, column: int | None) -> Iterator[tuple[str, str]]:
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
    """Returns the arguments of `bilm.train` and `bilm.adamw` that suit a text, as in Jsonnet."""
    row = _recipe(train)
    least = min(MIN_COUNT, train.sentences)  # the ends of sentences occur so often
    limits = f"min_count: {{ words: {least} }}, max_vocab_size: {{ words: {row.vocabulary} }}"
    return {
        "sizes": f"bilm.sizes.{row.size}",
        "vocabulary": f"{{ {limits} }}",
        "epochs": str(row.epochs),
        "negatives": str(row.negatives or "null"),
        "dropout": str(row.dropout),
        "batch_size": str(min(row.batch_size, train.sentences)),
        "rate": str(row.rate),
    }


def _recipe(train: TextFigures) -> Recipe:
    """
    Returns the first recipe for so many words, with the full softmax if the vocabulary is too
    small.
    """
    row = next(row for row in RECIPES if train.words <= row.words)
    if row.negatives is not None and 3 * row.negatives >= len(train.frequent):
        return row._replace(negatives=None)
    return row


def describe_text(figures: Mapping[str, TextFigures]) -> Iterator[str]:
    """Yields lines on the files, on their likely mistakes, and on the training."""
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
    if train.looks_raw > train.sentences / 2:
        yield "most sentences end in a word with its full stop: split raw text with --language CODE"
    if train.looks_wrapped:
        yield (
            "most lines end in the middle of a sentence: if the text is wrapped, write each "
            "paragraph in one line, and split it with --language CODE"
        )
    row = _recipe(train)
    softmax = f"{row.negatives:,} negatives" if row.negatives else "the full softmax"
    time = describe_seconds(train.words * row.epochs / row.speed)
    yield f"chosen: size {row.size}, {row.epochs} epochs, {softmax}; about {time} of a CPU core"
