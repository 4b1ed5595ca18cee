"""The network of the biLM: a token encoder and a stack of LSTMs for each direction."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.char_cnn.cached_token_encoder import CachedTokenEncoder
from elmo_plugin.bilm.char_cnn.lexicon_encoder import LexiconTokenEncoder
from elmo_plugin.bilm.char_cnn.token_encoder import TokenEncoder
from elmo_plugin.bilm.characters import BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN, word_to_character_ids
from elmo_plugin.bilm.kept import Kept
from elmo_plugin.bilm.lstm import DirectionalLstm, LstmState, run_layers
from elmo_plugin.bilm.lstm.state import BiLmState, map_state, of_layers, select
from elmo_plugin.bilm.options import BiLmOptions, LexiconCnnOptions
from elmo_plugin.bilm.packing import pack
from elmo_plugin.bilm.precision import check_precision


class BiLmNetwork(nn.Module):
    """
    Reads batches of sentences. What the numbers of a biLM are is here; what batches are made of, in `BiLm`.

    # Parameters

    options : `BiLmOptions`
        All sizes.
    dropout : `float`
        In training, the rate of dropout in the language models (see `DirectionalLstm`).
    precision : `str`
        In which numbers it computes when no gradient is asked for (see `products.py`).

    The attribute `recurrence`, one of `recurrence.RECURRENCES`, says how the LSTMs are run; it is "auto".
    """

    boundaries: Tensor

    def __init__(self, options: BiLmOptions, dropout: float, precision: str) -> None:
        super().__init__()
        self.options = options
        self.recurrence = "auto"
        self.token_encoder = _token_encoder(options)
        self.precision = precision
        self.forward_lm = DirectionalLstm(options.lstm, dropout)
        self.backward_lm = DirectionalLstm(options.lstm, dropout)
        begin, end = (
            torch.from_numpy(word_to_character_ids(token, options.char_cnn.max_characters_per_token).copy())
            for token in (BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN)
        )
        # In integers that can be sent from process to process, as distributed training does at its start.
        self.register_buffer("boundaries", torch.stack([begin, end]).int(), persistent=False)
        self._begun: Kept[BiLmState] = Kept()

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

    def read(
        self, character_ids: Tensor, before: BiLmState | None, layers: Tensor, keep_state: bool
    ) -> BiLmState | None:
        """
        Reads sentences and the boundaries around them.

        # Parameters

        character_ids : `Tensor`
            Shape (batch, time, characters), without the boundaries. Rows of zeros behind the last word are
            padding.
        before : `BiLmState | None`
            The state before each sentence; `None` for zeros.
        layers : `Tensor`
            Shape (num_layers, batch, at least time, output_dim). It gets the activations of the words.
        keep_state : `bool`
            Whether the state behind the sentences is asked for: no word depends on the boundaries that are
            read last.

        # Returns

        `BiLmState | None`
            The state behind each sentence. A sentence without words has the state before it.
        """
        mask = (character_ids > 0).any(dim=-1)
        if before is None and not self.training:
            begun = self._begun_from_zero(len(mask))
        else:
            begun = self.read_boundary(0, before or self.zero_state(len(mask)))
        end = self._read_words(character_ids, mask, begun, layers)
        if not keep_state:
            return None
        has_words = mask.any(dim=1)[:, None]
        behind, before = self.read_boundary(1, end), before or self.zero_state(len(mask))
        return map_state(lambda new, old: torch.where(has_words, new, old), behind, before)

    def read_boundary(self, which: int, state: BiLmState) -> BiLmState:
        """The state behind the boundary that each direction reads first (0) or last (1)."""
        vectors = self.token_encoder(self.boundaries)
        sentences = state.forward.hidden.size(1)
        inputs = [vectors[number].expand(sentences, -1) for number in (which, 1 - which)]
        return of_layers([ends for _, ends in self._run(inputs, [sentences], state)])

    @contextmanager
    def in_evaluation_mode(self) -> Iterator[None]:
        """Evaluation mode inside the block, and behind it the mode that was before."""
        was_training = self.training
        if was_training:
            self.eval()
        try:
            yield
        finally:
            if was_training:
                self.train()

    def zero_state(self, sentences: int) -> BiLmState:
        """The state of so many sentences before anything was read."""
        like = self.token_encoder.projection.weight
        return BiLmState(
            self.forward_lm.zero_state(like, sentences), self.backward_lm.zero_state(like, sentences)
        )

    def _apply(self, *args: Any, **kwargs: Any) -> "BiLmNetwork":
        """What `.to()` and its like call: the weights move."""
        self._begun.forget()
        return super()._apply(*args, **kwargs)

    def _begun_from_zero(self, sentences: int) -> BiLmState:
        """The state behind the first boundary, which is the same for all sentences."""
        begun = self._begun.get(
            self.parameters(),
            (self.precision, self.recurrence),
            lambda: self.read_boundary(0, self.zero_state(1)),
        )
        return map_state(lambda part: part.expand(-1, sentences, -1), begun)

    def _read_words(self, character_ids: Tensor, mask: Tensor, state: BiLmState, layers: Tensor) -> BiLmState:
        """From the state behind the first boundary to that before the last."""
        lengths = mask.sum(dim=1)
        packing = pack(lengths)
        vectors = self.token_encoder(character_ids[mask])  # Shape: (words, projection_dim)
        first = (lengths.cumsum(dim=0) - lengths)[packing.sentence]
        last = lengths[packing.sentence] - 1
        positions = (packing.time, last - packing.time)  # of each direction's rows in their sentences
        inputs = [vectors[first + position] for position in positions]
        places = [packing.sentence * layers.size(2) + position for position in positions]
        layers = layers.view(self.num_layers, layers.size(1) * layers.size(2), 2, vectors.size(1))
        layers[0, places[0]] = inputs[0][:, None]
        ends = []
        depths = self._run(inputs, packing.batch_sizes, select(state, packing.sentences))
        for number, (outputs, ends_of_layer) in enumerate(depths, start=1):
            for direction, output in enumerate(outputs):
                layers[number, places[direction], direction] = output
            ends.append(ends_of_layer)
        return select(of_layers(ends), packing.sentences.argsort())

    def _run(
        self, inputs: Sequence[Tensor], batch_sizes: Sequence[int], state: BiLmState
    ) -> Iterator[tuple[list[Tensor], list[LstmState]]]:
        language_models = (self.forward_lm, self.backward_lm)
        return run_layers(language_models, inputs, batch_sizes, state, self.recurrence, self.precision)


def _token_encoder(options: BiLmOptions) -> CachedTokenEncoder:
    if isinstance(options.char_cnn, LexiconCnnOptions):
        return LexiconTokenEncoder(options.char_cnn, options.lstm.projection_dim)
    return TokenEncoder(options.char_cnn, options.lstm.projection_dim)
