"""Who did what to whom, and the predicates, in plain or pre-tokenized sentences."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, cast

from allennlp.common import JsonDict
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader
from allennlp.data.tokenizers import Token
from allennlp.models import Model
from allennlp.predictors import Predictor
from overrides import overrides

from elmo_plugin.bilm import split_by_tokens
from elmo_plugin.tasks.predictor import SentencePredictor, words_from_json
from elmo_plugin.tasks.srl.dataset_reader import SrlReader
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer, as_typed

MAX_BATCH_WORDS = 20_000  # of the frames predicted at a time, each with all words of its sentence


@Predictor.register("elmo_srl")
class SrlPredictor(SentencePredictor):
    """
    Finds the arguments of each predicate of `{"sentence": "The judge ordered a new trial."}`, or of a list
    of `"words"`. The input has the indices of the predicates, `"predicates": [2]`;
    without them a tagger finds the predicates. A prediction has the
    `words` and a frame for each predicate:

        {"words": ["The", "judge", "ordered", "a", "new", "trial", "."],
         "frames": [{"predicate": "ordered", "index": 2, "lemma": "ordered", "tags": ["B-ARG0", "I-ARG0", …],
                     "roles": [{"role": "ARG0", "start": 0, "end": 2, "text": "The judge"}, …],
                     "description": "[ARG0: The judge] [V: ordered] [ARG1: a new trial] ."}]}

    Frames of a batch of sentences are predicted together, up to 20,000 words at a time.

    Registered as a `Predictor` with name "elmo_srl".

    # Parameters

    predicates : `str | Predictor`, optional (default = `None`)
        The archive of a model of predicates, such as `srl_predicates`, or its predictor.
    **kwargs
        Those of `SentencePredictor`.

    Raises `ConfigurationError` for an input that is not as described, and for one without `"predicates"` if
    there is no tagger.
    """

    name = "elmo_srl"
    default_tokenizer = SpacyRulesTokenizer

    def __init__(
        self,
        model: Model,
        dataset_reader: DatasetReader,
        *,
        predicates: str | Predictor | None = None,
        max_words: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(model, dataset_reader, max_words=max_words, **kwargs)
        if isinstance(predicates, str):
            options: Any = {} if max_words is None else {"max_words": max_words}
            predicates = Predictor.from_path(predicates, **options)
        self._tagger = predicates

    @overrides
    def predict_json(self, inputs: JsonDict) -> JsonDict:
        return self.predict_batch_json([inputs])[0]

    @overrides
    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        for each in inputs:
            self.check_input(each)
        sentences = [words_from_json(json_dict, self._tokenizer, self.name) for json_dict in inputs]
        predicates = self._predicates(inputs, sentences)
        reader = cast(SrlReader, self._dataset_reader)
        instances = [
            reader.text_to_instance(tokens, index)
            for tokens, indices in zip(sentences, predicates, strict=True)
            for index in indices
        ]
        batches = split_by_tokens([len(instance["tokens"]) for instance in instances], MAX_BATCH_WORDS)
        frames = chain.from_iterable(self.predict_batch_instance(instances[batch]) for batch in batches)
        return [
            {"words": list(map(as_typed, tokens)), "frames": [_frame(next(frames)) for _ in indices]}
            for tokens, indices in zip(sentences, predicates, strict=True)
        ]

    def _predicates(self, inputs: Sequence[JsonDict], sentences: Sequence[list[Token]]) -> list[list[int]]:
        """Returns the predicates of the inputs, and finds them if the input has none."""
        pairs = list(zip(inputs, sentences, strict=True))
        unknown = [{"words": [t.text for t in words]} for each, words in pairs if "predicates" not in each]
        found: Iterator[JsonDict] = iter(())
        if unknown:
            if self._tagger is None:
                raise ConfigurationError(
                    f'{self.name}: expected "predicates", the indices of words, in the input; or give the '
                    "predictor a tagger: predicates, an archive of srl_predicates"
                )
            found = iter(self._tagger.predict_batch_json(unknown))
        return [
            self._checked(each, len(words)) if "predicates" in each else next(found)["predicates"]
            for each, words in pairs
        ]

    def _checked(self, inputs: JsonDict, length: int) -> list[int]:
        indices: Any = inputs["predicates"]
        if (
            not isinstance(indices, list)
            or not all(type(index) is int and 0 <= index < length for index in indices)
            or len(set(indices)) < len(indices)
        ):
            raise ConfigurationError(
                f'{self.name}: "predicates" must be a list of indices of different words, from 0 to '
                f"{length - 1}, not {indices!r}"
            )
        return list(indices)


def _frame(output: JsonDict) -> JsonDict:
    index = output["predicate"]
    return {
        "predicate": output["words"][index],
        "index": index,
        **{key: output[key] for key in ("lemma", "tags", "roles", "description")},
    }


@Predictor.register("elmo_srl_predicates")
class SrlPredicatesPredictor(SentencePredictor):
    """
    Finds the predicates of `{"sentence": "She wants to leave."}`, or of a list of words as `"words"`. A
    prediction has the `words`, the indices of the `predicates`, and the `probabilities` of all words to be
    one.

    Registered as a `Predictor` with name "elmo_srl_predicates".
    """

    name = "elmo_srl_predicates"
    default_tokenizer = SpacyRulesTokenizer
