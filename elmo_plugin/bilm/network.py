"""The network of the bidirectional language model: character ids in, the activations of all layers
out.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.batching import (
    LstmState,
    Packing,
    WordBatch,
    add_boundaries,
    add_words,
    find_words,
    map_state,
    pack,
    sentence_lengths,
    split_by_tokens,
    unique_rows,
)
from elmo_plugin.bilm.characters import (
    BEGIN_SENTENCE_TOKEN,
    END_SENTENCE_TOKEN,
    sentences_to_character_ids,
)
from elmo_plugin.bilm.derived import DerivingModule, derive_once
from elmo_plugin.bilm.inputs import untraced
from elmo_plugin.bilm.io import weights_digest
from elmo_plugin.bilm.lexicon_encoder import make_token_encoder
from elmo_plugin.bilm.lstm import DirectionalLstm, Pass, lstm_layers, zero_state
from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.bilm.precision import Precision, get_precision, precision_on
from elmo_plugin.bilm.token_encoder import CachedTokenEncoder
from elmo_plugin.common.errors import BiLmError

MAX_BATCH_TOKENS = 8192


class BiLmOutput(NamedTuple):
    """
    layers: (num_layers, batch, time, output_dim), zeros at padding; layer 0 is the token layer,
    twice mask: (batch, time), true at words state: final LSTM state of each direction, if requested
    """

    layers: Tensor
    mask: Tensor
    state: LstmState | None


class Cache(Protocol):
    """Stores the layers of sentences between batches, with the `run` of an `ActivationCache`."""

    @property
    def run(self) -> Callable[..., BiLmOutput]: ...


def check_cache(cache: Cache | None) -> None:
    """Raises `BiLmError` for what is no cache, such as its name or its configuration."""
    if cache is not None and not hasattr(cache, "run"):
        raise BiLmError(f"cache: expected a cache such as MemoryCache, got {cache!r:.60}")


class PackedOutput(NamedTuple):
    """
    layers: per layer, and in it per direction, shape (rows, projection_dim); layer 0 is the token
    layer state: after the last token of each sentence, in the order of the batch, if requested
    """

    layers: list[list[Tensor]]
    state: LstmState | None


class BiLmNetwork(DerivingModule):
    """The parameters of a `BiLm`, and the way of character ids through them."""

    __call__: Callable[..., BiLmOutput]
    token_encoder: CachedTokenEncoder
    boundaries: Tensor

    def __init__(
        self,
        options: BiLmOptions | None = None,
        dropout: float = 0.0,
        precision: str = "float32",
        max_batch_tokens: int = MAX_BATCH_TOKENS,
        weights: Iterable[tuple[str, Tensor]] | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(options, BiLmOptions):
            name = options if isinstance(options, str) else "base"
            raise BiLmError(
                f"expected BiLmOptions, got {options!r:.80}: use BiLm.from_pretrained({name!r:.80})"
            )
        self.options = options
        self.precision = get_precision(precision).name
        self.max_batch_tokens = max_batch_tokens
        self.recurrence = "auto"
        # Weights that are drawn here are overwritten. For the device "meta" torch imports its
        # compiler.
        with nullcontext() if weights is None else torch.random.fork_rng(devices=[]):
            self.token_encoder = make_token_encoder(options)
            self.forward_lm = DirectionalLstm(options.lstm, dropout)
            self.backward_lm = DirectionalLstm(options.lstm, dropout)
        if weights is not None:
            self.eval().requires_grad_(False).load_weights(weights)
        words = [[BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN]]
        ids = sentences_to_character_ids(words, options.char_cnn.max_characters_per_token)[0]
        # int32, because DDP broadcasts buffers at start-up and cannot send int16.
        self.register_buffer("boundaries", torch.from_numpy(ids).int(), persistent=False)

    @torch.no_grad()
    def load_weights(self, weights: Iterable[tuple[str, Tensor]]) -> None:
        """
        Copies the items of a `state_dict()` one by one, so that only one of them is in memory
        twice.

        Raises `BiLmError` if one is missing, has another shape, or is not a weight of this biLM.
        """
        state = self.state_dict()
        for name, values in weights:
            if name not in state or state[name].shape != values.shape:
                raise BiLmError(
                    f"the weights {name} of shape {tuple(values.shape)} do not fit the options"
                )
            state.pop(name).copy_(values)
        if state:
            raise BiLmError(
                f"the weights {', '.join(state)} are missing, but required by the options"
            )

    @property
    def output_dim(self) -> int:
        return 2 * self.options.lstm.projection_dim

    @property
    def num_layers(self) -> int:
        return self.options.lstm.n_layers + 1

    def computed_precision(self, name: str | None = None) -> Precision:
        """
        Returns the precision of this name, by default the biLM's, or float32 if the device lacks
        it.
        """
        return precision_on(self.boundaries.device, name or self.precision)

    def settings(self, precision: str | None = None, keep_state: bool = False) -> Pass:
        """
        Returns the settings of a pass without gradients, or with those of weights that are trained.
        """
        computed, derived = self.computed_precision(precision), self.derived_values()
        return Pass(
            computed, derived, self.recurrence, keep_state, derived is None and self.training
        )

    @untraced
    def forward(
        self,
        character_ids: Tensor,
        state: LstmState | None = None,
        keep_state: bool = False,
        boundaries: bool = False,
        precision: str | None = None,
        max_batch_tokens: int | None = None,
    ) -> BiLmOutput:
        """
        # Parameters

        character_ids : `Tensor`
            Shape (batch, time, characters), without sentence boundaries, see `character_ids`. Rows
            of zeros after the last word are padding.
        state : `LstmState | None`
            The state that an earlier call returned, to continue from as published implementations
            do: row i of the batch starts where row i ended. `None` to start from zero.
        keep_state : `bool`
            If true, also return the final state (one extra time step).
        boundaries : `bool`
            Whether the output includes the sentence boundaries; time is then longer by 2.
        precision, max_batch_tokens : `str | None`, `int | None`
            Override the biLM's settings in this call.

        Raises `BiLmError` if the number of characters per word differs from the options, or if
        padding comes before a word.
        """
        if not isinstance(character_ids, Tensor):
            raise BiLmError(
                "a biLM is called with character ids: use bilm.encode for text, bilm.embed for "
                "lists of words"
            )
        lengths = sentence_lengths(character_ids, self.options.char_cnn.max_characters_per_token)
        settings = self.settings(precision, keep_state)
        before, rest = state, None
        if (
            state is not None
        ):  # rows without a state start from zero; those beyond the batch keep theirs
            extent = 0, 0, 0, len(lengths) - state.cell.size(2)
            before = map_state(lambda part: nn.functional.pad(part, extent), state)
            rest = map_state(lambda part: part[:, :, len(lengths) :], state)
        is_frozen = settings.derived is not None and not any(
            part.requires_grad for part in state or ()
        )
        if torch.is_grad_enabled() and not is_frozen:
            mode: AbstractContextManager[None] = nullcontext()
            settings = settings._replace(precision=get_precision(precision or self.precision))
            chunks = [slice(0, len(lengths))]
        else:
            mode = without_gradients(character_ids.device)
            chunks = split_by_tokens(lengths.tolist(), max_batch_tokens or self.max_batch_tokens)
        outputs = []
        with mode:
            for chunk in chunks or [slice(0, 0)]:
                batch = find_words(character_ids[chunk], lengths[chunk])
                start = before and LstmState(before.hidden[:, :, chunk], before.cell[:, :, chunk])
                outputs.append(self.forward_batch(batch, settings, start, boundaries))
        layers, mask, final = outputs[0]
        if len(outputs) > 1:
            layers = torch.cat([output.layers for output in outputs], dim=1)
            mask = torch.cat([output.mask for output in outputs])
        if keep_state:
            states = [
                part for part in (*(output.state for output in outputs), rest) if part is not None
            ]
            final = map_state(lambda *parts: torch.cat(parts, dim=2), *states)
        return BiLmOutput(layers, mask, final)

    def forward_batch(
        self,
        batch: WordBatch,
        settings: Pass,
        state: LstmState | None = None,
        boundaries: bool = False,
    ) -> BiLmOutput:
        """
        Runs sentences, see `forward`: packs their words, runs both directions over the rows,
        unpacks these. Unless the boundaries or a state are needed, all sentences start after one
        common boundary, instead of reading their own.
        """
        words, word_ids, lengths = batch  # Shapes: (words, characters), (batch, time), (batch,)
        copies = None
        dropout = settings.dropout
        if state is None and not dropout and not torch.is_grad_enabled() and len(lengths) > 1:
            distinct, which = unique_rows(word_ids)
            if len(distinct) < len(lengths):  # equal sentences are computed once
                word_ids, lengths, copies = distinct, (distinct >= 0).sum(dim=1).cpu(), which
        reads_boundaries = settings.keep_state or boundaries or dropout or state is not None
        if reads_boundaries:
            words, (begin, end) = add_words(words, self.boundaries)
            word_ids = add_boundaries(word_ids, lengths, begin, end)  # Shape: (batch, time + 2)
            lengths = lengths + 2
        else:
            after_begin = self.state_after_boundary(settings)
            state = map_state(lambda part: part.expand(-1, -1, len(lengths), -1), after_begin)
        packing = pack(lengths)
        batch_size, time = word_ids.shape
        # The position in the batch of each direction's rows, the backward direction's from the end
        # on.
        onward = packing.sentence * time + packing.time
        backward = packing.sentence * time + lengths[packing.sentence] - 1 - packing.time
        positions = [onward.to(word_ids.device), backward.to(word_ids.device)]  # each (rows,)
        rows = [word_ids.flatten()[places] for places in positions]
        output = self.forward_packed(words, rows, packing, settings, state)
        shape = self.num_layers, batch_size * time, 2, self.options.lstm.projection_dim
        layers = output.layers[0][0].new_zeros(shape)
        for number, outputs in enumerate(output.layers):
            for direction, values in enumerate(outputs):  # each (rows, projection_dim)
                layers[number, positions[direction], direction] = values
        layers = layers.view(self.num_layers, batch_size, time, self.output_dim)
        mask = (torch.arange(time) < lengths[:, None]).to(layers.device)  # Shape: (batch, time)
        if reads_boundaries and not boundaries:
            mask = mask[:, 2:]
            layers = layers[:, :, 1:-1].masked_fill(~mask[..., None], 0.0)
        if copies is None:
            return BiLmOutput(layers, mask, output.state)
        final = output.state and map_state(lambda part: part[:, :, copies], output.state)
        return BiLmOutput(layers[:, copies], mask[copies], final)

    def forward_packed(
        self,
        character_ids: Tensor,
        word_ids: Sequence[Tensor],
        packing: Packing,
        settings: Pass,
        state: LstmState | None = None,
    ) -> PackedOutput:
        """
        Encodes distinct words, shape (words, characters), and runs both directions over packed rows
        of them, with gradients if they are needed; the training of a biLM begins here. `word_ids`
        has the word of each row for the forward and the backward direction, shape (rows,). `state`
        is before the first token of each sentence of the batch.
        """
        # Shape: (words, projection_dim)
        vectors = self.token_encoder(character_ids, settings.precision, settings.derived)
        inputs = [
            nn.functional.embedding(rows, vectors) for rows in word_ids
        ]  # each (rows, projection_dim)
        order = packing.sentences.to(vectors.device)
        if state is None:
            state = zero_state(self.options.lstm, self.token_encoder.projection.weight, len(order))
        state = LstmState(
            state.hidden[:, :, order], state.cell[:, :, order]
        )  # the longest sentence first
        directions = self.forward_lm, self.backward_lm
        layers, final = lstm_layers(directions, inputs, packing.batch_sizes, state, settings)
        if final is not None:
            inverse = order.argsort()
            final = map_state(lambda part: part[:, :, inverse], final)
        return PackedOutput([inputs, *layers], final)

    def state_after_boundary(self, settings: Pass) -> LstmState:
        """Returns the state of one sentence after the boundary that each direction reads first."""

        def read() -> Any:
            rows = torch.arange(2, device=self.boundaries.device).unsqueeze(1).unbind()
            packing = pack(torch.ones(1, dtype=torch.long), self.boundaries.device)
            kept = settings._replace(keep_state=True)
            return self.forward_packed(self.boundaries, rows, packing, kept).state

        return derive_once(
            settings.derived, ("begin", settings.precision.name, settings.recurrence), read
        )

    def forward_cached(
        self,
        character_ids: Tensor,
        precision: str | None = None,
        max_batch_tokens: int | None = None,
        cache: Cache | None = None,
    ) -> BiLmOutput:
        """
        Calls `forward`, through the cache if the biLM is frozen. Do not change the result in place.
        """
        precision = self.computed_precision(
            precision
        ).name  # also if another thread changes it meanwhile

        def compute(ids: Tensor) -> BiLmOutput:
            return self(ids, precision=precision, max_batch_tokens=max_batch_tokens)

        derived = None if cache is None else self.derived_values()
        if cache is None or derived is None:
            return compute(character_ids)
        digest = derived.get(("digest", precision), self._digest, precision)
        output = cache.run(compute, digest, character_ids, self.num_layers, self.output_dim)
        return output._replace(layers=output.layers.to(self.token_encoder.projection.weight.dtype))

    def digest(self, precision: str | None = None) -> bytes:
        """Returns a digest of this biLM in the precision that is computed."""
        name = self.computed_precision(precision).name
        return derive_once(self.derived_values(), ("digest", name), self._digest, name)

    def _digest(self, precision: str) -> bytes:
        return weights_digest(
            self.options, precision, [*self.named_parameters(), *self.named_buffers()]
        )


@contextmanager
def without_gradients(device: torch.device) -> Iterator[None]:
    """
    Switches off gradients, and what would make derived values or outputs useless in other modes.
    """
    with torch.inference_mode(False), torch.no_grad(), torch.autocast(device.type, enabled=False):
        yield
