"""The network of the bidirectional language model: character ids in, the activations of all layers out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.autograd import untraced
from elmo_plugin.bilm.batching import (
    Packing,
    WordBatch,
    add_boundaries,
    find_words,
    pack,
    sentence_lengths,
    split_by_tokens,
    unique_rows,
)
from elmo_plugin.bilm.characters import BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN, sentences_to_character_ids
from elmo_plugin.bilm.derived import DerivedValues, derive_once
from elmo_plugin.bilm.lexicon_encoder import make_token_encoder
from elmo_plugin.bilm.lstm import DirectionalLstm, lstm_layers, zero_state
from elmo_plugin.bilm.lstm_cell import LstmState, concat_states, map_state
from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.bilm.precision import Precision, get_precision, precision_on
from elmo_plugin.bilm.token_encoder import CachedTokenEncoder
from elmo_plugin.common.errors import BiLmError

if TYPE_CHECKING:
    from typing_extensions import Self  # in `typing` from Python 3.11 on

MAX_BATCH_TOKENS = 8192


class BiLmOutput(NamedTuple):
    """
    layers: (num_layers, batch, time, output_dim), zeros at padding; layer 0 is the token layer, twice
    mask: (batch, time), true at words
    state: final LSTM state of each direction, if requested
    """

    layers: Tensor
    mask: Tensor
    state: LstmState | None


class PackedOutput(NamedTuple):
    """
    layers: per layer, and in it per direction, shape (rows, projection_dim); layer 0 is the token layer
    state: after the last token of each sentence, in the order of the batch, if requested
    """

    layers: list[list[Tensor]]
    state: LstmState | None


class BiLmNetwork(nn.Module):
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
        self._derived: DerivedValues | None = None
        # Weights that are drawn here are overwritten. For the device "meta" torch imports its compiler.
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
        Copies the items of a `state_dict()` one by one, so that only one of them is in memory twice.

        Raises `BiLmError` if one is missing, has another shape, or is not a weight of this biLM.
        """
        state = self.state_dict()
        for name, values in weights:
            if name not in state or state[name].shape != values.shape:
                raise BiLmError(f"the weights {name} of shape {tuple(values.shape)} do not fit the options")
            state.pop(name).copy_(values)
        if state:
            raise BiLmError(f"the weights {', '.join(state)} are missing, but required by the options")

    @property
    def output_dim(self) -> int:
        return 2 * self.options.lstm.projection_dim

    @property
    def num_layers(self) -> int:
        return self.options.lstm.n_layers + 1

    @property
    def is_trainable(self) -> bool:
        """Whether any weight requires gradients; if not, the biLM is frozen."""
        return any(map(attrgetter("requires_grad"), self.parameters()))

    def computed_precision(self, name: str | None = None) -> Precision:
        """Returns the precision of this name, by default the biLM's, or float32 if the device lacks it."""
        return precision_on(self.boundaries.device, name or self.precision)

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
            Shape (batch, time, characters), without sentence boundaries, see `character_ids`. Rows of zeros
            after the last word are padding.
        state : `LstmState | None`
            The state that an earlier call returned, to continue from as published implementations do: row i
            of the batch starts where row i ended. `None` to start from zero.
        keep_state : `bool`
            If true, also return the final state (one extra time step).
        boundaries : `bool`
            Whether the output includes the sentence boundaries; time is then longer by 2.
        precision, max_batch_tokens : `str | None`, `int | None`
            Override the biLM's settings in this call.

        Raises `BiLmError` if the number of characters per word differs from the options, or if padding comes
        before a word.
        """
        if not isinstance(character_ids, Tensor):
            raise BiLmError(
                "a biLM is called with character ids: use bilm.encode for text, bilm.embed for lists of words"
            )
        lengths = sentence_lengths(character_ids, self.options.char_cnn.max_characters_per_token)
        batch_size, derived = len(lengths), self.derived_values()
        # Sentences that the state lacks start from zero.
        before = state and map_state(
            lambda part: nn.functional.pad(part, (0, 0, 0, batch_size - part.size(2))), state
        )
        run = partial(
            self.forward_batch,
            derived=derived,
            keep_state=keep_state,
            boundaries=boundaries,
            dropout=derived is None and self.training,
        )
        needs_gradient = derived is None or any(part.requires_grad for part in state or ())
        if needs_gradient and torch.is_grad_enabled():
            asked = get_precision(precision or self.precision)
            output = run(find_words(character_ids, lengths), before, precision=asked)
        else:
            run = partial(run, precision=self.computed_precision(precision))
            with without_gradients(character_ids.device):
                max_tokens = max_batch_tokens or self.max_batch_tokens
                output = _run_chunks(run, character_ids, lengths, before, max_tokens)
        if output.state is not None and state is not None:  # sentences that the batch lacks keep their state
            rest = map_state(lambda part: part[:, :, batch_size:], state)
            output = output._replace(state=concat_states([output.state, rest]))
        return output

    def forward_batch(
        self,
        batch: WordBatch,
        state: LstmState | None = None,
        *,
        precision: Precision,
        derived: DerivedValues | None,
        keep_state: bool = False,
        boundaries: bool = False,
        dropout: bool = False,
    ) -> BiLmOutput:
        """
        Runs sentences, see `forward`. Unless the boundaries or a state are needed, all sentences start after
        one common boundary, instead of reading their own.
        """
        character_ids, word_ids, lengths = batch
        settings: dict[str, Any] = {"precision": precision, "derived": derived}
        if state is None and not dropout and not torch.is_grad_enabled() and len(lengths) > 1:
            distinct, which = unique_rows(word_ids)
            if len(distinct) < len(lengths):  # equal sentences are computed once
                batch = WordBatch(character_ids, distinct, (distinct >= 0).sum(dim=1).cpu())
                output = self.forward_batch(batch, keep_state=keep_state, boundaries=boundaries, **settings)
                final = output.state and map_state(lambda part: part[:, :, which], output.state)
                return BiLmOutput(output.layers[:, which], output.mask[which], final)
        reads_boundaries = keep_state or boundaries or dropout or state is not None
        if reads_boundaries:
            begin, end = len(character_ids), len(character_ids) + 1
            character_ids = torch.cat([character_ids, self.boundaries.to(character_ids.dtype)])
            word_ids = add_boundaries(word_ids, lengths, begin, end)
            lengths = lengths + 2
        else:
            after_begin = self.state_after_boundary(precision, derived)
            state = map_state(lambda part: part.expand(-1, -1, len(lengths), -1), after_begin)
        packing = pack(lengths)
        batch_size, time = word_ids.shape
        # The position of each direction's rows in the batch.
        onward = packing.sentence * time + packing.time
        backward = packing.sentence * time + lengths[packing.sentence] - 1 - packing.time
        positions = [onward.to(word_ids.device), backward.to(word_ids.device)]
        packed_words = [word_ids.flatten()[direction] for direction in positions]
        packed = self.forward_packed(
            character_ids, packed_words, packing, state, keep_state=keep_state, dropout=dropout, **settings
        )
        shape = self.num_layers, batch_size * time, 2, self.options.lstm.projection_dim
        layers = packed.layers[0][0].new_zeros(shape)
        for number, layer_outputs in enumerate(packed.layers):
            for direction, rows in enumerate(layer_outputs):
                layers[number, positions[direction], direction] = rows
        layers = layers.view(self.num_layers, batch_size, time, self.output_dim)
        mask = torch.arange(time) < lengths[:, None]
        if reads_boundaries and not boundaries:
            mask = mask[:, 2:]
            layers = layers[:, :, 1:-1].masked_fill(~mask[..., None].to(layers.device), 0.0)
        return BiLmOutput(layers, mask.to(layers.device), packed.state)

    def forward_packed(
        self,
        character_ids: Tensor,
        word_ids: Sequence[Tensor],
        packing: Packing,
        state: LstmState | None = None,
        *,
        keep_state: bool = False,
        precision: Precision | None = None,
        derived: DerivedValues | None = None,
        dropout: bool = False,
    ) -> PackedOutput:
        """
        Encodes distinct words, shape (words, characters), and runs both directions over packed rows of them,
        with gradients if they are needed. `word_ids` has the word of each row for the forward and the
        backward direction, shape (rows,). `state` is before the first token of each sentence of the batch.
        """
        precision = precision or self.computed_precision()
        vectors = self.token_encoder(character_ids, precision, derived)
        inputs = [nn.functional.embedding(direction, vectors) for direction in word_ids]
        order = packing.sentences.to(vectors.device)
        if state is None:
            state = zero_state(self.options.lstm, self.token_encoder.projection.weight, len(order))
        else:
            state = map_state(lambda part: part[:, :, order], state)
        directions = self.forward_lm, self.backward_lm
        layers, final = lstm_layers(
            directions,
            inputs,
            packing.batch_sizes,
            state,
            self.recurrence,
            keep_state=keep_state,
            precision=precision,
            derived=derived,
            dropout=dropout,
        )
        if final is not None:
            inverse = order.argsort()
            final = map_state(lambda part: part[:, :, inverse], final)
        return PackedOutput([inputs, *layers], final)

    def state_after_boundary(self, precision: Precision, derived: DerivedValues | None) -> LstmState:
        """Returns the state of one sentence after the boundary that each direction reads first."""

        def read() -> Any:
            rows = torch.arange(2, device=self.boundaries.device).unsqueeze(1).unbind()
            packing = pack(torch.ones(1, dtype=torch.long), self.boundaries.device)
            return self.forward_packed(
                self.boundaries, rows, packing, keep_state=True, precision=precision, derived=derived
            ).state

        return derive_once(derived, ("begin", precision.name, self.recurrence), read)

    def derived_values(self) -> DerivedValues | None:
        """Returns the values derived from the weights, see `refresh`; `None` if these are trained."""
        parameters = list(self.parameters())
        derived = self._derived
        if any(map(attrgetter("requires_grad"), parameters)):
            derived = None
        elif derived is None or not derived.match(parameters):
            derived = DerivedValues(parameters)
        self._derived = derived
        return derived

    def refresh(self) -> None:
        """
        Drops everything that was derived from the weights: packed weights, vectors of words, digests.

        This happens automatically if a weight requires gradients or has some (`grad`), is replaced, gets
        other memory (`weight.data = ...`, `to` and the like), or is written to by an operation that torch
        counts, in `no_grad` or not (`load_state_dict`, `nn.init`, most optimizers). torch counts no writes
        through `.data` or numpy, nor those of fused optimizers: on a CPU they are noticed if they change the
        middle value of any weight. Call this after such writes to single values, or on a GPU.
        """
        self._derived = None

    def clear_word_cache(self) -> None:
        """Drops the vectors of all words, so that the next batch encodes its own again."""
        if self._derived is not None:
            self._derived.drop("words", "begin")

    def _apply(self, *args: Any, **kwargs: Any) -> "Self":
        self.refresh()  # first, so that derived values and moved weights are not in memory together
        return super()._apply(*args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        """Leaves out the derived values: copies and pickles derive their own."""
        return {**self.__dict__, "_derived": None}

    def _replicate_for_data_parallel(self) -> NoReturn:
        raise BiLmError(
            "nn.DataParallel cannot run a biLM: its replicas lack parameters. Use one "
            'process for each GPU: "distributed" in a configuration, or torch\'s DistributedDataParallel'
        )


def _run_chunks(
    run: Callable[[WordBatch, LstmState | None], BiLmOutput],
    character_ids: Tensor,
    lengths: Tensor,
    state: LstmState | None,
    max_tokens: int,
) -> BiLmOutput:
    """Runs at most `max_tokens` tokens at a time."""
    chunks = split_by_tokens(lengths.tolist(), max_tokens)
    if len(chunks) < 2:
        return run(find_words(character_ids, lengths), state)
    outputs = []
    for chunk in chunks:
        # Shape: (some sentences, their longest, characters)
        batch = find_words(character_ids[chunk, : int(lengths[chunk].max())], lengths[chunk])
        chunk_state = state and LstmState(state.hidden[:, :, chunk], state.cell[:, :, chunk])
        outputs.append(run(batch, chunk_state))
    time = character_ids.size(1) - int(lengths.max()) + max(output.mask.size(1) for output in outputs)
    layers, masks = [], []
    for output in outputs:
        padding = time - output.mask.size(1)
        layers.append(nn.functional.pad(output.layers, (0, 0, 0, padding)))
        masks.append(nn.functional.pad(output.mask, (0, padding)))
    states = [output.state for output in outputs if output.state is not None]
    return BiLmOutput(torch.cat(layers, dim=1), torch.cat(masks), concat_states(states) if states else None)


@contextmanager
def without_gradients(device: torch.device) -> Iterator[None]:
    """
    Switches gradients off, and all else that would make derived values or outputs useless in other modes.
    """
    with torch.inference_mode(False), torch.no_grad(), torch.autocast(device.type, enabled=False):
        yield
