"""scikit-learn's transformer from the words of sentences to vectors of the sentences."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from elmo_plugin.bilm import BiLmError, Layers
from elmo_plugin.integrations.word_vectors import WordVectors

_POOLINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "mean": lambda vectors: vectors.mean(axis=-2),
    "max": lambda vectors: vectors.max(axis=-2),
    "first": lambda vectors: vectors[..., 0, :],
}


class ElmoVectorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """
    Turns each sentence into one vector, by default the mean of its words' vectors; zeros without words.
    It learns nothing: `fit` loads the biLM, to be pickled with the transformer.

    # Parameters

    bilm : `str | Mapping[str, str]`, optional (default = `"tiny"`)
        See `BiLm.from_pretrained`.
    layers : `str | int | Sequence[float]`, optional (default = `"mean"`)
        See `WordVectors`; "all" concatenates the layers.
    precision : `str`, optional (default = `"float32"`)
        See `BiLm`.
    batch_size : `int`, optional (default = `256`)
        The number of sentences that are embedded at once.
    pooling : `str`, optional (default = `"mean"`)
        How the vectors of a sentence's words become one: their "mean", their "max" in each feature, or the
        vector of the "first" word.
    tokenizer : `Callable | None`, optional (default = `None`)
        A function from a text to its words, such as `str.split`; the sentences are then texts. By default
        they are lists of words.
    device : `str`, optional (default = `"cpu"`)
        The device of torch on which the biLM computes, such as "cuda".
    """

    word_vectors_: WordVectors

    def __init__(
        self,
        bilm: str | Mapping[str, str] = "tiny",
        layers: Layers = "mean",
        precision: str = "float32",
        batch_size: int = 256,
        pooling: str = "mean",
        tokenizer: Callable[[str], Sequence[str]] | None = None,
        device: str = "cpu",
    ) -> None:
        self.bilm = bilm
        self.layers = layers
        self.precision = precision
        self.batch_size = batch_size
        self.pooling = pooling
        self.tokenizer = tokenizer
        self.device = device

    def fit(self, X: Iterable[Sequence[str] | str], y: Any = None) -> "ElmoVectorizer":
        """Loads the biLM; `X` and `y` are ignored. Raises `BiLmError` if a parameter is wrong."""
        self._check()
        self.word_vectors_ = WordVectors(self.bilm, self.layers, self.precision)
        self.word_vectors_.to(self.device)
        self._n_features_out = self.word_vectors_.num_features
        return self

    def transform(self, X: Iterable[Sequence[str] | str]) -> np.ndarray:
        """
        Returns the vectors of sentences, shape (sentences, features), float32. They are lists of words, or
        texts if there is a tokenizer.

        Raises `BiLmError` if a sentence is not a list of words, or the device does not exist.
        """
        check_is_fitted(self)
        self._check()
        self.word_vectors_.to(self.device)  # a pickle's biLM is on the CPU
        if isinstance(X, str):
            raise BiLmError("expected several sentences, got one text: put it into a list")
        rest = map(self._words, X)
        rows = [np.empty((0, self._n_features_out), np.float32)]
        while sentences := list(islice(rest, self.batch_size)):
            rows.append(np.stack([self._pooled(each) for each in self.word_vectors_.embed(sentences)]))
        return np.concatenate(rows)

    def _words(self, sentence: Any) -> Sequence[str]:
        if self.tokenizer is not None:
            return self.tokenizer(sentence)
        if isinstance(sentence, str):
            raise BiLmError(f"expected a list of words, got {sentence!r}: for texts set tokenizer=str.split")
        return sentence

    def _pooled(self, vectors: np.ndarray) -> np.ndarray:
        """Returns the vector of a sentence. Shape of `vectors`: (..., words, dim)."""
        if not vectors.shape[-2]:
            return np.zeros(self._n_features_out, np.float32)
        return _POOLINGS[self.pooling](vectors).ravel()

    def _check(self) -> None:
        if self.batch_size < 1:
            raise BiLmError(f"batch_size must be at least 1, got {self.batch_size}")
        if self.pooling not in _POOLINGS:
            raise BiLmError(f"pooling: expected {', '.join(_POOLINGS)}, got {self.pooling!r}")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags
