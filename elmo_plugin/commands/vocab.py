"""`elmo vocab`: makes the vocabulary of text that a biLM is to be trained on."""

import argparse
from pathlib import Path

from elmo_plugin.bilm import BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN, BiLmError
from elmo_plugin.commands.arguments.training import figures_file
from elmo_plugin.common.files import atomic_write, write_json
from elmo_plugin.common.streams import show
from elmo_plugin.language_model import (
    find_shards,
    frequent_words,
    prepare_corpus,
    vocabulary_counts,
    write_vocabulary,
)


def run(args: argparse.Namespace) -> None:
    output = Path(args.output)
    if output.exists():
        raise BiLmError(f"{output} already exists; remove it or name another folder")
    corpus = prepare_corpus(find_shards(*args.texts), args.cache, args.workers or 1)
    counts = vocabulary_counts(corpus)
    words = frequent_words(counts, args.min_count, args.max_size)
    if not {BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN} <= set(words):
        raise BiLmError(
            f"--min-count {args.min_count} and --max-size {args.max_size} leave out "
            f"{BEGIN_SENTENCE_TOKEN} or {END_SENTENCE_TOKEN} (they occur {corpus.sentences} times); take a "
            "lower count or a larger size"
        )
    covered = sum(counts[word] for word in words) - 2 * corpus.sentences
    figures = {
        "tokens": corpus.tokens,
        "sentences": corpus.sentences,
        "types": len(counts) - 2,
        "words": len(words) - 2,
        "coverage": covered / corpus.tokens,
    }
    with atomic_write(output) as temporary:
        write_vocabulary(words, temporary)
        write_json(figures_file(args.output), figures)
    for name, figure in figures.items():
        show(f"{name}: {figure:,}" if isinstance(figure, int) else f"{name}: {figure:.2%}")
    show(f"wrote {output}")
