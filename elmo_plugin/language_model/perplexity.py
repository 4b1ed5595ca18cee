"""The perplexity of text under any biLM that has a softmax."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TextIO

import numpy as np
import torch.nn.functional as F

from elmo_plugin.bilm import (
    BEGIN_SENTENCE_TOKEN,
    END_SENTENCE_TOKEN,
    BiLm,
    BiLmError,
    VocabularySoftmax,
)
from elmo_plugin.bilm.io import MODELS, UNKNOWN_WORDS, SoftmaxWeights, read_checkpoint
from elmo_plugin.common.errors import check_choice
from elmo_plugin.common.files import atomic_write
from elmo_plugin.common.process import get_device
from elmo_plugin.common.progress import progress_bar
from elmo_plugin.common.streams import escape_in_json
from elmo_plugin.language_model.chunks import IndexedCorpus
from elmo_plugin.language_model.corpus import find_shards, prepare_corpus
from elmo_plugin.language_model.evaluation import (
    CorpusSentence,
    SentenceScores,
    corpus_sentences,
    perplexities,
    perplexity,
    score_sentences,
)
from elmo_plugin.language_model.windows import StreamLayout

_STATES = ("carry", "reset")
UNROLL_STEPS = 64  # how many words of each block are read at a time; changes no score
DECIMALS = 6  # to which the scores of single words are rounded


def measure_perplexity(
    archive: str | Mapping[str, str],
    texts: Sequence[str],
    state: str = "carry",
    block_words: int = 1000,
    batch_size: int = 128,
    per_sentence: str | None = None,
    device: str = "cpu",
    precision: str = "float32",
    cache_directory: str | None = None,
) -> dict[str, Any]:
    """
    Measures the perplexity: `exp` of the mean `-log p` over all targets of the text, of each
    direction and of both. The targets are the words of each sentence and one of its boundaries,
    `</S>` forward and `<S>` backward. The padding of AllenNLP's vocabularies cannot occur, so it
    has no probability, and does not count as a word of the vocabulary.

    # Parameters

    archive : `str | Mapping[str, str]`
        Whatever `BiLm.from_pretrained` takes. It must contain a softmax.
    texts : `Sequence[str]`
        Files or patterns of files.
    state : `str`
        With "reset" each sentence is read from the zero state. With "carry" the state is carried
        from sentence to sentence (backward: from the last to the first) within a block.
    block_words : `int`
        With "carry", a block is the fewest sentences with at least this number of words.
    batch_size : `int`
        The number of blocks that are read at a time. Neither this nor the division of the text into
        files changes the perplexity.
    per_sentence : `str`, optional
        The file that gets a JSON object for each sentence.
    device, precision : `str`
        How the biLM is computed. The softmax is in float32 in any precision.
    cache_directory : `str`, optional
        The cache in which the text is prepared, see `prepare_corpus`.

    Returns perplexities, the numbers of sentences, words, targets (of each direction) and unknown
    words, the size of the vocabulary, and how the text was read. Raises `BiLmError` if the archive
    contains no softmax, or the text is empty.
    """
    check_choice("state", state, _STATES)
    device = str(get_device(device))
    shards = find_shards(*texts)
    model = _load_scoring_model(archive, precision, device)
    corpus = prepare_corpus(shards, cache_directory)
    max_characters = model.bilm.options.char_cnn.max_characters_per_token
    indexed = IndexedCorpus(corpus.chunks, model.vocabulary, model.unknown_number, max_characters)
    layout = StreamLayout(batch_size, UNROLL_STEPS)
    if state == "reset":
        block_words = 1  # so that each block is one sentence
    if per_sentence is None:
        totals = _score_text(model, indexed, layout, block_words)
    else:
        with (
            atomic_write(per_sentence) as temporary,
            open(temporary, "w", encoding="utf-8") as file,
        ):
            totals = _score_text(model, indexed, layout, block_words, file)
    targets = corpus.tokens + corpus.sentences
    figures: dict[str, Any] = {
        **perplexities(totals.forward / targets, totals.backward / targets),
        "sentences": corpus.sentences,
        "tokens": corpus.tokens,
        "targets": targets,
        "unknown_tokens": totals.num_unknown,
        "unknown_percent": 100 * totals.num_unknown / corpus.tokens,
        "vocabulary_size": len(model.vocabulary),
        "state": state,
    }
    if state == "carry":
        figures["block_words"] = block_words
    figures["precision"] = model.bilm.actual_precision().name
    return figures


@dataclass
class _Totals:
    """Sums over the sentences of a text."""

    forward: float = 0.0  # the sum of the forward direction's `-log p`
    backward: float = 0.0  # the sum of the backward direction's `-log p`
    num_unknown: int = 0  # the number of unknown words

    def add(self, scores: SentenceScores, is_unknown: np.ndarray) -> None:
        """Adds the scores of a sentence, and its number of unknown words."""
        self.forward += float(scores.forward.sum())
        self.backward += float(scores.backward.sum())
        self.num_unknown += int(is_unknown.sum())


def _score_text(
    model: "ScoringModel",
    corpus: IndexedCorpus,
    layout: StreamLayout,
    block_words: int,
    file: TextIO | None = None,
) -> _Totals:
    """
    Scores all sentences of a text, and returns the sums over them. Writes a line of JSON for each
    sentence into the file, if there is one.
    """
    totals = _Totals()
    all_scores = score_sentences(model.bilm, model.softmax, corpus, layout, block_words)
    bar = progress_bar(
        iterable=zip(corpus_sentences(corpus), all_scores, strict=True),
        total=sum(chunk.sentences for chunk in corpus.chunks),
        unit="sentences",
        desc="scoring text",
    )
    for number, (sentence, scores) in enumerate(bar):
        totals.add(scores, sentence.is_unknown)
        if file is not None:
            line = sentence_as_json(number, sentence, scores)
            print(escape_in_json(json.dumps(line, ensure_ascii=False)), file=file)
    return totals


class ScoringModel(NamedTuple):
    """A frozen biLM with the softmax by which it predicts words."""

    bilm: BiLm
    softmax: VocabularySoftmax
    vocabulary: dict[str, int]  # the number of each word that it predicts, without the padding
    unknown_number: int  # stands for all other words


def _load_scoring_model(
    source: str | Mapping[str, str], precision: str, device: str
) -> ScoringModel:
    """
    Loads a biLM and its softmax, onto a device. Raises `BiLmError` if the source contains no
    softmax, or if the softmax lacks a special word: a sentence boundary or the unknown word.
    """
    if isinstance(source, str) and source in MODELS:
        # None of the published models has a softmax, so this one need not be downloaded.
        raise _no_softmax(source)
    stored = read_checkpoint(source)
    if stored.softmax is None:
        raise _no_softmax(source)
    vocabulary = stored.softmax.vocabulary()
    if vocabulary is None:
        raise BiLmError(
            f"the vocabulary of {source} lacks {BEGIN_SENTENCE_TOKEN}, {END_SENTENCE_TOKEN} or a "
            f"word for unknown ones ({' or '.join(UNKNOWN_WORDS)})"
        )
    numbers, unknown_number = vocabulary
    if not stored.softmax.has_padding:
        # A row for the padding comes before the rows of the words.
        numbers = {word: number + 1 for word, number in numbers.items()}
        unknown_number += 1
    bilm = BiLm(stored.options, precision=precision, weights=stored.weights).to(device)
    softmax = _softmax_with_padding(stored.softmax)
    softmax.requires_grad_(False).to(device)
    return ScoringModel(bilm, softmax, numbers, unknown_number)


def _no_softmax(source: str | Mapping[str, str]) -> BiLmError:
    """Returns the error for a biLM without a softmax."""
    return BiLmError(
        f"{source}: perplexity needs a softmax: name the archive of a training, or what elmo "
        "export made of one"
    )


def _softmax_with_padding(stored: SoftmaxWeights) -> VocabularySoftmax:
    """
    Returns the softmax with these weights. Its row 0 is for the padding, because the target 0
    stands for no word. If the weights lack such a row, it is added before the others. Its values do
    not matter, because scores are computed without it.
    """
    weight = stored.weight
    bias = stored.bias
    if not stored.has_padding:
        weight = F.pad(weight, (0, 0, 1, 0))  # one row more at the beginning
        bias = F.pad(bias, (1, 0))
    num_words, dim = weight.shape
    softmax = VocabularySoftmax(num_words, dim)
    softmax.load_state_dict({"weight": weight, "bias": bias})
    return softmax


def sentence_as_json(
    number: int, sentence: CorpusSentence, scores: SentenceScores
) -> dict[str, Any]:
    """
    Returns the object that is written for a sentence:

    - `sentence`: its `number` in the text, from 0
    - `words`, and `tokens`, the number of words
    - `unknown`: the places, from 0, of the words that are scored as the unknown word
    - `forward` and `backward`: the sum of each direction's `-log p` in nats
    - `perplexity`: of both directions together
    - `forward_nats` and `backward_nats`: the `-log p` of each word and, last, of the boundary,
      `</S>` forward and `<S>` backward
    """
    forward = float(scores.forward.sum())
    backward = float(scores.backward.sum())
    targets = len(scores.forward)
    return {
        "sentence": number,
        "words": sentence.words,
        "tokens": len(sentence.words),
        "unknown": np.flatnonzero(sentence.is_unknown).tolist(),
        "forward": forward,
        "backward": backward,
        "perplexity": perplexity((forward + backward) / (2 * targets)),
        "forward_nats": scores.forward.round(DECIMALS).tolist(),
        "backward_nats": scores.backward.round(DECIMALS).tolist(),
    }
