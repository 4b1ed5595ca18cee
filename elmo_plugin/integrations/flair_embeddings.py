"""flair's embeddings of words, by ELMo."""

from collections.abc import Mapping, Sequence
from typing import Any

import flair
import torch
from flair.data import Sentence
from flair.embeddings.base import TokenEmbeddings, register_embeddings

from elmo_plugin.bilm import BiLmError
from elmo_plugin.integrations.word_vectors import ALL, MEAN, WordVectors

# What flair's own class calls models and layers, and what they are called here.
_MODELS = {"large": "original-5.5b", "5.5B": "original-5.5b", "pt": "portuguese"}
_MODES = {"all": ALL, "top": "top", "average": MEAN}


@register_embeddings
class ElmoEmbeddings(TokenEmbeddings):
    """
    Embeds the words of flair's sentences with a frozen biLM, on flair's device. A saved model contains it.

    flair stores a word's vectors under the name of the embeddings, and does not compute them again. So the
    name contains a digest of the biLM's weights and all settings.

    # Parameters

    bilm : `str | Mapping[str, str]`, optional (default = `"tiny"`)
        See `BiLm.from_pretrained`.
    layers : `str | int`, optional (default = `"mean"`)
        "mean", "top", "token" or the number of a layer, see `WordVectors`; "all" concatenates them.
    mixing_weights : `Sequence[float] | None`, optional (default = `None`)
        See `WordVectors`.
    precision : `str`, optional (default = `"float32"`)
        See `BiLm`.

    Raises `BiLmError` if the biLM cannot be loaded, or the other parameters do not fit it.
    """

    def __init__(
        self,
        bilm: str | Mapping[str, str] = "tiny",
        layers: str | int = MEAN,
        mixing_weights: Sequence[float] | None = None,
        precision: str = "float32",
    ) -> None:
        super().__init__()
        self._use(WordVectors(bilm, layers, mixing_weights, precision))

    @property
    def embedding_length(self) -> int:
        return self.word_vectors.num_features

    def to_params(self) -> dict[str, Any]:
        """Returns what flair stores with a model: the settings and the biLM itself, with a checksum."""
        return {"name": self.name, "content": self.word_vectors.to_bytes()}

    @classmethod
    def from_params(cls, params: dict[str, Any]) -> "ElmoEmbeddings":
        """
        Restores the embeddings from what `to_params` returned, without the biLM's source. Raises `BiLmError`
        if it is damaged.
        """
        embeddings = cls.__new__(cls)
        TokenEmbeddings.__init__(embeddings)
        embeddings._use(WordVectors.restore(params["content"]))
        embeddings.name = params["name"]
        return embeddings

    def _use(self, word_vectors: WordVectors) -> None:
        word_vectors.bilm.to(flair.device)
        self.word_vectors = word_vectors
        self.name = f"elmo-{word_vectors.layers}-{word_vectors.digest()}"
        self.static_embeddings = True

    def _add_embeddings_internal(self, sentences: list[Sentence]) -> None:
        words = [[token.text for token in sentence] for sentence in sentences]
        for sentence, vectors in zip(sentences, self.word_vectors.embed(words), strict=True):
            of_words = torch.from_numpy(vectors).to(flair.device)
            if self.word_vectors.layers == ALL:
                of_words = of_words.movedim(0, 1).flatten(1)  # Shape: (words, num_layers * dim)
            for token, vector in zip(sentence, of_words, strict=True):
                token.set_embedding(self.name, vector)


@register_embeddings
class ELMoEmbeddings(ElmoEmbeddings):
    """
    Takes the arguments of flair's own class of this name, which needs AllenNLP 0.9, and has its defaults.

    # Parameters

    model : `str`, optional (default = `"original"`)
        "original", "small", "medium", "large" or "5.5B", "pt" or "portuguese", "pubmed"; or any other biLM,
        see `BiLm.from_pretrained`.
    options_file, weight_file : `str | None`, optional (default = `None`)
        If both are given, the biLM in the published layout: paths or URLs.
    embedding_mode : `str`, optional (default = `"all"`)
        "all" concatenates the layers; "top" is the top layer, "average" their mean.

    Raises `BiLmError` for another `embedding_mode`, and where the biLM cannot be loaded.
    """

    def __init__(
        self,
        model: str = "original",
        options_file: str | None = None,
        weight_file: str | None = None,
        embedding_mode: str = "all",
    ) -> None:
        if embedding_mode not in _MODES:
            raise BiLmError(f"embedding_mode is one of {', '.join(_MODES)}, not {embedding_mode!r}")
        bilm: str | dict[str, str] = _MODELS.get(model, model)
        if options_file and weight_file:
            bilm = {"options": str(options_file), "weights": str(weight_file)}
        super().__init__(bilm, _MODES[embedding_mode])
