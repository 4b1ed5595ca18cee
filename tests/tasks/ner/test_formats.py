"""Public formats of words and tags, each with invented text: what is read from them, without any option."""

from pathlib import Path

import pytest
from allennlp.data import DatasetReader

from elmo_plugin.tasks.ner import Conll2003Reader
from tests.experiments.configs import FIXTURES

Sentences = list[tuple[list[str], list[str]]]

MIRA = (["Mira", "Solt", "left", "Varna", "."], ["B-PER", "I-PER", "O", "B-LOC", "O"])
RAIN = (["It", "rained", "."], ["O", "O", "O"])


def read(
    path: Path, content: str | bytes, reader: DatasetReader | None = None, **options: object
) -> Sentences:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    reader = reader or Conll2003Reader({}, tag_encoding="BIO", **options)
    instances = reader.read(path)
    return [([t.text for t in each["tokens"].tokens], list(each["tags"].labels)) for each in instances]


FORMATS = {path.name: path.read_text("utf-8") for path in sorted((FIXTURES / "ner" / "formats").iterdir())}


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("name", FORMATS)
def test_a_public_format_is_read_without_options(tmp_path: Path, name: str, end: str) -> None:
    text = FORMATS[name].replace("\n", end)
    assert read(tmp_path / name, text) == [MIRA, RAIN]
    assert read(tmp_path / name, "\ufeff" + text) == [MIRA, RAIN]


@pytest.mark.parametrize("name", [n for n in FORMATS if not n.endswith(("csv", "jsonl"))])
def test_white_space_at_the_ends_of_lines_is_not_a_column(tmp_path: Path, name: str) -> None:
    spaced = "".join(line + " \n" for line in FORMATS[name].splitlines())
    assert read(tmp_path / name, spaced) == [MIRA, RAIN]
