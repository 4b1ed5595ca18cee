"""Predicates and their arguments as instances, one for each predicate, or one for each sentence."""

from collections.abc import Iterable, Iterator
from itertools import chain, dropwhile
from typing import Any, cast

from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TokenIndexer
from allennlp.data.fields import IndexField, MetadataField, SequenceLabelField, TextField
from allennlp.data.tokenizers import Token

from elmo_plugin.common.errors import check_choice
from elmo_plugin.common.formats.text_files import compression
from elmo_plugin.tasks.conll2012 import FIXED_COLUMNS, FOLDER_PATTERNS
from elmo_plugin.tasks.dataset_reader import (
    Line,
    TagsField,
    TaskDatasetReader,
    read_text_lines,
    sentence_fields,
)
from elmo_plugin.tasks.records import Record, is_json, parse_records
from elmo_plugin.tasks.spans import spans_to_tags
from elmo_plugin.tasks.srl.sentences import (
    FRAME_KEYS,
    VERB,
    SrlSentence,
    parse_conll2005,
    parse_conll2012,
    parse_props,
    sentences_in,
)

_PATTERNS = {
    "auto": (*FOLDER_PATTERNS, "*.props"),
    "conll2012": FOLDER_PATTERNS,
    "conll2005": ("*.props",),
    "jsonl": ("*.jsonl",),
}


