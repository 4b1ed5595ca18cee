"""The biLM inside of `Elmo`: its activations with or without boundaries, its words by number, its state."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from elmo_plugin import embedding
from elmo_plugin.allennlp_api.state_dict_names import take_from_allennlp, to_allennlp
from elmo_plugin.bilm import BiLm, BiLmError, Cache, CharCnnOptions, sentences_to_character_ids

BILM = "bilm."
CACHED_WORDS = "_word_embedding.weight"  # in a state dict


class ElmoBiLm(embedding.Elmo):
    """
    Gives the layers themselves: what `Elmo` has as `_elmo_lstm`, an `elmo_plugin.embedding.Elmo` without
    mixes. Its `state_dict` has the names and the layout of AllenNLP's `_ElmoBiLm`, and it loads no other.

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
        *,
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
        """Returns itself, where code for AllenNLP's `Elmo` finds `reset_states`."""
        return self

    def reset_states(self) -> None:
        """Does what `reset_state` does, under AllenNLP's name."""
        self.reset_state()

    def get_output_dim(self) -> int:
        return self.output_dim

    def forward(  # type: ignore[override]
        self, inputs: Tensor, word_inputs: Tensor | None = None
    ) -> dict[str, Tensor | list[Tensor]]:
        """
        # Parameters

        inputs, word_inputs
            See `character_ids`.

        # Returns

        `dict`
            `activations`, a list with a tensor of shape (batch, time + 2, output_dim) for each layer; and
            `mask`, shape (batch, time + 2). Sentence boundaries are in them.
        """
        layers, mask, _ = self.run_bilm(self.character_ids(inputs, word_inputs), boundaries=True)
        return {"activations": list(layers), "mask": mask}

    def character_ids(self, inputs: Tensor, word_inputs: Tensor | None) -> Tensor:
        """
        # Parameters

        inputs : `Tensor`
            Character ids, shape (batch, time, characters).
        word_inputs : `Tensor | None`
            Numbers of words, shape (batch, time). Those of the vocabulary, if there is one, stand for the
            characters of their words; greater ones do not.

        # Returns

        `Tensor`
            The characters of all words, shape (batch, time, characters).
        """
        if self.vocabulary is None or word_inputs is None:
            return inputs
        last = len(self.vocabulary) - 1
        words = self.vocabulary[word_inputs.clamp(max=last)].to(inputs.dtype)
        return torch.where(word_inputs[..., None] > last, inputs, words) * (word_inputs > 0)[..., None]

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        """Reads AllenNLP's names."""
        theirs = _pop_prefixed(state_dict, prefix)
        weights = take_from_allennlp(theirs, self.bilm.options)
        if self.vocabulary is not None:
            theirs.pop(CACHED_WORDS, None)  # they are made from the other weights
        state_dict.update({prefix + BILM + name: tensor for name, tensor in weights.items()})
        state_dict.update({prefix + name: tensor for name, tensor in theirs.items()})
        super()._load_from_state_dict(state_dict, prefix, *args)


def _write_names_of_allennlp(
    module: ElmoBiLm, state_dict: dict[str, Any], prefix: str, _metadata: dict[str, Any]
) -> None:
    """Changes the names that torch has put into the state dict."""
    weights = to_allennlp(_pop_prefixed(state_dict, prefix + BILM), module.bilm.options)
    if module.vocabulary is not None:
        weights[CACHED_WORDS] = module.bilm.token_encoder(module.vocabulary).detach()
        weights[CACHED_WORDS][0] = 0
    state_dict.update({prefix + name: tensor for name, tensor in weights.items()})


def _pop_prefixed(state_dict: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Takes out, and returns without the prefix, all entries that have it."""
    names = [name for name in state_dict if name.startswith(prefix)]
    return {name.removeprefix(prefix): state_dict.pop(name) for name in names}
