"""Pairs of sentences, and whether the first entails or contradicts the second, or another relation."""

from collections.abc import Iterable, Iterator
from typing import Any

from allennlp.data import DatasetReader, Instance, TokenIndexer
from allennlp.data.fields import Field, TextField
from allennlp.data.tokenizers import Token
from overrides import overrides

from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.labeled_texts import AUTO, KnownLabelField, LabeledTextsReader

LABELS = {label: label for label in ("entailment", "neutral", "contradiction")}  # also in capitals, as SICK's
LABELS["contradictory"] = "contradiction"  # in the training data of XNLI
NO_MAJORITY = ("-", "-1")  # SNLI's, and Hugging Face's
_PREMISES = ("premise", "sentence1", "sentence_A", "text1", "question1", "#1 String", "question")
_HYPOTHESES = ("hypothesis", "sentence2", "hypo", "sentence_B", "text2", "question2", "#2 String", "sentence")


@DatasetReader.register("snli_jsonl")
class SnliReader(LabeledTextsReader):
    """
    Reads pairs of sentences with a label, from JSON lines, CSV or TSV: SNLI and MultiNLI (`sentence1`,
    `sentence2` and `gold_label`), Hugging Face's data sets (`premise`, `hypothesis` and `label`), SICK, XNLI,
    GLUE, and pairs with other labels, such as paraphrases.

    Pairs without a majority for a label (`-`, or the number -1) are left out, as in the usual training sets,
    and so are pairs with a blank sentence. The log has their numbers. `TaskDatasetReader` describes encoding
    and compression.

    Registered as a `DatasetReader` with name "snli_jsonl".

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    premise_column, hypothesis_column : `str`, optional (default = `"auto"`)
        The names of the columns, or of the keys, of both sentences; by default the usual ones.
    tokenizer, format, label_column, label_names, columns, skip_bad
        See `LabeledTextsReader`.

    Raises `ConfigurationError`, naming file and line, if a line is not UTF-8 or malformed, or lacks a
    sentence or a label, and if a file contains no pair to learn from.
    """

    example_names = "pairs of sentences with a label"

    def __init__(
        self,
        token_indexers: dict[str, TokenIndexer],
        *,
        premise_column: str = AUTO,
        hypothesis_column: str = AUTO,
        **kwargs: Any,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        self.text_columns = {
            "premise_column": (premise_column, _PREMISES),
            "hypothesis_column": (hypothesis_column, _HYPOTHESES),
        }

    @overrides
    def reason_to_skip(self, texts: list[list[Token]], label: str | None) -> str | None:
        if label in NO_MAJORITY:
            return "without a gold label"
        return None if all(texts) else "with a blank sentence"

    def read_examples(self, lines: Iterable[Line]) -> Iterator[tuple[list[Token], list[Token], str | None]]:
        """Yields premise, hypothesis and label of the pairs that have a label. Logs the others."""
        for premise, hypothesis, label in self.read_records(lines, "pairs"):
            yield premise, hypothesis, LABELS.get(str(label).lower(), label)

    def text_to_instance(
        self, premise: str | list[Token], hypothesis: str | list[Token], label: str | None = None
    ) -> Instance:
        """Makes an instance with the fields `premise`, `hypothesis` and, if there is one, `label`."""
        texts = {"premise": premise, "hypothesis": hypothesis}
        fields: dict[str, Field] = {
            name: TextField(self.tokenizer.tokenize(text) if isinstance(text, str) else text)
            for name, text in texts.items()
        }
        if label is not None:
            fields["label"] = KnownLabelField(label)
        return Instance(fields)
