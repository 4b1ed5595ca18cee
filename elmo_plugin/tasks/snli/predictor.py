"""What a premise says of a hypothesis."""

from allennlp.common import JsonDict
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance
from allennlp.predictors import Predictor
from overrides import overrides

# The names of a sentence in the input: ours, and that in SNLI's own files.
PREMISE = ("premise", "sentence1")
HYPOTHESIS = ("hypothesis", "sentence2")


@Predictor.register("elmo_snli")
class SnliPredictor(Predictor):
    """
    Tells whether the premise of `{"premise": "A man sleeps.", "hypothesis": "A man is awake."}` entails or
    contradicts the hypothesis, or neither. It may also be given the lines of SNLI, with `sentence1` and
    `sentence2`.

    A prediction has the most probable `label`, the `probabilities` of all labels by their names, and the
    `logits` and `probs` that these are from.

    Registered as a `Predictor` with name "elmo_snli".

    Raises `ConfigurationError` where one of the sentences is not there, is no text or is blank.
    """

    def predict(self, premise: str, hypothesis: str) -> JsonDict:
        """The prediction for one pair of sentences."""
        return self.predict_json({"premise": premise, "hypothesis": hypothesis})

    @overrides
    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        return self._dataset_reader.text_to_instance(
            _sentence(json_dict, PREMISE), _sentence(json_dict, HYPOTHESIS)
        )


def _sentence(json_dict: JsonDict, names: tuple[str, str]) -> str:
    name = next((name for name in names if name in json_dict), None)
    if name is None:
        raise ConfigurationError(f'elmo_snli: expected "{names[0]}" in the input {json_dict!r}')
    sentence = json_dict[name]
    if not isinstance(sentence, str) or not sentence.strip():
        raise ConfigurationError(f'elmo_snli: "{name}" must be text that is not blank, not {sentence!r}')
    return sentence
