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
BLOCK_LINES = 10
"""Lines that stay together when a text is split: neighbouring sentences resemble one another."""
BLOCKS = 20
"""A tenth of these blocks is for dev and test, or less of a long text: at most 5,000 lines each."""
_MAX_BLOCKS = 500
MIN_COUNT = 5
"""How often a word must occur to be predicted."""


class Recipe(NamedTuple):
    """How to train on a text of up to `words` words."""

    words: float
    size: str  # in bilm.libsonnet
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
            least = BLOCK_LINES * (BLOCKS - 1) + 1
            needed = (
                f"at least {least} sentences to train, validate and test on"
                if "" in files
                else "text"
            )
            hint = "" if language else "; --language CODE finds the sentences in raw text"
            hint = hint if column is None else "; a blank line ends a sentence"
            listed = ", ".join(str(file) for file in [*chain(*files.values())][:3])
            raise BiLmError(f"{listed}: expected {needed}; {role} got no sentence{hint}")
    figures["dev"].repeated = _repeated(folder)
    train = figures["train"]
    if not train.frequent and train.sentences >= MIN_COUNT:
        raise BiLmError(
            f"none of {len(train.counts):,} words occurs {MIN_COUNT} times, so there is nothing "
            "to learn: is the text split into words? --language CODE does it"
        )
    return figures


def _repeated(folder: Path) -> int:
    """Returns the number of sentences of dev.txt that are also in train.txt."""
    with (folder / "dev.txt").open("rb") as dev, (folder / "train.txt").open("rb") as train:
        left = Counter(dev)
        return sum(left.pop(line, 0) for line in train)


def _assigned_sentences(
    files: Mapping[str, Sequence[Path]], rules: SpacyRules | None, column: int | None
) -> Iterator[tuple[str, list[str]]]:
    """
    Yields the words of each sentence and its role. In a text with many lines, a line has one role.
    """
    stride, by_line = BLOCKS, True
    if "" in files:
        lines = sum(1 for file in files[""] for _ in _lines(str(file), column))
        stride = max(BLOCKS, lines // BLOCK_LINES // _MAX_BLOCKS)
        by_line = lines > BLOCK_LINES * (BLOCKS - 1)
    count = 0
    for role, paths in files.items():
        for file in paths:
            for line, place in _lines(str(file), column):
                for words in _sentences(unicodedata.normalize("NFC", line), place, rules):
                    part = count // BLOCK_LINES % stride
                    split = {stride // 2 - 1: "dev", stride - 1: "test"}.get(part, "train")
                    yield role or split, words
                    count += not by_line
                count += by_line


def _lines(file: str, column: int | None) -> Iterator[tuple[str, str]]:
    """Yields the lines that are not blank, or the letters of FASTA's records, with their places."""
    if is_fasta(file):
        for protein in read_fasta(file):
            if protein.letters:
                yield " ".join(letter.text for letter in residues(protein.letters)), protein.place
        return
    for number, line in enumerate(sentence_lines(read_lines(file), file, column), start=1):
        if not line.isspace():
            place = f"{file}, line {number}"
            yield decode(line, place), place


def _sentences(line: str, place: str, rules: SpacyRules | None) -> Iterator[list[str]]:
    if rules is None:
        sentences = [line.split()]
    else:
        try:
            sentences = [[word.text for word in words] for words in rules.sentences(line)]
        except BiLmError as error:
            raise BiLmError(f"{place}: {error}") from None
    for words in filter(None, sentences):
        check_no_boundaries(words, place)
        yield words


def text_recipe(train: TextFigures) -> dict[str, str]:
    """Returns the arguments of `bilm.train` and `bilm.adamw` that suit a text, as in Jsonnet."""
    row = _recipe(train)
    least = min(MIN_COUNT, train.sentences)  # as often as the ends of sentences
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
    return row if 3 * (row.negatives or 0) < len(train.frequent) else row._replace(negatives=None)


def describe_text(figures: Mapping[str, TextFigures]) -> Iterator[str]:
    """Yields lines on the files, on what looks wrong with them, and on the training."""
    for role, found in figures.items():
        yield f"{role}.txt: {found.sentences:,} sentences, {found.words:,} words"
    train, dev = figures["train"], figures["dev"]
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
    row = _recipe(train)
    softmax = f"{row.negatives:,} negatives" if row.negatives else "the full softmax"
    time = describe_seconds(train.words * row.epochs / row.speed)
    yield f"chosen: size {row.size}, {row.epochs} epochs, {softmax}; about {time} of a CPU core"
