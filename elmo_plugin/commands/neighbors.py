"""`elmo neighbors`: finds the words of a corpus that are nearest to a word in its sentence."""

import argparse
from pathlib import Path
from typing import Any

from elmo_plugin.analysis.neighbors import (
    ApproximateSearch,
    ExactSearch,
    Query,
    StaticVectors,
    as_html,
    as_json,
    as_text,
    find_neighbors,
    import_faiss,
    open_index,
    unit_length,
)
from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.commands.command import BILM_HELP, Command, OutputFile, add_json
from elmo_plugin.common.files import atomic_write

TOKENS_AT_ONCE = 4096  # half of the usual size takes less memory, and hardly more time


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("bilm", metavar="BILM", help=BILM_HELP)
    about = "a sentence a line, with spaces between its words (plain, .gz or .zst)"
    add("corpus", metavar="CORPUS", help=f"what is searched: {about}")
    about = "a sentence, with spaces between its words; may be given several times, each with a --word"
    add("--query", metavar="SENTENCE", action="append", required=True, help=about)
    about = "the word of the sentence whose neighbours are looked for; the first, where it has several"
    add("--word", metavar="WORD", action="append", required=True, help=about)
    add("-k", type=int, default=10, metavar="N", help="how many neighbours (default: 10)")
    add("--layer", type=int, metavar="N", help="0 is the token layer (default: the top layer)")
    about = "where the vectors of corpora are kept (default: neighbors)"
    add("--index", metavar="DIR", default="neighbors", help=about)
    add("--faiss", action="store_true", help="search by faiss, for hundreds of millions of words")
    about = "vectors of words, in the text format of GloVe or word2vec, whose neighbours are shown, too"
    add("--static", metavar="FILE", help=about)
    add_json(parser)
    add("--html", action=OutputFile, metavar="FILE", help="what is printed, as a page")


def run(args: argparse.Namespace) -> list[dict[str, Any]]:
    if len(args.query) != len(args.word):
        raise BiLmError(
            f"each --query takes a --word: there are {len(args.query)} queries and {len(args.word)} words"
        )
    sentences = [sentence.split() for sentence in args.query]
    positions = [_position(*pair) for pair in zip(sentences, args.word, strict=True)]
    if args.k < 1:
        raise BiLmError(f"-k is the number of neighbours, 1 or more, not {args.k}")
    if args.faiss:
        import_faiss()  # if it is missing, the error comes before the work
    bilm = BiLm.from_pretrained(args.bilm)
    bilm.max_batch_tokens = TOKENS_AT_ONCE
    layer = bilm.num_layers - 1 if args.layer is None else args.layer
    if not 0 <= layer < bilm.num_layers:
        raise BiLmError(f"--layer is from 0 to {bilm.num_layers - 1}, not {layer}")
    index = open_index(Path(args.index), bilm, args.corpus, layer)
    # Read after the index is built, as both at once take more memory. If this fails, the index stays.
    static_vectors = StaticVectors.read(args.static) if args.static else None
    search = ApproximateSearch(index) if args.faiss else ExactSearch(index)
    found = []
    for words, position in zip(sentences, positions, strict=True):
        vector = unit_length(bilm.embed([words])[0][layer, position])
        neighbors = find_neighbors(index, search, vector, args.k, leave_out=words)
        of_word = static_vectors.nearest(words[position], args.k) if static_vectors else None
        found.append(Query(words, position, neighbors, of_word))
    print(as_text(found))
    if args.html:
        with atomic_write(args.html) as temporary:
            temporary.write_text(as_html(found), encoding="utf-8")
    return as_json(found)


def _position(words: list[str], word: str) -> int:
    if word not in words:
        raise BiLmError(f"--word {word!r} is not among the words of --query: {' '.join(words)!r}")
    return words.index(word)


COMMAND = Command(
    description="Find the words of a corpus whose vectors, in their sentences, are the most similar "
    "to that of a word in its sentence, by cosine. The vectors of the corpus are computed once and "
    "kept.",
    add_arguments=add_arguments,
    run=run,
)
