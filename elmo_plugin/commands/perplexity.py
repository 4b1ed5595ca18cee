"""`allennlp elmo-perplexity`: how well a biLM predicts a text."""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
import torch
from allennlp.commands.subcommand import Subcommand
from allennlp.common import Tqdm
from allennlp.common.checks import ConfigurationError, check_for_gpu
from allennlp.common.util import int_to_device
from allennlp.data.vocabulary import DEFAULT_OOV_TOKEN
from overrides import overrides

from elmo_plugin.bilm import (
    BEGIN_SENTENCE_TOKEN,
    END_SENTENCE_TOKEN,
    PRECISIONS,
    BiLm,
    BiLmError,
    VocabularySoftmax,
)
from elmo_plugin.bilm.io import read_checkpoint
from elmo_plugin.common.files import replace_when_written, write_json
from elmo_plugin.language_model import (
    SentenceScores,
    TextScores,
    read_words,
    score_sentences,
)
from elmo_plugin.language_model.batches import EvaluationWindow, Rows, Text, evaluation_windows
from elmo_plugin.language_model.corpus import BiLmTextReader, prepare_corpus

UNKNOWN_WORDS = (DEFAULT_OOV_TOKEN, "<UNK>")  # of AllenNLP's vocabularies, and of published ones
STATES = ("carry", "reset")
UNROLL_STEPS = 64  # so many words of each block are read at a time, which changes no score
DECIMALS = 6  # of the scores of single words


@Subcommand.register("elmo-perplexity")
class ElmoPerplexity(Subcommand):
    """Prints perplexities, and writes the scores of sentences and words."""

    @overrides
    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = parser.add_parser(
            self.name,
            description="Score text, one tokenised sentence a line, with both language models of a biLM and "
            "their full softmax. The perplexity is over all words and the end of each sentence. It compares "
            "with that of another biLM only if both have the same vocabulary, whose unknown words count as "
            "one word.",
            help="Perplexity of text under a biLM.",
        )
        add = subparser.add_argument
        add(
            "archive",
            metavar="ARCHIVE",
            help="model.tar.gz, or the directory, of a trained `bilm` model; or what elmo-export made of it",
        )
        add("texts", nargs="+", metavar="TEXT", help="a file (plain, .gz or .zst), or a quoted pattern")
        add(
            "--state",
            choices=STATES,
            default=STATES[0],
            help="carry: sentence follows sentence in blocks, as in training; "
            "reset: each sentence is read by itself, as applications do",
        )
        add(
            "--block-words",
            type=int,
            default=1000,
            metavar="N",
            help="for carry: a block is as many sentences as have at least so many words (default: 1000)",
        )
        add("--batch-size", type=int, default=128, metavar="N", help="blocks side by side (default: 128)")
        add("--per-sentence", metavar="FILE", help="JSON lines with the scores of each sentence")
        add("--json", metavar="FILE", help="what is printed, as JSON")
        add("--cuda-device", type=int, default=-1, metavar="N", help="number of a GPU (default: the CPU)")
        add("--precision", choices=PRECISIONS, default=PRECISIONS[0], help="that of the biLM's products")
        add("--cache-directory", metavar="D", help="for tokenised text (default: $ELMO_PLUGIN_CACHE)")
        subparser.set_defaults(func=_command)
        return subparser


def _command(args: argparse.Namespace) -> None:
    for file in (args.per_sentence, args.json):
        if file and Path(file).is_dir():
            raise ConfigurationError(f"{file} is a directory; name a file to be written")
    figures = measure_perplexity(
        args.archive,
        args.texts,
        args.state,
        args.block_words,
        args.batch_size,
        args.per_sentence,
        args.cuda_device,
        args.precision,
        args.cache_directory,
    )
    for name, figure in figures.items():
        layout = {float: ",.3f", int: ","}.get(type(figure), "")
        print(f"{name.replace('_', ' ')}: {figure:{layout}}")
    if args.json:
        write_json(args.json, figures)


class LanguageModel(NamedTuple):
    """
    bilm: in evaluation mode, frozen
    softmax: likewise
    numbers: of the words that it predicts
    unknown: the number of all other words
    """

    bilm: BiLm
    softmax: VocabularySoftmax
    numbers: dict[str, int]
    unknown: int


