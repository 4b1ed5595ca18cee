"""`elmo neighbors`, `allennlp elmo-neighbors`: the nearest words of a corpus to a word in its sentence."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from elmo_plugin.analysis.neighbors import (
    ApproximateSearch,
    ExactSearch,
    Query,
    StaticVectors,
    as_html,
    as_json,
    as_text,
    find_neighbors,
    open_index,
    unit_length,
)
from elmo_plugin.bilm import BiLmError, load_bilm
from elmo_plugin.commands.command import Command
from elmo_plugin.common.files import replace_when_written, write_json

TOKENS_AT_ONCE = 4096  # half of what is usual takes less memory, and hardly more time


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what says which words are looked for where."""
    add = parser.add_argument
    add("bilm", metavar="BILM", help="tiny, original, …, the archive of a trained biLM, or a folder")
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
    add("--json", metavar="FILE", help="what is printed, as JSON")
    add("--html", metavar="FILE", help="what is printed, as a page")


def run(args: argparse.Namespace) -> None:
    """Prints the neighbours, and writes them."""
    if len(args.query) != len(args.word):
        raise BiLmError(
            f"each --query takes a --word: there are {len(args.query)} queries and {len(args.word)} words"
        )
    show_neighbors(
        args.bilm,
        args.corpus,
        list(zip(args.query, args.word, strict=True)),
        k=args.k,
        layer=args.layer,
        index_folder=args.index,
        approximate=args.faiss,
        static=args.static,
        json=args.json,
        html=args.html,
    )


def show_neighbors(
    bilm: str,
    corpus: str,
    queries: Sequence[tuple[str, str]],
    *,
    k: int = 10,
    layer: int | None = None,
    index_folder: str | Path = "neighbors",
    approximate: bool = False,
    static: str | None = None,
    json: str | None = None,
    html: str | None = None,
) -> None:
    """
    Prints, and writes, the nearest neighbours of words in their sentences.

    # Parameters

    bilm : `str`
        A name, an archive or a folder, see `load_bilm`.
    corpus : `str`
        See `open_index`.
    queries : `Sequence[tuple[str, str]]`
        Sentences, each with one of its words.
    k : `int`, optional (default = `10`)
        The number of neighbours.
    layer : `int`, optional (default = the top layer)
        Whose vectors are compared.
    index_folder : `str | Path`, optional (default = `"neighbors"`)
        See `open_index`.
    approximate : `bool`, optional (default = `False`)
        See `ApproximateSearch`.
    static : `str | None`, optional (default = `None`)
        See `StaticVectors.read`.
    json, html : `str | None`, optional (default = `None`)
        Files that get what is printed.

    Raises `BiLmError` where an argument is wrong, or something cannot be read.
    """
    positions = [_position(sentence.split(), word) for sentence, word in queries]
    if k < 1:
        raise BiLmError(f"-k is the number of neighbours, 1 or more, not {k}")
    for option, file in ("--json", json), ("--html", html):
        if file and Path(file).is_dir():
            raise BiLmError(f"{option}: {file} is a directory; name a file to be written")
    loaded = load_bilm(bilm)
    loaded.max_batch_tokens = TOKENS_AT_ONCE
    layer = loaded.num_layers - 1 if layer is None else layer
    if not 0 <= layer < loaded.num_layers:
        raise BiLmError(f"--layer is from 0 to {loaded.num_layers - 1}, not {layer}")
    index = open_index(Path(index_folder), loaded, corpus, layer)
    # Read after the index, whose memory they would add to. If they cannot be read, the index stays.
    static_vectors = StaticVectors.read(static) if static else None
    search = ApproximateSearch(index) if approximate else ExactSearch(index)
    found = []
    for (sentence, word), position in zip(queries, positions, strict=True):
        words = sentence.split()
        vector = unit_length(loaded.embed([words])[0][layer, position])
        neighbors = find_neighbors(index, search, vector, k, leave_out=words)
        of_word = static_vectors.nearest(word, k) if static_vectors else None
        found.append(Query(words, position, neighbors, of_word))
    print(as_text(found))
    if json:
        write_json(json, as_json(found))
    if html:
        with replace_when_written(html) as temporary:
            temporary.write_text(as_html(found), encoding="utf-8")


def _position(words: list[str], word: str) -> int:
    if word not in words:
        raise BiLmError(f"--word {word!r} is not among the words of --query: {' '.join(words)!r}")
    return words.index(word)


COMMAND = Command(
    name="neighbors",
    description="Find the words of a corpus whose vectors, in their sentences, are the most similar "
    "to that of a word in its sentence, by cosine. The vectors of the corpus are computed once and "
    "kept.",
    add_arguments=add_arguments,
    run=run,
)
