"""Pairs of sentences, and whether the first entails or contradicts the second, from the files of SNLI."""

import json
import logging
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TokenIndexer
from allennlp.data.fields import Field, LabelField, TextField
from allennlp.data.tokenizers import Tokenizer
from overrides import overrides

from elmo_plugin.common.text_files import decode, read_lines
from elmo_plugin.tasks.penn_treebank_tokenizer import PennTreebankTokenizer

logger = logging.getLogger(__name__)

LABELS = ("entailment", "neutral", "contradiction")
NO_MAJORITY = "-"


class Pair(NamedTuple):
    premise: str
    hypothesis: str
    label: str


@DatasetReader.register("snli_jsonl")
class SnliReader(DatasetReader):
    """
    Reads the lines of SNLI, a JSON object each, of which `sentence1` is the premise, `sentence2` the
    hypothesis and `gold_label` one of `entailment`, `neutral` and `contradiction`.

    Pairs on whose label no majority of the annotators agreed (`gold_label` is `-`) are left out, as is the
    custom, and so are pairs with a blank sentence. A line of the log counts each of the two.

    The files are UTF-8, and gzipped if their names end in `.gz`.

    Registered as a `DatasetReader` with name "snli_jsonl".

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    tokenizer : `Tokenizer`, optional (default = `PennTreebankTokenizer()`)
        How sentences become words. The default divides them like the text that biLMs learn from.

    Raises `ConfigurationError`, naming the file and the line, where a line is not UTF-8, is no JSON object,
    lacks one of the three keys or has an unknown label, and where a file holds no pair to learn from.
    """

    def __init__(
        self, token_indexers: dict[str, TokenIndexer], tokenizer: Tokenizer = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._token_indexers = token_indexers
        self._tokenizer = tokenizer or PennTreebankTokenizer()

    @overrides
    def _read(self, file_path: str) -> Iterable[Instance]:
        read, left_out = 0, defaultdict[str, list[int]](list)
        for number, line in enumerate(read_lines(str(file_path)), start=1):
            pair = _parse(line, f"{file_path}, line {number}")
            if pair.label == NO_MAJORITY:
                left_out["without a gold label"].append(number)
            elif not (pair.premise.strip() and pair.hypothesis.strip()):
                left_out["with a blank sentence"].append(number)
            else:
                read += 1
                yield self.text_to_instance(*pair)
        for why, lines in left_out.items():
            logger.info("%s: pairs left out: %d %s, in line %s", file_path, len(lines), why, _first(lines))
        if not read:
            raise ConfigurationError(f"{file_path}: there is no pair of sentences with a label in this file")

    def text_to_instance(self, premise: str, hypothesis: str, label: str | None = None) -> Instance:
        """
        # Parameters

        premise, hypothesis : `str`
            The sentences.
        label : `str | None`, optional (default = `None`)
            One of the three labels.

        # Returns

        `Instance`
            With the fields `premise`, `hypothesis` and, where it is given, `label`.
        """
        fields: dict[str, Field] = {
            "premise": TextField(self._tokenizer.tokenize(premise)),
            "hypothesis": TextField(self._tokenizer.tokenize(hypothesis)),
        }
        if label is not None:
            fields["label"] = LabelField(label)
        return Instance(fields)

    @overrides
    def apply_token_indexers(self, instance: Instance) -> None:
        for name in ("premise", "hypothesis"):
            cast(TextField, instance[name]).token_indexers = self._token_indexers


def _parse(line: bytes, place: str) -> Pair:
    try:
        values = json.loads(decode(line, place))
    except json.JSONDecodeError as error:
        raise ConfigurationError(f"{place}: not JSON ({error.msg})") from None
    if not isinstance(values, dict):
        raise ConfigurationError(f"{place}: expected a JSON object, not a {type(values).__name__}")
    for key in ("sentence1", "sentence2", "gold_label"):
        if not isinstance(values.get(key), str):
            raise ConfigurationError(f'{place}: there is no text as "{key}"')
    pair = Pair(values["sentence1"], values["sentence2"], values["gold_label"])
    if pair.label not in (*LABELS, NO_MAJORITY):
        raise ConfigurationError(
            f'{place}: "gold_label" is one of {", ".join(LABELS)} and {NO_MAJORITY}, not {pair.label!r}'
        )
    return pair


def _first(lines: list[int], shown: int = 5) -> str:
    """For example "4, 8, 15"."""
    return ", ".join(map(str, lines[:shown])) + (", ..." if len(lines) > shown else "")
