"""Answers to questions about a paragraph."""

from typing import cast

from allennlp.common import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor
from overrides import overrides

from elmo_plugin.tasks.predictor import TaskPredictor, text_from_json
from elmo_plugin.tasks.squad.articles import Question
from elmo_plugin.tasks.squad.dataset_reader import SquadReader

# The names of the paragraph in the input: ours, and that in SQuAD's own files.
PARAGRAPH = ("passage", "paragraph", "context")


@Predictor.register("elmo_squad")
class SquadPredictor(TaskPredictor):
    """
    Answers the question of `{"passage": "Ansel was founded in 1887.", "question": "When was it founded?"}`
    by words of the passage. Both are tokenized by the dataset reader. A prediction has the best answer and
    the next best ones:

        {"answer": "1887", "characters": [21, 25], "probability": 0.87,
         "others": [{"text": "in 1887", "characters": [18, 25], "probability": 0.06}, …]}

    where the characters are those of the passage, and the probability is that both ends are right. The `id`
    is that of the input, if it has one. `elmo predict --squad` answers a whole file.

    Registered as a `Predictor` with name "elmo_squad".

    Raises `ConfigurationError` where the passage or the question is missing, blank, or not text.
    """

    name = "elmo_squad"

    def predict(self, passage: str, question: str) -> JsonDict:
        """Returns the prediction for one question."""
        return self.predict_json({"passage": passage, "question": question})

    @overrides
    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        reader = cast(SquadReader, self._dataset_reader)
        paragraph = reader.tokenize(text_from_json(json_dict, PARAGRAPH, self.name))
        question = text_from_json(json_dict, ["question"], self.name)
        return reader.text_to_instance(paragraph, Question(str(json_dict.get("id", "")), question, []))
