"""`elmo vocab`: makes the vocabulary of text that a biLM is to be trained on."""

import argparse
from pathlib import Path

from allennlp.data import Vocabulary

from elmo_plugin.bilm import BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN, BiLmError
from elmo_plugin.commands.command import Command, OutputPath, positive_int
from elmo_plugin.common.files import atomic_write, write_json
from elmo_plugin.common.streams import show
from elmo_plugin.language_model import BiLmTextReader, prepare_corpus, vocabulary_counts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("text", nargs="+", metavar="TEXT", help="a file (plain, .gz or .zst), or a quoted pattern")
    about = "folder of the vocabulary"
    add("-o", "--output", type=OutputPath, required=True, metavar="DIRECTORY", help=about)
    add("--min-count", type=positive_int, default=1, metavar="N", help="leave out words that are rarer")
    add(
        "--max-size", type=positive_int, metavar="N", help="keep the N most frequent words, with <S> and </S>"
    )
    add(
        "--num-processes", type=positive_int, default=1, metavar="N", help="how many files are read at a time"
    )
    add("--cache-directory", metavar="D", help="for tokenized text (default: $ELMO_PLUGIN_CACHE)")


def run(args: argparse.Namespace) -> None:
    output = Path(args.output)
    if output.exists():
        raise BiLmError(f"{output} already exists; remove it or name another directory")
    reader = BiLmTextReader()
    corpus = prepare_corpus(reader.shards(*args.text), args.cache_directory, args.num_processes)
    counts = vocabulary_counts(corpus)
    vocabulary = Vocabulary(
        counter={reader.namespace: counts},
        min_count={reader.namespace: args.min_count},
        max_vocab_size={} if args.max_size is None else {reader.namespace: args.max_size},
    )
    words = set(vocabulary.get_token_to_index_vocabulary(reader.namespace)) & set(counts)
    words -= {vocabulary._padding_token, vocabulary._oov_token}  # they may also be in the text
    if not {BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN} <= words:
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
        vocabulary.save_to_files(str(temporary))
        write_json(_figures_file(args), figures)
    for name, figure in figures.items():
        show(f"{name}: {figure:,}" if isinstance(figure, int) else f"{name}: {figure:.2%}")
    show(f"wrote {output}")


def _figures_file(args: argparse.Namespace) -> Path:
    output = Path(args.output)
    return output.with_name(f"{output.name}.corpus.json")


COMMAND = Command(
    description="Count the words of text with one tokenized sentence per line, and write a biLM's "
    "vocabulary, in the order of descending frequency. A configuration refers to it as "
    "{vocabulary: {type: 'from_files', directory: DIRECTORY}}. DIRECTORY.corpus.json gets the figures of the "
    "text: the numbers of tokens, sentences, types (distinct words) and words in the vocabulary, and their "
    "coverage, the fraction of the tokens that they are.",
    add_arguments=add_arguments,
    run=run,
    outputs=lambda args: [_figures_file(args)],
)
