"""The parameters of a biLM, and the one pass through them that embedding, training and scoring share."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.char_cnn import CachedTokenEncoder, TokenEncoder
from elmo_plugin.bilm.characters import BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN, word_to_character_ids
from elmo_plugin.bilm.inference_weights import InferenceWeights, parameter_versions
from elmo_plugin.bilm.lstm import (
    BiLmState,
    DirectionalLstm,
    run_layers,
    select_state,
    stack_layers,
)
from elmo_plugin.bilm.manylangs.token_encoder import LexiconTokenEncoder
from elmo_plugin.bilm.options import BiLmOptions, LexiconCnnOptions
from elmo_plugin.bilm.packing import Packing, pack
from elmo_plugin.bilm.precision import get_precision
from elmo_plugin.common.errors import BiLmError


class PackedOutput(NamedTuple):
    """
    layers: per layer, and in it per direction, shape (rows, projection_dim); layer 0 is the token layer
    state: after the last token of each sentence, in the order of the batch
    """

    layers: list[list[Tensor]]
    state: BiLmState


class BiLmNetwork(nn.Module):
    """
    The parameters of a biLM, and a pass of packed rows through them. `BiLm` adds batches of sentences.

    # Parameters

    options : `BiLmOptions`
        All sizes.
    dropout : `float`
        In training, the rate of dropout in the language models (see `DirectionalLstm`).
    precision : `str`
        The default precision of calls without gradients.
    """

    token_encoder: CachedTokenEncoder
    boundaries: Tensor

    def __init__(self, options: BiLmOptions, dropout: float = 0.0, precision: str = "float32") -> None:
        super().__init__()
        self.options = options
        self.precision = get_precision(precision).name
        self.recurrence = "auto"
        if isinstance(options.char_cnn, LexiconCnnOptions):
            self.token_encoder = LexiconTokenEncoder(options.char_cnn, options.lstm.projection_dim)
        else:
            self.token_encoder = TokenEncoder(options.char_cnn, options.lstm.projection_dim)
        self.forward_lm = DirectionalLstm(options.lstm, dropout)
        self.backward_lm = DirectionalLstm(options.lstm, dropout)
        begin, end = (
            torch.from_numpy(word_to_character_ids(token, options.char_cnn.max_characters_per_token).copy())
            for token in (BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN)
        )
        # In integers that can be sent from process to process, as distributed training does at its start.
        self.register_buffer("boundaries", torch.stack([begin, end]).int(), persistent=False)
        self._inference_weights: InferenceWeights | None = None

    @property
    def output_dim(self) -> int:
        return 2 * self.options.lstm.projection_dim

    @property
    def num_layers(self) -> int:
        return self.options.lstm.n_layers + 1

    @property
    def is_trainable(self) -> bool:
        """Whether any weight requires gradients; if not, the biLM is frozen."""
        return any(parameter.requires_grad for parameter in self.parameters())

    def inference_weights(self) -> InferenceWeights | None:
        """
        Returns the values derived from the current weights; `None` if these are trained, so that nothing is
        stored. A change of weights, device or type drops the values derived before.
        """
        parameters = list(self.parameters())
        versions = parameter_versions(parameters)
        if versions is None:
            self._inference_weights = None
        elif self._inference_weights is None or self._inference_weights.versions != versions:
            self._inference_weights = InferenceWeights(parameters)
        return self._inference_weights

    @torch.no_grad()
    def load_weights(self, weights: Iterable[tuple[str, Tensor]]) -> None:
        """
        Copies the weights one by one, so that only one of them is in memory twice.

        Raises `BiLmError` if one is missing, has another shape, or is not a weight of this biLM.
        """
        state = self.state_dict()
        for name, values in weights:
            if name not in state or state[name].shape != values.shape:
                raise BiLmError(f"the weights {name} of shape {tuple(values.shape)} do not fit the options")
            state.pop(name).copy_(values)
        if state:
            raise BiLmError(f"the weights {', '.join(state)} are missing, which the options ask for")

    def refresh(self) -> None:
        """
        Drops everything that was derived from the weights. Call it after changing them through a parameter's
        `.data` or through numpy, which torch does not count. All other changes are noticed.
        """
        self._inference_weights = None

    def clear_word_cache(self) -> None:
        """Drops the vectors of all words, so that the next batch encodes its own again."""
        if self._inference_weights is not None:
            self._inference_weights.drop("types", "bos_state", "recent_outputs")

    def run_packed(
        self,
        character_ids: Tensor,
        rows: Sequence[Tensor],
        packing: Packing,
        *,
        state: BiLmState | None = None,
        weights: InferenceWeights | None = None,
        precision: str | None = None,
        dropout: bool = False,
        are_distinct: bool = False,
    ) -> PackedOutput:
        """
        Encodes words and runs both directions over them, with gradients if they are needed.

        # Parameters

        character_ids : `Tensor`
            Shape (words, characters).
        rows : `Sequence[Tensor]`
            For the forward and for the backward direction, shape (rows,): the word of each packed row.
        packing : `Packing`
            The sentences that the rows belong to; the same for both directions.
        state : `BiLmState | None`
            Before the first token of each sentence, in the order of the batch; `None` for zeros.
        weights : `InferenceWeights | None`
            From `inference_weights()`.
        precision : `str | None`
            The precision without gradients; `None` for that of the biLM.
        dropout : `bool`
            Whether dropout is applied.
        are_distinct : `bool`
            Whether all words are distinct, so that repetitions need not be searched for.

        Raises `BiLmError` if this machine cannot compute in the precision.
        """
        numbers = get_precision(precision or self.precision)
        encoder = self.token_encoder
        encode = encoder.encode_words if are_distinct and weights is None else encoder.encode
        vectors = encode(character_ids, numbers, weights)
        inputs = [nn.functional.embedding(direction, vectors) for direction in rows]
        results = list(
            run_layers(
                (self.forward_lm, self.backward_lm),
                inputs,
                packing.batch_sizes,
                select_state(state or self.zero_state(len(packing.sentences)), packing.sentences),
                recurrence=self.recurrence,
                precision=numbers,
                weights=weights,
                dropout=dropout,
            )
        )
        # Per direction, the states of its layers.
        final = zip(*(states for _, states in results), strict=True)
        in_packed_order = BiLmState(*map(stack_layers, final))
        return PackedOutput(
            [inputs, *(outputs for outputs, _ in results)],
            select_state(in_packed_order, packing.sentences.argsort()),
        )

    def state_after_boundary(
        self, weights: InferenceWeights | None, precision: str | None = None
    ) -> BiLmState:
        """Returns the state of one sentence after the boundary that each direction reads first."""

        def read() -> BiLmState:
            rows = torch.arange(2, device=self.boundaries.device).unsqueeze(1).unbind()
            packing = pack(torch.ones(1, dtype=torch.long), self.boundaries.device)
            return self.run_packed(self.boundaries, rows, packing, weights=weights, precision=precision).state

        if weights is None:
            return read()
        return weights.get(("bos_state", precision or self.precision, self.recurrence), read)

    def zero_state(self, sentences: int) -> BiLmState:
        """Returns the initial state of this many sentences: zeros."""
        like = self.token_encoder.projection.weight
        return BiLmState(
            self.forward_lm.zero_state(like, sentences), self.backward_lm.zero_state(like, sentences)
        )

    def _apply(self, *args: Any, **kwargs: Any) -> "BiLmNetwork":
        """Drops the derived values first, so that they and the moved weights are not in memory together."""
        self._inference_weights = None
        super()._apply(*args, **kwargs)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leaves out the derived values: copies and pickles derive their own."""
        return {**self.__dict__, "_inference_weights": None}

    def _replicate_for_data_parallel(self) -> NoReturn:
        raise BiLmError(
            "nn.DataParallel cannot run a biLM: its replicas have no parameters of their own. Use one "
            'process for each GPU: "distributed" in a configuration, or torch\'s DistributedDataParallel'
        )


def weights_equal(bilm: BiLmNetwork, weights: Mapping[str, Tensor]) -> bool:
    """Returns whether the biLM has exactly these weights."""
    own = bilm.state_dict()
    return own.keys() == weights.keys() and all(
        own[name].shape == values.shape and torch.equal(own[name], values.to(own[name]))
        for name, values in weights.items()
    )
