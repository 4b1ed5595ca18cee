"""The sentiment of plain or pre-tokenized sentences."""

from allennlp.predictors import Predictor

from elmo_plugin.tasks.predictor import SentencePredictor


@Predictor.register("elmo_sst")
class SstPredictor(SentencePredictor):
    """
    Predicts the sentiment of `{"sentence": "It isn't bad."}`, tokenized as the treebank is, or of a list of
    words, `{"words": ["It", "is", "n't", "bad", "."]}`. `SentencePredictor` has the details and the
    parameters.

    A prediction has the `words`, their `label`, its `probabilities` by label, and the `logits` and `probs`
    that they are from:

        {"words": ["It", "is", "n't", "bad", "."], "label": "positive",
         "probabilities": {"positive": 0.62, "neutral": 0.2, …}, "logits": […], "probs": […]}

    Registered as a `Predictor` with name "elmo_sst".
    """

    name = "elmo_sst"
