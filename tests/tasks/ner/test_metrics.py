"""The tagger's figures against AllenNLP's and those of conlleval."""

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.training.metrics import SpanBasedF1Measure
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_plugin.tasks.ner.metrics import NerF1
from elmo_plugin.tasks.spans import spans_to_tags, tags_to_spans

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
