"""Our biLM in training without AllenNLP: what `BiLmLanguageModel` computes."""

import torch
from torch import Tensor, nn

from elmo_plugin.bilm import BiLm, BiLmOptions, LstmState, VocabularySoftmax, pack


class PlainBiLm(nn.Module):
    """Takes the batches of `bilm_stream`; `precision` is `float32`, or `bfloat16` by autocast."""

    def __init__(
        self,
        options: BiLmOptions,
        num_words: int,
        num_negatives: int,
        dropout: float,
        precision: str,
    ) -> None:
        super().__init__()
        self.bilm = BiLm(options, dropout=dropout)
        self.softmax = VocabularySoftmax(num_words, options.lstm.projection_dim)
        self._num_negatives, self._is_autocast = num_negatives, precision == "bfloat16"
        self._state: LstmState | None = None

    def forward(
        self,
        character_ids: Tensor,
        forward_types: Tensor,
        forward_targets: Tensor,
        backward_types: Tensor,
        backward_targets: Tensor,
        stream_starts: bool,
    ) -> dict[str, Tensor]:
        """Gives the `loss`, and carries the state on unless the streams start."""
        batch, steps = forward_types.shape
        with torch.autocast(character_ids.device.type, torch.bfloat16, enabled=self._is_autocast):
            output = self.bilm.forward_packed(
                character_ids,
                [types.t().flatten() for types in (forward_types, backward_types)],
                pack(torch.full((batch,), steps), character_ids.device),
                self.bilm.forward_settings(keep_state=True),
                None if stream_starts else self._state,
            )
            self._state = None if output.state is None else output.state.detach()
            targets = torch.cat(
                [part.t().flatten() for part in (forward_targets, backward_targets)]
            )
            loss, _ = self.softmax.sampled(
                torch.cat(output.layers[-1]), targets, self._num_negatives
            )
        return {"loss": loss}
