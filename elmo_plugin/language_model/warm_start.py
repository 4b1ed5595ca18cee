"""Training a biLM that starts from another biLM."""

import math
from os import PathLike
from pathlib import Path

import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from torch import Tensor

from elmo_plugin.bilm.io import SoftmaxWeights, options_from_state
from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.formats.torch_files import load_plain


def adapt_softmax(
    known: SoftmaxWeights, vocab: Vocabulary, namespace: str = "words"
) -> tuple[Tensor, Tensor, int]:
    """
    Adapts a softmax to another vocabulary. Known words keep their row and bias. All others were the unknown
    word until now, so the new words and the unknown word share its row, and its probability in equal parts:
    their bias is lower by `log(number of new words + 1)`. If all known words are in the new vocabulary, they
    are as probable as before.

    Returns the weight, shape (words, dim), the bias, shape (words,), and the number of new words. Raises
    `ConfigurationError` if there are new words, but the source lacks the unknown word.
    """
    numbers = {word: number for number, word in enumerate(known.words)}
    unknown = numbers.get(vocab._oov_token)
    words = [vocab.get_token_from_index(i, namespace) for i in range(vocab.get_vocab_size(namespace))]
    new = [i for i, word in enumerate(words) if word not in numbers]
    if new and unknown is None:
        raise ConfigurationError(
            f"model.initial: {len(new)} words of the vocabulary are new to the softmax of the source, "
            f"which lacks {vocab._oov_token}"
        )
    rows = torch.tensor([numbers.get(word, unknown) for word in words])
    weight, bias = known.weight[rows], known.bias[rows]
    if new:
        bias[rows == unknown] -= math.log(len(new) + 1)
    return weight, bias, len(new)


def take_options_from_weights(model: Params, weights_file: str | PathLike) -> None:
    """
    Replaces `initial`, in the section `model` of an archive's configuration, by the options that are stored
    with its weights: the model can then be constructed without the biLM that its training started from.

    Raises `ConfigurationError` if no options are stored with them.
    """
    if "initial" not in model:
        return
    name = f"weight file {weights_file}"
    with as_configuration_error():
        model["options"] = options_from_state(load_plain(Path(weights_file), name), name)
    del model["initial"]
