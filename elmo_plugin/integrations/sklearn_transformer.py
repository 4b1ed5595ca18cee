"""scikit-learn's transformer from the words of sentences to vectors of the sentences."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from elmo_plugin.bilm import BiLmError
from elmo_plugin.integrations.word_vectors import MEAN, WordVectors


class ElmoVectorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """
    Turns each sentence into the mean of its words' vectors, or zeros if it has no words. It learns nothing:
    `fit` loads the biLM, which is pickled with the transformer.

    # Parameters

    bilm : `str | Mapping[str, str]`, optional (default = `"tiny"`)
        See `load_bilm`.
    layers : `str | int`, optional (default = `"mean"`)
        "mean", "top", "token" or the number of a layer, see `WordVectors`; "all" concatenates them.
    mixing_weights : `Sequence[float] | None`, optional (default = `None`)
        See `WordVectors`.
    precision : `str`, optional (default = `"float32"`)
        See `BiLm`.
    batch_size : `int`, optional (default = `256`)
        The number of sentences that are embedded at once.
    """

    word_vectors_: WordVectors

    def __init__(
        self,
        bilm: str | Mapping[str, str] = "tiny",
        layers: str | int = MEAN,
        mixing_weights: Sequence[float] | None = None,
        precision: str = "float32",
        batch_size: int = 256,
    ) -> None:
        self.bilm = bilm
        self.layers = layers
        self.mixing_weights = mixing_weights
        self.precision = precision
        self.batch_size = batch_size

    def fit(self, X: Iterable[Sequence[str]], y: Any = None) -> "ElmoVectorizer":
        """
        Loads the biLM; `X` and `y` are ignored. Raises `BiLmError`, a `ValueError`, if a parameter is wrong.
        """
        self._check_batch_size()
        self.word_vectors_ = WordVectors(self.bilm, self.layers, self.mixing_weights, self.precision)
        self._n_features_out = self.word_vectors_.num_features
        return self

    def transform(self, X: Iterable[Sequence[str]]) -> np.ndarray:
        """
        # Parameters

        X : `Iterable[Sequence[str]]`
            The words of each sentence.

        # Returns

        `np.ndarray`
            Shape (sentences, features), float32.

        Raises `BiLmError` if a sentence is not a list of words.
        """
        check_is_fitted(self)
        self._check_batch_size()
        rest, rows = iter(X), [np.empty((0, self._n_features_out), np.float32)]
        while sentences := list(islice(rest, self.batch_size)):
            vectors = self.word_vectors_.embed(sentences)
            rows.append(np.stack([each.sum(axis=-2).ravel() / max(each.shape[-2], 1) for each in vectors]))
        return np.concatenate(rows)

    def _check_batch_size(self) -> None:
        if self.batch_size < 1:
            raise BiLmError(f"batch_size must be at least 1, not {self.batch_size}")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags
