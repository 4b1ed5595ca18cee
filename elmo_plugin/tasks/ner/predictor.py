"""Named entities, or tags of any kind, of plain or pre-tokenized sentences."""

import re
from typing import Any

from allennlp.common import JsonDict
from allennlp.data import DatasetReader
from allennlp.data.tokenizers import Tokenizer
from allennlp.models import Model
from allennlp.predictors import Predictor
from overrides import overrides

from elmo_plugin.tasks.ner.tags import spans_to_tags, tags_to_spans
from elmo_plugin.tasks.predictor import SentencePredictor
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer

_SPACES = re.compile(r"[ \t\n\r\f\v]+")


@Predictor.register("elmo_ner")
class NerPredictor(SentencePredictor):
    """
    Finds the named entities of `{"sentence": "Ada lives in Rome."}`, tokenized by spaCy's rules for English,
    or of a list of words, `{"words": ["Ada", "lives", "in", "Rome", "."]}`. A prediction has the `words`,
    their `tags`, the `gold_tags` of a file (`--use-dataset-reader`), and, unless the tags are plain, the
    `entities`, each with its type, its text, the index of its first word and of the word after its last:

        {"words": ["Ada", "lives", "in", "Rome", "."], "tags": ["U-PER", "O", "O", "U-LOC", "O"],
         "entities": [{"type": "PER", "start": 0, "end": 1, "text": "Ada"}, …]}

    Registered as a `Predictor` with name "elmo_ner".

    # Parameters

    model, dataset_reader, tokenizer, max_words
        See `SentencePredictor`.
    output_format : `str`, optional (default = `"json"`)
        The output of `allennlp predict` for a sentence: "json", or "columns", a line for each word with its
        gold tag, if there is one (`--use-dataset-reader`), and its predicted tag, in BIO, between spaces.
        `elmo score ner` and conlleval.pl read them. Spaces inside a word become "_".
    """

    name = "elmo_ner"
    default_tokenizer = SpacyRulesTokenizer

    def __init__(
        self,
        model: Model,
        dataset_reader: DatasetReader,
        tokenizer: Tokenizer | str | dict[str, Any] | None = None,
        *,
        output_format: str = "json",
        max_words: int | None = None,
    ) -> None:
        super().__init__(model, dataset_reader, tokenizer, max_words=max_words)
        self._output_format = self._checked_format(output_format, "columns")

    @overrides
    def dump_line(self, outputs: JsonDict) -> str:
        if self._output_format == "json":
            return super().dump_line(outputs)
        columns = [outputs["words"]]
        for tags in (outputs.get("gold_tags"), outputs["tags"]):
            if tags and "entities" in outputs:
                tags = spans_to_tags(tags_to_spans(tags), len(tags), "BIO")
            columns += [tags] if tags else []
        lines = [" ".join(_SPACES.sub("_", field) for field in row) for row in zip(*columns, strict=True)]
        return "\n".join([*lines, "", ""])
