"""The bidirectional language model: words in, the activations of all layers out."""

import math
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm.char_cnn.unique_rows import unique_rows
from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.bilm.io import hdf5_weights as weights
from elmo_plugin.bilm.io import pretrained
from elmo_plugin.bilm.io import training_archive as archive
from elmo_plugin.bilm.io.manylangs_weights import read_folder
from elmo_plugin.bilm.kept import need_gradient
from elmo_plugin.bilm.lstm.state import BiLmState, initial_state, join, merge_state, select
from elmo_plugin.bilm.memo import Memo
from elmo_plugin.bilm.network import BiLmNetwork
from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.bilm.packing import split_by_tokens
from elmo_plugin.common.errors import BiLmError

MAX_BATCH_TOKENS = 8192


class BiLmOutput(NamedTuple):
    """
    layers: (num_layers, batch, time, output_dim), zeros at padding; layer 0 is the token layer, twice
    mask: (batch, time), true where there is a word
    state: what each direction remembers after its last word, if that was asked for
    """

    layers: Tensor
    mask: Tensor
    state: BiLmState | None


class BiLm(BiLmNetwork):
    """
    The biLM of Peters et al. (2018), section 3.1, with random weights.

    A sentence's activations depend on nothing but the sentence, unless a `state` is given.

    # Parameters

    options : `BiLmOptions`
        All sizes.
    dropout : `float`
        In training, the rate of dropout in the language models (see `DirectionalLstm`).
    precision : `str`
        In which numbers the biLM computes when no gradient is asked for: "float32", "bfloat16" or "int8"
        (see `products.py`). Its parameters and its activations are float32 always.
    max_batch_tokens : `int`
        When no gradient is asked for, a batch with more tokens than this, padding included, is computed in
        parts of whole sentences, so that the memory beyond the result is bounded.

    Weights that are frozen (`requires_grad` is false) are laid out once for the library that multiplies them,
    and the vectors of frequent words are kept between batches; both are made anew when weights change.

    The attribute `recurrence`, one of `recurrence.RECURRENCES`, says how the LSTMs are run; it is "auto".
    """

    def __init__(
        self,
        options: BiLmOptions,
        dropout: float = 0.0,
        precision: str = "float32",
        max_batch_tokens: int = MAX_BATCH_TOKENS,
    ) -> None:
        super().__init__(options, dropout, precision)
        self.max_batch_tokens = max_batch_tokens
        self.memo = Memo()

    @classmethod
    def from_files(
        cls, options_file: str | Path, weights_file: str | Path, precision: str = "float32"
    ) -> "BiLm":
        """
        Loads a model in the published layout, in evaluation mode and frozen. Paths may be URLs.

        Raises `BiLmError` where a file is missing or damaged, or where the options do not fit the weights.
        """
        options = BiLmOptions.from_file(pretrained.fetch(options_file))
        bilm = cls(options, precision=precision)
        state = bilm.state_dict()
        for name, values in weights.read_weights(pretrained.fetch(weights_file), options):
            state[name].copy_(values)
        return bilm.eval().requires_grad_(False)

    @classmethod
    def from_archive(cls, path: str | Path, precision: str = "float32") -> "BiLm":
        """Loads the biLM from the archive (or the serialization directory) of a trained `bilm` model."""
        return cls._from_state(*archive.read_archive(path), precision)

    @classmethod
    def from_manylangs(cls, folder: str | Path, precision: str = "float32") -> "BiLm":
        """
        Loads a model of ELMoForManyLangs from its folder (see `manylangs.weights.read_folder`), in evaluation
        mode and frozen. A sentence starts from zero, where the original goes on from the last batch.
        """
        return cls._from_state(*read_folder(Path(folder)), precision)

    @classmethod
    def pretrained(cls, name: str, precision: str = "float32") -> "BiLm":
        """Loads a model by its name, one of `elmo_plugin.bilm.io.pretrained.MODELS`."""
        return cls.from_files(*pretrained.files_of(name), precision=precision)

    @classmethod
    def _from_state(cls, options: BiLmOptions, state: dict[str, Tensor], precision: str) -> "BiLm":
        bilm = cls(options, precision=precision)
        bilm.load_state_dict(state)
        return bilm.eval().requires_grad_(False)

    def forward(
        self, character_ids: Tensor, state: BiLmState | None = None, keep_state: bool = True
    ) -> BiLmOutput:
        """
        # Parameters

        character_ids : `Tensor`
            Shape (batch, time, characters), without sentence boundaries. Rows of zeros behind the last word
            are padding.
        state : `BiLmState | None`
            What an earlier call gave, to go on from there as published implementations do: row i of the batch
            goes on where row i stopped. `None` to start from zero.
        keep_state : `bool`
            Whether the output has a state to go on from. It costs a time step.

        Raises `BiLmError` where the words have another number of characters than the options say, and where
        this machine cannot compute in the biLM's precision.
        """
        expected = self.options.char_cnn.max_characters_per_token
        if character_ids.dim() != 3 or character_ids.size(-1) != expected:
            shape = tuple(character_ids.shape)
            raise BiLmError(f"character ids must have the shape (batch, time, {expected}), not {shape}")
        if self._needs_gradient(state):
            return self._read_in_parts(character_ids, state, keep_state, max_tokens=math.inf)
        with ExitStack() as stack:
            # Weights laid out, encoded types and results are kept for later calls in whatever mode.
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(torch.no_grad())
            stack.enter_context(torch.autocast(character_ids.device.type, enabled=False))
            if state is None and not self.training and len(character_ids) > 1:
                return self._read_distinct(character_ids, keep_state)
            return self._read_in_parts(character_ids, state, keep_state, self.max_batch_tokens)

    @torch.no_grad()
    def embed(self, sentences: Sequence[Sequence[str]]) -> list[Tensor]:
        """
        Embeds any number of sentences, of any length.

        # Parameters

        sentences : `Sequence[Sequence[str]]`
            The words of each sentence.

        # Returns

        `list[Tensor]`
            Per sentence a tensor of shape (num_layers, words, output_dim).
        """
        by_length = sorted(range(len(sentences)), key=lambda number: len(sentences[number]))
        lengths = [len(sentences[number]) for number in by_length]
        vectors: dict[int, Tensor] = {}
        for run in split_by_tokens(lengths, self.max_batch_tokens):
            batch = [sentences[number] for number in by_length[run]]
            ids = self._character_ids(batch)
            with self.in_evaluation_mode():
                layers = self(ids, keep_state=False).layers
            for row, number in enumerate(by_length[run]):
                vectors[number] = layers[:, row, : len(sentences[number])].clone()
        return [vectors[number] for number in range(len(sentences))]

    def precompute_types(self, words: Sequence[str]) -> None:
        """
        Encodes a vocabulary now, and keeps it beside the bounded number of other types that are kept between
        batches.
        """
        self.token_encoder.precompute_types(self._character_ids([words]))

    def clear_type_cache(self) -> None:
        """Drops all types that were encoded, so that the next batch encodes its own again."""
        self.token_encoder.clear_type_cache()

    def _apply(self, *args: Any, **kwargs: Any) -> "BiLm":
        self.memo.forget()
        super()._apply(*args, **kwargs)
        return self

    def _character_ids(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        ids = sentences_to_character_ids(sentences, self.options.char_cnn.max_characters_per_token)
        return torch.from_numpy(ids).to(self.boundaries.device)

    def _needs_gradient(self, state: BiLmState | None) -> bool:
        if not torch.is_grad_enabled():
            return False
        tensors = [*self.parameters(), *(part for direction in state or () for part in direction)]
        return need_gradient(tensors)

    def _read_distinct(self, character_ids: Tensor, keep_state: bool) -> BiLmOutput:
        """Computes sentences that the batch has several times one time."""
        distinct, which = unique_rows(character_ids.flatten(1))
        if len(distinct) == len(character_ids):
            return self._read_in_parts(character_ids, None, keep_state, self.max_batch_tokens)
        distinct = distinct.view(len(distinct), *character_ids.shape[1:])
        layers, mask, behind = self._read_in_parts(distinct, None, keep_state, self.max_batch_tokens)
        return BiLmOutput(layers[:, which], mask[which], behind and select(behind, which))

    def _read_in_parts(
        self, character_ids: Tensor, state: BiLmState | None, keep_state: bool, max_tokens: float
    ) -> BiLmOutput:
        """Computes at most `max_tokens` tokens at a time."""
        mask = (character_ids > 0).any(dim=-1)
        like = self.token_encoder.projection.weight
        layers = like.new_zeros(self.num_layers, *mask.shape, self.output_dim)
        before = state and initial_state(state, self.zero_state(len(mask)))
        lengths = mask.sum(dim=1).tolist()
        ends = []
        for run in split_by_tokens(lengths, max_tokens):
            part = character_ids[run, : max(lengths[run])]
            end = self.read(part, before and select(before, run), layers[:, run], keep_state)
            if end is not None:
                ends.append(end)
        if not keep_state:
            return BiLmOutput(layers, mask, None)
        behind = join(ends or [self.zero_state(0)])
        return BiLmOutput(layers, mask, merge_state(state, behind) if state else behind)
