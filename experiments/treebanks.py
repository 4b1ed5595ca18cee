"""CoNLL-U sentences, and CoNLL-2012 documents."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}


class Sentence(NamedTuple):
    """The comments and the words with their Penn Treebank tags of a sentence in CoNLL-U."""

    comments: dict[str, str]
    words: list[tuple[str, str]]


def conllu_sentences(text: str) -> Iterator[Sentence]:
    for block in re.split(r"\n\s*\n", text.strip()):
        comments: dict[str, str] = {}
        words = []
        for line in block.split("\n"):
            if line.startswith("#"):
                name, _, value = line[1:].partition("=")
                comments[name.strip()] = value.strip()
            else:
                columns = line.split("\t")
                if columns[0].isdigit():  # neither `2-3`, a contraction, nor `8.1`, an empty word
                    words.append((columns[1], columns[4]))
        yield Sentence(comments, words)


def documents(text: str) -> Iterator[tuple[str, list[Sentence]]]:
    """Yields the names of documents in CoNLL-U and their sentences."""
    name, sentences = "", []
    for sentence in conllu_sentences(text):
        if "newdoc id" in sentence.comments:
            if sentences:
                yield name, sentences
            name, sentences = sentence.comments["newdoc id"], []
        sentences.append(sentence)
    yield name, sentences


def conll2012(name: str, sentences: Iterable[Iterable[list[str]]]) -> str:
    """Returns a document in CoNLL-2012, given for each word its columns after the third."""
    blocks = []
    for sentence in sentences:
        rows = (f"{name} 0 {place} {' '.join(columns)}\n" for place, columns in enumerate(sentence))
        blocks.append("".join(rows) + "\n")
    return f"#begin document ({name}); part 000\n{''.join(blocks)}#end document\n"
