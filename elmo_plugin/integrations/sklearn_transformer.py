"""scikit-learn's transformer from the words of sentences to vectors of the sentences."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from elmo_plugin.bilm import BiLmError
from elmo_plugin.integrations.word_vectors import MEAN, WordVectors

_POOLINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "mean": lambda vectors: vectors.mean(axis=-2),
    "max": lambda vectors: vectors.max(axis=-2),
    "first": lambda vectors: vectors[..., 0, :],
}


class ElmoVectorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """
    Turns each sentence into one vector, by default the mean of its words' vectors; zeros if it has no words.
    It learns nothing: `fit` loads the biLM, which is pickled with the transformer.

    # Parameters

    bilm : `str | Mapping[str, str]`, optional (default = `"tiny"`)
        See `BiLm.from_pretrained`.
    layers : `str | int`, optional (default = `"mean"`)
        "mean", "top", "token" or the number of a layer, see `WordVectors`; "all" concatenates them.
    mixing_weights : `Sequence[float] | None`, optional (default = `None`)
        See `WordVectors`.
    precision : `str`, optional (default = `"float32"`)
        See `BiLm`.
    batch_size : `int`, optional (default = `256`)
        The number of sentences that are embedded at once.
    pooling : `str`, optional (default = `"mean"`)
        What a sentence has of its words' vectors: the "mean", the largest number of each feature ("max"), or
        the vector of the "first" word.
    tokenizer : `Callable | None`, optional (default = `None`)
        A function from a text to its words, such as `str.split`; the sentences are then texts. By default
        they are lists of words.
    device : `str`, optional (default = `"cpu"`)
        Where the biLM computes: a device of torch's, such as "cuda".
    """

    word_vectors_: WordVectors

    def __init__(
        self,
        bilm: str | Mapping[str, str] = "tiny",
        layers: str | int = MEAN,
        mixing_weights: Sequence[float] | None = None,
        precision: str = "float32",
        batch_size: int = 256,
        pooling: str = "mean",
        tokenizer: Callable[[str], Sequence[str]] | None = None,
        device: str = "cpu",
    ) -> None:
        self.bilm = bilm
        self.layers = layers
        self.mixing_weights = mixing_weights
        self.precision = precision
        self.batch_size = batch_size
        self.pooling = pooling
        self.tokenizer = tokenizer
        self.device = device

    def fit(self, X: Iterable[Sequence[str] | str], y: Any = None) -> "ElmoVectorizer":
        """
        Loads the biLM; `X` and `y` are ignored. Raises `BiLmError`, a `ValueError`, if a parameter is wrong.
        """
        self._check()
        self.word_vectors_ = WordVectors(self.bilm, self.layers, self.mixing_weights, self.precision)
        self.word_vectors_.to(self.device)
        self._n_features_out = self.word_vectors_.num_features
        return self

    def transform(self, X: Iterable[Sequence[str] | str]) -> np.ndarray:
        """
        # Parameters

        X : `Iterable[Sequence[str] | str]`
            The words of each sentence; with a tokenizer its text.

        # Returns

        `np.ndarray`
            Shape (sentences, features), float32.

        Raises `BiLmError` if a sentence is not a list of words, or there is no such device.
        """
        check_is_fitted(self)
        self._check()
        self.word_vectors_.to(self.device)  # a pickle's biLM is on the CPU
        texts: Iterable[Any] = X
        rest = iter(texts if self.tokenizer is None else map(self.tokenizer, texts))
        rows = [np.empty((0, self._n_features_out), np.float32)]
        while sentences := list(islice(rest, self.batch_size)):
            rows.append(np.stack([self._pooled(each) for each in self.word_vectors_.embed(sentences)]))
        return np.concatenate(rows)

    def _pooled(self, vectors: np.ndarray) -> np.ndarray:
        """Returns the vector of a sentence. Shape of `vectors`: (..., words, dim)."""
        if not vectors.shape[-2]:
            return np.zeros(self._n_features_out, np.float32)
        return _POOLINGS[self.pooling](vectors).ravel()

    def _check(self) -> None:
        if self.batch_size < 1:
            raise BiLmError(f"batch_size must be at least 1, not {self.batch_size}")
        if self.pooling not in _POOLINGS:
            raise BiLmError(f"pooling is one of {', '.join(_POOLINGS)}, not {self.pooling!r}")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags
