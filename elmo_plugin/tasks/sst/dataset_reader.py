"""Sentences and phrases with their sentiment, from the trees of the Stanford Sentiment Treebank."""

from collections.abc import Iterable, Iterator
from typing import Any, cast

from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TokenIndexer
from allennlp.data.fields import Field, LabelField, MetadataField, TextField
from allennlp.data.tokenizers import Token
from overrides import overrides

from elmo_plugin.common.text_files import decode, read_lines
from elmo_plugin.tasks.sst.trees import Phrase, read_phrases

FINE_LABELS = ("very negative", "negative", "neutral", "positive", "very positive")
BINARY_LABELS = ("negative", "negative", None, "positive", "positive")


@DatasetReader.register("sst_trees")
class SstTreesReader(DatasetReader):
    """
    Reads the Stanford Sentiment Treebank (Socher et al., 2013): a tree a line, such as
    `(3 (2 Not) (1 bad))`, whose labels go from 0, very negative, to 4, very positive. Blank lines are
    skipped.

    Words are spelled plainly, as in the text that a biLM learns from: `(` for `-LRB-`, `/` for an escaped
    slash, `"` for either kind of quotation mark.

    The files are UTF-8, and gzipped if their names end in `.gz`.

    Registered as a `DatasetReader` with name "sst_trees".

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    binary : `bool`, optional (default = `False`)
        Whether the labels are "negative" and "positive", and what is neutral is left out; otherwise they are
        "very negative", "negative", "neutral", "positive" and "very positive".
    min_phrase_length : `int`, optional (default = `None`)
        Each phrase of so many words or more is an instance, too: every subtree if it is 1. Whole sentences
        are instances at any length. If it is not given they are the only ones, as one wants for validation.

    Raises `ConfigurationError`, naming the file and the line, where a line is not UTF-8 or no tree or has a
    label that cannot be there, and where a file holds no tree.
    """

    def __init__(
        self,
        token_indexers: dict[str, TokenIndexer],
        binary: bool = False,
        min_phrase_length: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if min_phrase_length is not None and min_phrase_length < 1:
            raise ConfigurationError(f"sst_trees: min_phrase_length is 1 or more, not {min_phrase_length}")
        self._token_indexers = token_indexers
        self._labels = BINARY_LABELS if binary else FINE_LABELS
        self._min_phrase_length = min_phrase_length

    @overrides
    def _read(self, file_path: str) -> Iterable[Instance]:
        for sentence, *parts in _read_trees(str(file_path)):
            for label, words in [sentence, *self._long_enough(parts)]:
                name = self._labels[label]
                if name is not None:
                    yield self.text_to_instance([Token(word) for word in words], name)

    def text_to_instance(self, tokens: list[Token], label: str | None = None) -> Instance:
        """
        # Parameters

        tokens : `list[Token]`
            The words of a sentence or a phrase.
        label : `str | None`, optional (default = `None`)
            Its sentiment.

        # Returns

        `Instance`
            With the fields `tokens`, `words` (as strings) and, where it is given, `label`.
        """
        fields: dict[str, Field] = {
            "tokens": TextField(tokens),
            "words": MetadataField([token.text for token in tokens]),
        }
        if label is not None:
            fields["label"] = LabelField(label)
        return Instance(fields)

    @overrides
    def apply_token_indexers(self, instance: Instance) -> None:
        cast(TextField, instance["tokens"]).token_indexers = self._token_indexers

    def _long_enough(self, phrases: list[Phrase]) -> list[Phrase]:
        shortest = self._min_phrase_length
        return [] if shortest is None else [phrase for phrase in phrases if len(phrase.words) >= shortest]


def _read_trees(file_path: str) -> Iterator[list[Phrase]]:
    """The phrases of each tree, the whole sentence before its parts."""
    empty = True
    for number, line in enumerate(read_lines(file_path), start=1):
        place = f"{file_path}, line {number}"
        tree = decode(line, place).strip()
        if tree:
            empty = False
            yield read_phrases(tree, place)
    if empty:
        raise ConfigurationError(f"{file_path}: there is no tree in this file")
