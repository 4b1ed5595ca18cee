"""`allennlp elmo-vocab`: the vocabulary of text that a biLM is to be trained on."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from overrides import overrides

from elmo_plugin.bilm import BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN
from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.files import replace_when_written, write_json
from elmo_plugin.language_model.corpus import BiLmTextReader, prepare_corpus, vocabulary_counts


@Subcommand.register("elmo-vocab")
class ElmoVocab(Subcommand):
    """Writes a vocabulary directory, and next to it the figures of the corpus."""

    @overrides
    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = parser.add_parser(
            self.name,
            description="Count the words of text with one tokenised sentence a line, and write a biLM's "
            "vocabulary: the words in the order of descending frequency. A configuration takes it by "
            "{vocabulary: {type: 'from_files', directory: DIRECTORY}}. DIRECTORY.corpus.json gets the "
            "figures of the text.",
            help="Make the vocabulary of a biLM from text.",
        )
        add = subparser.add_argument
        add("text", nargs="+", metavar="TEXT", help="a file (plain, .gz or .zst), or a quoted pattern")
        add("-o", "--output", required=True, metavar="DIRECTORY", help="where the vocabulary is written")
        add("--min-count", type=int, default=1, metavar="N", help="leave out words that are rarer")
        add("--max-size", type=int, metavar="N", help="keep the N most frequent words, with <S> and </S>")
        add("--num-processes", type=int, default=1, metavar="N", help="how many files are read at a time")
        add("--cache-directory", metavar="D", help="for tokenised text (default: $ELMO_PLUGIN_CACHE)")
        subparser.set_defaults(func=_command)
        return subparser


def _command(args: argparse.Namespace) -> None:
    limits = (args.min_count, args.max_size, args.num_processes)
    with as_configuration_error():
        make_vocabulary(args.text, args.output, *limits, args.cache_directory)


def make_vocabulary(
    texts: Sequence[str],
    output_directory: str,
    min_count: int = 1,
    max_size: int | None = None,
    num_processes: int = 1,
    cache_directory: str | None = None,
) -> None:
    """
    # Parameters

    texts : `Sequence[str]`
        Files or patterns. A file that several of them name is counted once.
    output_directory : `str`
        Gets the vocabulary; must not be there yet. A file next to it, with the suffix `.corpus.json`, gets
        the numbers of `tokens`, `sentences` and `types` (distinct words) of the text, of `words` in the
        vocabulary, and their `coverage`, the fraction of the tokens that they are.
    min_count : `int`
        The least occurrences of a word in it.
    max_size : `int`, optional
        The most words in it, `<S>` and `</S>` among them: AllenNLP's `max_vocab_size`.
    num_processes : `int`
        How many shards are tokenised at the same time.
    cache_directory : `str`, optional
        Where the tokenised text is kept, for training too.
    """
    for name, value in (("min-count", min_count), ("max-size", max_size), ("num-processes", num_processes)):
        if value is not None and value < 1:
            raise ConfigurationError(f"--{name} must be at least 1, not {value}")
    output = Path(output_directory)
    if output.exists():
        raise ConfigurationError(f"{output} is there already; remove it or name another directory")
    reader = BiLmTextReader()
    corpus = prepare_corpus(reader.shards(*texts), cache_directory, num_processes)
    counts = vocabulary_counts(corpus)
    vocabulary = Vocabulary(
        counter={reader.namespace: counts},
        min_count={reader.namespace: min_count},
        max_vocab_size={} if max_size is None else {reader.namespace: max_size},
    )
    words = set(vocabulary.get_token_to_index_vocabulary(reader.namespace)) & set(counts)
    words -= {vocabulary._padding_token, vocabulary._oov_token}  # the text may have these, too
    if not {BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN} <= words:
        raise ConfigurationError(
            f"--min-count {min_count} and --max-size {max_size} leave out {BEGIN_SENTENCE_TOKEN} or "
            f"{END_SENTENCE_TOKEN}, which occur {corpus.sentences} times; take a lower count or a larger size"
        )
    covered = sum(counts[word] for word in words) - 2 * corpus.sentences
    figures = {
        "tokens": corpus.tokens,
        "sentences": corpus.sentences,
        "types": len(counts) - 2,
        "words": len(words) - 2,
        "coverage": covered / corpus.tokens,
    }
    with replace_when_written(output) as temporary:
        vocabulary.save_to_files(str(temporary))
        write_json(output.with_name(f"{output.name}.corpus.json"), figures)
    for name, figure in figures.items():
        print(f"{name}: {figure:,}" if isinstance(figure, int) else f"{name}: {figure:.2%}")
    print(f"wrote {output}")
