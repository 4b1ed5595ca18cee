"""The models of all tasks keep to the contract."""

from typing import ClassVar

from tests.tasks.contract import FIXTURES, OnceContract, TaskContract


class TestCoref(TaskContract):
    task = (
        "coref(data='', words=words.learned(dim=5, min_count=1), lexical_dropout=0, dropout=0, "
        "hidden=6, characters={ dim: 3, num_filters: 2, widths: [2, 3] }, feedforward=7, "
        "feature_dim=3, spans_per_word=3)"
    )
    data = FIXTURES / "coref" / "documents.gold_conll"
    answers = ("clusters",)
    inputs: ClassVar = [
        {"document": "Anna met her brother. He waved."},
        {
            "sentences": [["I", "like", "dogs"], ["You", "?"]],
            "speakers": [["a"] * 3, ["b"] * 2],
            "genre": "bc",
        },
    ]


class TestNer(OnceContract):
    task = "ner(data='', words=words.learned(dim=5, min_count=1), dropout=0)"
    data = FIXTURES / "ner" / "sentences.txt"
    inputs: ClassVar = [{"sentence": "Ada lives in London."}, {"words": ["Rome"]}]


class TestSnli(TaskContract):
    task = "snli(data='', words=words.learned(dim=5, min_count=1), hidden=8, dropout=0, l2=0)"
    data = FIXTURES / "snli" / "pairs.jsonl"
    inputs: ClassVar = [
        {"premise": "A dog doesn't run.", "hypothesis": "An animal is running."},
        {"premise": "Rain.", "hypothesis": "It is raining, as it does every day."},
    ]


class TestSquad(TaskContract):
    task = (
        "squad(data='', words=words.learned(dim=5, min_count=1), dropout=0, hidden=4, "
        "moving_average=null, characters={ dim: 3, num_filters: 2, widths: [2] })"
    )
    data = FIXTURES / "squad" / "articles.json"
    answers = ("answers",)
    inputs: ClassVar = [
        {"passage": "Ansel was founded in 1887.", "question": "When was it founded?"},
        {"context": "Mira", "question": "Who?", "id": "7"},
    ]


class TestSrl(TaskContract):
    task = (
        "srl(data='', words=words.learned(dim=5, min_count=1), dropout=0, num_layers=3, hidden=6, "
        "predicate_dim=4)"
    )
    data = FIXTURES / "srl" / "sentences.gold_conll"
    inputs: ClassVar = [
        {"sentence": "Dogs scare cats.", "predicates": [1]},
        {"words": ["She", "said", "it", "is"], "predicates": [3, 1]},
    ]


class TestSst(TaskContract):
    task = "sst(data='', words=words.learned(dim=5, min_count=1), hidden=8, dropout=0)"
    data = FIXTURES / "sst" / "trees.txt"
    inputs: ClassVar = [{"sentence": "It isn't at all funny."}, {"words": ["Superb"]}]