def measure_perplexity(
    archive: str | Mapping[str, str],
    texts: Sequence[str],
    state: str = "carry",
    block_words: int = 1000,
    batch_size: int = 128,
    per_sentence: str | None = None,
    cuda_device: int = -1,
    precision: str = "float32",
    cache_directory: str | None = None,
) -> dict[str, Any]:
    """
    Each direction predicts the words of a sentence and one of its boundaries, forward `</S>` and backward
    `<S>`: the targets. A perplexity is `exp` of the mean `-log p` over all targets of the text, or over those
    of both directions. Neither `batch_size` nor how the text is cut into files changes it.

    # Parameters

    archive : `str | Mapping[str, str]`
        Whatever `load_bilm` takes, if it has a softmax.
    texts : `Sequence[str]`
        Files or patterns. A file that several of them name is read once.
    state : `str`
        With `reset` each sentence is read from the zero state. With `carry` it is read with what is
        remembered of the sentences before it in its block (backward: of those behind it), and each block
        from the zero state.
    block_words : `int`
        For `carry`: a block is as many sentences as have at least so many words.
    batch_size : `int`
        The number of blocks, or sentences, that are read side by side.
    per_sentence : `str`, optional
        A file that gets a JSON object for each sentence, see `sentence_as_json`; it is there whole or not at
        all.
    cuda_device : `int`
        The number of a GPU, or -1 for the CPU.
    precision : `str`
        That of the biLM, see `elmo_plugin.bilm.precision`. The softmax is in float32.
    cache_directory : `str`, optional
        Where tokenised text is kept.

    # Returns

    `dict[str, Any]`
        Perplexities, the numbers of sentences, words, targets (of each direction) and unknown words, the size
        of the vocabulary, and how the text was read.

    Raises `ConfigurationError` where the archive has no softmax, or where there is no text.
    """
    if state not in STATES:
        raise ConfigurationError(f"the state is one of {', '.join(STATES)}, not {state!r}")
    for name, value in (("block-words", block_words), ("batch-size", batch_size)):
        if value < 1:
            raise ConfigurationError(f"--{name} must be at least 1, not {value}")
    check_for_gpu(cuda_device)
    shards = BiLmTextReader().shards(*texts)
    try:
        model = load_language_model(archive, precision, int_to_device(cuda_device))
        corpus = prepare_corpus(shards, cache_directory)
        slots = model.bilm.options.char_cnn.max_characters_per_token
        text = Text(corpus.pieces, model.numbers, model.unknown, slots)
        least_words = block_words if state == "carry" else 1
        windows = evaluation_windows(text, Rows(batch_size), UNROLL_STEPS, least_words)
        targets = corpus.tokens + corpus.sentences
        scores = score_sentences(model.bilm, model.softmax, _with_progress(windows, targets))
        with _written(per_sentence) as file:
            sums = _sum_up(text, scores, file)
    except BiLmError as error:
        raise ConfigurationError(str(error)) from None
    return {
        **sums.perplexities(),
        "sentences": sums.sentences,
        "tokens": sums.tokens,
        "targets": sums.targets,
        "unknown_tokens": sums.unknown,
        "unknown_percent": 100 * sums.unknown / sums.tokens,
        "vocabulary_size": len(model.numbers),
        "state": state,
        **({"block_words": block_words} if state == "carry" else {}),
        "precision": precision,
    }


def load_language_model(
    source: str | Mapping[str, str], precision: str, device: torch.device
) -> LanguageModel:
    """
    # Parameters

    source : `str | Mapping[str, str]`
        Whatever `load_bilm` takes.
    precision : `str`
        See `BiLm`.
    device : `torch.device`
        Where it computes.

    Raises `BiLmError` where it names no usable model, or one without a softmax and its words.
    """
    stored = read_checkpoint(source)
    if stored.softmax is None:
        raise BiLmError(
            f"{source} has no softmax over a vocabulary, without which no word has a probability: give the "
            "archive of a training, or what elmo-export made of one"
        )
    weight, bias, words = stored.softmax
    numbers = {word: number for number, word in enumerate(words)}
    unknown = next((numbers[word] for word in UNKNOWN_WORDS if word in numbers), None)
    if unknown is None or not {BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN} <= set(numbers):
        raise BiLmError(
            f"the vocabulary of {source} lacks {BEGIN_SENTENCE_TOKEN}, {END_SENTENCE_TOKEN} or a word for "
            f"unknown ones ({' or '.join(UNKNOWN_WORDS)})"
        )
    bilm = BiLm(stored.options, precision=precision)
    bilm.load_state_dict(stored.weights)
    softmax = VocabularySoftmax(*weight.shape)
    softmax.load_state_dict({"weight": weight, "bias": bias})
    for module in (bilm, softmax):
        module.eval().requires_grad_(False).to(device)
    return LanguageModel(bilm, softmax, numbers, unknown)


def sentence_as_json(
    number: int, words: list[str], is_unknown: np.ndarray, scores: SentenceScores
) -> dict[str, Any]:
    """
    # Returns

    `dict[str, Any]`
        `sentence`, its number in the text from 0; `words`; `tokens`, their number; `unknown`, the places from
        0 of those that are scored as the unknown word; `forward` and `backward`, the sums of each direction's
        `-log p` in nats; `perplexity`, of the mean of both directions per target; `forward_nats` and
        `backward_nats`, what is summed: one number for each word, in the order of `words`, and behind them
        one for the boundary, which is `</S>` forward and `<S>` backward.
    """
    return {
        "sentence": number,
        "words": words,
        "tokens": len(words),
        "unknown": np.flatnonzero(is_unknown).tolist(),
        "forward": float(scores.forward.sum()),
        "backward": float(scores.backward.sum()),
        "perplexity": scores.perplexity,
        "forward_nats": scores.forward.round(DECIMALS).tolist(),
        "backward_nats": scores.backward.round(DECIMALS).tolist(),
    }


def _sum_up(text: Text, scores: Iterable[SentenceScores], file: TextIO | None) -> TextScores:
    sums = TextScores()
    for (words, is_unknown), of_sentence in zip(read_words(text), scores, strict=True):
        if file is not None:
            line = sentence_as_json(sums.sentences, words, is_unknown, of_sentence)
            print(json.dumps(line, ensure_ascii=False), file=file)
        sums.add(of_sentence, is_unknown)
    return sums


def _with_progress(windows: Iterable[EvaluationWindow], targets: int) -> Iterator[EvaluationWindow]:
    with Tqdm.tqdm(total=targets, unit="words", desc="scoring text") as bar:
        for window in windows:
            yield window
            bar.update(int((window.sentences[0] >= 0).sum()))


@contextmanager
def _written(path: str | None) -> Iterator[TextIO | None]:
    """A file to write text to, which takes the place of `path` in the end; nothing without a path."""
    if path is None:
        yield None
        return
    with replace_when_written(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        yield file
