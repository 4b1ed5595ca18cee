"""The tagger's figures against AllenNLP's, those of conlleval, and those of two processes."""

from pathlib import Path

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.training.metrics import SpanBasedF1Measure
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_plugin.tasks.ner.metrics import NerF1
from elmo_plugin.tasks.spans import spans_to_tags, tags_to_spans
from tests.tasks.two_processes import figures_in_two_processes

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
FIGURES = ("precision", "recall", "f1-measure")


SENTENCE = st.lists(st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS)), min_size=1, max_size=6)


@settings(max_examples=50)
@given(st.lists(SENTENCE, min_size=1, max_size=4), st.sampled_from(["BIO", "BIOUL"]))
def test_figures_are_those_of_allennlp(sentences: list[list[tuple[str, str]]], encoding: str) -> None:
    vocab = Vocabulary()
    ours, theirs = NerF1(), SpanBasedF1Measure(vocab, "labels", label_encoding=encoding)
    for sentence in sentences:
        columns = [
            spans_to_tags(tags_to_spans(list(tags)), len(tags), encoding)
            for tags in zip(*sentence, strict=True)
        ]
        predicted, gold = (
            torch.tensor([vocab.add_token_to_namespace(t, "labels") for t in c]) for c in columns
        )
        one_hot = torch.nn.functional.one_hot(predicted, vocab.get_vocab_size("labels"))
        theirs(one_hot[None], gold[None])
        ours(columns[:1], columns[1:])
    expected = theirs.get_metric()
    actual = ours.get_metric()
    assert actual.pop("accuracy") is not None
    assert actual == pytest.approx(expected, abs=1e-9)


def test_accuracy_is_over_words() -> None:
    f1 = NerF1()
    f1([["O", "B-PER"], ["O"]], [["O", "O"], ["B-LOC"]])
    assert f1.get_metric(reset=True)["accuracy"] == pytest.approx(1 / 3)
    assert f1.get_metric() == {"accuracy": 0.0, **{f"{name}-overall": 0.0 for name in FIGURES}}
    f1([["B-PER", "L-PER"]], [["U-PER", "U-PER"]])
    assert f1.get_metric()["accuracy"] == 0.0


BATCHES = [
    ([["U-PER", "O"]], [["U-PER", "U-LOC"]]),
    ([["B-ORG", "L-ORG"], ["O"]], [["B-ORG", "L-ORG"], ["U-PER"]]),
    ([["O", "U-MISC"]], [["O", "O"]]),
]


def test_processes_sum_what_they_counted(tmp_path: Path) -> None:
    metric = NerF1()
    for batch in BATCHES:
        metric(*batch)
    expected = metric.get_metric()
    for first, second, after_reset in figures_in_two_processes(NerF1, BATCHES, tmp_path):
        assert first == second == expected
        assert set(after_reset.values()) == {0.0}
