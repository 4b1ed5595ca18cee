"""Predicates and their arguments as instances, one for each predicate, or one for each sentence."""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any, cast

from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TokenIndexer
from allennlp.data.fields import IndexField, MetadataField, SequenceLabelField, TextField
from allennlp.data.tokenizers import Token

from elmo_plugin.common.errors import check_choice
from elmo_plugin.tasks.conll2012 import FIXED_COLUMNS, FOLDER_PATTERNS
from elmo_plugin.tasks.dataset_reader import (
    Line,
    TagsField,
    TaskDatasetReader,
    read_text_lines,
    sentence_fields,
)
from elmo_plugin.tasks.records import Record, columns_or_json
from elmo_plugin.tasks.spans import spans_to_tags
from elmo_plugin.tasks.srl.sentences import (
    SrlSentence,
    parse_conll2012,
    parse_props,
    parse_universal,
    sentence_in,
)


class SrlSentenceReader(TaskDatasetReader):
    """
    The base of the two readers of PropBank annotation. They read a file, or all files below a
    folder, in one of two formats, or a file of CoNLL-U Plus, see `parse_universal`:

    conll2012: the columns of CoNLL-2012, in files whose names end in `gold_conll`, or else in
        `auto_conll` or `.conll`; see `parse_conll2012`
    jsonl: words and frames in JSON lines, in files whose names end in `.jsonl`

    `TaskDatasetReader` describes encoding and compression. Brackets and quotation marks escaped by
    the Penn Treebank become plain text, as in the training of biLMs: `(` for `-LRB-`.

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    format : `str`, optional (default = `"auto"`)
        "conll2012" or "jsonl"; by default jsonl for a file that begins with `{`.
    verbs_only : `bool`, optional (default = `False`)
        Skip predicates that are not verbs: nouns, adjectives, auxiliaries and others in CoNLL-2012.

    Raises `ConfigurationError`, naming file and line, if a line is not UTF-8 or malformed, and if a
    file or folder contains no example.
    """

    folder_patterns = FOLDER_PATTERNS

    def __init__(
        self,
        token_indexers: dict[str, TokenIndexer],
        *,
        format: str = "auto",
        verbs_only: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        check_choice("format", format, ("auto", "conll2012", "jsonl"), ConfigurationError)
        self._format = format
        self._verbs_only = verbs_only

    def read_sentences(self, lines: Iterable[Line]) -> Iterator[SrlSentence]:
        """Yields the sentences of a file, with the predicates that count."""
        parse_record = sentence_in if self.needs_labels else _sentence_to_predict
        for sentence in columns_or_json(lines, _parse_columns, parse_record, self._format):
            chosen = [each for each in sentence.predicates if each.is_verb or not self._verbs_only]
            yield sentence._replace(predicates=chosen)


def read_sentences(path: str) -> Iterator[SrlSentence]:
    """
    Reads a file to score: propositions (see `parse_props`), columns of CoNLL-2012, or JSON lines.
    Raises `ConfigurationError`, naming file and line, if a line is malformed.
    """
    return columns_or_json(
        read_text_lines(path), partial(_parse_columns, may_be_props=True), sentence_in
    )


def _parse_columns(lines: Iterator[Line], may_be_props: bool = False) -> Iterator[SrlSentence]:
    """
    Yields the sentences of CoNLL-U Plus, of CoNLL-2012 or of propositions, as the first line looks.
    """
    first = next(lines)
    is_2012 = len(first.columns) >= FIXED_COLUMNS and first.columns[2].isdecimal()
    parse = parse_props if may_be_props and not is_2012 else parse_conll2012
    if first.text.startswith("#"):
        parse = parse_universal if first.text.startswith("# global.columns") else parse_conll2012
    return parse(chain([first], lines))


def _sentence_to_predict(record: Record) -> SrlSentence:
    """
    Returns the sentence of a record; one without frames has the predicates that it names, if any.
    """
    line, fields = record
    words = fields.get("words")
    if isinstance(words, list) and not {"frames", "verbs"} & fields.keys():
        unknown = {"tags": ["O"] * len(words)}
        fields |= {
            "frames": [{"index": index, **unknown} for index in fields.get("predicates") or ()]
        }
    return sentence_in((line, fields))


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
        Yields, for each predicate, the words of its sentence, its index, the tags and its lemma.
        """
        for words, predicates, _ in self.read_sentences(lines):
            tokens = [Token(word) for word in words]
            for word, lemma, arguments, _ in predicates:
                yield tokens, word, spans_to_tags(arguments, len(words)), lemma

    def text_to_instance(
        self,
        tokens: list[Token],
        predicate: int,
        tags: list[str] | None = None,
        lemma: str | None = None,
    ) -> Instance:
        """
        Makes an instance of the predicate at an index of a sentence, with the fields `tokens`,
        `words` (as strings), `predicate`, `frame` (metadata: the `predicate`, its `lemma`, by
        default its word, and the correct `tags`) and, if there are BIO tags, `tags`.
        """
        if not 0 <= predicate < len(tokens):
            raise ConfigurationError(
                f"the predicate {predicate} is not a word of a sentence of {len(tokens)} words"
            )
        fields = sentence_fields(tokens)
        text = cast(TextField, fields["tokens"])
        fields["predicate"] = IndexField(predicate, text)
        frame = {"predicate": predicate, "lemma": lemma or tokens[predicate].text, "tags": tags}
        fields["frame"] = MetadataField(frame)
        if tags is not None:
            fields["tags"] = TagsField(tags, text)
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
        for words, predicates, _ in self.read_sentences(lines):
            yield [Token(word) for word in words], [predicate.word for predicate in predicates]

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
