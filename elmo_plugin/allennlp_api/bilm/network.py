"""A biLM whose parameters are those of AllenNLP's `_ElmoBiLm`."""

import copy
from typing import TYPE_CHECKING, Any

from torch import nn

from elmo_plugin.allennlp_api.bilm.character_encoder import CharacterEncoder
from elmo_plugin.allennlp_api.bilm.layers import LstmCell
from elmo_plugin.allennlp_api.bilm.names import to_allennlp
from elmo_plugin.bilm import BiLm, BiLmError, CharCnnOptions, load_bilm_as
from elmo_plugin.bilm.io import Checkpoint, Source

if TYPE_CHECKING:
    from typing_extensions import Self  # of `typing` from Python 3.11 on


class AllenNlpBiLm(BiLm):
    """
    Computes what `BiLm` does from parameters that have the names, the order, the shapes and the values of
    AllenNLP's. Who writes to them, by `state_dict()` or otherwise, names them in a regular expression or
    trains some of them has what AllenNLP would give.

    # Parameters

    options, dropout, precision, max_batch_tokens
        See `BiLm`. The weights are drawn in torch's way, and not as a biLM's: load others.

    Raises `BiLmError` where the biLM does not read bytes.
    """

    lstm_layer_type = LstmCell
    token_encoder: CharacterEncoder
    _elmo_lstm: nn.ModuleDict

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        parts = {name: getattr(self, name) for name in ("token_encoder", "forward_lm", "backward_lm")}
        for name in parts:
            delattr(self, name)
        self.__dict__.update(parts)  # `BiLm` finds them, and the state dict has them by AllenNLP's names
        self._token_embedder = self.token_encoder
        self._elmo_lstm = nn.ModuleDict()
        for number in range(self.options.lstm.n_layers):
            self._elmo_lstm[f"forward_layer_{number}"] = self.forward_lm.layers[number]
            self._elmo_lstm[f"backward_layer_{number}"] = self.backward_lm.layers[number]

    @classmethod
    def from_checkpoint(cls, checkpoint: Checkpoint, precision: str = "float32") -> "Self":
        options = checkpoint.options
        return cls.from_weights(options, to_allennlp(checkpoint.weights, options), precision)

    @classmethod
    def load(cls, source: Source | BiLm, precision: str = "float32") -> "Self":
        """Loads a biLM that nobody else has, from whatever `load_bilm` takes, or copies a biLM."""
        return cls.from_bilm(source) if isinstance(source, BiLm) else load_bilm_as(cls, source, precision)

    @classmethod
    def from_bilm(cls, bilm: BiLm) -> "Self":
        """Makes a frozen copy of another biLM."""
        if isinstance(bilm, cls):
            return copy.deepcopy(bilm).requires_grad_(False)
        made = cls.from_weights(
            bilm.options, to_allennlp(bilm.state_dict().items(), bilm.options), bilm.precision
        )
        made.recurrence, made.max_batch_tokens = bilm.recurrence, bilm.max_batch_tokens
        return made.to(bilm.token_encoder.projection.weight)

    def _make_token_encoder(self) -> CharacterEncoder:
        if not isinstance(self.options.char_cnn, CharCnnOptions):
            raise BiLmError(
                "AllenNLP's ELMo reads the bytes of words, which this biLM does not: use it with "
                "elmo_plugin.embedding.ElmoRepresentations"
            )
        return CharacterEncoder(self.options.char_cnn, self.options.lstm.projection_dim)
