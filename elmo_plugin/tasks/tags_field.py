"""Tags of words, some of which the training data may not have."""

from typing import cast

from allennlp.data import Vocabulary
from allennlp.data.fields import SequenceLabelField
from overrides import overrides

UNKNOWN_TAG = -100
"""The index of a tag that the vocabulary lacks: no model predicts it, and it has no part in the loss."""


class TagsField(SequenceLabelField):
    """A tag for each word. The tags of other data than the vocabulary's may be unknown: `UNKNOWN_TAG`."""

    @overrides
    def index(self, vocab: Vocabulary) -> None:
        indices = vocab.get_token_to_index_vocabulary(self._label_namespace)
        self._indexed_labels = [indices.get(cast(str, tag), UNKNOWN_TAG) for tag in self.labels]
