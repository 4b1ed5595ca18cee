"""PropBank over the English Web Treebank in CoNLL-2012: PropBank's roles and EWT's words."""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from treebanks import BRACKETS, Sentence, conll2012, documents

GENRES = ("answers", "email", "newsgroup", "reviews", "weblog")
MIN_EQUAL_TAGS = 0.7
"""The least share of a sentence's words that have the same tag in PropBank and in EWT."""


def semantic_roles(
    skeletons: Iterable[tuple[str, str]], parts: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """
    Yields files and their texts, one a part and genre.

    # Parameters

    skeletons : `Iterable[tuple[str, str]]`
        The paths and texts of PropBank's `.gold_skel`, in which words are `[WORD]`.
    parts : `Iterable[str]`
        EWT's training, development and test set in CoNLL-U.
    """
    of_document = {}
    for path, text in skeletons:
        name = PurePosixPath(path).name.removesuffix(".gold_skel").removesuffix(".xml")
        of_document[PurePosixPath(path).parts[-3], name] = text
    for part, text in zip(("train", "dev", "test"), parts, strict=True):
        of_genre: dict[str, dict[str, list[Sentence]]] = {genre: {} for genre in GENRES}
        for identifier, sentences in documents(text):
            genre, _, name = identifier.partition("-")
            of_genre[genre][name.removesuffix(".xml")] = sentences
        for genre, of_name in of_genre.items():
            written = []
            for name, sentences in sorted(of_name.items()):
                skeleton = of_document.get((genre, name))
                merged = [] if skeleton is None else list(merge(skeleton, sentences))
                if merged:
                    written.append(conll2012(f"ewt/{genre}/{short_name(name)}", merged))
            suffix = ".gz" if part == "train" else ""
            yield f"{part}/{genre}.gold_conll{suffix}", "".join(written)


def short_name(name: str) -> str:
    """Returns the name up to `_ENG_`, without the date of a newsgroup or web log in LDC's form."""
    return name.partition("_ENG_")[0]


def merge(skeleton: str, sentences: list[Sentence]) -> Iterator[list[list[str]]]:
    """Yields the columns of each sentence that is the same in both, word by word."""
    blocks = [
        [line.split() for line in block.split("\n")] for block in skeleton.strip().split("\n\n")
    ]
    for rows, sentence in zip(blocks, sentences, strict=False):
        words = sentence.words
        equal = sum(row[4] == tag for row, (_, tag) in zip(rows, words, strict=False))
        if len(rows) == len(words) and equal >= MIN_EQUAL_TAGS * len(words):
            yield [columns(row, word, tag) for row, (word, tag) in zip(rows, words, strict=True)]


def columns(row: list[str], word: str, tag: str) -> list[str]:
    """
    Returns word, tag, parse, predicate, frameset, sense, speaker, entity, the roles and no
    coreference.
    """
    predicate, _, frameset = row[7].rpartition(".") if row[7] != "-" else ("-", "", "-")
    return [
        BRACKETS.get(word, word),
        tag,
        row[5],
        predicate,
        frameset,
        "-",
        "-",
        "*",
        *row[8:],
        "-",
    ]
