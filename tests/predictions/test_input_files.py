"""Texts from files and command lines become the inputs of predictors."""

import gzip
import io
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.predictions.input_files import inputs_of, read_inputs
from elmo_plugin.predictions.prediction import TASKS
from tests.predictions.stubs import PASSAGE


def read(folder: Path, name: str, content: str, task: str = "ner") -> list[tuple[Any, int | None]]:
    (folder / name).write_bytes(content.encode())
    return [(each.values, each.line) for each in read_inputs(folder / name, TASKS[task])]


def test_each_line_is_read_as_a_text_or_an_object(tmp_path: Path) -> None:
    content = (
        '\ufeffAda moved.\r\n\r\n \u200b \r\n {"words": ["Ada"]}\r\n{Ada} moved.\r\n  Bob\tleft. '
    )
    assert read(tmp_path, "texts.txt", content) == [
        ({"sentence": "Ada moved."}, 1),
        ({"words": ["Ada"]}, 4),
        ({"sentence": "{Ada} moved."}, 5),
        ({"sentence": "  Bob\tleft. "}, 6),
    ]


def test_two_texts_are_separated_by_a_tab_with_an_optional_header(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    inputs = {"passage": PASSAGE, "question": "When?"}
    content = f"passage\tquestion\n{PASSAGE}\tWhen?\nWhen?\t{PASSAGE}\n{json.dumps(inputs)}\n"
    assert read(tmp_path, "pairs.tsv", content, "squad") == [(inputs, 2), (inputs, 3), (inputs, 4)]
    assert (
        len(caplog.messages) == 1
        and "lines that begin with the question are exchanged: 1" in caplog.messages[0]
    )


@pytest.mark.parametrize(
    ("header", "task"), [("sentence1\tsentence2", "snli"), ("Context\tQuestion", "squad")]
)
def test_a_header_may_use_other_names(header: str, task: str, tmp_path: Path) -> None:
    found = read(tmp_path, "pairs.tsv", f"{header}\nAda left.\tBob left.\n", task)
    assert found == [
        (dict(zip(TASKS[task].text_names, ["Ada left.", "Bob left."], strict=True)), 2)
    ]


def test_a_file_given_with_a_question_is_the_passage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"\xef\xbb\xbfAda moved.\r\nShe stayed.\n"
    passage, archive = tmp_path / "passage.txt", tmp_path / "passage.txt.gz"
    passage.write_bytes(content)
    archive.write_bytes(gzip.compress(content))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    for texts in (["Who moved?", passage], [archive, "Who moved?"], ["-", "Who moved?"]):
        (found,) = inputs_of(list(map(str, texts)), TASKS["squad"])
        assert found.values == {"passage": "Ada moved.\r\nShe stayed.", "question": "Who moved?"}
    several = ([passage, "Who?", "Why?"], "squad")
    for texts, task in (several, ([passage, passage], "ner"), ([passage, "Ada stayed."], "snli")):
        with pytest.raises(
            BiLmError, match=r"passage.txt is a file; its lines are read if it is the only"
        ):
            list(inputs_of([str(text) for text in texts], TASKS[task]))


def test_each_line_of_a_file_after_a_passage_is_a_question(tmp_path: Path) -> None:
    passage, questions = tmp_path / "passage.txt", tmp_path / "questions.txt"
    passage.write_text("Ada moved.\n")
    questions.write_text("Who moved?\n\nWhat did Ada do?\n")
    for first in ("Ada moved.", str(passage)):
        found = list(inputs_of([first, str(questions)], TASKS["squad"]))
        assert [(each.values["question"], each.line) for each in found] == [
            ("Who moved?", 1),
            ("What did Ada do?", 3),
        ]
        assert {each.values["passage"] for each in found} == {"Ada moved."}
    questions.write_text("\n \u200b\n", encoding="utf-8")
    with pytest.raises(BiLmError, match=r"questions.txt: expected a question in each line"):
        list(inputs_of(["Ada moved.", str(questions)], TASKS["squad"]))


def test_questions_of_standard_input_are_named_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(content: bytes) -> list[str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        return [each.place for each in inputs_of(["Ada moved.", "-"], TASKS["squad"])]

    assert ask(b"Who moved?\n\nWhat did she do?\n") == [
        "standard input, line 1",
        "standard input, line 3",
    ]
    with pytest.raises(BiLmError, match=r"^standard input: expected a question in each line"):
        ask(b"\n")
    with pytest.raises(BiLmError, match=r"^standard input.*UTF-8"):
        ask(b"Who \xff?\n")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "name,age\nAda,36\n", "a.csv, line 1: expected a header that names sentence"),
        ("a.csv", "text\n", "a.csv: expected a text, got only a header"),
        ("coref.conll", "Ada\tB-PER\n", "expected document in each line, got .conll"),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nAda\n", "each line, got subtitles"),
        ("a.txt", "Ada_NE left_VB us_PR ._.\n", "each line, got words with their tags"),
        (
            "a.jsonl",
            "\n\nAda\n",
            r"a\.jsonl, line 3: expected a JSON object in each line, got 'Ada'",
        ),
        ("a.txt", " \n\u200b\n", r"a\.txt: expected a text, got only blank lines"),
        ("a.txt", "", r"a\.txt: expected a text, got only blank lines"),
        (
            "a.tsv",
            "a\tb\nc\n",
            r"a\.tsv, line 2: expected premise and hypothesis, with tabs between",
        ),
        ("a.txt", '{"a": \n', r"a\.txt, line 1: not JSON"),
        ("squad.json", '{"data": []}\n', r"squad\.json, line 1: .*, got SQuAD's JSON; use --squad"),
    ],
)
def test_malformed_lines_are_named(name: str, content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(BiLmError, match=message):
        tasks = {"a.tsv": "snli", "squad.json": "squad", "coref.conll": "coref"}
        read(tmp_path, name, content, tasks.get(name, "ner"))


@pytest.mark.parametrize(
    "content",
    [
        "Ada B-PER\nleft O\n. O\n\nBob B-PER\nstayed O\n",
        "Ada PROPN B-PER\nleft VERB O\n. PUNCT O\n\nBob PROPN B-PER\nstayed VERB O\n",
        "Ada\nleft\n.\n\nBob\nstayed\n",
        "Ada\tNE\nleft\tVB\n.\t.\n\nBob\tNE\nstayed\tVB\n",
        "1\tAda\t_\n2\tleft\t_\n3\t.\t_\n\n1\tBob\t_\n2\tstayed\t_\n",
    ],
)
@pytest.mark.parametrize("name", ["words.txt", "words.conll"])
def test_columns_have_a_word_in_each_row_with_or_without_tags(
    name: str, content: str, tmp_path: Path
) -> None:
    assert read(tmp_path, name, content) == [
        ({"words": ["Ada", "left", "."]}, 1),
        ({"words": ["Bob", "stayed"]}, 5),
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("texts.csv", 'text\n"Ada left, late."\nBob stayed.\n'),
        ("texts.csv", 'id;Sentence;label\n1;"Ada left, late.";x\n2;Bob stayed.;y\n'),
        ("texts.tsv", "sentence\tlabel\nAda left, late.\t1\nBob stayed.\t0\n"),
        ("texts.txt", "label\ttext\nx\tAda left, late.\ny\tBob stayed.\n"),
    ],
)
def test_a_header_names_the_texts_of_a_table(name: str, content: str, tmp_path: Path) -> None:
    assert read(tmp_path, name, content) == [
        ({"sentence": "Ada left, late."}, 2),
        ({"sentence": "Bob stayed."}, 3),
    ]


def test_a_table_without_a_header_has_a_column_for_each_text(tmp_path: Path) -> None:
    pair = {"premise": "Ada left, late.", "hypothesis": "Ada left."}
    content = '"Ada left, late.",Ada left.\n'
    assert read(tmp_path, "pairs.csv", content, "snli") == [(pair, 1)]
    content = "gold_label\tsentence1\tsentence2\nx\tAda left, late.\tAda left.\n"
    assert read(tmp_path, "pairs.tsv", content, "snli") == [(pair, 2)]


def test_a_pipe_is_read_once_and_whole(tmp_path: Path) -> None:
    lines = [f"Line {number} is nice." for number in range(5000)]
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = "".join(f"{line}\n" for line in lines)
    threading.Thread(target=pipe.write_text, args=(content,), daemon=True).start()
    found = list(read_inputs(pipe, TASKS["ner"]))
    assert [each.values["sentence"] for each in found] == lines
    assert found[-1].line == 5000
