"""Find the words of a text that are nearest to a word in its sentence. Words are compared by the
cosine of their vectors.

    elmo neighbors base text.txt 'They saw a Broadway [play].'
    elmo neighbors base text.txt.gz play -k 20 --json neighbors.json
"""

import argparse
import re
from collections.abc import Callable
from typing import Any

from elmo_plugin.commands.options import TextPath, add, add_shared, positive_int
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.streams import show

NEEDS = "torch"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "bilm")
    about = "the text to search: one sentence per line (plain, .gz or .zst)"
    add(parser, "text TEXT", about, TextPath)
    about = (
        "a word in brackets in its sentence, as in 'They saw a Broadway [play].'; or a word alone"
    )
    add(parser, "words WORD", about, nargs="+")
    add(parser, "-k N", "number of neighbours", positive_int, default=10)
    add(
        parser,
        "--layer N",
        "number of the layer; 0 is the token layer (default: the top layer)",
        int,
    )
    add_shared(parser, "--tokenizer", default="spacy")
    add_shared(parser, "--language", "--json", "--device", "--precision")


def run(args: argparse.Namespace) -> list[dict[str, Any]]:
    from elmo_plugin.analysis.neighbors import nearest_words
    from elmo_plugin.bilm import BiLm, make_tokenizer
    from elmo_plugin.common.formats.text_files import decode, read_lines

    split = make_tokenizer(args.tokenizer, args.language)
    queries = [_query(text, split) for text in args.words]
    lines = (
        decode(line, f"{args.text}, line {n}")
        for n, line in enumerate(read_lines(args.text), start=1)
    )
    sentences = [[word.text for word in words] for line in lines if (words := split(line))]
    if not sentences:
        raise BiLmError(f"{args.text}: no words in this file")
    bilm = BiLm.from_pretrained(args.bilm, args.precision, args.device)
    layer = bilm.num_layers - 1 if args.layer is None else args.layer
    if not 0 <= layer < bilm.num_layers:
        raise BiLmError(f"--layer: expected 0 to {bilm.num_layers - 1}, got {layer}")
    found = []
    for query, neighbors in zip(
        queries, nearest_words(bilm, queries, sentences, args.k, layer), strict=True
    ):
        show(query, *(f"  {each.cosine:.3f}  {each.occurrence}" for each in neighbors), sep="\n")
        nearest = [{**each.occurrence._asdict(), "cosine": each.cosine} for each in neighbors]
        found.append({**query._asdict(), "neighbors": nearest})
    return found


def _query(text: str, split: Callable[[str], list[Any]]) -> Any:
    """Reads a sentence with one word in brackets, or of one word."""
    from elmo_plugin.analysis.neighbors import Occurrence

    marks = list(re.finditer(r"\[([^\s\[\]]+)\]", text))
    start, end = marks[0].span(1) if marks else (0, len(text))
    words = split(text[: start - 1] + text[start:end] + text[end + 1 :] if marks else text)
    shift = len(marks[:1])  # of the opening bracket
    marked = [
        n for n, word in enumerate(words) if word.end > start - shift and word.start < end - shift
    ]
    if len(marks) > 1 or len(marked) != 1:
        found = (
            f", which has the words {' '.join(word.text for word in words)}"
            if len(marks) == 1
            else ""
        )
        raise BiLmError(
            f"WORD: expected one word in brackets, as in 'a [play].', got {text!r}{found}"
        )
    return Occurrence([word.text for word in words], marked[0])
