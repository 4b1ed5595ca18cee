"""A column that is chosen for two roles."""

import re
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from tests.importers.reading import read

TABLE = "first,second,third\nAda wrote it.,Who wrote it?,Ada\nBo ran off.,Who ran off?,Bo\n"


@pytest.mark.parametrize(
    ("task", "columns", "message"),
    [
        ("classify", {"text": "0", "label": "0"}, "text and label are the same column, 'first'"),
        ("classify", {"text": "first", "label": "0"}, "text and label are the same column"),
        (
            "snli",
            {"premise": "first", "hypothesis": "first"},
            "premise and hypothesis are the same",
        ),
        (
            "squad",
            {"context": "0", "question": "first"},
            "context and question are the same column",
        ),
    ],
)
@pytest.mark.parametrize("separator", [",", "\t"])
def test_one_column_for_two_roles_is_an_error(
    task: str, columns: dict[str, str], message: str, separator: str, tmp_path: Path
) -> None:
    path = tmp_path / "f.csv"
    content = TABLE.replace(",", separator)
    with pytest.raises(ConfigurationError, match=rf"line [12]: --column: {re.escape(message)}"):
        read(task, path, content, columns=columns)


@pytest.mark.parametrize("columns", [{"word": "0", "tag": "words"}, {"word": "words", "tag": "0"}])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("f.jsonl", '{"words": ["Ada", "ran"], "tags": ["NN", "VB"]}\n' * 2),
        ("f.csv", "words,tags\nAda ran,NN VB\nBo ran,NN VB\n"),
    ],
)
def test_one_key_for_words_and_tags_is_an_error(
    name: str, content: str, columns: dict[str, str], tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=r"line [12]: --column: word and tag are the same"):
        read("tag", tmp_path / name, content, columns=columns)
