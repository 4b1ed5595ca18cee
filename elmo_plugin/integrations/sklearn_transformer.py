"""scikit-learn's transformer from texts to vectors."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from elmo_plugin.bilm import POOLINGS, BiLmError, Layers, Tokenizer, check_encoding
from elmo_plugin.common.errors import check_choice
from elmo_plugin.integrations.word_vectors import WordVectors


class ElmoVectorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """
    Turns each text into one vector, by default the mean of its words' vectors. The vector of a text
    without words is zero. Nothing is learned: `fit` only loads the biLM, so that a pickle of the
    transformer contains it. Call `fit` again after a change of `bilm`, `layers` or `precision`.

    # Parameters

    bilm : `str | Mapping[str, str]`, optional (default = `"base"`)
        See `BiLm.from_pretrained`.
    layers : `str | int | Sequence[float]`, optional (default = `"mean"`)
        See `WordVectors`; "all" concatenates the layers.
    precision : `str`, optional (default = `"float32"`)
        See `BiLm`.
    batch_size : `int`, optional (default = `256`)
        The number of texts that are embedded at once.
    pooling : `str`, optional (default = `"mean"`)
        How the vectors of a text's words become one, see `BiLm.encode`. With "sif", give
        `layers="token"`.
    tokenizer : `str | Callable`, optional (default = `"spacy"`)
        How a text is split into words: the rules of "spacy", "whitespace", or a function such as
        `str.split`. Texts that are lists of words stay so.
    device : `str`, optional (default = `"cpu"`)
        The device of torch on which the biLM computes, such as "cuda".
    """

    word_vectors_: WordVectors

    def __init__(
        self,
        bilm: str | Mapping[str, str] = "base",
        layers: Layers = "mean",
        precision: str = "float32",
        batch_size: int = 256,
        pooling: str = "mean",
        tokenizer: Tokenizer = "spacy",
        device: str = "cpu",
    ) -> None:
        self.bilm = bilm
        self.layers = layers
        self.precision = precision
        self.batch_size = batch_size
        self.pooling = pooling
        self.tokenizer = tokenizer
        self.device = device

    def fit(self, X: Iterable[Any], y: Any = None) -> "ElmoVectorizer":
        """Loads the biLM; `X` and `y` are ignored. Raises `BiLmError` if a parameter is wrong."""
        self.word_vectors_ = WordVectors(self.bilm, self.layers, self.precision)
        self._n_features_out = self.word_vectors_.num_features
        self._prepare()
        return self

    def transform(self, X: Iterable[Any]) -> np.ndarray:
        """
        Returns the vectors of texts, shape (texts, features), float32. A text may also be a list of
        its words. The texts may be a table or an array with a single column, of shape (texts, 1).

        Raises `BiLmError` if an item is neither a text nor a list of words, or if the device does
        not exist.
        """
        check_is_fitted(self)
        self._prepare()
        is_spacy_document = isinstance(getattr(X, "text", None), str)
        if isinstance(X, str) or is_spacy_document:
            raise BiLmError("expected several texts, got one: put it in a list")
        shape: tuple[int, ...] = getattr(X, "shape", ())
        has_one_column = len(shape) == 2 and shape[1] == 1
        if has_one_column:
            X = np.asarray(X)[:, 0]
        vectors = self.word_vectors_.bilm.encode(
            X,
            layers=self.word_vectors_.layers,
            pooling=self.pooling,
            output="numpy",
            batch_size=self.batch_size,
            tokenizer=self.tokenizer,
        )
        # Concatenates the layers "all": for them, the shape is (texts, num_layers, dim).
        return vectors.reshape(len(vectors), self._n_features_out)

    def _prepare(self) -> None:
        """
        Checks the parameters of `BiLm.encode`, because `set_params` may have changed them. Moves
        the biLM to `device`, because an unpickled one is on the CPU. Raises `BiLmError` if a
        parameter is wrong.
        """
        # `check_encoding` accepts the pooling `None`, but it would give each word a vector.
        check_choice("pooling", self.pooling, POOLINGS)
        check_encoding(
            self.pooling, output="numpy", tokenizer=self.tokenizer, batch_size=self.batch_size
        )
        self.word_vectors_.to(self.device)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # the input is texts, not a table of numbers
        tags.transformer_tags.preserves_dtype = []  # always float32
        return tags
