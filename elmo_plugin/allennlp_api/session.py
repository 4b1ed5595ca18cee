"""The settings with which one module runs a biLM, and the state that it carries from batch to batch."""

from typing import Any

from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmError, BiLmOutput, BiLmState, Cache, get_precision
from elmo_plugin.bilm.lstm import map_state


class BiLmSession:
    """
    Runs a biLM for one module. Other modules may run the same biLM with other settings.

    # Parameters

    stateful : `bool`
        Whether the LSTMs continue, row by row, from their state after the last batch. Copies of a session
        start without the state.
    precision : `str | None`
        The precision of a frozen biLM; `None` for its own.
    cache : `Cache | None`
        Stores the layers of sentences.
    max_batch_tokens : `int | None`
        The size of the chunks in which a frozen biLM computes a batch; `None` for its own.
    """

    def __init__(
        self,
        stateful: bool = False,
        precision: str | None = None,
        cache: Cache | None = None,
        max_batch_tokens: int | None = None,
    ) -> None:
        self.stateful = stateful
        self.precision = precision
        self.cache = cache
        self.max_batch_tokens = max_batch_tokens
        self._state: BiLmState | None = None

    def check(self, bilm: BiLm) -> None:
        """Raises `BiLmError` if these settings do not fit the biLM."""
        if self.cache is not None and (bilm.is_trainable or self.stateful):
            raise BiLmError("a cache is for a biLM that is frozen (requires_grad is false) and not stateful")
        precision = get_precision(self.precision or bilm.precision).name
        if bilm.is_trainable and precision != "float32":
            raise BiLmError(f"a biLM is fine-tuned in float32, not in {precision}")

    def run(self, bilm: BiLm, character_ids: Tensor, boundaries: bool = False) -> BiLmOutput:
        """
        Returns all layers, with the sentence boundaries if asked for (a cache does not store these), on the
        device of `character_ids`. Other sessions may return the same layers: do not change them in place.
        """
        ids = character_ids.to(bilm.boundaries.device)  # another model may have moved the biLM
        if self.stateful or boundaries or bilm.is_trainable:
            weight = bilm.token_encoder.projection.weight
            state = self._state and map_state(lambda part: part.to(weight), self._state)
            output = bilm(
                ids,
                state,
                keep_state=self.stateful,
                boundaries=boundaries,
                precision=self.precision,
                max_batch_tokens=self.max_batch_tokens,
            )
            if self.stateful:
                self._state = map_state(Tensor.detach, output.state)
        else:
            output = bilm.forward_cached(ids, self.precision, self.max_batch_tokens, self.cache)
        device = character_ids.device
        return BiLmOutput(output.layers.to(device), output.mask.to(device, copy=True), None)

    def reset_state(self) -> None:
        """Starts the next batch from zero."""
        self._state = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_state": None}
