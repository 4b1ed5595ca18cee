"""Named entities of plain or pre-tokenized sentences."""

from allennlp.predictors import Predictor

from elmo_plugin.tasks.predictor import SentencePredictor
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer


@Predictor.register("elmo_ner")
class NerPredictor(SentencePredictor):
    """
    Finds the named entities of `{"sentence": "Ada lives in Rome."}`, tokenized by spaCy's rules for English,
    or of a list of words, `{"tokens": ["Ada", "lives", "in", "Rome", "."]}`. `SentencePredictor` has the
    details and the parameters.

    A prediction has the `words`, their `tags`, and the `entities`: for each its type, its text, the index of
    its first word, and that after its last:

        {"words": ["Ada", "lives", "in", "Rome", "."], "tags": ["U-PER", "O", "O", "U-LOC", "O"],
         "entities": [{"type": "PER", "start": 0, "end": 1, "text": "Ada"}, …]}

    Registered as a `Predictor` with name "elmo_ner".
    """

    name = "elmo_ner"
    default_tokenizer = SpacyRulesTokenizer
