"""The base of encoders, and a check of their options."""

from allennlp.common.checks import ConfigurationError
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from overrides import overrides


class SizedEncoder(Seq2SeqEncoder):
    """The base of encoders that know their sizes when they are made."""

    def __init__(self, input_dim: int, output_dim: int, is_bidirectional: bool) -> None:
        super().__init__()
        self._input_dim = input_dim
        self._output_dim = output_dim
        self._is_bidirectional = is_bidirectional

    @overrides
    def get_input_dim(self) -> int:
        return self._input_dim

    @overrides
    def get_output_dim(self) -> int:
        return self._output_dim

    @overrides
    def is_bidirectional(self) -> bool:
        return self._is_bidirectional


def check_rate(name: str, rate: float) -> None:
    """Raises `ConfigurationError`, beginning with `name`, unless this is a rate of dropout."""
    if not 0 <= rate <= 1:
        raise ConfigurationError(f"{name}: expected a rate from 0 to 1, got {rate}")
