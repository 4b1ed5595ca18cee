"""Pairs of sentences, and whether the first entails or contradicts the second, from the files of SNLI."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TokenIndexer
from allennlp.data.fields import Field, LabelField, TextField
from allennlp.data.tokenizers import Tokenizer

from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.tasks.dataset_reader import Line, TaskDatasetReader
from elmo_plugin.tasks.tokenizers import PennTreebankTokenizer

logger = logging.getLogger(__name__)

LABELS = ("entailment", "neutral", "contradiction")
NO_MAJORITY = "-"
_KEYS_OF_LINE = ("sentence1", "sentence2", "gold_label")


@DatasetReader.register("snli_jsonl")
class SnliReader(TaskDatasetReader):
    """
    Reads the lines of SNLI, a JSON object each: `sentence1` is the premise, `sentence2` the hypothesis and
    `gold_label` one of `entailment`, `neutral` and `contradiction`.

    Pairs without a majority for a label (`gold_label` is `-`) are skipped, as is the custom, and so are pairs
    with a blank sentence. The log has their numbers. `TaskDatasetReader` describes encoding and compression.

    Registered as a `DatasetReader` with name "snli_jsonl".

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    tokenizer : `Tokenizer`, optional (default = `PennTreebankTokenizer()`)
        How sentences become words. The default splits them like the text that biLMs are trained on.

    Raises `ConfigurationError`, naming file and line, if a line is not UTF-8 or not a JSON object, lacks one
    of the three keys or has an unknown label, and if a file contains no pair to learn from.
    """

    example_names = "pairs of sentences with a label"

    def __init__(
        self, token_indexers: dict[str, TokenIndexer], *, tokenizer: Tokenizer = None, **kwargs: Any
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        self._tokenizer = tokenizer or PennTreebankTokenizer()

    def read_examples(self, lines: Iterable[Line]) -> Iterator[tuple[str, str, str]]:
        """Yields premise, hypothesis and label of the pairs that have a label. Logs the others."""
        skipped = defaultdict[str, list[Line]](list)
        for line in lines:
            premise, hypothesis, label = _parse(line)
            if label == NO_MAJORITY:
                skipped["without a gold label"].append(line)
            elif not (premise.strip() and hypothesis.strip()):
                skipped["with a blank sentence"].append(line)
            else:
                yield premise, hypothesis, label
        for reason, pairs in skipped.items():
            numbers = ", ".join([str(pair.number) for pair in pairs[:5]] + ["..."] * (len(pairs) > 5))
            logger.info("%s: skipped pairs: %d %s, in line %s", pairs[0].file, len(pairs), reason, numbers)

    def text_to_instance(self, premise: str, hypothesis: str, label: str | None = None) -> Instance:
        """Makes an instance with the fields `premise`, `hypothesis` and, if there is one, `label`."""
        fields: dict[str, Field] = {
            "premise": TextField(self._tokenizer.tokenize(premise)),
            "hypothesis": TextField(self._tokenizer.tokenize(hypothesis)),
        }
        if label is not None:
            fields["label"] = LabelField(label)
        return Instance(fields)


def _parse(line: Line) -> list[str]:
    """Returns the premise, the hypothesis and the label."""
    with as_configuration_error():
        values = parse_json(line.text, line.location, is_line=True, repeated_keys=True)
    if not isinstance(values, dict):
        raise ConfigurationError(f"{line.location}: expected a JSON object, not a {type(values).__name__}")
    for key in _KEYS_OF_LINE:
        if not isinstance(values.get(key), str):
            raise ConfigurationError(f'{line.location}: expected text as "{key}"')
    if values["gold_label"] not in (*LABELS, NO_MAJORITY):
        raise ConfigurationError(
            f'{line.location}: "gold_label" is one of {", ".join(LABELS)} and {NO_MAJORITY}, '
            f"not {values['gold_label']!r}"
        )
    return [values[key] for key in _KEYS_OF_LINE]
