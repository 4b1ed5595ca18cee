"""AllenNLP's span F1, which the tagger reports, against the figures of conlleval."""

import json
from pathlib import Path

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.training.metrics import SpanBasedF1Measure


def tagged_sentences(path: Path) -> list[list[list[str]]]:
    """Sentences of (word, right tag, system's tag)."""
    blocks = path.read_text(encoding="utf-8").strip("\n").split("\n\n")
    return [[line.split(" ") for line in block.split("\n")] for block in blocks]


def test_span_f1_equals_conlleval_overall_and_for_each_type(shared: Path) -> None:
    sentences = tagged_sentences(shared / "parity" / "ner" / "tagged.txt")
    figures = json.loads((shared / "parity" / "ner" / "scores.json").read_text(encoding="utf-8"))
    vocab = Vocabulary()
    for sentence in sentences:
        vocab.add_tokens_to_namespace([tag for _, *tags in sentence for tag in tags], "labels")
    span_f1 = SpanBasedF1Measure(vocab, "labels", label_encoding="BIO")
    for sentence in sentences:
        numbers = torch.tensor(
            [[vocab.get_token_index(tag, "labels") for tag in tags] for _, *tags in sentence]
        )
        gold, system = numbers.T
        one_hot = torch.nn.functional.one_hot(system, vocab.get_vocab_size("labels"))
        span_f1(one_hot.unsqueeze(0), gold.unsqueeze(0))
    metrics = span_f1.get_metric()
    for kind, expected in figures.items():
        if kind != "raw":
            found = [metrics[f"{name}-{kind}"] for name in ("precision", "recall", "f1-measure")]
            # conlleval prints percentages with two decimals.
            assert [round(100 * value, 2) for value in found] == pytest.approx(
                [expected[name] for name in ("precision", "recall", "f1")], abs=1e-9
            ), kind
