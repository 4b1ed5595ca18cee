"""Predicates and their arguments as instances, one for each predicate, or one for each sentence."""

from collections.abc import Iterable, Iterator
from typing import Any, cast

from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TokenIndexer
from allennlp.data.fields import IndexField, MetadataField, SequenceLabelField, TextField
from allennlp.data.tokenizers import Token

from elmo_plugin.tasks.conll2012 import FOLDER_PATTERNS
from elmo_plugin.tasks.dataset_reader import (
    Line,
    TaskDatasetReader,
    sentence_fields,
)
from elmo_plugin.tasks.labels import TagsField
from elmo_plugin.tasks.spans import spans_to_tags
from elmo_plugin.tasks.srl.sentences import SrlSentence, parse_conll2012


class SrlSentenceReader(TaskDatasetReader):
    """
    The base of the two readers of PropBank annotation in the columns of CoNLL-2012 (see
    `parse_conll2012`; `elmo import srl` makes such files of other forms). They read a file, or all
    files below a folder whose names end in `gold_conll`, or else in `auto_conll` or `.conll`.

    `TaskDatasetReader` describes encoding and compression. Brackets and quotation marks escaped by
    the Penn Treebank become plain text, as in the training of biLMs: `(` for `-LRB-`.

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    verbs_only : `bool`, optional (default = `False`)
        Skip predicates that are not verbs: nouns, adjectives, auxiliaries and others.

    Raises `ConfigurationError`, naming file and line, if a line is not UTF-8 or malformed, and if a
    file or folder contains no example.
    """

    folder_patterns = FOLDER_PATTERNS

    def __init__(
        self, token_indexers: dict[str, TokenIndexer], *, verbs_only: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        self._verbs_only = verbs_only

    def read_sentences(self, lines: Iterable[Line]) -> Iterator[SrlSentence]:
        """
        Yields the sentences of a file with their predicates. With `verbs_only`, predicates that are
        not verbs are left out.
        """
        for sentence in parse_conll2012(lines):
            predicates = sentence.predicates
            if self._verbs_only:
                predicates = [predicate for predicate in predicates if predicate.is_verb]
            yield sentence._replace(predicates=predicates)


@DatasetReader.register("srl_conll2012")
class SrlReader(SrlSentenceReader):
    """
    Makes an instance of each predicate of a sentence, with the BIO tags of its arguments: `B-V` at
    the predicate, and roles as in the files, such as `B-ARG0`, `I-ARGM-TMP`, `B-C-ARG1` or
    `B-R-ARG0`.

    Registered as a `DatasetReader` with name "srl_conll2012". It takes the parameters of
    `SrlSentenceReader`.
    """

    example_names = "predicates"

    def read_examples(
        self, lines: Iterable[Line]
    ) -> Iterator[tuple[list[Token], int, list[str], str]]:
        """
        Yields, for each predicate, the arguments of `text_to_instance`: the words of its sentence,
        its index among them, the BIO tags of its arguments, and its lemma.
        """
        for sentence in self.read_sentences(lines):
            tokens = [Token(word) for word in sentence.words]
            for predicate in sentence.predicates:
                tags = spans_to_tags(predicate.arguments, len(tokens))
                yield tokens, predicate.word_index, tags, predicate.lemma

    def text_to_instance(
        self,
        tokens: list[Token],
        predicate: int,
        tags: list[str] | None = None,
        lemma: str | None = None,
    ) -> Instance:
        """
        Makes an instance of a predicate, given as the index of a word. `lemma` is the word itself
        by default; `tags` are the correct BIO tags.

        The fields are `tokens`, `words` (as strings), `predicate`, `lemma` and, if the tags are
        given, `tags` and `gold_tags` (the strings).
        """
        if not 0 <= predicate < len(tokens):
            raise ConfigurationError(
                f"the predicate {predicate} is not a word of a sentence of {len(tokens)} words"
            )
        fields = sentence_fields(tokens)
        text = cast(TextField, fields["tokens"])
        fields["predicate"] = IndexField(predicate, text)
        if not lemma:
            lemma = tokens[predicate].text
        fields["lemma"] = MetadataField(lemma)
        if tags is not None:
            fields["tags"] = TagsField(tags, text)
            fields["gold_tags"] = MetadataField(tags)
        return Instance(fields)


@DatasetReader.register("srl_predicates")
class SrlPredicatesReader(SrlSentenceReader):
    """
    Makes an instance of each sentence, with or without predicates, and tags its words as predicates
    or not.

    Registered as a `DatasetReader` with name "srl_predicates". It takes the parameters of
    `SrlSentenceReader`.
    """

    def read_examples(self, lines: Iterable[Line]) -> Iterator[tuple[list[Token], list[int]]]:
        """Yields the words of each sentence, and the indices of its predicates."""
        for sentence in self.read_sentences(lines):
            tokens = [Token(word) for word in sentence.words]
            yield tokens, [predicate.word_index for predicate in sentence.predicates]

    def text_to_instance(
        self, tokens: list[Token], predicates: list[int] | None = None
    ) -> Instance:
        """
        Makes an instance of a sentence, with the fields `tokens`, `words` (as strings) and, if the
        indices of its predicates are known, `tags`: 1 at predicates and 0 elsewhere.
        """
        fields = sentence_fields(tokens)
        if predicates is not None:
            tags = [int(index in predicates) for index in range(len(tokens))]
            fields["tags"] = SequenceLabelField(tags, cast(TextField, fields["tokens"]))
        return Instance(fields)
