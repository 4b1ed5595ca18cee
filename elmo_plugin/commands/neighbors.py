"""`elmo neighbors`: finds the words of a text that are nearest to a word in its sentence."""

import argparse
from typing import Any

from elmo_plugin.analysis.neighbors import Occurrence, nearest_words
from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.common.formats.text_files import decode, read_lines
from elmo_plugin.common.streams import show


def run(args: argparse.Namespace) -> list[dict[str, Any]]:
    queries = list(map(_query, args.words))
    lines = (decode(line, f"{args.text}, line {n}") for n, line in enumerate(read_lines(args.text), start=1))
    sentences = [words for line in lines if (words := line.split())]
    if not sentences:
        raise BiLmError(f"{args.text}: no words in this file")
    bilm = BiLm.from_pretrained(args.bilm, args.precision, args.device)
    layer = bilm.num_layers - 1 if args.layer is None else args.layer
    if not 0 <= layer < bilm.num_layers:
        raise BiLmError(f"--layer: expected 0 to {bilm.num_layers - 1}, got {layer}")
    found = []
    for query, neighbors in zip(queries, nearest_words(bilm, queries, sentences, args.k, layer), strict=True):
        show(query, *(f"  {each.cosine:.3f}  {each.occurrence}" for each in neighbors), sep="\n")
        nearest = [{**each.occurrence._asdict(), "cosine": each.cosine} for each in neighbors]
        found.append({**query._asdict(), "neighbors": nearest})
    return found


def _query(text: str) -> Occurrence:
    """Reads a sentence with one word in brackets, or of one word."""
    words = text.split()
    marked = [number for number, word in enumerate(words) if len(word) > 2 and word[0] + word[-1] == "[]"]
    if len(words) == 1 and not marked:
        return Occurrence(words, 0)
    if len(marked) != 1:
        raise BiLmError(f"WORD: expected one word in brackets, as in 'a [play] .', got {text!r}")
    (position,) = marked
    words[position] = words[position][1:-1]
    return Occurrence(words, position)
