"""A biLM whose parameters are those of AllenNLP's `_ElmoBiLm`."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import nn

from elmo_plugin.allennlp_api.bilm.layers import CharacterEncoder, ElmoLstm, LstmCell, hide
from elmo_plugin.allennlp_api.bilm.names import to_allennlp
from elmo_plugin.bilm import BiLm, BiLmError, CharCnnOptions
from elmo_plugin.bilm.io import Checkpoint, Source

if TYPE_CHECKING:
    from typing_extensions import Self  # of `typing` from Python 3.11 on


class AllenNlpBiLm(BiLm):
    """
    A `BiLm` whose parameters have the names, the order, the shapes and the values of AllenNLP's. Code that
    writes to them, by `state_dict()` or otherwise, selects them by a regular expression or trains some of
    them has the same effect as with AllenNLP.

    # Parameters

    options, dropout, precision, max_batch_tokens
        See `BiLm`. The weights have no values yet: load some.

    Raises `BiLmError` where the biLM does not read bytes.
    """

    token_encoder: CharacterEncoder

    def __init__(self, *args: Any, **options: Any) -> None:
        with torch.device("meta"):  # neither memory nor random numbers for layers that are replaced
            super().__init__(*args, **options)
            char_cnn, lstm = self.options.char_cnn, self.options.lstm
            if not isinstance(char_cnn, CharCnnOptions):
                raise BiLmError(
                    "AllenNLP's ELMo reads the bytes of words, which this biLM does not: use it with "
                    "elmo_plugin.embedding.ElmoRepresentations"
                )
            self.token_encoder = CharacterEncoder(char_cnn, lstm.projection_dim)
            self.token_encoder._options = self.options.to_dict()
            for direction in (self.forward_lm, self.backward_lm):
                cells = (LstmCell(lstm.projection_dim, lstm) for _ in range(lstm.n_layers))
                direction.layers = nn.ModuleList(cells)
        for name in ("token_encoder", "forward_lm", "backward_lm"):
            hide(self, name).to_empty(device="cpu")
        self._token_embedder = self.token_encoder
        forward, backward = (cast(Any, lm.layers) for lm in (self.forward_lm, self.backward_lm))
        self._elmo_lstm = ElmoLstm(forward, backward, lstm)
        self._sums: list[float] = []

    @classmethod
    def from_checkpoint(cls, checkpoint: Checkpoint, precision: str = "float32") -> "Self":
        options = checkpoint.options
        return cls.from_weights(options, to_allennlp(checkpoint.weights, options), precision)

    @classmethod
    def from_source(cls, source: Source | BiLm, precision: str = "float32") -> "Self":
        """Loads a biLM of its own, see `BiLm.from_pretrained`, or makes a frozen copy of a biLM."""
        if not isinstance(source, BiLm):
            loaded = super().from_pretrained(source, precision)
            if isinstance(source, Mapping):
                loaded.token_encoder._weight_file = str(source["weights"])
            return loaded
        if isinstance(source, cls):
            return copy.deepcopy(source).requires_grad_(False)
        weights = to_allennlp(source.state_dict().items(), source.options)
        made = cls.from_weights(source.options, weights, source.precision)
        made.recurrence, made.max_batch_tokens = source.recurrence, source.max_batch_tokens
        return made.to(source.token_encoder.projection.weight)

    def save_pretrained(self, folder: str | Path) -> None:
        """Raises `BiLmError`: the parameters have AllenNLP's names."""
        raise BiLmError(
            "load it by elmo_plugin.bilm.BiLm and save that, or use elmo export"
        )

    @torch.no_grad()
    def notice_changes(self) -> None:
        """
        Calls `refresh` where the sum of the values of any tensor has changed. AllenNLP derives
        nothing from frozen weights, so its users may write through a parameter's `.data`, which torch does
        not count.
        """
        if not self.is_trainable:
            sums = torch.stack([parameter.sum() for parameter in self.parameters()]).tolist()
            if sums != self._sums:
                self.refresh()
                self._sums = sums
