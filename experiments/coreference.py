"""OntoGUM in CoNLL-2012, from the words, parses and chains of GUM's repository."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from treebanks import BRACKETS, conll2012, conllu_sentences

Files = list[tuple[str, str]]


def coreference(
    splits: Files, words: Files, parses: Files, chains: Files
) -> Iterator[tuple[str, str]]:
    """
    Yields files and their texts.

    # Parameters

    splits : `Files`
        The path and text of `splits.md`, a list of documents for each part.
    words, parses, chains : `Files`
        The files of each document in CoNLL-U, as bracketed trees, and in OntoGUM's three columns.
    """
    of_words, of_parses, of_chains = (
        {PurePosixPath(path).stem: text for path, text in files}
        for files in (words, parses, chains)
    )
    for part in ("train", "dev", "test"):
        (listed,) = re.findall(
            rf"^## {part}\n(.*?)(?=^##|\Z)", splits[0][1], re.DOTALL | re.MULTILINE
        )
        names = [
            name for name in re.findall(r"GUM_\w+", listed) if not name.startswith("GUM_reddit_")
        ]
        texts = (document(name, of_words[name], of_parses[name], of_chains[name]) for name in names)
        yield f"{part}.gold_conll{'.gz' if part == 'train' else ''}", "".join(texts)


def document(name: str, words: str, parses: str, chains: str) -> str:
    """Returns a document in CoNLL-2012. Raises `ValueError` if its files differ in words."""
    mentions = iter(mention_column(chains))
    sentences = []
    for sentence, parse in zip(conllu_sentences(words), parse_columns(parses), strict=True):
        speaker = re.sub(r"\W", "", sentence.comments.get("speaker", "")) or "-"
        sentences.append(
            [
                [BRACKETS.get(word, word), tag, bit, "-", "-", "-", speaker, "*", next(mentions)]
                for (word, tag), bit in zip(sentence.words, parse, strict=True)
            ]
        )
    if next(mentions, None) is not None:
        raise ValueError(f"{name}: the chains have more words than the sentences")
    return conll2012(f"gum/{name.removeprefix('GUM_')}", sentences)


def parse_columns(text: str) -> Iterator[list[str]]:
    """Yields the parse bits of each tree: labels without functions, words and tags as `*`."""
    bits: list[str] = []
    opened, depth = "", 0
    for leaf, label in re.findall(r"(\(\S+ [^\s()]+\))|\(([^\s()]+)|\)", text):
        if leaf:
            bits.append(f"{opened}*")
            opened = ""
        elif label:
            opened += f"({'TOP' if label == 'ROOT' else re.split('[-=]', label)[0]}"
            depth += 1
        else:
            bits[-1] += ")"
            depth -= 1
            if not depth:
                yield bits
                bits = []


def mention_column(text: str) -> list[str]:
    """Returns the last column: chains counted from 0, a span in no more than one chain."""
    last = [line.split("\t")[-1] for line in text.split("\n") if "\t" in line]
    cells = [re.findall(r"\(\d+\)|\(\d+|\d+\)", cell) for cell in last]
    open_mentions: dict[str, list[tuple[int, int]]] = {}
    spans: dict[tuple[int, int], str] = {}
    dropped: set[tuple[int, int]] = set()
    for row, cell in enumerate(cells):
        for place, bracket in enumerate(cell):
            chain = bracket.strip("()")
            if bracket.startswith("("):
                open_mentions.setdefault(chain, []).append((row, place))
            if bracket.endswith(")"):
                start = open_mentions[chain].pop()
                if spans.setdefault((start[0], row), chain) != chain:
                    dropped |= {start, (row, place)}
    column = []
    for row, cell in enumerate(cells):
        kept = [bracket for place, bracket in enumerate(cell) if (row, place) not in dropped]
        column.append(re.sub(r"\d+", lambda each: str(int(each[0]) - 1), "|".join(kept)) or "-")
    return column
