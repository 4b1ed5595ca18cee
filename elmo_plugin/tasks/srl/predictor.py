"""Who did what to whom, in plain or pre-tokenized sentences."""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, cast

from allennlp.common import JsonDict
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader
from allennlp.data.tokenizers import Token, Tokenizer
from allennlp.models import Model
from allennlp.predictors import Predictor
from overrides import overrides

from elmo_plugin.bilm import split_by_tokens
from elmo_plugin.tasks.predictor import SentencePredictor, words_from_json
from elmo_plugin.tasks.srl.dataset_reader import SrlReader
from elmo_plugin.tasks.srl.props import format_props
from elmo_plugin.tasks.srl.spans import tags_to_arguments
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer, as_typed

MAX_BATCH_WORDS = 20_000  # of the frames predicted at a time, each with all words of its sentence
PredicateLemmas = list[tuple[int, str | None]]  # the index of each predicate in its sentence, and any lemma
FindPredicates = Callable[[Sequence[list[Token]]], list[PredicateLemmas]]


@Predictor.register("elmo_srl")
class SrlPredictor(SentencePredictor):
    """
    Finds the arguments of each predicate of `{"sentence": "The judge ordered a new trial."}`, or of a list
    of `"words"`. The input has the indices of the predicates, `"predicates": [2]`, and
    may have their lemmas, `"lemmas": ["order"]`; without predicates a tagger finds them. A prediction has the
    `words` and a frame for each predicate:

        {"words": ["The", "judge", "ordered", "a", "new", "trial", "."],
         "frames": [{"predicate": "ordered", "index": 2, "lemma": "order", "tags": ["B-ARG0", "I-ARG0", …],
                     "roles": [{"role": "ARG0", "start": 0, "end": 2, "text": "The judge"}, …],
                     "description": "[ARG0: The judge] [V: ordered] [ARG1: a new trial] ."}]}

    Frames of a batch of sentences are predicted together, up to 20,000 words at a time.

    Registered as a `Predictor` with name "elmo_srl".

    # Parameters

    model, dataset_reader, tokenizer, max_words
        See `SentencePredictor`.
    predicates : `str | Predictor`, optional (default = `None`)
        The archive of a model of predicates, such as `srl_predicates`, or its predictor.
    output_format : `str`, optional (default = `"json"`)
        The output of `allennlp predict` for a sentence: "json", or "props", the lines of CoNLL-2005 that
        srl-eval.pl reads.

    Raises `ConfigurationError` for an input that is not as described, and for one without `"predicates"` if
    there is no tagger.
    """

    name = "elmo_srl"
    default_tokenizer = SpacyRulesTokenizer

    def __init__(
        self,
        model: Model,
        dataset_reader: DatasetReader,
        tokenizer: Tokenizer | str | dict[str, Any] | None = None,
        *,
        predicates: str | Predictor | None = None,
        output_format: str = "json",
        max_words: int | None = None,
    ) -> None:
        super().__init__(model, dataset_reader, tokenizer, max_words=max_words)
        self._output_format = self._checked_format(output_format, "props")
        self._find_predicates = _tagger(predicates, max_words) if predicates else None

    @overrides
    def predict_json(self, inputs: JsonDict) -> JsonDict:
        return self.predict_batch_json([inputs])[0]

    @overrides
    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        self._check_inputs(inputs)
        sentences = [words_from_json(json_dict, self._tokenizer, self.name) for json_dict in inputs]
        predicates = self._predicates(inputs, sentences)
        reader = cast(SrlReader, self._dataset_reader)
        instances = [
            reader.text_to_instance(tokens, index, lemma=lemma)
            for tokens, lemmas in zip(sentences, predicates, strict=True)
            for index, lemma in lemmas
        ]
        batches = split_by_tokens([len(instance["tokens"]) for instance in instances], MAX_BATCH_WORDS)
        frames = chain.from_iterable(self.predict_batch_instance(instances[batch]) for batch in batches)
        return [
            {"words": list(map(as_typed, tokens)), "frames": [_frame(next(frames)) for _ in lemmas]}
            for tokens, lemmas in zip(sentences, predicates, strict=True)
        ]

    @overrides
    def dump_line(self, outputs: JsonDict) -> str:
        if self._output_format == "json":
            return super().dump_line(outputs)
        if "frames" not in outputs:  # of an instance: one predicate
            raise ConfigurationError(
                f'{self.name}: "props" are written for JSON with "predicates", not with --use-dataset-reader'
            )
        predicates = [
            (frame["index"], frame["lemma"], tags_to_arguments(frame["tags"])) for frame in outputs["frames"]
        ]
        try:
            lines = format_props(len(outputs["words"]), predicates)
        except ValueError as error:
            sentence = repr(" ".join(outputs["words"]))
            raise ConfigurationError(f"{self.name}: no props of {sentence:.200}: {error}") from None
        return "\n".join([*lines, "", ""])

    def _predicates(
        self, inputs: Sequence[JsonDict], sentences: Sequence[list[Token]]
    ) -> list[PredicateLemmas]:
        """Returns the predicates of the inputs, and finds them if the input has none."""
        pairs = list(zip(inputs, sentences, strict=True))
        unknown = [tokens for json_dict, tokens in pairs if "predicates" not in json_dict]
        if unknown and self._find_predicates is None:
            raise ConfigurationError(
                f'{self.name}: expected "predicates", the indices of words, in the input; or give the '
                "predictor a tagger: predicates, an archive of srl_predicates"
            )
        found = iter(self._find_predicates(unknown) if unknown and self._find_predicates else [])
        return [
            self._checked(json_dict, len(tokens)) if "predicates" in json_dict else next(found)
            for json_dict, tokens in pairs
        ]

    def _checked(self, inputs: JsonDict, length: int) -> PredicateLemmas:
        indices = inputs["predicates"]
        if (
            not isinstance(indices, list)
            or not all(type(index) is int and 0 <= index < length for index in indices)
            or len(set(indices)) < len(indices)
        ):
            raise ConfigurationError(
                f'{self.name}: "predicates" must be a list of indices of different words, from 0 to '
                f"{length - 1}, not {indices!r}"
            )
        lemmas = inputs.get("lemmas", [None] * len(indices))
        if not isinstance(lemmas, list) or len(lemmas) != len(indices):
            raise ConfigurationError(
                f'{self.name}: "lemmas" must be the lemmas of the "predicates", in a list, not {lemmas!r}'
            )
        return list(zip(indices, lemmas, strict=True))


def _frame(output: JsonDict) -> JsonDict:
    index = output["predicate"]
    return {
        "predicate": output["words"][index],
        "index": index,
        **{key: output[key] for key in ("lemma", "tags", "roles", "description")},
    }


def _tagger(tagger: str | Predictor, max_words: int | None) -> FindPredicates:
    arguments: dict[str, Any] = {} if max_words is None else {"max_words": max_words}
    predictor = Predictor.from_path(tagger, **arguments) if isinstance(tagger, str) else tagger

    def find(sentences: Sequence[list[Token]]) -> list[PredicateLemmas]:
        inputs = [{"words": [token.text for token in tokens]} for tokens in sentences]
        outputs = predictor.predict_batch_json(inputs)
        return [[(index, None) for index in output["predicates"]] for output in outputs]

    return find
