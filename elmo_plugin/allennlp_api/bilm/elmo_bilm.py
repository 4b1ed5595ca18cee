"""The biLM inside of `Elmo`: its activations with or without boundaries, its words by number."""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, cast

import torch
from torch import Tensor, nn

from elmo_plugin.allennlp_api.bilm.elmo_lstm import ElmoLstm
from elmo_plugin.allennlp_api.bilm.network import AllenNlpBiLm
from elmo_plugin.bilm import (
    BiLmError,
    BiLmOutput,
    Cache,
    sentences_to_character_ids,
)
from elmo_plugin.embedding import BiLmSession

TOLERANCE = 1e-4  # between vectors of words that two implementations have computed


class ElmoBiLm(nn.Module):
    """
    Gives the layers themselves: what `Elmo` has as `_elmo_lstm`. Its parts, their parameters and its
    `state_dict` are those of AllenNLP's `_ElmoBiLm`.

    # Parameters

    bilm : `AllenNlpBiLm`
        The language model.
    stateful, precision, cache
        See `BiLmSession`. A cache is not asked for sentences with their boundaries.
    vocab_to_cache : `Sequence[str] | None`
        See `create_cached_cnn_embeddings`.

    Raises `BiLmError` where the biLM cannot be run in this way.
    """

    bilm: AllenNlpBiLm
    _vocabulary: Tensor | None  # the characters of the cached words, shape (words, characters)
    _word_embedding: nn.Embedding | None

    def __init__(
        self,
        bilm: AllenNlpBiLm,
        *,
        stateful: bool = False,
        precision: str | None = None,
        vocab_to_cache: Sequence[str] | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__()
        self.session = BiLmSession(stateful, precision, cache)
        self.session.check(bilm)
        self.num_layers = bilm.num_layers
        for part in ("_token_embedder", "_word_embedding", "_elmo_lstm"):  # in AllenNLP's order
            self.register_module(part, None)
        self._hold(bilm)
        self.register_buffer("_vocabulary", None, persistent=False)
        if vocab_to_cache:
            self.create_cached_cnn_embeddings(vocab_to_cache)

    def get_output_dim(self) -> int:
        return self.bilm.output_dim

    def create_cached_cnn_embeddings(self, tokens: Sequence[str]) -> None:
        """
        Makes `_word_embedding` of the vectors that words have without their context. Numbers of these words
        may then be given in place of their characters.

        # Parameters

        tokens : `Sequence[str]`
            The words, by their numbers; 0 is padding, whatever is first here.

        Raises `BiLmError` where the biLM is trained.
        """
        if self.bilm.is_trained:
            raise _no_trained_words()
        characters = self.bilm.options.char_cnn.max_characters_per_token
        ids = torch.from_numpy(sentences_to_character_ids([tokens], characters)[0])
        self._vocabulary = ids.to(self.bilm.boundaries)
        vectors = self._cached_vectors(self._vocabulary)
        self._word_embedding = nn.Embedding.from_pretrained(vectors, padding_idx=0)
        self._checked_words: tuple[int, int, bool] | None = None

    def forward(self, inputs: Tensor, word_inputs: Tensor | None = None) -> dict[str, Tensor | list[Tensor]]:
        """
        # Parameters

        inputs, word_inputs
            See `run`.

        # Returns

        `dict`
            `activations`, a list with a tensor of shape (batch, time + 2, output_dim) for each layer; and
            `mask`, shape (batch, time + 2). Sentence boundaries are in them.
        """
        layers, mask, _ = self.run(inputs, word_inputs, boundaries=True)
        return {"activations": list(layers), "mask": mask}

    def run(self, inputs: Tensor, word_inputs: Tensor | None = None, boundaries: bool = False) -> BiLmOutput:
        """
        # Parameters

        inputs : `Tensor`
            Character ids, shape (batch, time, characters).
        word_inputs : `Tensor | None`
            Numbers of words, shape (batch, time). Those of the cached words, if there are any, stand for the
            characters of their words; greater ones do not.
        boundaries : `bool`
            Whether the layers have the sentence boundaries.

        # Returns

        `BiLmOutput`
            All layers. Others may get the same: they must not be changed.

        Raises `BiLmError` where the vectors of cached words are no longer those of their characters.
        """
        vocabulary = self._vocabulary
        if vocabulary is not None and word_inputs is not None:
            self._check_words(vocabulary)
            last = len(vocabulary) - 1
            words = vocabulary[word_inputs.clamp(max=last)].to(inputs.dtype)
            inputs = torch.where(word_inputs[..., None] > last, inputs, words) * (word_inputs > 0)[..., None]
        return self.session.run(self.bilm, inputs, boundaries)

    def _hold(self, bilm: AllenNlpBiLm) -> None:
        """Takes the biLM. It is no part of this module by itself: its parts are, by AllenNLP's names."""
        self.__dict__["bilm"] = bilm
        self._token_embedder = bilm.token_encoder
        self._elmo_lstm = ElmoLstm(bilm._elmo_lstm, bilm.options.lstm, self.session)

    @torch.no_grad()
    def _cached_vectors(self, vocabulary: Tensor) -> Tensor:
        """Returns the vectors of the cached words, shape (words, dim), zeros for the first."""
        vectors = self.bilm.token_encoder.encode(vocabulary).clone()
        vectors[0] = 0
        return vectors

    def _check_words(self, vocabulary: Tensor) -> None:
        """Refuses vectors that were trained or changed: words are read from their characters."""
        weight = cast(nn.Embedding, self._word_embedding).weight
        versions = weight.data_ptr(), weight._version, weight.requires_grad
        if versions == self._checked_words:
            return
        if weight.requires_grad or not torch.allclose(
            weight, self._cached_vectors(vocabulary), atol=TOLERANCE
        ):
            raise _no_trained_words()
        self._checked_words = versions

    def _apply(self, function: Callable[[Tensor], Tensor], *args: Any) -> nn.Module:
        self.bilm._apply(function, *args)  # which has more than its parts
        return super()._apply(function, *args)

    def _replicate_for_data_parallel(self) -> NoReturn:
        self.bilm._replicate_for_data_parallel()


def _no_trained_words() -> BiLmError:
    return BiLmError(
        "the vectors of cached words are those of their characters, and are not trained by themselves: "
        "leave vocab_to_cache out"
    )
