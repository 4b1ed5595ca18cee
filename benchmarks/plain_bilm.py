"""Our biLM in training without AllenNLP: what `BiLmLanguageModel` computes, on windows of a text."""

from collections.abc import Iterator, Sequence
from itertools import chain, cycle, islice
from typing import Any

import numpy as np
import torch
from material import Sentences, options_of
from torch import Tensor, nn

from elmo_plugin.bilm import BiLm, LstmState, VocabularySoftmax, map_state, pack, word_to_character_ids


class PlainBiLm(nn.Module):
    """
    # Parameters

    size : `str`
        One of `material.SIZES`.
    num_words, num_negatives : `int`
        Of the sampled softmax.
    precision : `str`
        The precision of products: `float32`, or `bfloat16` by autocast.
    """

    def __init__(self, size: str, num_words: int, num_negatives: int, precision: str) -> None:
        super().__init__()
        options = options_of(size)
        self.bilm = BiLm(options, dropout=0.1)
        self.softmax = VocabularySoftmax(num_words, options.lstm.projection_dim)
        self._num_negatives, self._is_autocast = num_negatives, precision == "bfloat16"
        self._state: LstmState | None = None

    def forward(self, character_ids: Tensor, types: Tensor, targets: Tensor) -> dict[str, Tensor]:
        """
        Carries the state on.

        # Parameters

        character_ids : `Tensor`
            Shape (types, characters), the distinct words.
        types, targets : `Tensor`
            Shape (directions, batch, time), the words of the streams, and the numbers of those that follow.
        """
        with torch.autocast(types.device.type, torch.bfloat16, enabled=self._is_autocast):
            output = self.bilm.forward_packed(
                character_ids,
                types.transpose(1, 2).flatten(1).unbind(),
                pack(torch.full((types.size(1),), types.size(2)), types.device),
                self._state,
                keep_state=True,
                dropout=self.training,
            )
            self._state = map_state(Tensor.detach, output.state)
            hidden = torch.cat(output.layers[-1])
            loss, _ = self.softmax.sampled(hidden, targets.transpose(1, 2).flatten(), self._num_negatives)
        return {"loss": loss}


def windows(
    sentences: Sentences, size: str, batch: int, steps: int, num_words: int
) -> Iterator[dict[str, Any]]:
    """Endless batches of the text's words, with targets drawn by Zipf's law."""
    words = cycle(chain.from_iterable(sentences))
    slots = options_of(size).char_cnn.max_characters_per_token
    generator = np.random.default_rng(0)
    while True:
        taken = list(islice(words, 2 * batch * steps))
        numbers = {word: number for number, word in enumerate(dict.fromkeys(taken))}
        targets = generator.zipf(1.2, len(taken)) % num_words
        yield {
            "character_ids": torch.from_numpy(character_ids(list(numbers), slots)),
            "types": torch.tensor([numbers[word] for word in taken]).view(2, batch, steps),
            "targets": torch.from_numpy(targets).view(2, batch, steps),
        }


def character_ids(words: Sequence[str], slots: int) -> np.ndarray:
    return np.stack([word_to_character_ids(word, slots) for word in words])
