"""`elmo neighbors`: finds the words of a text that are nearest to a word in its sentence."""

import argparse
from typing import Any

from elmo_plugin.analysis.neighbors import Occurrence, nearest_words
from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.commands.command import BILM_HELP, Command, add_json, positive_int
from elmo_plugin.common.formats.text_files import decode, read_lines
from elmo_plugin.common.streams import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("bilm", metavar="BILM", help=BILM_HELP)
    about = "the text to search: one sentence per line, with spaces between its words (plain, .gz or .zst)"
    add("text", metavar="TEXT", help=about)
    about = "a word in brackets in its sentence, as in 'They saw a Broadway [play] .'; or a word alone"
    add("words", metavar="WORD", nargs="+", help=about)
    add("-k", type=positive_int, default=10, metavar="N", help="how many neighbours (default: 10)")
    add("--layer", type=int, metavar="N", help="0 is the token layer (default: the top layer)")
    add_json(parser)


def run(args: argparse.Namespace) -> list[dict[str, Any]]:
    queries = list(map(_query, args.words))
    lines = (decode(line, f"{args.text}, line {n}") for n, line in enumerate(read_lines(args.text), start=1))
    sentences = [words for line in lines if (words := line.split())]
    if not sentences:
        raise BiLmError(f"{args.text}: no words in this file")
    bilm = BiLm.from_pretrained(args.bilm)
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


COMMAND = Command(
    description="Find the words of a text whose vectors, in their sentences, are the most similar to the "
    "vector of a word in its sentence, by cosine.",
    add_arguments=add_arguments,
    run=run,
)
