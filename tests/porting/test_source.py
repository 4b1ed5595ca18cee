"""Old files are read in their order, and external variables stay."""

import json
from pathlib import Path
from typing import Any

import _jsonnet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.bilm import BiLmError
from elmo_plugin.porting.source import read_config, to_json


def read(text: str, environment: dict[str, str] | None = None, **given: str) -> dict[str, Any]:
    return read_config(text, "old.jsonnet", given, environment or {})[0]


def test_json_with_comments_keeps_the_order_of_its_keys() -> None:
    config = read(
        '{"z": 1, // one\n "a": {"y": "http://x # no comment", "b": [2,],}, # two\n /* three */ "m": null}'
    )
    assert json.dumps(config) == '{"z": 1, "a": {"y": "http://x # no comment", "b": [2]}, "m": null}'


def test_jsonnet_has_the_order_in_which_keys_appear() -> None:
    config = read("local n = 2; {z: n, model: {type: 'x', size: n * 2}, a+: 1}")
    assert list(config) == ["z", "model", "a"]
    assert list(config["model"]) == ["type", "size"]


@given(st.dictionaries(st.text(), st.text() | st.integers(-(2**50), 2**50) | st.lists(st.booleans())))
def test_what_is_written_evaluates_to_what_was_read(config: dict[str, Any]) -> None:
    text = to_json(read(json.dumps(config)))
    assert json.loads(_jsonnet.evaluate_snippet("new", text)) == config


OLD = '{"b": std.extVar("DIR") + "/train", "a": std.extVar("PATH_OF_DEV"), "c": "x"}'


@pytest.mark.parametrize("environment", [{}, {"DIR": "d", "PATH_OF_DEV": "e"}])
def test_variables_stay(environment: dict[str, str]) -> None:
    text = to_json(read(OLD, environment))
    assert (
        text == '{\n  "b": std.extVar("DIR") + "/train",\n  "a": std.extVar("PATH_OF_DEV"),\n  "c": "x"\n}\n'
    )
    values = {"DIR": "d", "PATH_OF_DEV": "e"}
    assert _jsonnet.evaluate_snippet("", text, ext_vars=values) == _jsonnet.evaluate_snippet(
        "", OLD, ext_vars=values
    )


def test_a_variable_that_is_given_has_its_value() -> None:
    assert read(OLD, DIR="d", PATH_OF_DEV="e") == {"b": "d/train", "a": "e", "c": "x"}


COMPUTED = [
    '{"a": std.parseInt(std.extVar("N"))}',
    '{"a": if std.extVar("N") == "3" then 3 else 4}',
    '{"a": 3, "b": std.extVar("N"), "c": std.length(std.extVar("N"))}',
]


@pytest.mark.parametrize("text", COMPUTED)
def test_a_variable_that_is_computed_with_has_its_value(text: str) -> None:
    assert read(text, {"N": "3"})["a"] == 3


def test_a_variable_that_is_computed_with_leaves_the_others() -> None:
    text = '{"a": std.length(std.extVar("N")), "b": std.extVar("D"), "c": std.parseJson(std.extVar("R"))}'
    config, fixed = read_config(text, "old.jsonnet", {}, {"N": "3"})
    assert fixed == ["N"]
    assert json.loads(_jsonnet.evaluate_snippet("", to_json(config), ext_vars={"D": "d", "R": "2"})) == {
        "a": 1, "b": "d", "c": 2,
    }  # fmt: skip


@pytest.mark.parametrize("text", COMPUTED)
def test_a_variable_that_is_computed_with_is_needed(text: str) -> None:
    with pytest.raises(
        BiLmError, match=r"^old.jsonnet: it computes with the variable N: pass --ext-var N=VALUE$"
    ):
        read(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"^old.jsonnet: STATIC ERROR: .*old.jsonnet:1:2.*"),
        ("[1]", "^old.jsonnet: expected an object, found list$"),
        ("{a: error 'b'}", "^old.jsonnet: RUNTIME ERROR: b$"),
        ("{a: import 'x.libsonnet'}", "^old.jsonnet: RUNTIME ERROR: .*x.libsonnet"),
    ],
)
def test_what_cannot_be_evaluated_is_one_sentence(text: str, message: str) -> None:
    with pytest.raises(BiLmError, match=message) as error:
        read(text)
    assert "\n" not in str(error.value)


def test_imports_are_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "x.libsonnet").write_text("{b: 1}")
    assert read_config("import 'x.libsonnet'", str(tmp_path / "old.jsonnet"), {}, {})[0] == {"b": 1}
