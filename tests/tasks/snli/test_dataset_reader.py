"""The reader of SNLI: what it reads, leaves out, and says of files that it cannot read."""

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer

from elmo_plugin.tasks.labels import UNKNOWN_LABEL, KnownLabelField, number_of_labels
from elmo_plugin.tasks.snli import SnliReader
from tests.experiments.configs import FIXTURES

PAIRS = FIXTURES / "snli" / "pairs.jsonl"
GOOD = {"sentence1": "A dog runs.", "sentence2": "It runs.", "gold_label": "entailment"}


def reader(**options: Any) -> SnliReader:
    return SnliReader({"tokens": SingleIdTokenIndexer()}, **options)


def texts_of(instance: Instance) -> tuple[str, str, str]:
    premise, hypothesis = (
        " ".join(token.text for token in instance[name]) for name in ("premise", "hypothesis")
    )
    return premise, hypothesis, instance["label"].label


def write(folder: Path, *lines: Any) -> Path:
    path = folder / "pairs.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def test_labelled_pairs_are_read_with_words_and_label() -> None:
    premise = 'Two women who just ate are hugging " goodbye " at a station .'
    assert [texts_of(instance) for instance in reader().read(PAIRS)] == [
        (premise, "Two women are hugging .", "entailment"),
        (premise, "The sisters ca n't stay .", "neutral"),
        (premise, "Nobody is hugging .", "contradiction"),
        ("A dog runs .", "An animal is outdoors , and it is running .", "entailment"),
    ]


def test_skipped_pairs_are_counted_once_naming_file_and_lines(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    undecided, blank = GOOD | {"gold_label": "-"}, GOOD | {"sentence2": " \n"}
    path = write(
        tmp_path, GOOD, *[undecided] * 10, blank, GOOD, GOOD | {"sentence1": ""}, undecided
    )
    with caplog.at_level(logging.INFO, logger="elmo_plugin"):
        assert len(list(reader().read(path))) == 2
    assert caplog.messages == [f"{path}: left out 13 pairs without a gold label or a text"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"A dog runs.\tIt runs.\tentailment\n", "expected an object of JSON, got 'A dog"),
        (b'["A dog runs."]\n', "expected an object of JSON, got '["),
        (b'{"sentence1": \n', "not JSON"),
        (
            b'{"sentence1": "A", "sentence2": "B"}\n',
            'expected a label as "gold_label"; `elmo import snli` reads other files',
        ),
        (
            b'{"sentence1": "A", "sentence2": null, "gold_label": "neutral"}\n',
            'expected a text as "sentence2"; `elmo import snli` reads',
        ),
    ],
)
def test_a_bad_line_is_an_error_that_names_file_and_line(
    tmp_path: Path, line: bytes, message: str
) -> None:
    path = write(tmp_path, GOOD)
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(ConfigurationError, match=re.escape(f"{path}, line 2: {message}")) as error:
        list(reader().read(path))
    assert "\n" not in str(error.value)


def test_a_label_unknown_to_the_model_gets_one_warning_that_names_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    vocab = Vocabulary.from_instances(
        [Instance({"label": KnownLabelField(label)}) for label in ("yes", "no")]
    )
    for _ in range(3):
        field = KnownLabelField("yess")
        field.index(vocab)
        assert field.as_tensor({}) == UNKNOWN_LABEL
    warnings = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert warnings == [
        "the model has no label 'yess', only yes, no: it counts as wrong; did you mean 'yes'?"
    ]


def test_mixing_words_and_numbers_as_labels_is_refused() -> None:
    def number(*labels: str) -> int:
        return number_of_labels(
            Vocabulary.from_instances(
                [Instance({"label": KnownLabelField(label)}) for label in labels]
            )
        )

    assert [number("yes", "no"), number("0", "1", "2"), number("1", "2", "unknown")] == [2, 3, 3]
    message = "words or numbers, got both: yes, no, 0, 1; `elmo import --label-names` gives names"
    with pytest.raises(ConfigurationError, match=message):
        number("yes", "no", "0", "1")


@pytest.mark.parametrize("lines", [[], [GOOD | {"gold_label": "-"}, GOOD | {"sentence1": " "}]])
def test_a_file_without_a_pair_is_an_error_that_names_it(tmp_path: Path, lines: list[Any]) -> None:
    path = write(tmp_path, *lines)
    with pytest.raises(ConfigurationError, match=re.escape(str(path)) + ": no pairs of sentences"):
        list(reader().read(path))
