"""One way to run a biLM: with a state or without, in a precision, with a cache."""

from typing import Any

from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmError, BiLmOutput, BiLmState, Cache, get_precision
from elmo_plugin.bilm.lstm import map_state


class BiLmRunner:
    """
    Runs a biLM as one module asks for it. Several modules may run the same biLM, each in its way: what is
    carried from batch to batch is here.

    # Parameters

    stateful : `bool`
        Whether the LSTMs go on, row by row, where the last batch stopped. Copies start without the state.
    precision : `str | None`
        The numbers in which the biLM computes; `None` for its own.
    cache : `Cache | None`
        Where the layers of sentences are kept.
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
        """Raises `BiLmError` where the biLM cannot be trained in this way, or cannot have the cache."""
        if self.cache is not None and (bilm.is_trained or self.stateful):
            raise BiLmError("a cache is for a biLM that is frozen (requires_grad is false) and not stateful")
        numbers = get_precision(self.precision or bilm.precision).name
        if bilm.is_trained and numbers != "float32":
            raise BiLmError(f"a biLM is fine-tuned in float32, not in {numbers}")

    def run(self, bilm: BiLm, character_ids: Tensor, boundaries: bool = False) -> BiLmOutput:
        """
        Returns all layers, with the sentence boundaries if asked for (no cache has these). The output is on
        the device of `character_ids`. Others may get the same layers: they must not be changed.
        """
        ids = character_ids.to(bilm.boundaries.device)  # where another model may have moved it
        if self.stateful or boundaries or bilm.is_trained:
            weight = bilm.token_encoder.projection.weight
            state = self._state and map_state(lambda part: part.to(weight), self._state)
            output = bilm(ids, state, self.stateful, boundaries, self.precision, self.max_batch_tokens)
            if self.stateful:
                self._state = map_state(Tensor.detach, output.state)
        else:
            output = bilm.forward_frozen(ids, self.precision, self.max_batch_tokens, self.cache)
        device = character_ids.device
        return BiLmOutput(output.layers.to(device), output.mask.to(device, copy=True), None)

    def reset_state(self) -> None:
        """Lets the next batch start from zero."""
        self._state = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_state": None}
