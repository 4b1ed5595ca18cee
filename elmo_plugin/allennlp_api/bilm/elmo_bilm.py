"""AllenNLP's modules of a biLM by their names and with their arguments."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, NoReturn, cast

import torch
from torch import Tensor, nn

from elmo_plugin.allennlp_api.bilm.layers import CharacterEncoder
from elmo_plugin.allennlp_api.bilm.network import AllenNlpBiLm
from elmo_plugin.bilm import BiLmError, BiLmOutput, Cache, sentences_to_character_ids
from elmo_plugin.embedding import BiLmSession

TOLERANCE = 1e-4  # between vectors of words that two implementations have computed


class ElmoBiLm(nn.Module):
    """
    The biLM inside `Elmo`, its `_elmo_lstm`, which returns the layers themselves. Its parts, their
    parameters and its `state_dict` are those of AllenNLP's `_ElmoBiLm`.

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
        # The biLM is not a part of this module by itself: its parts are, in AllenNLP's order.
        self.__dict__["bilm"] = bilm
        self._token_embedder = bilm._token_embedder
        self.register_module("_word_embedding", None)
        self._elmo_lstm = bilm._elmo_lstm
        self._elmo_lstm.session = self.session
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
        if self.bilm.is_trainable:
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

    def run(
        self, inputs: Tensor, word_inputs: Tensor | None = None, *, boundaries: bool = False
    ) -> BiLmOutput:
        """
        # Parameters

        inputs : `Tensor`
            Character ids, shape (batch, time, characters).
        word_inputs : `Tensor | None`
            Numbers of words, shape (batch, time). Those of cached words stand for the characters of their
            words; greater numbers do not.
        boundaries : `bool`
            Whether the layers have the sentence boundaries.

        # Returns

        `BiLmOutput`
            All layers. Others may get the same: they must not be changed.

        Raises `BiLmError` where the vectors of cached words are no longer those of their characters.
        """
        self.bilm.notice_changes()
        vocabulary = self._vocabulary
        if vocabulary is not None and word_inputs is not None:
            self._check_words(vocabulary)
            last = len(vocabulary) - 1
            words = vocabulary[word_inputs.clamp(max=last)].to(inputs.dtype)
            inputs = torch.where(word_inputs[..., None] > last, inputs, words) * (word_inputs > 0)[..., None]
        return self.session.run(self.bilm, inputs, boundaries=boundaries)

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


class _ElmoBiLm(ElmoBiLm):
    """
    Takes the arguments of AllenNLP's class of this name. It carries the LSTMs' state from batch to batch, as
    that class does.

    # Parameters

    options_file, weight_file : `str | PathLike`
        The biLM in the published layout: paths or URLs.
    requires_grad : `bool`
        Whether it is trained.
    vocab_to_cache : `Sequence[str] | None`
        See `ElmoBiLm.create_cached_cnn_embeddings`.

    Raises `BiLmError` where the biLM cannot be loaded, and where it is trained and has cached words.
    """

    def __init__(
        self,
        options_file: str | PathLike[str],
        weight_file: str | PathLike[str],
        requires_grad: bool = False,
        vocab_to_cache: Sequence[str] | None = None,
    ) -> None:
        bilm = AllenNlpBiLm.from_files(str(options_file), str(weight_file)).requires_grad_(requires_grad)
        super().__init__(bilm, stateful=True, vocab_to_cache=vocab_to_cache)


class _ElmoCharacterEncoder(CharacterEncoder):
    """
    Takes the arguments of AllenNLP's class of this name.

    # Parameters

    options_file, weight_file, requires_grad
        See `_ElmoBiLm`.

    Raises `BiLmError` where the biLM cannot be loaded.
    """

    def __init__(
        self,
        options_file: str | PathLike[str],
        weight_file: str | PathLike[str],
        requires_grad: bool = False,
    ) -> None:
        loaded = AllenNlpBiLm.from_files(str(options_file), str(weight_file)).token_encoder
        super().__init__(loaded.options, loaded.output_dim)
        self._options, self._weight_file = loaded._options, loaded._weight_file
        self.load_state_dict(loaded.state_dict())
        self.requires_grad_(requires_grad)
