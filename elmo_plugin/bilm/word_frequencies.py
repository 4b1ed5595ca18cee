"""How often English words occur, and the weights of words in a text by Arora et al. (2017)."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from elmo_plugin.common.bundled import BUNDLED
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.word_keys import DIGEST_SIZE, KEYS_NAME, word_key

TABLE = BUNDLED / "words" / "english"
"""The folder of the bundled word vectors. Their words are counted."""
COUNTS_NAME = "counts.safetensors"
SMOOTHING = 1e-3
"""The `a` of the paper. It tries 1e-3 to 1e-4."""


@cache
def word_probabilities() -> dict[int, float]:
    """
    Returns the share of each word in the text that `base` was trained on. Words are represented by
    their keys, see `word_key`. Raises `BiLmError` if the files are damaged.
    """
    try:
        tensors = load_file(TABLE / COUNTS_NAME)
        shares = tensors["counts"].double() / tensors["total"]
        content = (TABLE / KEYS_NAME).read_bytes()
        # After a digest, the key of each word as 8 bytes, in the order of the counts
        keys = np.frombuffer(content, "<i8", offset=DIGEST_SIZE)
        return dict(zip(keys.tolist(), shares.tolist(), strict=True))
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise BiLmError(f"the counts of words in {TABLE} cannot be read ({error})") from None


def word_probability(word: str) -> float:
    """
    Returns the share of an English word in running text, or of its lower-case form; 0 for a word
    that is not among the 40,000 most frequent.
    """
    probabilities = word_probabilities()
    for form in (word, word.lower()):
        if word_key(form) in probabilities:
            return probabilities[word_key(form)]
    return 0.0


def inverse_frequency_weights(words: Sequence[str]) -> Tensor:
    """
    Returns a / (a + p(word)) for each word, shape (words,): the "smooth inverse frequency", near 1
    for rare words and near 0 for the most frequent.
    """
    weights = [SMOOTHING / (SMOOTHING + word_probability(word)) for word in words]
    return torch.tensor(weights)
