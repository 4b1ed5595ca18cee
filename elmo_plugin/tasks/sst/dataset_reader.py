"""Sentences and phrases with their sentiment, from the trees of the Stanford Sentiment Treebank."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TokenIndexer
from allennlp.data.fields import LabelField
from allennlp.data.tokenizers import Token

from elmo_plugin.tasks.dataset_reader import Line, TaskDatasetReader, sentence_fields
from elmo_plugin.tasks.sst.trees import read_phrases
from elmo_plugin.tasks.vocabulary import PartOfText

FINE_LABELS = ("very negative", "negative", "neutral", "positive", "very positive")
BINARY_LABELS = ("negative", "negative", None, "positive", "positive")


@DatasetReader.register("sst_trees")
class SstTreesReader(TaskDatasetReader):
    """
    Reads the Stanford Sentiment Treebank (Socher et al., 2013): one tree per line, such as
    `(3 (2 Not) (1 bad))`, with labels from 0, very negative, to 4, very positive. Blank lines are skipped.

    Words are spelled as in the plain text that a biLM learns from: `(` for `-LRB-`, `/` for an escaped slash,
    `"` for either kind of quotation mark. `TaskDatasetReader` describes encoding and compression.

    Registered as a `DatasetReader` with name "sst_trees".

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    binary : `bool`, optional (default = `False`)
        Use the labels "negative" and "positive", without neutral texts; otherwise "very negative",
        "negative", "neutral", "positive" and "very positive".
    min_phrase_length : `int`, optional (default = `None`)
        Also make instances of phrases of this number of words or more: of every subtree if it is 1. By
        default only whole sentences are instances, as one wants for validation.

    Raises `ConfigurationError`, naming file and line, if a line is not UTF-8, not a tree or has an illegal
    label, and if no tree of a file makes an instance.
    """

    def __init__(
        self,
        token_indexers: dict[str, TokenIndexer],
        *,
        binary: bool = False,
        min_phrase_length: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        if min_phrase_length is not None and min_phrase_length < 1:
            raise ConfigurationError(f"sst_trees: min_phrase_length is 1 or more, not {min_phrase_length}")
        self.example_names = "trees that are not neutral" if binary else "trees"
        self._labels = BINARY_LABELS if binary else FINE_LABELS
        self._min_phrase_length = math.inf if min_phrase_length is None else min_phrase_length

    def read_examples(self, lines: Iterable[Line]) -> Iterator[tuple[list[Token], str, list[Token]]]:
        """Yields the words of each sentence and its phrases, the sentiment, and the words of the sentence."""
        for line in lines:
            tree = line.text.strip()
            if not tree:
                continue
            sentence, *parts = read_phrases(tree, line.location)
            long_enough = [part for part in parts if len(part.words) >= self._min_phrase_length]
            tokens = [Token(word) for word in sentence.words]
            for label, words in [sentence, *long_enough]:
                name = self._labels[label]
                if name is not None:
                    yield [Token(word) for word in words], name, tokens

    def text_to_instance(
        self, tokens: list[Token], label: str | None = None, sentence: list[Token] | None = None
    ) -> Instance:
        """
        Makes an instance with the fields `tokens`, `words` (as strings) and, if there is one, `label`. The
        vocabulary counts the words of the `sentence` of a phrase once for all its phrases.
        """
        fields = sentence_fields(tokens)
        if sentence is not None:
            fields["tokens"] = PartOfText(tokens, sentence)
        if label is not None:
            fields["label"] = LabelField(label)
        return Instance(fields)
