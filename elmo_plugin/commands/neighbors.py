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

    tokenize = make_tokenizer(args.tokenizer, args.language)
    queries = [_parse_query(text, tokenize) for text in args.words]
    sentences = _read_sentences(args.text, tokenize)
    bilm = BiLm.from_pretrained(args.bilm, args.precision, args.device)
    layer = args.layer
    if layer is None:
        layer = bilm.num_layers - 1
    if not 0 <= layer < bilm.num_layers:
        raise BiLmError(f"--layer: expected 0 to {bilm.num_layers - 1}, got {layer}")
    content = []
    nearest = nearest_words(bilm, queries, sentences, args.k, layer)
    for query, neighbors in zip(queries, nearest, strict=True):
        show(query)
        listed = []
        for neighbor in neighbors:
            show(f"  {neighbor.cosine:.3f}  {neighbor.occurrence}")
            listed.append(neighbor.occurrence._asdict() | {"cosine": neighbor.cosine})
        content.append(query._asdict() | {"neighbors": listed})
    return content


def _read_sentences(file: str, tokenize: Callable[[str], list["Word"]]) -> list[list[str]]:
    """Returns the words of each line. Raises `BiLmError` if the file has none."""
    from elmo_plugin.common.formats.text_files import decode, read_lines

    sentences = []
    for number, line in enumerate(read_lines(file), start=1):
        words = tokenize(decode(line, f"{file}, line {number}"))
        if words:
            sentences.append([word.text for word in words])
    if not sentences:
        raise BiLmError(f"{file}: no words in this file")
    return sentences


def _parse_query(text: str, tokenize: Callable[[str], list["Word"]]) -> "Occurrence":
    """
    Returns the word that an argument chooses, in its sentence. The word is in brackets, or the
    argument is a single word. Raises `BiLmError` for any other argument.
    """
    from elmo_plugin.analysis.neighbors import Occurrence

    expected = f"WORD: expected one word in brackets, as in 'a [play].', got {text!r}"
    in_brackets = list(re.finditer(r"\[([^\s\[\]]+)\]", text))
    if len(in_brackets) > 1:
        raise BiLmError(expected)
    sentence = text
    # The characters of the sentence that must be the chosen word.
    start = 0
    end = len(text)
    if in_brackets:
        before = text[: in_brackets[0].start()]
        chosen_text = in_brackets[0][1]  # without its brackets
        after = text[in_brackets[0].end() :]
        sentence = before + chosen_text + after
        start = len(before)
        end = start + len(chosen_text)
    words = tokenize(sentence)
    chosen_numbers = []
    for number, word in enumerate(words):
        overlaps = word.end > start and word.start < end
        if overlaps:
            chosen_numbers.append(number)
    if len(chosen_numbers) == 1:
        return Occurrence([word.text for word in words], chosen_numbers[0])
    if in_brackets:  # such as "[don't]": the tokenizer makes two words of it
        raise BiLmError(f"{expected}, which has the words {' '.join(word.text for word in words)}")
    raise BiLmError(expected)
