"""Inputs that are none: the predictors of all tasks say so before a model runs."""

import sys
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import LabelField
from allennlp.predictors import Predictor
from torch import nn

import elmo_plugin.register  # noqa: F401

READERS = {"elmo_ner": "ner_conll2003", "elmo_snli": "snli_jsonl", "elmo_squad": "squad_v1"}
READERS |= {"elmo_coref": "coref_conll2012", "elmo_srl": "srl_conll2012"}
PAIR, DOGS = {"premise": "A dog runs.", "hypothesis": "It runs."}, {"sentence": "Dogs bark."}


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("elmo_ner", {"sentence": ""}, "expected words, got"),
        ("elmo_ner", {"words": []}, "expected words, got"),
        ("elmo_ner", {"text": "Ada"}, 'expected "words" or "sentence" in'),
        ("elmo_ner", {"sentence": 3}, '"sentence": expected text, got 3'),
        ("elmo_ner", {"words": "Ada"}, "\"words\": expected a list of words .*, got 'Ada'"),
        (
            "elmo_ner",
            {"words": ["Ada", ""]},
            r"\"words\": expected a list of words .*, got \['Ada', ''\]",
        ),
        ("elmo_ner", ["Ada"], r"expected a JSON object, got \['Ada'\]"),
        (
            "elmo_ner",
            {"sentence": "a \ud800"},
            '"sentence": half of a surrogate pair, .* is not a character',
        ),
        (
            "elmo_ner",
            {"words": ["Ada", "\ud800"]},
            '"words": half of a surrogate pair, .* is not a character',
        ),
        (
            "elmo_coref",
            {"sentences": [["a"], ["b", "\ud800"]]},
            '"sentences": half of a surrogate pair, .* is not a character',
        ),
        ("elmo_snli", {"hypothesis": "It runs."}, 'expected "premise" or "sentence1" in'),
        ("elmo_snli", PAIR | {"premise": "\u200b"}, '"premise": expected text that is not blank'),
        (
            "elmo_snli",
            PAIR | {"hypothesis": 3},
            '"hypothesis": expected text that is not blank, got 3',
        ),
        ("elmo_squad", {"question": "Who?"}, 'expected "passage" or "paragraph" or "context" in'),
        ("elmo_squad", {"passage": "Ansel.", "question": " "}, '"question": expected text'),
        ("elmo_coref", {}, 'expected "document" in'),
        ("elmo_coref", {"document": "a", "genre": 3}, '"genre": expected text'),
        ("elmo_coref", {"sentences": [["a"], []]}, '"sentences": expected a list'),
        ("elmo_coref", {"sentences": [["a", ""]]}, '"sentences": expected a list'),
        (
            "elmo_coref",
            {"sentences": [["a", "b"]], "speakers": [["x"]]},
            '"speakers": expected one name for',
        ),
        ("elmo_srl", DOGS, 'expected "predicates", the indices of words'),
        ("elmo_srl", DOGS | {"predicates": [3]}, r"from 0 to 2, got \[3\]"),
        ("elmo_srl", DOGS | {"predicates": [True]}, r"from 0 to 2, got \[True\]"),
        ("elmo_srl", DOGS | {"predicates": [1, 1]}, r"different words, from 0 to 2, got \[1, 1\]"),
    ],
)
def test_wrong_input_is_an_error_of_one_line(name: str, line: Any, message: str) -> None:
    predictor = Predictor.by_name(name)(nn.Linear(1, 1), DatasetReader.by_name(READERS[name])({}))
    with pytest.raises(ConfigurationError, match=f"^{name}: .*{message}") as error:
        predictor.predict_json(line)
    assert "\n" not in str(error.value)


def test_lists_may_be_nested_more_deeply_than_calls() -> None:
    """Python's parser of JSON has a limit of its own, which is a higher one from 3.12 on."""
    predictor: Any = Predictor.by_name("elmo_ner")(nn.Linear(1, 1), StringReader())
    nested: list[Any] = ["a"]
    wrong: list[Any] = ["\ud800"]
    for _ in range(2 * sys.getrecursionlimit()):
        nested = [nested]
        wrong = [wrong]
    predictor.check_input({"words": nested})
    with pytest.raises(ConfigurationError, match='"words": half of a surrogate pair'):
        predictor.check_input({"words": wrong})


class StringReader(DatasetReader):
    """A reader as other packages have: it takes the sentence as a string."""

    def text_to_instance(self, sentence: str) -> Instance:  # type: ignore[override]
        return Instance({"sentence": LabelField(sentence)})


class ReaderWithFutureAnnotations(DatasetReader):
    """A reader of strings in a module with `from __future__ import annotations`."""

    def text_to_instance(self, sentence: "str") -> Instance:  # type: ignore[override]
        return Instance({"sentence": LabelField(sentence)})


@pytest.mark.parametrize("reader", [StringReader, ReaderWithFutureAnnotations])
@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ({"sentence": "It isn't  bad."}, "It isn't  bad."),
        ({"words": ["Dogs", "bark."]}, "Dogs bark."),
        ({"words": ["Dogs", "bark."], "sentence": "It isn't bad."}, "Dogs bark."),
    ],
)
def test_a_reader_of_strings_gets_the_words_instead_of_any_sentence(
    line: dict[str, Any], sentence: str, reader: type[DatasetReader]
) -> None:
    predictor: Any = Predictor.by_name("elmo_ner")(nn.Linear(1, 1), reader())
    assert predictor.to_instance(line)["sentence"].label == sentence
