"""How well the layers of a biLM predict tags (Peters et al., 2018, section 5.3, table 6)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.analysis.probes.linear_probes import LinearProbes
from elmo_plugin.analysis.probes.tagged_words import TaggedSentence, with_control_tags
from elmo_plugin.analysis.representations import Representation

SENTENCES_AT_ONCE = 1024


class ProbeScore(NamedTuple):
    """
    name: of the layer or combination, such as "LSTM 1"
    accuracies: on the test data, one for each seed
    control: on the test data of the control task, one for each seed
    """

    name: str
    accuracies: list[float]
    control: list[float]

    @property
    def selectivity(self) -> float:
        """The mean accuracy minus that of the control task."""
        return (sum(self.accuracies) - sum(self.control)) / len(self.accuracies)


def word_vectors(representation: Representation, sentences: Sequence[TaggedSentence]) -> Tensor:
    """Returns the vectors of all words, sentence after sentence. Shape (combinations, words, dim)."""
    parts = []
    for start in range(0, len(sentences), SENTENCES_AT_ONCE):
        embedded = representation.embed([each.words for each in sentences[start : start + SENTENCES_AT_ONCE]])
        parts.append(representation.combinations.combine(torch.cat(embedded, dim=1)))
    return torch.cat(parts, dim=1)


def probe_layers(
    representation: Representation,
    train: Sequence[TaggedSentence],
    test: Sequence[TaggedSentence],
    *,
    seeds: Sequence[int],
    epochs: int = 10,
) -> list[ProbeScore]:
    """
    Trains `LinearProbes` on each combination of layers, for the tags and for those of a control task, and
    scores them on other data. Tags that the training data lack count as errors.
    """
    of_train, of_test = (word_vectors(representation, sentences) for sentences in (train, test))
    scores = [ProbeScore(name, [], []) for name in representation.combinations.names]
    numbers = {tag: number for number, tag in enumerate(sorted({tag for each in train for tag in each.tags}))}
    for seed in seeds:
        control_train, control_test = with_control_tags(train, test, seed)
        probes = LinearProbes(len(numbers), epochs=epochs)
        probes.fit(of_train, _labels(numbers, train, control_train), seed)
        accuracies = probes.accuracies(of_test, _labels(numbers, test, control_test)).tolist()
        for score, (accuracy, of_control) in zip(scores, accuracies, strict=True):
            score.accuracies.append(accuracy)
            score.control.append(of_control)
    return scores


def _labels(numbers: Mapping[str, int], *data: Sequence[TaggedSentence]) -> Tensor:
    """Returns the number of each word's tag, -1 for an unknown one. Shape (data, words)."""
    tags = [[tag for sentence in sentences for tag in sentence.tags] for sentences in data]
    return torch.tensor([[numbers.get(tag, -1) for tag in each] for each in tags])
