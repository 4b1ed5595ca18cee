"""The base of models that tag words. It reports the tags that their vocabulary lacks."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance, Vocabulary
from overrides import overrides
from torch import BoolTensor, LongTensor

from elmo_plugin.common.logs import get_logger
from elmo_plugin.tasks.labels import UNKNOWN_LABEL
from elmo_plugin.tasks.task_model import TaskModel

logger = get_logger(__name__)


class Tagger(TaskModel):
    """
    The base of models that tag words. A tag that is not in the vocabulary is an error in training.
    In an evaluation or a prediction it counts as wrong, with a warning.
    """

    def __init__(self, vocab: Vocabulary, **kwargs: Any) -> None:
        super().__init__(vocab, **kwargs)
        # The number of words with each unknown tag, in evaluation, since the last reset.
        self._unknown_tags: Counter[str] = Counter()
        self._reported_tags: set[str] = set()  # `forward_on_instances` has warned of these

    def known_tags(self, tags: LongTensor, names: Sequence[Sequence[str]] | None) -> BoolTensor:
        """
        Returns a mask of the tags that are in the vocabulary, of the same shape as `tags`. Counts
        the other tags, so that `get_metrics` can report them by their `names`. While the model is
        being trained, such a tag is a `ConfigurationError`.
        """
        known = cast(BoolTensor, tags != UNKNOWN_LABEL)
        for sentence, word in (~known).nonzero().tolist():
            name = "a tag"
            if names:
                name = names[sentence][word]
            if self._is_training_step():
                raise ConfigurationError(
                    f"{name} is in the training data, but not in the vocabulary: the vocabulary's "
                    "type 'extend', with the directory of the old one, adds it"
                )
            self._unknown_tags[name] += 1
        return known

    @overrides
    def forward_on_instances(self, instances: list[Instance]) -> list[dict[str, np.ndarray]]:
        outputs = super().forward_on_instances(instances)
        # In evaluation `get_metrics` warns of unknown tags, but predictors do not call it.
        new_tags = sorted(set(self._unknown_tags) - self._reported_tags)
        if new_tags:
            logger.warning(
                "%s is not in the vocabulary: words with such a tag count as wrong",
                ", ".join(new_tags),
            )
            self._reported_tags.update(new_tags)
        return outputs

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        if reset and self._unknown_tags and not self.training:
            logger.warning(
                "%s is not in the vocabulary: the loss leaves out %d words",
                ", ".join(sorted(self._unknown_tags)),
                self._unknown_tags.total(),
            )
            self._unknown_tags.clear()
        return super().get_metrics(reset)
