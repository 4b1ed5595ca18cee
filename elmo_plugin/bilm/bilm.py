"""The bidirectional language model: words in, the activations of all layers out."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from elmo_plugin.bilm import archive, pretrained, weights
from elmo_plugin.bilm.characters import (
    BEGIN_SENTENCE_TOKEN,
    END_SENTENCE_TOKEN,
    sentences_to_character_ids,
    word_to_character_ids,
)
from elmo_plugin.bilm.distinct import distinct_rows
from elmo_plugin.bilm.errors import BiLmError
from elmo_plugin.bilm.memo import Memo
from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.bilm.packing import cut_by_tokens, pack
from elmo_plugin.bilm.products import check_precision
from elmo_plugin.bilm.recurrence import DirectionalLm, LstmState, run_stack, stack_states
from elmo_plugin.bilm.state import BiLmState, go_on_from, map_state, start_from
from elmo_plugin.bilm.token_encoder import TokenEncoder

MAX_BATCH_TOKENS = 8192


class BiLmOutput(NamedTuple):
    """
    layers: (num_layers, batch, time, output_dim), zeros at padding; layer 0 is the token layer, twice
    mask: (batch, time), true where there is a word
    state: what each direction remembers after its last word
    """

    layers: Tensor
    mask: Tensor
    state: BiLmState


class BiLm(nn.Module):
    """
    The biLM of Peters et al. (2018), section 3.1, with random weights.

    A sentence's activations depend on nothing but the sentence, unless a `state` is given.

    # Parameters

    options : `BiLmOptions`
        All sizes.
    dropout : `float`
        In training, the rate of dropout in the language models (see `DirectionalLm`).
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

    boundaries: Tensor

    def __init__(
        self,
        options: BiLmOptions,
        dropout: float = 0.0,
        precision: str = "float32",
        max_batch_tokens: int = MAX_BATCH_TOKENS,
    ) -> None:
        super().__init__()
        self.options = options
        self.max_batch_tokens = max_batch_tokens
        self.recurrence = "auto"
        self.memo = Memo()
        self.token_encoder = TokenEncoder(options.char_cnn, options.lstm.projection_dim)
        self.precision = precision
        self.forward_lm = DirectionalLm(options.lstm, dropout)
        self.backward_lm = DirectionalLm(options.lstm, dropout)
        begin, end = (
            torch.from_numpy(word_to_character_ids(token, options.char_cnn.max_characters_per_token).copy())
            for token in (BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN)
        )
        self.register_buffer("boundaries", torch.stack([begin, end]), persistent=False)

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
        options, state = archive.read_archive(path)
        bilm = cls(options, precision=precision)
        bilm.load_state_dict(state)
        return bilm.eval().requires_grad_(False)

    @classmethod
    def pretrained(cls, name: str, precision: str = "float32") -> "BiLm":
        """Loads a model by its name, one of `elmo_plugin.bilm.pretrained.MODELS`."""
        return cls.from_files(*pretrained.files_of(name), precision=precision)

    @property
    def output_dim(self) -> int:
        return 2 * self.options.lstm.projection_dim

    @property
    def num_layers(self) -> int:
        return self.options.lstm.n_layers + 1

    @property
    def precision(self) -> str:
        return self._precision

    @precision.setter
    def precision(self, precision: str) -> None:
        self._precision = self.token_encoder.precision = check_precision(precision)

    def forward(self, character_ids: Tensor, state: BiLmState | None = None) -> BiLmOutput:
        """
        # Parameters

        character_ids : `Tensor`
            Shape (batch, time, characters), without sentence boundaries. Rows of zeros behind the last word
            are padding.
        state : `BiLmState | None`
            What an earlier call gave, to go on from there as published implementations do: row i of the batch
            goes on where row i stopped. `None` to start from zero.

        Raises `BiLmError` where the words have another number of characters than the options say, and where
        this machine cannot compute in the biLM's precision.
        """
        expected = self.options.char_cnn.max_characters_per_token
        if character_ids.dim() != 3 or character_ids.size(-1) != expected:
            shape = tuple(character_ids.shape)
            raise BiLmError(f"character ids must have the shape (batch, time, {expected}), not {shape}")
        if self._needs_gradient(state):
            layers, mask = self._output_for(character_ids)
            starts = self._start(len(character_ids), state)
            ends = self._run(character_ids, starts, layers)
            return BiLmOutput(layers, mask, ends if state is None else go_on_from(state, ends))
        with ExitStack() as stack:
            # Weights laid out, encoded types and results are kept for later calls in whatever mode.
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(torch.no_grad())
            stack.enter_context(torch.autocast(character_ids.device.type, enabled=False))
            if state is None and not self.training:
                return self._run_distinct(character_ids)
            return self._run_in_parts(character_ids, state)

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
        was_training = self.training
        self.eval()
        by_length = sorted(range(len(sentences)), key=lambda number: len(sentences[number]))
        lengths = [len(sentences[number]) for number in by_length]
        vectors: dict[int, Tensor] = {}
        for run in cut_by_tokens(lengths, self.max_batch_tokens):
            batch = [sentences[number] for number in by_length[run]]
            ids = sentences_to_character_ids(batch, self.options.char_cnn.max_characters_per_token)
            layers = self(torch.from_numpy(ids).to(self.boundaries.device)).layers
            for row, number in enumerate(by_length[run]):
                vectors[number] = layers[:, row, : len(sentences[number])].clone()
        self.train(was_training)
        return [vectors[number] for number in range(len(sentences))]

    def encode_ahead(self, words: Sequence[str]) -> None:
        """
        Encodes a vocabulary now, and keeps it beside the bounded number of other types that are kept between
        batches.
        """
        ids = sentences_to_character_ids([words], self.options.char_cnn.max_characters_per_token)
        self.token_encoder.encode_ahead(torch.from_numpy(ids[0]).to(self.boundaries.device))

    def forget_types(self) -> None:
        """Drops all types that were encoded, so that the next batch encodes its own again."""
        self.token_encoder.forget_types()

    def _apply(self, *args: Any, **kwargs: Any) -> "BiLm":
        """What `.to()` and its like call: the weights move."""
        self.memo.forget()
        return super()._apply(*args, **kwargs)

    def _needs_gradient(self, state: BiLmState | None) -> bool:
        tensors = [*self.parameters(), *(part for direction in state or () for part in direction)]
        return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)

    def _run_distinct(self, character_ids: Tensor) -> BiLmOutput:
        """Computes sentences that the batch has several times one time."""
        distinct, which = distinct_rows(character_ids.flatten(1))
        if len(distinct) == len(character_ids):
            return self._run_in_parts(character_ids, None)
        output = self._run_in_parts(distinct.view(len(distinct), *character_ids.shape[1:]), None)
        return BiLmOutput(
            output.layers[:, which], output.mask[which], map_state(lambda part: part[:, which], output.state)
        )

    def _run_in_parts(self, character_ids: Tensor, state: BiLmState | None) -> BiLmOutput:
        """Computes at most `max_batch_tokens` tokens at a time."""
        layers, mask = self._output_for(character_ids)
        starts = self._start(len(character_ids), state)
        lengths = mask.sum(dim=1).tolist()
        ends = []
        for run in cut_by_tokens(lengths, self.max_batch_tokens):
            part = character_ids[run, : max(lengths[run])]
            ends.append(
                self._run(part, map_state(lambda whole, run=run: whole[:, run], starts), layers[:, run])
            )
        end = map_state(lambda *parts: torch.cat(parts, dim=1), *ends) if ends else starts
        return BiLmOutput(layers, mask, end if state is None else go_on_from(state, end))

    def _output_for(self, character_ids: Tensor) -> tuple[Tensor, Tensor]:
        """Zeros for the layers' activations, shape (num_layers, batch, time, output_dim), and the mask."""
        mask = (character_ids > 0).any(dim=-1)
        like = self.token_encoder.projection.weight
        return like.new_zeros(self.num_layers, *mask.shape, self.output_dim), mask

    def _run(self, character_ids: Tensor, starts: BiLmState, layers: Tensor) -> BiLmState:
        """Writes the activations of all layers into `layers` and gives the states after the last words."""
        tokens, lengths = self._add_boundaries(character_ids)
        packing = pack(lengths)
        last = lengths[packing.sentence] - 1
        is_word = ((packing.time > 0) & (packing.time < last)).nonzero().squeeze(1)
        positions = (packing.time, last - packing.time)  # of the rows, in each direction
        vectors = self.token_encoder(tokens).flatten(0, 1)
        inputs = [vectors[packing.sentence * tokens.size(1) + position] for position in positions]
        places = [(packing.sentence * layers.size(2) + position - 1)[is_word] for position in positions]
        layers = layers.view(self.num_layers, layers.size(1) * layers.size(2), 2, vectors.size(1))
        layers[0, places[0]] = inputs[0][is_word, None]
        states: list[list[LstmState]] = []
        starts = map_state(lambda part: part[:, packing.sentences], starts)
        depths = run_stack(
            [self.forward_lm, self.backward_lm],
            inputs,
            packing.batch_sizes,
            starts,
            self.recurrence,
            self.precision,
        )
        for number, (outputs, ends) in enumerate(depths, start=1):
            for direction, output in enumerate(outputs):
                layers[number, places[direction], direction] = output[is_word]
            states.append(ends)
        unsorted = packing.sentences.argsort()
        packed = BiLmState(*(stack_states(ends) for ends in zip(*states, strict=True)))
        return map_state(lambda part: part[:, unsorted], packed)

    def _add_boundaries(self, character_ids: Tensor) -> tuple[Tensor, Tensor]:
        """Puts each sentence, if it has a word, between a begin- and an end-of-sentence token."""
        lengths = (character_ids > 0).any(dim=-1).sum(dim=1)
        begin, end = self.boundaries.to(character_ids.dtype)
        has_words = (lengths > 0).to(character_ids.dtype)
        padded = nn.functional.pad(character_ids, (0, 0, 1, 1))
        rows = torch.arange(len(lengths), device=lengths.device)
        padded[rows, torch.where(lengths > 0, lengths + 1, 0)] = end * has_words[:, None]
        padded[:, 0] = begin * has_words[:, None]
        return padded, torch.where(lengths > 0, lengths + 2, 0)

    def _start(self, sentences: int, state: BiLmState | None) -> BiLmState:
        """The state before the first word of each row: rows that `state` does not know start from zero."""
        zeros = self.forward_lm.zero_state(self.token_encoder.projection.weight, sentences)
        zero_state = BiLmState(zeros, zeros)
        return zero_state if state is None else start_from(state, zero_state)
