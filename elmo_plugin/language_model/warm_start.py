"""The training of a biLM that starts from another biLM."""

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
    Adapts a softmax to another vocabulary. Words that the known softmax has keep their row and bias. It knew
    all others as the unknown word, so the new words and the unknown word share the unknown word's row, and
    its probability in equal parts: the bias is lower by `log(number of new words + 1)`. If no known word is
    left out, the known words are as probable as before.

    # Parameters

    known : `SoftmaxWeights`
        The softmax of the source.
    vocab : `Vocabulary`
        The words to predict from now on.
    namespace : `str`
        Their namespace in `vocab`.

    # Returns

    `Tensor`, `Tensor`, `int`
        The weight, shape (words, dim), the bias, shape (words,), and the number of new words.

    Raises `ConfigurationError` if there are new words, but the source has no unknown word.
    """
    numbers = {word: number for number, word in enumerate(known.words)}
    unknown = numbers.get(vocab._oov_token)
    words = [vocab.get_token_from_index(i, namespace) for i in range(vocab.get_vocab_size(namespace))]
    new = [i for i, word in enumerate(words) if word not in numbers]
    if new and unknown is None:
        raise ConfigurationError(
            f"model.initial: {len(new)} words of the vocabulary are new to the softmax of the source, "
            f"which has no word {vocab._oov_token} to make them from"
        )
    rows = torch.tensor([numbers.get(word, unknown) for word in words])
    weight, bias = known.weight[rows], known.bias[rows]
    if new:
        bias[rows == unknown] -= math.log(len(new) + 1)
    return weight, bias, len(new)


def take_options_from_weights(model: Params, weights_file: str | PathLike) -> None:
    """
    Replaces `initial` by the options that are stored with the weights of a trained `bilm`, so that the model
    can be constructed without the biLM that its training started from.

    # Parameters

    model : `Params`
        The section `model` of an archive's configuration. It is changed in place.
    weights_file : `str | PathLike`
        The archive's weights.

    Raises `ConfigurationError` if no options are stored with them.
    """
    if "initial" not in model:
        return
    name = f"weight file {weights_file}"
    with as_configuration_error():
        model["options"] = options_from_state(load_plain(Path(weights_file), name), name)
    del model["initial"]
