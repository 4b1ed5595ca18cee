"""Find the words of a text that are nearest to a word in its sentence. Words are compared by the
cosine of their vectors.

    elmo neighbors base text.txt 'They saw a Broadway [play].'
    elmo neighbors base text.txt.gz play -k 20 --json neighbors.json
"""

import argparse
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from elmo_plugin.commands.options import TextPath, add_shared, positive_int
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.streams import show

if TYPE_CHECKING:
    from elmo_plugin.analysis.neighbors import Occurrence
    from elmo_plugin.common.spacy_rules import Word

NEEDS = "torch"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "bilm")
    parser.add_argument(
        "text",
        metavar="TEXT",
        type=TextPath,
        help="the text to search: one sentence per line (plain, .gz or .zst)",
    )
    parser.add_argument(
        "words",
        metavar="WORD",
        nargs="+",
        help="a word in brackets in its sentence, as in 'They saw a Broadway [play].'; or a "
        "single word",
    )
    parser.add_argument(
        "-k",
        metavar="N",
        type=positive_int,
        default=10,
        help="number of neighbours (default: %(default)s)",
    )
    parser.add_argument(
        "--layer",
        metavar="N",
        type=int,
        help="number of the layer; 0 is the token layer (default: the top layer)",
    )
    add_shared(parser, "--tokenizer", default="spacy")
    add_shared(parser, "--language", "--json", "--device", "--precision")


def run(args: argparse.Namespace) -> list[dict[str, Any]]:
    from elmo_plugin.analysis.neighbors import nearest_words
    from elmo_plugin.bilm import BiLm, make_tokenizer
    from elmo_plugin.common.formats.text_files import decode, read_lines

    split = make_tokenizer(args.tokenizer, args.language)
    queries = [_query(text, split) for text in args.words]
    sentences = []
    for number, line in enumerate(read_lines(args.text), start=1):
        words = split(decode(line, f"{args.text}, line {number}"))
        if words:
            sentences.append([word.text for word in words])
    if not sentences:
        raise BiLmError(f"{args.text}: no words in this file")
    bilm = BiLm.from_pretrained(args.bilm, args.precision, args.device)
    layer = args.layer
    if layer is None:
        layer = bilm.num_layers - 1
    if not 0 <= layer < bilm.num_layers:
        raise BiLmError(f"--layer: expected 0 to {bilm.num_layers - 1}, got {layer}")
    found = []
    nearest = nearest_words(bilm, queries, sentences, args.k, layer)
    for query, neighbors in zip(queries, nearest, strict=True):
        show(query)
        listed = []
        for neighbor in neighbors:
            show(f"  {neighbor.cosine:.3f}  {neighbor.occurrence}")
            listed.append(neighbor.occurrence._asdict() | {"cosine": neighbor.cosine})
        found.append(query._asdict() | {"neighbors": listed})
    return found


def _query(text: str, split: Callable[[str], list["Word"]]) -> "Occurrence":
    """
    Returns the word that an argument chooses, in its sentence: the one in brackets, or a single
    word. Raises `BiLmError` if the brackets do not hold exactly one of the words that `split`
    finds.
    """
    from elmo_plugin.analysis.neighbors import Occurrence

    marks = list(re.finditer(r"\[([^\s\[\]]+)\]", text))
    sentence = text
    # The place of the chosen word in the sentence.
    start = 0
    end = len(text)
    if marks:
        before = text[: marks[0].start()]
        marked = marks[0][1]  # without its brackets
        after = text[marks[0].end() :]
        sentence = before + marked + after
        start = len(before)
        end = start + len(marked)
    words = split(sentence)
    chosen = []
    for number, word in enumerate(words):
        overlaps = word.end > start and word.start < end
        if overlaps:
            chosen.append(number)
    if len(marks) > 1 or len(chosen) != 1:
        message = f"WORD: expected one word in brackets, as in 'a [play].', got {text!r}"
        if len(marks) == 1:
            message += f", which has the words {' '.join(word.text for word in words)}"
        raise BiLmError(message)
    return Occurrence([word.text for word in words], chosen[0])
