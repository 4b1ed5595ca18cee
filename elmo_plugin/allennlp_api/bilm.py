"""The biLM inside of `Elmo`: its activations with or without boundaries, its words by number, its state."""

import copy
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from elmo_plugin import embedding
from elmo_plugin.allennlp_api.boundaries import with_boundaries
from elmo_plugin.allennlp_api.state_dict_names import take_from_allennlp, to_allennlp
from elmo_plugin.bilm import (
    BiLm,
    BiLmError,
    Cache,
    CharCnnOptions,
    sentences_to_character_ids,
    shared_with_weights,
)
from elmo_plugin.bilm.lstm import map_state

BILM = "bilm."
CACHED_WORDS = "_word_embedding.weight"  # in a state dict


class ElmoBiLm(embedding.Elmo):
    """
    What `Elmo` has as `_elmo_lstm`: an `elmo_plugin.embedding.Elmo` without mixes, for the layers themselves.

    Its `state_dict` has the names and the arrangement of AllenNLP's `_ElmoBiLm`, and it loads no other.

    # Parameters

    bilm : `BiLm`
        The language model.
    requires_grad, stateful, precision, cache
        See `elmo_plugin.embedding.Elmo`. A cache is not asked for sentences with their boundaries.
    vocab_to_cache : `Sequence[str] | None`
        What the numbers of words stand for; 0 is padding, whatever is first here.

    Raises `BiLmError` where the biLM does not read bytes, and where it is trained and has a vocabulary:
    AllenNLP would train the vectors of its words instead of what makes them.
    """

    vocabulary: Tensor | None

    def __init__(
        self,
        bilm: BiLm,
        requires_grad: bool = False,
        stateful: bool = False,
        precision: str | None = None,
        vocab_to_cache: Sequence[str] | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__(
            bilm,
            num_output_representations=0,
            requires_grad=requires_grad,
            stateful=stateful,
            precision=precision,
            cache=cache,
        )
        if not isinstance(bilm.options.char_cnn, CharCnnOptions):
            raise BiLmError(
                "AllenNLP's ELMo reads the bytes of words, which this biLM does not: use it with "
                "elmo_plugin.embedding.Elmo"
            )
        ids = None
        if vocab_to_cache:
            if requires_grad:
                raise BiLmError("a biLM that is trained has no cached words: leave vocab_to_cache out")
            characters = bilm.options.char_cnn.max_characters_per_token
            ids = torch.from_numpy(sentences_to_character_ids([vocab_to_cache], characters)[0]).int()
        self.register_buffer("vocabulary", ids, persistent=False)
        self._register_state_dict_hook(_write_names_of_allennlp)

    @property
    def num_layers(self) -> int:
        return self.bilm.num_layers

    @property
    def _elmo_lstm(self) -> "ElmoBiLm":
        """Where code for AllenNLP's `Elmo` finds `reset_states`."""
        return self

    def reset_states(self) -> None:
        self.reset_state()

    def get_output_dim(self) -> int:
        return self.output_dim

    def forward(  # type: ignore[override]
        self, inputs: Tensor, word_inputs: Tensor | None = None
    ) -> dict[str, Tensor | list[Tensor]]:
        """
        # Parameters

        inputs, word_inputs
            See `read`.

        # Returns

        `dict`
            `activations`, a list with a tensor of shape (batch, time + 2, output_dim) for each layer; and
            `mask`, shape (batch, time + 2). Sentence boundaries are in them.
        """
        layers, mask = self.read(inputs, word_inputs, boundaries=True)
        return {"activations": list(layers), "mask": mask}

    def read(self, inputs: Tensor, word_inputs: Tensor | None, boundaries: bool) -> tuple[Tensor, Tensor]:
        """
        # Parameters

        inputs : `Tensor`
            Character ids, shape (batch, time, characters).
        word_inputs : `Tensor | None`
            Numbers of words, shape (batch, time), that stand for the characters where there is a vocabulary.
            Numbers beyond it do not.
        boundaries : `bool`
            Whether the sentence boundaries are given, too.

        # Returns

        `Tensor`, `Tensor`
            Layers, shape (num_layers, batch, time, output_dim), and mask, shape (batch, time). With
            boundaries time is longer by 2.
        """
        if self.vocabulary is not None and word_inputs is not None:
            known = (word_inputs < len(self.vocabulary))[..., None]
            words = self.vocabulary[word_inputs.clamp(max=len(self.vocabulary) - 1)].to(inputs.dtype)
            inputs = torch.where(known, words, inputs) * (word_inputs > 0)[..., None]
        return self._read_with_boundaries(inputs) if boundaries else self._run_bilm(inputs)

    def _read_with_boundaries(self, character_ids: Tensor) -> tuple[Tensor, Tensor]:
        ids = character_ids.to(self.bilm.boundaries.device)
        before = self._state_for_bilm()
        with (
            torch.set_grad_enabled(torch.is_grad_enabled() and self.requires_grad),
            torch.autocast(ids.device.type, enabled=False),
            nullcontext() if self.requires_grad else self.bilm.in_evaluation_mode(),
        ):
            output = self.bilm(ids, before)
            layers, mask = with_boundaries(self.bilm, output, before)
        if self.stateful:
            self._state = map_state(Tensor.detach, output.state)
        return layers.to(character_ids.device), mask.to(character_ids.device)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        """Other weights than those of a frozen biLM are loaded into another one: it may be shared."""
        rest = {
            name.removeprefix(prefix): state_dict.pop(name)
            for name in list(state_dict)
            if name.startswith(prefix)
        }
        weights = take_from_allennlp(rest, self.bilm.options)
        if self.vocabulary is not None:
            rest.pop(CACHED_WORDS, None)  # they are made from the other weights
        if weights and not self.requires_grad:
            self.use_bilm(shared_with_weights(self.bilm, weights))
        state_dict.update({prefix + BILM + name: tensor for name, tensor in weights.items()})
        state_dict.update({prefix + name: tensor for name, tensor in rest.items()})
        super()._load_from_state_dict(state_dict, prefix, *args)

    def _apply(self, function: Callable[[Tensor], Tensor], *args: Any) -> nn.Module:
        """A frozen biLM moves to other devices, but the numbers of another type are those of a copy."""
        weight = next(self.bilm.parameters())
        if function(weight.new_empty(0)).dtype != weight.dtype and not self.requires_grad:
            self.use_bilm(copy.deepcopy(self.bilm))
        return super()._apply(function, *args)


def _write_names_of_allennlp(
    module: ElmoBiLm, state_dict: dict[str, Any], prefix: str, _metadata: dict[str, Any]
) -> None:
    """Changes what torch has put into the state dict."""
    start = prefix + BILM
    ours = {
        name.removeprefix(start): state_dict.pop(name) for name in list(state_dict) if name.startswith(start)
    }
    weights = to_allennlp(ours, module.bilm.options)
    if module.vocabulary is not None:
        weights[CACHED_WORDS] = module.bilm.token_encoder(module.vocabulary).detach()
        weights[CACHED_WORDS][0] = 0
    state_dict.update({prefix + name: tensor for name, tensor in weights.items()})
