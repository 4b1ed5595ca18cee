"""Predicts the clusters of a document of plain text or of words."""

from typing import cast

from allennlp.common import JsonDict
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance
from allennlp.models import Model
from allennlp.predictors import Predictor
from overrides import overrides

from elmo_plugin.tasks.coref.dataset_reader import CorefReader
from elmo_plugin.tasks.coref.documents import CorefDocument, check_speakers, check_words
from elmo_plugin.tasks.predictor import TaskPredictor, text_from_json
from elmo_plugin.tasks.tokenizers import EnglishRules


@Predictor.register("elmo_coref")
class CorefPredictor(TaskPredictor):
    """
    Finds the mentions of each person or thing in `{"document": "Anna waved. She laughed."}`, which spaCy's
    rules split into sentences and words, or in `{"sentences": [["Anna", "waved", "."], …]}`, used unchanged.
    Both may have a `"genre"` of the training data and, with sentences, the `"speakers"` of their words. A
    prediction has the `sentences` and

        {"clusters": [[{"text": "Anna", "start": 0, "end": 1, "characters": [0, 4]},
                       {"text": "She", "start": 3, "end": 4, "characters": [12, 15]}]],
         "antecedents": [{"mention": {"text": "She", …}, "antecedent": {"text": "Anna", …},
                          "probability": 0.97}],
         "marked": "[Anna]0 waved . [She]0 laughed ."}

    Words and characters are counted from the beginning of the document, `end` is exclusive, and the number
    after a bracket is the cluster. The text of `sentences` is their words, joined by spaces.

    Registered as a `Predictor` with name "elmo_coref".

    `max_words` is 20,000 by default.

    Raises `ConfigurationError` if the input has neither key, no word, a sentence without words, or speakers
    that do not match its words.
    """

    name = "elmo_coref"
    default_max_words = 20_000

    def __init__(self, model: Model, dataset_reader: DatasetReader, *, max_words: int | None = None) -> None:
        super().__init__(model, dataset_reader, max_words=max_words)
        self._rules = EnglishRules("sentencizer")

    def predict(self, document: str) -> JsonDict:
        """Returns the prediction for a plain text."""
        return self.predict_json({"document": document})

    @overrides
    def to_instance(self, json_dict: JsonDict) -> Instance:
        reader = cast(CorefReader, self._dataset_reader)
        return reader.text_to_instance(self._read(json_dict), has_answers=False)

    def _read(self, json_dict: JsonDict) -> CorefDocument:
        genre = json_dict.get("genre", "")
        if not isinstance(genre, str):
            raise ConfigurationError(f'elmo_coref: "genre" must be text, not {genre!r}')
        if "sentences" in json_dict:
            try:
                sentences = check_words(json_dict["sentences"])
                speakers = check_speakers(json_dict.get("speakers"), sentences)
            except ValueError as error:
                raise ConfigurationError(f"elmo_coref: {error}") from None
            return CorefDocument("document", "000", sentences, speakers, genre, [])
        text = text_from_json(json_dict, ["document"], self.name)
        word_lists = self._rules.sentences(text)
        sentences = [[word.text for word in words] for words in word_lists]
        speakers = check_speakers(None, sentences)
        places = [(word.start, word.end) for words in word_lists for word in words]
        return CorefDocument("document", "000", sentences, speakers, genre, [], text=text, places=places)
