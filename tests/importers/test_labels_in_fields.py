"""Labels and texts where tools for annotation, spreadsheets and public data sets store them."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy
import pytest
from allennlp.common.checks import ConfigurationError
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.importers.cells import value_in_cell
from elmo_plugin.importers.nested_fields import flat_fields
from tests.importers.reading import read


def labels(path: Path, content: Any, **options: Any) -> list[tuple[str, str]]:
    """The text and the label of each example of a file."""
    if not isinstance(content, str | bytes):
        content = "".join(json.dumps(record) + "\n" for record in content)
    examples, _ = read("classify", path, content, **options)
    return [(example.text, example.label) for example in examples]


@pytest.mark.parametrize(
    ("late", "fine"),
    [
        ({"label": {"id": 3, "name": "late"}}, {"label": {"id": 4, "name": "fine"}}),
        ({"annotation": {"label": "late"}}, {"annotation": {"label": "fine"}}),
        ({"annotation": {"labels": ["late"]}}, {"annotation": {"labels": ["fine"]}}),
        ({"annotations": [{"label": "late", "user": 1}]}, {"annotations": [{"label": "fine"}]}),
        ({"id": 1, "topic": {"choices": ["late"]}}, {"id": 2, "topic": "fine"}),
        ({"label": 0, "label_text": "late"}, {"label": 1, "label_text": "fine"}),
        ({"labels": [[], ["late"]]}, {"labels": [["fine"]]}),
    ],
)
def test_labels_in_objects_are_found(
    tmp_path: Path, late: dict[str, Any], fine: dict[str, Any]
) -> None:
    records = [{"text": "It rained.", **late}, {"text": "It is dry.", **fine}]
    assert labels(tmp_path / "f.jsonl", records) == [("It rained.", "late"), ("It is dry.", "fine")]


def test_labels_of_parts_of_a_text_are_not_labels_of_the_text(tmp_path: Path) -> None:
    records = [{"text": "Ada left.", "spans": [{"start": 0, "end": 3, "label": "PER"}]}] * 2
    with pytest.raises(ConfigurationError, match="expected a column or key such as 'label'"):
        labels(tmp_path / "f.jsonl", records)


def task(text: str, **choices: str) -> dict[str, Any]:
    results = [
        {"from_name": control, "value": {"choices": [choice]}}
        for control, choice in choices.items()
    ]
    return {"data": {"text": text}, "annotations": [{"result": results}]}


def test_several_controls_of_label_studio_require_the_column_option(tmp_path: Path) -> None:
    tasks = [
        task("It rained.", mood="sad", size="small"),
        task("It is dry.", mood="glad", size="big"),
    ]
    content = json.dumps(tasks)
    with pytest.raises(ConfigurationError, match=r"'mood' and 'size' may all .*--column label="):
        labels(tmp_path / "f.json", content)
    found = labels(tmp_path / "f.json", content, columns={"label": "mood"})
    assert found == [("It rained.", "sad"), ("It is dry.", "glad")]


@pytest.mark.parametrize(
    "content",
    [
        {"text": ["It rained.", "It is dry."], "label": ["wet", "dry"]},
        {
            "a": {"text": "It rained.", "label": "wet"},
            "b": {"text": "It is dry.", "label": "dry"},
        },
    ],
)
def test_tables_in_one_object_are_read(tmp_path: Path, content: Any) -> None:
    found = labels(tmp_path / "f.json", json.dumps(content))
    assert found == [("It rained.", "wet"), ("It is dry.", "dry")]


@pytest.mark.parametrize(
    "cells",
    [
        ('["wet"]', '["dry"]'),
        ("['wet']", "['dry']"),
        ('[{"label": "wet"}]', '[{"label": "dry"}]'),
        ("{'wet': 1.0, 'dry': 0.0}", "{'wet': 0.0, 'dry': 1.0}"),
    ],
)
def test_lists_and_objects_in_the_cells_of_a_table_are_read(
    tmp_path: Path, cells: tuple[str, str]
) -> None:
    rows = [f"It rained.\t{cells[0]}", f"It is dry.\t{cells[1]}"]
    content = "\n".join(["text\tlabel", *rows, ""])
    assert labels(tmp_path / "f.tsv", content) == [("It rained.", "wet"), ("It is dry.", "dry")]


VALUES = st.recursive(
    st.text(st.characters(codec="ascii", exclude_categories=["Cc"])) | st.integers(0, 99),
    lambda values: st.lists(values, min_size=1) | st.dictionaries(st.text("ab"), values),
    max_leaves=6,
)


@given(st.lists(VALUES, min_size=1))
def test_a_cell_with_json_or_python_gives_its_value(value: list[Any]) -> None:
    assert value_in_cell(json.dumps(value)) == value
    assert value_in_cell(repr(value)) == value


def test_a_cell_with_arrays_of_numpy_gives_lists() -> None:
    array = numpy.array(["it's [1]", 'a "b"'], dtype=object)
    assert value_in_cell(str(array)) == array.tolist()
    assert value_in_cell(str({"text": array, "n": numpy.array([1, 2])})) == {
        "text": array.tolist(),
        "n": [1, 2],
    }
    assert value_in_cell("[laughs]") == "[laughs]"


def test_categories_stay_one_field_and_other_objects_do_not() -> None:
    fields = {"cats": {"a": 1.0}, "meta": {"by": {"name": "x"}}, "spans": [{"start": 0}]}
    assert flat_fields(fields) == {
        "cats": {"a": 1.0},
        "meta.by.name": "x",
        "spans": [{"start": 0}],
    }


@pytest.mark.parametrize(
    ("content", "first"),
    [
        ("Frage;Thema\nWo ist mein Paket?;Lieferung\n", ("Wo ist mein Paket?", "Lieferung")),
        ("文,感情\n今日はいい天気です。,良い\n雨が降っている。,悪い\n", None),
        ("Where is it;late\nIt never came;gone\nIt is torn;torn\n", ("Where is it", "late")),
        ("it rained;wet\nthe sun is out;dry\nno cloud today;dry\n", ("it rained", "wet")),
    ],
)
def test_a_header_is_told_from_an_example(
    tmp_path: Path, content: str, first: tuple[str, str] | None
) -> None:
    found = labels(tmp_path / "f.csv", content)
    assert found[0] == (first or ("今日はいい天気です。", "良い"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("text,rating\na b,4\na c,4.5\n", "'rating' has scores, such as 4.5"),
        ("text;rating\na b;4\na c;4,5\n", "'rating' has scores, such as 4,5"),
        ("sentence_index\tsentence\n1\tThe rock\n2\tThe film\n", "such as 'label'"),
        ("a film|0\nthe film|7\nno film|9\n", "such as 'label'"),
        (
            "text,label\n" + "".join(f"a b,{number}x\n" for number in range(20)),
            "'label' has 20 different values in 20 records, and they are no classes",
        ),
    ],
)
def test_numbers_of_rows_and_scores_are_no_labels(
    tmp_path: Path, content: str, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        labels(tmp_path / "f.txt", content)


def test_a_label_may_stand_before_each_text(tmp_path: Path) -> None:
    content = "LOC:city What is it ?\nHUM:ind Who , then ?\nLOC:city Where ?\n"
    assert labels(tmp_path / "f.label", content)[1] == ("Who , then ?", "HUM:ind")
    assert labels(tmp_path / "f.train", "1 good , fine\n0 bad\n1 fine\n")[0] == ("good , fine", "1")
    stars = "5 stars | GOOD\n1 star | BAD\n5 for all | GOOD\n1 for me | BAD\n"
    assert labels(tmp_path / "stars.txt", stars)[0] == ("5 stars", "GOOD")
    with pytest.raises(ConfigurationError, match="line 1: expected texts and labels"):
        labels(tmp_path / "list.txt", "1 eggs\n2 milk\n")


def test_trees_may_be_compressed_and_texts_may_begin_with_a_bracket(tmp_path: Path) -> None:
    trees = gzip.compress(b"(3 (2 Not) (1 bad))\n")
    assert labels(tmp_path / "f.txt.gz", trees) == [("Not bad", "positive")]
    assert labels(tmp_path / "f.tsv", "(5 stars) fine\tpos\n( bad film\tneg\n")[1][1] == "neg"


def test_pairs_of_texts_are_refused_where_one_text_is_expected(tmp_path: Path) -> None:
    content = "question\tsentence\tlabel\nWhen?\tIn May.\tyes\n"
    with pytest.raises(ConfigurationError, match="got 'question' and 'sentence'; `elmo import snl"):
        labels(tmp_path / "f.tsv", content)
    assert labels(tmp_path / "f.tsv", content, columns={"text": "sentence"}) == [("In May.", "yes")]


def test_three_numbered_relations_require_their_names(tmp_path: Path) -> None:
    rows = [{"premise": "a b", "hypothesis": f"c {n}", "label": n} for n in (0, 1, 2, -1)]
    content = "".join(json.dumps(row) + "\n" for row in rows)
    examples, _ = read("snli", tmp_path / "f.jsonl", content, labels=("yes", "maybe", "no"))
    assert [example.label for example in examples] == ["yes", "maybe", "no"]


def test_a_missing_label_gets_no_name_and_is_left_out(tmp_path: Path) -> None:
    rows = [{"text": f"a film {n}", "label": n} for n in (0, 1, -1)]
    content = "".join(json.dumps(row) + "\n" for row in rows)
    examples, report = read("classify", tmp_path / "f.jsonl", content, labels=("neg", "pos"))
    assert [example.label for example in examples] == ["neg", "pos"]
    assert report.left_out == {"without a gold label": ["line 3"]}


def test_minus_one_is_a_label_where_labels_are_not_named(tmp_path: Path) -> None:
    rows = [{"text": f"a film {n}", "label": n} for n in (0, 1, -1)]
    assert [label for _, label in labels(tmp_path / "f.jsonl", rows)] == ["0", "1", "-1"]


def test_which_text_is_the_premise_is_not_guessed_by_content(tmp_path: Path) -> None:
    rows = ["Satz1;Satz2;Urteil", "Er geht.;Sie geht.;ja", "Er geht.;Er ruht.;nein"]
    content = "\n".join([*rows, "Es ist da.;Es ist weg.;nein", "Es ist da.;Es ist hier.;ja"])
    with pytest.raises(ConfigurationError, match="'Satz1' and 'Satz2' may all be the premise"):
        read("snli", tmp_path / "f.csv", content)
    pairs, _ = read("snli", tmp_path / "f.csv", content, columns={"premise": "Satz1"})
    assert pairs[0] == ("Er geht.", "Sie geht.", "ja")


@pytest.mark.parametrize(
    "names", [("pos/.DS_Store", "pos/1.txt", "neg/Thumbs.db", "neg/1.txt"), ("x.pos", "x.neg")]
)
def test_hidden_files_are_no_texts_and_suffixes_may_be_labels(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    for name in names:
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\x00" if path.suffix not in (".txt", ".pos", ".neg") else b"a film")
    examples, _ = read("classify", tmp_path / "data")
    assert [example.label for example in examples] == ["neg", "pos"]


def test_a_repeated_column_is_an_error_naming_the_line_of_the_header(tmp_path: Path) -> None:
    text = "Our reviews,,\n\ntext,label,text\nIt rained,sad,x\nIt snowed,glad,y\n"
    with pytest.raises(ConfigurationError, match=r"line 3: the column 'text' is repeated"):
        read("classify", tmp_path / "f.csv", text)


def test_texts_without_a_label_are_an_error_naming_the_first_line_that_has_text(
    tmp_path: Path,
) -> None:
    with pytest.raises(ConfigurationError, match=r"line 2: .*got 'rain'"):
        read("classify", tmp_path / "f.txt", "\nrain\nsnow\n")


def test_lines_of_aspects_are_counted_with_blank_lines(tmp_path: Path) -> None:
    text = "the $T$ is old\nbread\nbad\n\nno mark\nsoup\ngood\n"
    with pytest.raises(ConfigurationError, match=r"line 5: expected three lines"):
        read("classify", tmp_path / "f.txt", text)
