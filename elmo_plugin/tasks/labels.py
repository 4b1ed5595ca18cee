"""Labels of texts and tags of words: their fields, and a check of those in a vocabulary."""

from functools import cache
from typing import cast

from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.data.fields import LabelField, SequenceLabelField, TextField
from overrides import overrides

from elmo_plugin.common.errors import did_you_mean
from elmo_plugin.common.logs import get_logger

# The index of a label that is not in the vocabulary: losses ignore it, and no model predicts it.
UNKNOWN_LABEL = -100
ENCODING_TAGS = "encoding_tags"
_MOST_CHARACTERS_OF_LABELS = 500  # A message that lists all labels is cut here.

logger = get_logger(__name__)


class TagsField(SequenceLabelField):
    """
    A tag for each word. A tag that is not in the vocabulary has the index `UNKNOWN_LABEL`. For tags
    of entities, the vocabulary keeps the `encoding` of the file, such as "BIO", in the namespace
    `ENCODING_TAGS`: the predictor returns tags in the encoding of the training data.
    """

    def __init__(
        self, labels: list[str], sequence_field: TextField, encoding: str | None = None
    ) -> None:
        super().__init__(labels, sequence_field)
        self.encoding = encoding

    @overrides
    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        super().count_vocab_items(counter)
        if self.encoding:
            counter[ENCODING_TAGS][self.encoding] += 1

    @overrides
    def index(self, vocab: Vocabulary) -> None:
        indices = vocab.get_token_to_index_vocabulary(self._label_namespace)
        self._indexed_labels = [indices.get(cast(str, tag), UNKNOWN_LABEL) for tag in self.labels]


class KnownLabelField(LabelField):
    """
    A label that should be in the vocabulary. If it is not, a warning is logged and its index is
    `UNKNOWN_LABEL`, by which a model recognizes it: `Classifier` refuses it in training, and counts
    it as wrong in an evaluation.
    """

    @overrides
    def index(self, vocab: Vocabulary) -> None:
        known = vocab.get_token_to_index_vocabulary(self._label_namespace)
        if self.label in known:
            super().index(vocab)
            return
        _warn_of_unknown_label(str(self.label), tuple(known))
        self._label_id = UNKNOWN_LABEL


@cache
def _warn_of_unknown_label(label: str, known: tuple[str, ...]) -> None:
    """Warns that a model lacks a label. The cache makes it warn only once for each label."""
    message = f"the model has no label {label!r}, only {', '.join(known)}"
    message = message[:_MOST_CHARACTERS_OF_LABELS]
    logger.warning("%s: it counts as wrong%s", message, did_you_mean(label, known))


def number_of_labels(vocab: Vocabulary) -> int:
    """Checks the labels of a vocabulary, see `check_labels`, and returns their number."""
    check_labels(vocab)
    return vocab.get_vocab_size("labels")


def check_labels(vocab: Vocabulary) -> None:
    """
    Raises `ConfigurationError` if some labels are words and some are numbers: then training and
    validation data seem to have different names for the same labels, such as "neutral" and "1".
    """
    labels = vocab.get_token_to_index_vocabulary("labels")
    numbers = [label for label in labels if label.isdecimal()]
    num_words = len(labels) - len(numbers)
    # A single label of one kind may be meant, such as the number 0 among words.
    if len(numbers) > 1 and num_words > 1:
        message = f"expected labels that are words or numbers, got both: {', '.join(labels)}"
        message = message[:_MOST_CHARACTERS_OF_LABELS]
        raise ConfigurationError(f"{message}; `elmo import --label-names` gives names to numbers")
