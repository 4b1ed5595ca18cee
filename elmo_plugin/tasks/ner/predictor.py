"""Named entities, or tags of any kind, of plain or pre-tokenized sentences."""

import re
from typing import Any

from allennlp.common import JsonDict
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import MetadataField
from allennlp.models import Model
from allennlp.predictors import Predictor
from overrides import overrides

from elmo_plugin.common.errors import check_choice
from elmo_plugin.tasks.dataset_reader import ENCODING_TAGS
from elmo_plugin.tasks.predictor import SentencePredictor, typed_places
from elmo_plugin.tasks.spans import parse_tag, spans_to_tags, tags_to_spans
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer

_SPACES = re.compile(r"[ \t\n\r\f\v]+")


@Predictor.register("elmo_ner")
class NerPredictor(SentencePredictor):
    """
    Finds the named entities of `{"sentence": "Ada lives in Rome."}`, tokenized by spaCy's rules for English,
    or of a list of words, `{"words": ["Ada", "lives", "in", "Rome", "."]}`. A prediction has the `words`,
    their `tags`, the `gold_tags` of a file (`--use-dataset-reader`), both in the encoding of the training
    data, and, unless the tags are plain, the `entities`, each with its type, its text, its first character
    and the one after its last in the sentence as typed, or in the words joined by spaces (`characters` has
    both, as in other tasks), its first word and the one after its last, and its probability:

        {"words": ["Ada", "lives", "in", "Rome", "."], "tags": ["B-PER", "O", "O", "B-LOC", "O"],
         "entities": [{"type": "PER", "text": "Ada", "start_char": 0, "end_char": 3,
                       "start": 0, "end": 1, "probability": 0.97}, …]}

    Registered as a `Predictor` with name "elmo_ner".

    # Parameters

    output_format : `str`, optional (default = `"json"`)
        The output of `allennlp predict`: "json", or "columns": a line for each word with its gold tag, if
        there is one (`--use-dataset-reader`), and its predicted tag, in BIO, between spaces, as
        `elmo score ner` and conlleval.pl read them. Spaces inside a word become "_".
    **kwargs
        Those of `SentencePredictor`.
    """

    name = "elmo_ner"
    default_tokenizer = SpacyRulesTokenizer

    def __init__(
        self, model: Model, dataset_reader: DatasetReader, *, output_format: str = "json", **kwargs: Any
    ) -> None:
        super().__init__(model, dataset_reader, **kwargs)
        check_choice(f"{self.name}: output_format", output_format, ("json", "columns"), ConfigurationError)
        self._output_format = output_format

    @overrides
    def to_instance(self, json_dict: JsonDict) -> Instance:
        instance = super().to_instance(json_dict)
        instance.add_field("text", MetadataField(None if "words" in json_dict else json_dict["sentence"]))
        return instance

    @overrides
    def predict_instance(self, instance: Instance) -> JsonDict:
        return self._as_read(instance, super().predict_instance(instance))

    @overrides
    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        return list(map(self._as_read, instances, super().predict_batch_instance(instances)))

    def _as_read(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        """Returns tags in the encoding of the training data, and entities with their characters."""
        if "entities" not in outputs:
            return outputs
        vocab = self._model.vocab
        known = vocab.get_namespaces() & {ENCODING_TAGS}
        encoding = next(iter(vocab.get_token_to_index_vocabulary(ENCODING_TAGS)), "BIO") if known else "BIO"
        for name in {"tags", "gold_tags"} & outputs.keys():
            tags = outputs[name]
            outputs[name] = spans_to_tags(tags_to_spans(tags), len(tags), encoding)
        text, places = typed_places(instance)
        for entity in outputs["entities"]:
            start, end = places[entity["start"]][0], places[entity["end"] - 1][1]
            entity |= {"start_char": start, "end_char": end, "characters": [start, end]}
            entity["text"] = text[start:end]
        return outputs

    @overrides
    def dump_line(self, outputs: JsonDict) -> str:
        if self._output_format == "json":
            return super().dump_line(outputs)
        return "\n".join([*self.format_lines(outputs), ""])

    def format_lines(self, outputs: JsonDict) -> list[str]:
        """Returns the columns of a prediction."""
        columns = [outputs["words"]]
        for tags in (outputs.get("gold_tags"), outputs["tags"]):
            if tags and "entities" in outputs:
                with_letters = [tag if parse_tag(tag) else f"I-{tag}" for tag in tags]
                tags = spans_to_tags(tags_to_spans(with_letters), len(tags), "BIO")
            columns += [tags] if tags else []
        lines = [" ".join(_SPACES.sub("_", field) for field in row) for row in zip(*columns, strict=True)]
        return [*lines, ""]