class SrlSentenceReader(TaskDatasetReader):
    """
    The base of the two readers of PropBank annotation. They read a file, or all files below a folder, in one
    of three formats:

    conll2012: the columns of CoNLL-2012, in files whose names end in `gold_conll`, or else in `auto_conll` or
        `.conll`; see `parse_conll2012`
    conll2005: the columns of CoNLL-2005, in files whose names end in `.props`. The words are in the first
        column of a file with "words" instead of "props" in its path, such as `words/train.words` for
        `props/train.props`
    jsonl: words and frames in JSON lines, in files whose names end in `.jsonl`

    `TaskDatasetReader` describes encoding and compression. Brackets and quotation marks escaped by the Penn
    Treebank become plain text, as in the training of biLMs: `(` for `-LRB-`.

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    format : `str`, optional (default = `"auto"`)
        "conll2012", "conll2005" or "jsonl"; by default jsonl for a file that begins with `{`, conll2005 for a
        name in `.props`, and conll2012 for all others.
    verbs_only : `bool`, optional (default = `False`)
        Skip predicates that are not verbs: nouns, adjectives, auxiliaries and others in CoNLL-2012.

    Raises `ConfigurationError`, naming file and line, if a line is not UTF-8 or malformed, and if a file or
    folder contains no example.
    """

    def __init__(
        self,
        token_indexers: dict[str, TokenIndexer],
        *,
        format: str = "auto",
        verbs_only: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        check_choice("format", format, _PATTERNS, ConfigurationError)
        self.folder_patterns = _PATTERNS[format]
        self._format = format
        self._verbs_only = verbs_only

    def read_sentences(self, lines: Iterable[Line]) -> Iterator[SrlSentence]:
        """Yields the sentences of a file, with the predicates that count."""
        for sentence in _parse(lines, self._format, True, self.needs_labels):
            chosen = [each for each in sentence.predicates if each.is_verb or not self._verbs_only]
            yield sentence._replace(predicates=chosen)


def read_sentences(path: str) -> Iterator[SrlSentence]:
    """
    Reads a file to score: propositions (see `parse_props`), columns of CoNLL-2012, or JSON lines. Raises
    `ConfigurationError`, naming file and line, if a line is malformed.
    """
    return _parse(read_text_lines(path), "auto", has_words=False)


def _parse(
    lines: Iterable[Line], format: str, has_words: bool, needs_frames: bool = True
) -> Iterator[SrlSentence]:
    """Yields the sentences of a file. A file in no other format has propositions if it has no words."""
    lines = dropwhile(lambda line: not line.text.strip(), lines)
    for first in lines:
        lines = chain([first], lines)
        kind = _find_format(first, has_words) if format == "auto" else format
        if kind == "jsonl":
            yield from chain.from_iterable(map(sentences_in, _records(lines, needs_frames)))
        elif kind == "conll2012":
            yield from parse_conll2012(lines)
        elif not has_words:
            yield from parse_props(lines)
        else:
            parts = first.file.rsplit("/", 2)  # the last two are props/NAME.props
            words = "/".join([*parts[:-2], *(part.replace("props", "words") for part in parts[-2:])])
            if words == first.file:
                raise ConfigurationError(
                    f'{words}: expected a path with "props" whose words are in a path with "words"'
                )
            yield from parse_conll2005(lines, read_text_lines(words))


def _records(lines: Iterable[Line], needs_frames: bool) -> Iterator[Record]:
    """Yields the records of a file; those without frames have the predicates that they name, if any."""
    for line, fields in parse_records(lines, format="jsonl"):
        words = fields.get("words")
        if not needs_frames and isinstance(words, list) and not FRAME_KEYS & fields.keys():
            unknown = {"tags": ["O"] * len(words)}
            fields |= {"frames": [{"index": index, **unknown} for index in fields.get("predicates") or ()]}
        yield line, fields


def _find_format(first: Line, has_words: bool) -> str:
    if is_json(first):
        return "jsonl"
    if has_words:
        is_2012 = not first.file.removesuffix(compression(first.file)).endswith(".props")
    else:
        columns = first.columns
        is_2012 = first.text.startswith("#") or (len(columns) >= FIXED_COLUMNS and columns[2].isdecimal())
    return "conll2012" if is_2012 else "conll2005"


@DatasetReader.register("srl_conll2012")
class SrlReader(SrlSentenceReader):
    """
    Makes an instance of each predicate of a sentence, with the BIO tags of its arguments: `B-V` at the
    predicate, and roles as in the files, such as `B-ARG0`, `I-ARGM-TMP`, `B-C-ARG1` or `B-R-ARG0`.

    Registered as a `DatasetReader` with name "srl_conll2012".

    # Parameters

    token_indexers, format, verbs_only
        See `SrlSentenceReader`.
    keep_without_arguments : `bool`, optional (default = `True`)
        Make instances of predicates without any argument.
    """

    example_names = "predicates"

    def __init__(
        self,
        token_indexers: dict[str, TokenIndexer],
        *,
        format: str = "auto",
        verbs_only: bool = False,
        keep_without_arguments: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(token_indexers, format=format, verbs_only=verbs_only, **kwargs)
        self._keep_without_arguments = keep_without_arguments

    def read_examples(self, lines: Iterable[Line]) -> Iterator[tuple[list[Token], int, list[str], str]]:
        """Yields, for each predicate, the words of its sentence, its index, the tags and its lemma."""
        for words, predicates, _ in self.read_sentences(lines):
            tokens = [Token(word) for word in words]
            for word, lemma, arguments, _ in predicates:
                if self._keep_without_arguments or any(role != VERB for _, _, role in arguments):
                    yield tokens, word, spans_to_tags(arguments, len(words)), lemma

    def text_to_instance(
        self, tokens: list[Token], predicate: int, tags: list[str] | None = None, lemma: str | None = None
    ) -> Instance:
        """
        Makes an instance of the predicate at an index of a sentence, with the fields `tokens`, `words` (as
        strings), `predicate`, `frame` (metadata: the `predicate`, its `lemma`, by default its word, and the
        correct `tags`) and, if there are BIO tags, `tags`.
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
    Makes an instance of each sentence, with or without predicates, and tags its words as predicates or not.

    Registered as a `DatasetReader` with name "srl_predicates". It takes the parameters of
    `SrlSentenceReader`.
    """

    def read_examples(self, lines: Iterable[Line]) -> Iterator[tuple[list[Token], list[int]]]:
        """Yields the words of each sentence, and the indices of its predicates."""
        for words, predicates, _ in self.read_sentences(lines):
            yield [Token(word) for word in words], [predicate.word for predicate in predicates]

    def text_to_instance(self, tokens: list[Token], predicates: list[int] | None = None) -> Instance:
        """
        Makes an instance of a sentence, with the fields `tokens`, `words` (as strings) and, if the indices of
        its predicates are known, `tags`: 1 at predicates and 0 elsewhere.
        """
        fields = sentence_fields(tokens)
        if predicates is not None:
            tags = [int(index in predicates) for index in range(len(tokens))]
            fields["tags"] = SequenceLabelField(tags, cast(TextField, fields["tokens"]))
        return Instance(fields)
