"""JSON is read as it stands, or refused by its name."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.json_files import MAX_DEPTH, parse_json, read_json, read_json_object

TEXT = st.text(st.characters(codec="utf-8"))
CONTENT = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda children: st.lists(children) | st.dictionaries(TEXT, children),
    max_leaves=10,
)


@given(content=CONTENT, ascii_only=st.booleans())
def test_json_survives_a_round_trip(content: Any, ascii_only: bool) -> None:
    text = json.dumps(content, ensure_ascii=ascii_only)
    assert (
        parse_json(text, "a") == content
        and parse_json(b"\xef\xbb\xbf" + text.encode(), "a") == content
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"a.json, line 1: not JSON \(Expecting property name"),
        ('{\n"a": }', r"a.json, line 2: not JSON \(Expecting value at column 6\)"),
        (b"\xff\xfe", "a.json: not JSON .*utf-8"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ("9" * 5000, "the number 99999999999999999999… is too large"),
        (f"[-{'1' * 310}]", "is too large"),
        ("[1e999]", "the number 1e999… is too large"),
        ("[NaN]", "NaN is not a number of JSON"),
        ("[-Infinity]", "-Infinity is not a number of JSON"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "the key 'c' is repeated"),
        (r'["\ud83d"]', "half of a surrogate pair"),
        (r'{"\udc00": 1}', "half of a surrogate pair"),
    ],
)
def test_malformed_json_is_refused(text: str | bytes, message: str) -> None:
    with pytest.raises(BiLmError, match=message):
        parse_json(text, "a.json")


@pytest.mark.parametrize(
    ("opening", "closing"), [("[", "]"), ('{"a": ', "}"), ('[1, {"b": ', "}]")]
)
def test_the_depth_is_limited_alike_on_every_python(opening: str, closing: str) -> None:
    brackets_per_step = opening.count("[") + opening.count("{")
    steps = MAX_DEPTH // brackets_per_step
    for innermost in ('"[[["', "3"):
        deepest = opening * steps + innermost + closing * steps
        assert parse_json(deepest, "a") == json.loads(deepest)
        with pytest.raises(BiLmError, match=r"a: .* nested too deeply: at most 200 lists"):
            parse_json(f"[{deepest}]", "a")
    wide = "[" + "[[1], {}, []]," * 1000 + "[]]"
    assert parse_json(wide, "a") == json.loads(wide)


def test_complete_surrogate_pairs_are_read_as_characters() -> None:
    assert parse_json(r'"\ud83d\ude00"', "a") == "😀"


def test_errors_in_json_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(BiLmError, match="options: file not found"):
        read_json(tmp_path / "gone.json", "options")
    with pytest.raises(BiLmError, match=r"options: cannot be read .Is a directory"):
        read_json(tmp_path, "options")
    (tmp_path / "a.json").write_text("[1]")
    assert read_json(tmp_path / "a.json", "options") == [1]
    with pytest.raises(BiLmError, match="options: expected a JSON object, found list"):
        read_json_object(tmp_path / "a.json", "options")
