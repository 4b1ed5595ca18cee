"""The reader of SNLI: what it reads, leaves out, and says of files that it cannot read."""

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.data.tokenizers.whitespace_tokenizer import WhitespaceTokenizer

from elmo_plugin.tasks.snli import SnliReader

PAIRS = Path(__file__).parents[2] / "fixtures" / "snli" / "pairs.jsonl"
GOOD = {"sentence1": "A dog runs.", "sentence2": "It runs.", "gold_label": "entailment"}


def reader() -> SnliReader:
    return SnliReader({"tokens": SingleIdTokenIndexer()})


def texts_of(instance: Instance) -> tuple[str, str, str]:
    premise, hypothesis = (
        " ".join(token.text for token in instance[name]) for name in ("premise", "hypothesis")
    )
    return premise, hypothesis, instance["label"].label


def write(folder: Path, *lines: Any) -> Path:
    path = folder / "pairs.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def test_reads_words_and_labels_of_the_pairs_that_have_one() -> None:
    premise = 'Two women who just ate are hugging " goodbye " at a station .'
    assert [texts_of(instance) for instance in reader().read(PAIRS)] == [
        (premise, "Two women are hugging .", "entailment"),
        (premise, "The sisters ca n't stay .", "neutral"),
        (premise, "Nobody is hugging .", "contradiction"),
        ("A dog runs .", "An animal is outdoors , and it is running .", "entailment"),
    ]


def test_counts_what_it_leaves_out_once_and_names_file_and_lines(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    undecided, blank = GOOD | {"gold_label": "-"}, GOOD | {"sentence2": " \n"}
    path = write(tmp_path, GOOD, *[undecided] * 10, blank, GOOD, GOOD | {"sentence1": ""}, undecided)
    with caplog.at_level(logging.INFO, logger="elmo_plugin"):
        assert len(list(reader().read(path))) == 2
    assert caplog.messages == [
        f"{path}: texts and label are 'sentence1', 'sentence2', 'gold_label'",
        f"{path}: skipped 11 pairs without a gold label: {', '.join(f'line {n}' for n in range(2, 12))}, …",
        f"{path}: skipped 2 pairs with a blank sentence: line 12, line 14",
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"A dog runs.\tIt runs.\tentailment\n", "not JSON"),
        (b'["A dog runs."]\n', "expected a JSON object in each line, got a list"),
        (b'{"sentence1": "caf\xe9"}\n', "not UTF-8 text"),
        (
            b'{"sentence1": "A dog runs.", "sentence2": "It runs."}\n',
            "expected a label as \"gold_label\", got 'None'; skip_bad leaves it out",
        ),
        (
            b'{"sentence1": "A", "sentence2": null, "gold_label": "neutral"}\n',
            'expected text as "sentence2"',
        ),
    ],
)
def test_a_bad_line_is_an_error_that_names_file_and_line(tmp_path: Path, line: bytes, message: str) -> None:
    path = write(tmp_path, GOOD)
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(ConfigurationError, match=re.escape(f"{path}, line 2: {message}")) as error:
        list(reader().read(path))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("lines", [[], [GOOD | {"gold_label": "-"}, GOOD | {"sentence1": " "}]])
def test_a_file_without_a_pair_is_an_error_that_names_it(tmp_path: Path, lines: list[Any]) -> None:
    path = write(tmp_path, *lines)
    with pytest.raises(ConfigurationError, match=re.escape(str(path)) + ": no pairs of sentences"):
        list(reader().read(path))


@pytest.mark.parametrize(
    ("file", "pairs", "undecided"),
    [("train.jsonl.gz", 16533, 225), ("dev.jsonl", 3015, 60), ("test.jsonl", 3076, 51)],
)
def test_reads_real_data_whole(
    shared: Path, caplog: pytest.LogCaptureFixture, file: str, pairs: int, undecided: int
) -> None:
    with caplog.at_level(logging.INFO, logger="elmo_plugin"):
        reader = SnliReader({}, tokenizer=WhitespaceTokenizer())  # Treebank's takes seconds for all pairs
        labels = [pair["label"].label for pair in reader.read(shared / "data" / "nli" / file)]
    assert len(labels) == pairs - undecided
    assert set(labels) == {"entailment", "neutral", "contradiction"}
    assert f"skipped {undecided} pairs without a gold label: line " in caplog.messages[-1]
