"""The network of the bidirectional language model: character ids in, the activations of all layers
out.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import NamedTuple, Protocol, cast

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.batching import WordBatch, find_words, sentence_lengths, split_by_tokens
from elmo_plugin.bilm.characters import (
    BEGIN_SENTENCE_TOKEN,
    END_SENTENCE_TOKEN,
    sentences_to_character_ids,
)
from elmo_plugin.bilm.derived import DerivingModule, derive_once
from elmo_plugin.bilm.inputs import untraced
from elmo_plugin.bilm.io import weights_digest
from elmo_plugin.bilm.lexicon_encoder import make_token_encoder
from elmo_plugin.bilm.lstm import (
    DirectionalLstm,
    ForwardSettings,
    lstm_layers,
    needs_gradients,
    zero_state,
)
from elmo_plugin.bilm.lstm_state import LstmState
from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.bilm.packing import Packing, pack
from elmo_plugin.bilm.precision import Precision, get_precision, precision_on
from elmo_plugin.bilm.token_encoder import CachedTokenEncoder
from elmo_plugin.common.errors import BiLmError, check_at_least

MAX_BATCH_TOKENS = 8192


class BiLmOutput(NamedTuple):
    """
    The vectors of a batch of sentences in all layers.

    layers: (num_layers, batch, time, output_dim), zeros at padding; layer 0 has each token vector
        twice, once for each direction
    mask: (batch, time), true at words
    state: the final LSTM state of each direction, if requested
    """

    layers: Tensor
    mask: Tensor
    state: LstmState | None

    def rows(self, sentences: Tensor) -> "BiLmOutput":
        """Returns the output for these sentences, in this order."""
        state = None if self.state is None else self.state.rows(sentences)
        return BiLmOutput(self.layers[:, sentences], self.mask[sentences], state)


class Cache(Protocol):
    """Stores the layers of sentences between batches."""

    def run(
        self,
        compute: Callable[[Tensor], BiLmOutput],
        digest: bytes,
        character_ids: Tensor,
        num_layers: int,
        output_dim: int,
        /,
    ) -> BiLmOutput:
        """
        Returns the output for the character ids, and calls `compute` with those sentences that are
        not stored for a biLM with this digest.
        """
        ...


def check_cache(cache: Cache | None) -> None:
    """
    Raises `BiLmError` unless this is a cache or `None`. Users may pass a name or a configuration by
    mistake.
    """
    if cache is not None and not hasattr(cache, "run"):
        raise BiLmError(f"cache: expected a cache such as MemoryCache, got {cache!r:.60}")


class PackedOutput(NamedTuple):
    """
    The vectors of packed rows in all layers, see `Packing`.

    layers: for each layer, beginning with the token layer, the rows of both directions, each of
        shape (rows, projection_dim)
    state: the state after the last token of each sentence, in the order of the batch, if requested
    """

    layers: list[list[Tensor]]
    state: LstmState | None


class BiLmNetwork(DerivingModule):
    """The parameters of a `BiLm`, and the computation from character ids to layers."""

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
        # The options have a default only so that `BiLm()` raises this error as well.
        if not isinstance(options, BiLmOptions):
            raise _wrong_options(options)
        self.options = options
        self.precision = get_precision(precision).name  # raises for an unknown name
        check_at_least("max_batch_tokens", max_batch_tokens, least=1)
        self.max_batch_tokens = max_batch_tokens
        self.recurrence = "auto"  # tests set other values, see `ForwardSettings`
        # If weights are given, they replace the random ones that the modules draw below. Drawing
        # them must then not change torch's random state. On the device "meta" nothing would be
        # drawn, but making modules there takes long, because torch imports its compiler for it.
        random_state: AbstractContextManager[None]
        if weights is None:
            random_state = nullcontext()
        else:
            random_state = torch.random.fork_rng(devices=[])
        with random_state:
            self.token_encoder = make_token_encoder(options)
            self.forward_lm = DirectionalLstm(options.lstm, dropout)
            self.backward_lm = DirectionalLstm(options.lstm, dropout)
        if weights is not None:
            self.eval().requires_grad_(False).load_weights(weights)
        self.register_buffer("boundaries", _boundary_ids(options), persistent=False)

    @torch.no_grad()
    def load_weights(self, weights: Iterable[tuple[str, Tensor]]) -> None:
        """
        Copies the items of a `state_dict()` one by one, so that only one of them at a time is in
        memory twice.

        Raises `BiLmError` if one is missing, comes twice, has another shape, or is not a weight of
        this biLM.
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
    def device(self) -> torch.device:
        """Where the biLM computes; `to` moves it."""
        return self.boundaries.device

    @property
    def output_dim(self) -> int:
        """The size of a word's vector in each layer, for both directions together."""
        return 2 * self.options.lstm.projection_dim

    @property
    def num_layers(self) -> int:
        """The number of layers, including the token layer."""
        return self.options.lstm.n_layers + 1

    def actual_precision(self, requested: str | None = None) -> Precision:
        """
        Returns the precision that the biLM computes in on its device: float32 if the device cannot
        compute in the requested one. By default the biLM's own precision is requested.
        """
        if requested is None:
            requested = self.precision
        return precision_on(self.device, requested)

    def forward_settings(
        self,
        precision: str | None = None,
        keep_state: bool = False,
        dropout: bool | None = None,
    ) -> ForwardSettings:
        """
        Returns the settings of a forward pass. By default, dropout acts in training mode, but not
        in a frozen biLM: it gives the same vectors even within a model that is trained.
        """
        derived = self.derived_values()  # `None` if the weights are trained
        if dropout is None:
            dropout = self.training and derived is None
        return ForwardSettings(
            precision=self.actual_precision(precision),
            derived=derived,
            recurrence=self.recurrence,
            keep_state=keep_state,
            dropout=dropout,
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
        Returns the vectors of all words of a batch in all layers.

        # Parameters

        character_ids : `Tensor`
            Shape (batch, time, characters), without sentence boundaries, as `BiLm.character_ids`
            returns them. Rows of zeros after the last word are padding.
        state : `LstmState | None`
            The state that an earlier call returned: row i of the batch starts where row i ended,
            as in the published implementations. `None` to start from zero.
        keep_state : `bool`
            Whether to return the final state as well: the state after the boundary that each
            direction reads last.
        boundaries : `bool`
            Whether the output includes the sentence boundaries; time is then longer by 2.
        precision, max_batch_tokens : `str | None`, `int | None`
            Override the biLM's settings in this call; `None` for the biLM's own.

        Raises `BiLmError` if the number of characters per word differs from the options, if padding
        comes before a word, or if chunks have no room for a token.
        """
        if not isinstance(character_ids, Tensor):
            raise BiLmError(
                "a biLM is called with character ids: use bilm.encode for text, bilm.embed for "
                "lists of words"
            )
        if max_batch_tokens is None:
            max_batch_tokens = self.max_batch_tokens
        else:
            check_at_least("max_batch_tokens", max_batch_tokens, least=1)
        max_characters = self.options.char_cnn.max_characters_per_token
        lengths = sentence_lengths(character_ids, max_characters)  # Shape: (batch,)
        state_before = None
        if state is not None:
            # The earlier batch may have had fewer sentences than this one, or more. If it had
            # fewer, the further sentences start from zero.
            state_before = state.resized(len(lengths))
        settings = self.forward_settings(precision, keep_state)
        if needs_gradients(settings, state):
            # With gradients, the LSTM refuses every precision but float32. It gets the precision
            # that was requested, even if this device falls back to float32: the same training must
            # not fail on one device and run on another.
            requested = self.precision if precision is None else precision
            settings = settings._replace(precision=get_precision(requested))
            batch = find_words(character_ids, lengths)
            output = self.forward_batch(batch, settings, state_before, boundaries)
        else:
            output = self._forward_in_chunks(
                character_ids, lengths, settings, state_before, boundaries, max_batch_tokens
            )
        if output.state is None or state is None:
            return output
        # If the earlier batch had more sentences than this one, the states of the further sentences
        # do not change.
        rest = state.rows(slice(len(lengths), None))
        all_states = LstmState.concatenated([output.state, rest])
        return output._replace(state=all_states)

    def _forward_in_chunks(
        self,
        character_ids: Tensor,
        lengths: Tensor,
        settings: ForwardSettings,
        state: LstmState | None,
        boundaries: bool,
        max_tokens: int,
    ) -> BiLmOutput:
        """
        Computes a batch without gradients, in chunks of whole sentences with at most `max_tokens`
        tokens each, so that long batches fit into memory. A longer sentence is a chunk of its own.
        """
        chunks = split_by_tokens(lengths.tolist(), max_tokens)
        if not chunks:  # an empty batch also has an output
            chunks = [slice(0, 0)]
        outputs = []
        with only_no_grad(character_ids.device):
            for chunk in chunks:
                batch = find_words(character_ids[chunk], lengths[chunk])
                before = None if state is None else state.rows(chunk)
                outputs.append(self.forward_batch(batch, settings, before, boundaries))
        return _concatenated(outputs)

    def forward_batch(
        self,
        batch: WordBatch,
        settings: ForwardSettings,
        state: LstmState | None = None,
        boundaries: bool = False,
    ) -> BiLmOutput:
        """
        Returns the vectors of a batch whose words have been numbered. The state and the boundaries
        are the arguments of `forward`.

        Without gradients, equal sentences are computed only once, unless a state or dropout makes
        their vectors differ.
        """
        may_equal_sentences_differ = state is not None or settings.dropout
        if torch.is_grad_enabled() or may_equal_sentences_differ:
            return self._forward_with_boundaries(batch, settings, state, boundaries)
        distinct, row_of_sentence = batch.distinct_sentences()
        output = self._forward_with_boundaries(distinct, settings, state, boundaries)
        if row_of_sentence is None:  # all sentences differ
            return output
        return output.rows(row_of_sentence)

    def _forward_with_boundaries(
        self,
        batch: WordBatch,
        settings: ForwardSettings,
        state: LstmState | None,
        boundaries: bool,
    ) -> BiLmOutput:
        """
        Runs the LSTMs over the boundaries and the words of each sentence.

        Often only the vectors of the words are requested, and all sentences start from zero without
        dropout. Then all of them are in the same state after the first boundary. So each direction
        reads this boundary only once for the whole batch, and does not read the last one. The
        vectors of the words are the same.
        """
        same_state_after_boundary = state is None and not settings.dropout
        only_words_are_needed = not boundaries and not settings.keep_state
        if same_state_after_boundary and only_words_are_needed:
            after_boundary = self.state_after_boundary(settings).expanded(len(batch.lengths))
            return self._forward_words(batch, settings, after_boundary)
        bounded = batch.with_boundaries(self.boundaries)
        output = self._forward_words(bounded, settings, state)  # time is longer by 2
        if boundaries:
            return output
        # In the mask, a sentence of n words begins with n + 2 true values. Without the first two
        # places, n of them are left.
        mask = output.mask[:, 2:]
        # The first place has the begin of every sentence, and the last place has the end of the
        # longest ones. Shorter sentences have their end before it: it becomes zeros, like padding.
        layers = output.layers[:, :, 1:-1].masked_fill(~mask[..., None], 0.0)
        return output._replace(layers=layers, mask=mask)

    def _forward_words(
        self, batch: WordBatch, settings: ForwardSettings, state: LstmState | None
    ) -> BiLmOutput:
        """
        Packs the words of a batch, runs both directions over them, and unpacks their outputs. If
        boundaries are to be read, the caller has added them to the batch.
        """
        words, word_ids, lengths = batch  # Shapes: (words, characters), (batch, time), (batch,)
        device = word_ids.device
        time = word_ids.size(1)
        packing = pack(lengths)
        # For each direction, the place in the flattened batch of each row, in the order in which
        # the direction reads; shapes (rows,)
        places = [rows.to(device) for rows in packing.padded_positions(lengths, time)]
        flat_word_ids = word_ids.flatten()  # Shape: (batch * time,)
        packed_word_ids = [flat_word_ids[places_of_direction] for places_of_direction in places]
        output = self.forward_packed(words, packed_word_ids, packing, settings, state)
        # Shape: (num_layers, batch, time, output_dim)
        layers = _unpacked(output.layers, places, word_ids.shape)
        mask = torch.arange(time) < lengths[:, None]  # Shape: (batch, time)
        return BiLmOutput(layers, mask.to(layers.device), output.state)

    def forward_packed(
        self,
        character_ids: Tensor,
        word_ids: Sequence[Tensor],
        packing: Packing,
        settings: ForwardSettings,
        state: LstmState | None = None,
    ) -> PackedOutput:
        """
        Encodes the distinct words of a batch, and runs both directions over its sentences, with
        gradients if they are needed. The training of a biLM calls this directly.

        `character_ids` are the distinct words, shape (words, characters). `word_ids` are two
        tensors, for the forward and the backward direction: the number of the distinct word of each
        row of the packing, shape (rows,). `state` is the state of each sentence before its first
        token, in the order of the batch.
        """
        # Shape: (words, projection_dim)
        vectors = self.token_encoder(character_ids, settings.precision, settings.derived)
        # Shapes: (rows, projection_dim)
        inputs = [nn.functional.embedding(ids, vectors) for ids in word_ids]
        longest_first = packing.longest_first.to(vectors.device)  # Shape: (batch,)
        if state is None:
            weight = self.token_encoder.projection.weight
            state = zero_state(self.options.lstm, weight, len(longest_first))
        directions = (self.forward_lm, self.backward_lm)
        layers, final = lstm_layers(
            directions, inputs, packing.batch_sizes, state.rows(longest_first), settings
        )
        if final is not None:
            in_batch_order = longest_first.argsort()  # undoes the order by length
            final = final.rows(in_batch_order)
        return PackedOutput([inputs, *layers], final)

    def state_after_boundary(self, settings: ForwardSettings) -> LstmState:
        """
        Returns the state of one sentence after the boundary that each direction reads first. A
        frozen biLM computes it once.
        """
        key = ("state_after_boundary", settings.precision.name, settings.recurrence)
        return derive_once(settings.derived, key, self._read_boundary, settings)

    def _read_boundary(self, settings: ForwardSettings) -> LstmState:
        """Runs each direction over its first boundary, as if it were a sentence of one word."""
        # The rows in `boundaries`: the forward direction reads `<S>`, and the backward one `</S>`.
        begin = torch.tensor([0], device=self.device)
        end = torch.tensor([1], device=self.device)
        one_word = torch.tensor([1])  # the length of the only sentence
        packing = pack(one_word, self.device)
        settings = settings._replace(keep_state=True)
        output = self.forward_packed(self.boundaries, (begin, end), packing, settings)
        return cast(LstmState, output.state)

    def forward_cached(
        self,
        character_ids: Tensor,
        precision: str | None = None,
        max_batch_tokens: int | None = None,
        *,
        cache: Cache,
    ) -> BiLmOutput:
        """
        Computes a batch without a state. If the biLM is frozen, reads stored sentences from the
        cache, and stores the others there. Do not change the result in place, because a cache may
        share its memory.
        """
        # Found only once: another thread may change the biLM's precision meanwhile, and vectors
        # must be stored with the digest of the precision that they were computed in.
        name = self.actual_precision(precision).name

        def compute(ids: Tensor) -> BiLmOutput:
            return self(ids, precision=name, max_batch_tokens=max_batch_tokens)

        if self.is_trainable:
            return compute(character_ids)
        digest = self.digest(name)
        output = cache.run(compute, digest, character_ids, self.num_layers, self.output_dim)
        dtype = self.token_encoder.projection.weight.dtype  # a cache returns float32
        return output._replace(layers=output.layers.to(dtype))

    def digest(self, precision: str | None = None) -> bytes:
        """
        Returns a digest of this biLM and of the precision that it computes in: the key of its
        vectors in a cache. A frozen biLM computes it once.
        """
        name = self.actual_precision(precision).name
        return derive_once(self.derived_values(), ("digest", name), self._digest, name)

    def _digest(self, precision: str) -> bytes:
        """Computes a digest of the weights, the options and the name of a precision."""
        tensors = [*self.named_parameters(), *self.named_buffers()]
        return weights_digest(self.options, precision, tensors)


def _wrong_options(options: object) -> BiLmError:
    """
    Returns the error for anything but `BiLmOptions`. Users who write `BiLm()` or `BiLm("small")`
    mean to load a published model, so the error says how.
    """
    name = "base"
    if isinstance(options, str):
        name = options
    return BiLmError(
        f"expected BiLmOptions, got {options!r:.80}: use BiLm.from_pretrained({name!r:.80})"
    )


def _boundary_ids(options: BiLmOptions) -> Tensor:
    """Returns the character ids of the two sentence boundaries, shape (2, characters)."""
    boundaries_as_sentence = [BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN]
    max_characters = options.char_cnn.max_characters_per_token
    ids = sentences_to_character_ids([boundaries_as_sentence], max_characters)
    # int32, because DDP broadcasts buffers at start-up and cannot send int16.
    return torch.from_numpy(ids[0]).int()


def _unpacked(
    layers: Sequence[Sequence[Tensor]], places: Sequence[Tensor], shape: torch.Size
) -> Tensor:
    """
    Puts the packed rows of each layer and direction, shape (rows, projection_dim), at their places
    in the batch. `places` are the result of `Packing.padded_positions`, and `shape` is (batch,
    time). Returns vectors of shape (layers, batch, time, 2 * projection_dim), zeros at padding.
    """
    first = layers[0][0]
    dim = first.size(1)
    num_places = shape.numel()
    num_directions = 2
    unpacked = first.new_zeros(len(layers), num_places, num_directions, dim)
    for layer, rows_of_directions in enumerate(layers):
        for direction, rows in enumerate(rows_of_directions):
            unpacked[layer, places[direction], direction] = rows
    return unpacked.view(len(layers), *shape, 2 * dim)


def _concatenated(outputs: Sequence[BiLmOutput]) -> BiLmOutput:
    """Puts the sentences of several chunks, all padded to the same length, into one batch."""
    if len(outputs) == 1:
        return outputs[0]
    layers = torch.cat([output.layers for output in outputs], dim=1)
    mask = torch.cat([output.mask for output in outputs])
    states = [output.state for output in outputs if output.state is not None]
    state = None
    if states:
        state = LstmState.concatenated(states)
    return BiLmOutput(layers, mask, state)


@contextmanager
def only_no_grad(device: torch.device) -> Iterator[None]:
    """
    Switches off gradients, by `torch.no_grad`. Also switches off inference mode and autocast, so
    that outputs and stored values can be used outside of these modes later.
    """
    with torch.inference_mode(False), torch.no_grad(), torch.autocast(device.type, enabled=False):
        yield
