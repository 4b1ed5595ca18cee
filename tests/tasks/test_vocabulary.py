"""What the vocabulary counts, with the readers and configurations of the tasks."""

from collections.abc import Iterable
from pathlib import Path

from allennlp.common import Params
from allennlp.data import DatasetReader, Instance, Vocabulary
from allennlp.data.fields import ListField, TextField
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.data.tokenizers import Token

from elmo_plugin.tasks.vocabulary import DistinctTextsVocabulary, PartOfText
from tests.experiments.configs import evaluate

INDEXERS = {"tokens": SingleIdTokenIndexer()}


def tokens(text: str) -> list[Token]:
    return [Token(word) for word in text.split()]


def text_field(text: str) -> TextField:
    return TextField(tokens(text), INDEXERS)


def counts(instances: Iterable[Instance]) -> dict[str, int]:
    vocabulary = DistinctTextsVocabulary.from_instances(instances)
    assert vocabulary._retained_counter is not None
    return dict(vocabulary._retained_counter["tokens"])


def test_text_shared_by_several_instances_is_counted_once() -> None:
    questions = ["who ?", "when ?", "who ?"]
    instances = [
        Instance({"paragraph": text_field("a play a day"), "question": text_field(question)})
        for question in questions
    ]
    assert counts(instances) == {"a": 2, "play": 1, "day": 1, "who": 1, "when": 1, "?": 2}


def test_texts_in_lists_are_counted_once_too() -> None:
    document = ListField([text_field("one play"), text_field("two plays"), text_field("one play")])
    assert counts([Instance({"sentences": document})] * 2) == {
        "one": 1,
        "play": 1,
        "two": 1,
        "plays": 1,
    }


def test_parts_of_a_counted_text_are_not_counted_again() -> None:
    sentence = tokens("not a bad play")
    phrases = [PartOfText(part, sentence) for part in (sentence[1:], sentence[2:], sentence)]
    for phrase in phrases:
        phrase.token_indexers = INDEXERS
    instances = [Instance({"tokens": phrase}) for phrase in phrases]
    assert counts(instances) == {"not": 1, "a": 1, "bad": 1, "play": 1}


SENTENCE = "(2 (2 A) (2 (1 (1 dull) (2 (2 play) (2 (2 about) (2 dullness)))) (2 .)))"


def test_a_word_in_many_phrases_of_a_single_sentence_counts_once(tmp_path: Path) -> None:
    trees = tmp_path / "trees.txt"
    trees.write_text(SENTENCE + "\n" + "(3 (2 A) (3 play))\n")
    config = Params(evaluate("sst(data='d', min_phrase_length=1)"))
    reader = DatasetReader.from_params(config["dataset_reader"])
    instances = list(reader.read(str(trees)))
    for instance in instances:
        reader.apply_token_indexers(instance)
    vocabulary = Vocabulary.from_params(config["vocabulary"], instances=instances)
    known = vocabulary.get_token_to_index_vocabulary("tokens").keys() - {
        "@@PADDING@@",
        "@@UNKNOWN@@",
    }
    assert known == {"a", "play"}
    assert len(instances) == 14
