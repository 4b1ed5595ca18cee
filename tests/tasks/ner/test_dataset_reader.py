"""The reader of words and tags: its one form, and what is refused by line and option."""

from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.ner import Conll2003Reader
from tests.experiments.configs import FIXTURES

SENTENCES = FIXTURES / "ner" / "sentences.txt"


def read(path: Path, content: str, **options: Any) -> list[tuple[str, str]]:
    """Returns the words and the tags of each sentence of a file."""
    path.write_text(content, "utf-8")
    instances = Conll2003Reader({}, **{"tag_encoding": "BIO", **options}).read(path)
    return [(" ".join(each["words"].metadata), " ".join(each["tags"].labels)) for each in instances]


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("separator", ["\t", " ", "   "])
def test_each_line_contains_a_word_and_its_tag(tmp_path: Path, separator: str, end: str) -> None:
    rows = ["-DOCSTART- O", "", "Mira B-PER", "Solt I-PER", "", "", "# O", "a\u00a0b B-LOC"]
    text = "\ufeff" + "".join(row.replace(" ", separator) + end for row in rows)
    assert read(tmp_path / "f.txt", text) == [
        ("Mira Solt", "B-PER I-PER"),
        ("# a\u00a0b", "O B-LOC"),
    ]


def test_options_declare_columns_and_tags(tmp_path: Path) -> None:
    file = tmp_path / "f.txt"
    conll2003 = "Mira NNP I-NP I-PER\nleft VBD I-VP O\n"
    options = {"tag_column": 3, "source_encoding": "IOB1"}
    assert read(file, conll2003, **options) == [("Mira left", "B-PER O")]
    options = {"word_column": 1, "tag_column": -1, "source_encoding": "plain"}
    assert read(file, "1 the DT\n2 dog NN\n", **options) == [("the dog", "DT NN")]
    assert read(file, "A B-X\nb E-X\n", source_encoding="BIOES") == [("A b", "B-X I-X")]


def test_a_column_is_a_number() -> None:
    message = r"tag_column: expected the number of a column, got 'ner'; `elmo import ner`"
    with pytest.raises(ConfigurationError, match=message):
        Conll2003Reader({}, tag_column="ner")  # type: ignore[arg-type]


def test_tags_are_bioul_by_default() -> None:
    first, _, third = Conll2003Reader({}).read(SENTENCES)
    assert first["words"].metadata == ["Ada", "Lovelace", "met", "Charles", "in", "London", "."]
    assert first["tags"].labels == ["B-PER", "L-PER", "O", "U-PER", "O", "U-LOC", "O"]
    assert third["tags"].labels == ["U-LOC", "U-LOC", "O", "B-LOC", "I-LOC", "L-LOC"]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("Mira\nleft\n", {}, "line 1: expected a word and its tag, got one column"),
        ("Mira B-PER\nleft VBD O\n", {}, "line 2: expected a word and its tag, got 3 columns"),
        ("Mira B-PER\n", {"tag_column": 3}, "line 1: expected tag_column 3, got 2 columns"),
        ("\tO\n", {}, "line 1: word_column 0 is blank"),
        ("Mira I-PER\n", {}, "line 1: expected a tag in BIO .* 'I-PER'; source_encoding"),
        ("A B-X\nb O\n", {"source_encoding": "BIOES"}, "line 2: expected a tag in BIOES"),
        ("A B-X\n", {"source_encoding": "BIOES"}, "line 1: expected a tag in BIOES"),
        ("Mira NNP\n", {}, "line 1: expected a tag in BIO .*, got 'NNP'"),
        ('{"tokens": ["a", "b"]}\n', {}, "line 1: expected a word and its tag"),
        ("word,tag\nMira,B-PER\n", {}, "line 1: expected a word and its tag, got one column"),
    ],
)
def test_malformed_lines_are_refused_naming_the_line_and_the_importer(
    tmp_path: Path, text: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"f.txt, {message}") as error:
        read(tmp_path / "f.txt", text, **options)
    assert "elmo import ner" in str(error.value) or options
    assert "\n" not in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize(("part", "sentences"), [("train", 3394), ("dev", 1009), ("test", 1287)])
def test_real_data_are_read_completely(shared: Path, part: str, sentences: int) -> None:
    reader = Conll2003Reader({}, tag_column=3)
    assert sum(1 for _ in reader.read(shared / "data" / "ner" / f"{part}.txt")) == sentences
