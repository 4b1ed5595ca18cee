"""Whether a premise entails a hypothesis."""

from allennlp.common import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor
from overrides import overrides

from elmo_plugin.tasks.predictor import TaskPredictor, text_from_json

# The names of a sentence in the input: ours, and that in SNLI's own files.
PREMISE = ("premise", "sentence1")
HYPOTHESIS = ("hypothesis", "sentence2")


@Predictor.register("elmo_snli")
class SnliPredictor(TaskPredictor):
    """
    Predicts whether the premise of `{"premise": "A man sleeps.", "hypothesis": "A man is awake."}` entails or
    contradicts the hypothesis, or neither. The lines of SNLI, with `sentence1` and `sentence2`, are inputs,
    too. Sentences are tokenized by the dataset reader.

    A prediction has the most probable `label`, the `probabilities` of all labels by their names, and the
    `logits` and `probs` that these are from.

    Registered as a `Predictor` with name "elmo_snli".

    Raises `ConfigurationError` where one of the sentences is missing, blank, or not text.
    """

    name = "elmo_snli"

    def predict(self, premise: str, hypothesis: str) -> JsonDict:
        """Returns the prediction for one pair of sentences."""
        return self.predict_json({"premise": premise, "hypothesis": hypothesis})

    @overrides
    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        premise, hypothesis = (text_from_json(json_dict, keys, self.name) for keys in (PREMISE, HYPOTHESIS))
        return self._dataset_reader.text_to_instance(premise, hypothesis)
