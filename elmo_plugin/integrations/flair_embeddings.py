"""flair's embeddings of words, by ELMo."""

from collections.abc import Mapping
from typing import Any

import torch

try:
    import flair
    from flair.data import Sentence
    from flair.embeddings.base import TokenEmbeddings, register_embeddings
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"{error}: install flair, or use --include-package elmo_plugin.plugin instead of "
        "elmo_plugin"
    ) from None

from elmo_plugin.bilm import Layers
from elmo_plugin.integrations.word_vectors import WordVectors


@register_embeddings
class ElmoEmbeddings(TokenEmbeddings):
    """
    Embeds the words of flair's sentences with a frozen biLM, on flair's device. A saved model
    contains the biLM. flair stores a word's vectors in the word, under the name of the embeddings.
    So that other embeddings do not find them there, the name contains a digest of the biLM and the
    settings.

    See `WordVectors` for the parameters; the layers "all" are concatenated. Raises `BiLmError` if
    the biLM cannot be loaded, or the parameters do not fit it.
    """

    def __init__(
        self,
        bilm: str | Mapping[str, str] = "base",
        layers: Layers = "mean",
        precision: str = "float32",
    ) -> None:
        super().__init__()
        self._set_word_vectors(WordVectors(bilm, layers, precision))

    @property
    def embedding_length(self) -> int:
        """The size of a word's vector."""
        return self.word_vectors.num_features

    def to_params(self) -> dict[str, Any]:
        """Returns what flair stores with a model: the settings and the biLM itself."""
        vectors = self.word_vectors
        bilm = vectors.bilm
        return {
            "name": self.name,
            "layers": vectors.layers,
            "precision": vectors.precision,
            "options": bilm.options.to_dict(),
            "weights": {name: weight.cpu() for name, weight in bilm.state_dict().items()},
        }

    @classmethod
    def from_params(cls, params: dict[str, Any]) -> "ElmoEmbeddings":
        """Restores the embeddings from what `to_params` returned, without the biLM's source."""
        # The source is never loaded, because the biLM is restored. It may be any text.
        word_vectors = WordVectors(
            source=params["name"], layers=params["layers"], precision=params["precision"]
        )
        word_vectors.restore(params["options"], params["weights"])
        # `__init__` is not called, because it would load a biLM from a source.
        embeddings = cls.__new__(cls)
        TokenEmbeddings.__init__(embeddings)
        embeddings._set_word_vectors(word_vectors)
        return embeddings

    def _set_word_vectors(self, word_vectors: WordVectors) -> None:
        """Moves the biLM to flair's device, and sets the attributes that flair reads."""
        word_vectors.bilm.to(flair.device)
        self.word_vectors = word_vectors
        self.name = f"elmo-{word_vectors.digest()}"
        # Training does not change the vectors, so flair may reuse them in the next epoch.
        self.static_embeddings = True

    def _add_embeddings_internal(self, sentences: list[Sentence]) -> None:
        """Sets the vector of each token. flair calls this."""
        words = [[token.text for token in sentence] for sentence in sentences]
        for sentence, vectors in zip(sentences, self.word_vectors.embed(words), strict=True):
            rows = torch.from_numpy(vectors).to(flair.device)
            if self.word_vectors.layers == "all":  # Shape of `rows`: (num_layers, words, dim)
                rows = rows.movedim(0, 1).flatten(1)
            # Shape of `rows`: (words, embedding_length)
            for token, vector in zip(sentence, rows, strict=True):
                token.set_embedding(self.name, vector)
