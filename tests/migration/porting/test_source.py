"""Old files are read in their order, and external variables stay."""

# fmt: off

import json
from pathlib import Path
from typing import Any

import _jsonnet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_plugin.bilm import BiLmError
from elmo_plugin.migration.porting import source
from elmo_plugin.migration.porting.source import read_config, to_json, with_values


def read(text: str, **given: str) -> dict[str, Any]:
    return read_config(text, "old.jsonnet", given)


def test_json_keeps_the_order_of_its_keys_and_may_have_comments() -> None:
    assert list(read('{"z": 1, "a": {"y": 2}, "m": null}')) == ["z", "a", "m"]
    config = read('{"z": 1, // one\n "a": {"y": "http://x # no comment", "b": [2,],}, # two\n /* '
'three */ }')
    assert config == {"z": 1, "a": {"y": "http://x # no comment", "b": [2]}}


@pytest.mark.slow
@settings(max_examples=10)
@given(st.dictionaries(st.text(), st.text() | st.integers(-(2**50), 2**50) | st.lists(st.booleans())))
def test_written_jsonnet_evaluates_to_the_original_value(config: dict[str, Any]) -> None:
    text = to_json(read(json.dumps(config)))
    assert json.loads(_jsonnet.evaluate_snippet("new", text)) == config


OLD = '{"b": std.extVar("DIR") + "/train", "a": std.extVar("PATH_OF_DEV"), "c": "x"}'


@pytest.mark.slow
def test_variables_are_kept_and_the_environment_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIR", "secret")
    text = to_json(read(OLD))
    assert json.loads(text.replace("std.extVar", "").replace('("DIR") + "', '"DIR').replace(
        '("PATH_OF_DEV")', "1")) == {"b": "DIR/train", "a": 1, "c": "x"}
    values = {"DIR": "d", "PATH_OF_DEV": "e"}
    new, old = (_jsonnet.evaluate_snippet("", each, ext_vars=values) for each in (text, OLD))
    assert new == old


COMPUTED = [
    '{"a": std.parseInt(std.extVar("N"))}',
    '{"a": if std.extVar("N") == "3" then 3 else 4}',
    '{"a": 3, "b": std.extVar("N"), "c": std.length(std.extVar("N"))}',
]


@pytest.mark.slow
@pytest.mark.parametrize("text", COMPUTED)
def test_a_variable_used_in_a_computation_is_required(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("N", "3")
    message = r"^old.jsonnet: it computes with the variable N: pass --ext-var N=VALUE$"
    with pytest.raises(BiLmError, match=message):
        read(text)
    assert read(text, N="3")["a"] == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"^old.jsonnet: STATIC ERROR: .*old.jsonnet:1:2.*"),
        ("[1]", "^old.jsonnet: expected a JSON object, found list$"),
        ("{a: error 'b'}", "^old.jsonnet: RUNTIME ERROR: b$"),
        ("{a: import 'x.libsonnet'}", "^old.jsonnet: RUNTIME ERROR: .*x.libsonnet"),
    ],
)
def test_jsonnet_errors_are_reported_in_one_sentence(text: str, message: str) -> None:
    with pytest.raises(BiLmError, match=message) as error:
        read(text)
    assert "\n" not in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize("expression", ["import '{}'", "importstr '{}'"])
def test_imports_outside_the_files_folder_are_refused(expression: str, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    (folder / "lib").mkdir(parents=True)
    for path in (folder / "lib" / "x", tmp_path / "x"):
        path.write_text("{b: 1}")
    (folder / "link").symlink_to(tmp_path / "x")
    old = str(folder / "old.jsonnet")

    def read_import(path: Any, trust: bool = False) -> Any:
        return read_config(f"{{a: {expression.format(path)}}}", old, {}, trust)["a"]

    expected = read_import("lib/x")
    assert read_import(folder / "lib" / "x") == expected
    for path in ("../x", "lib/../../x", "link", tmp_path / "x", "/etc/hostname"):
        with pytest.raises(BiLmError, match="not in the folder of the configuration: use --trust"):
            read_import(path)
    assert read_import("../x", trust=True) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("text", "message"), [
    ("{a: std.makeArray(100000000, function(i) i)}", "beyond 1 GB of memory"),
    ("{a: std.repeat('ab', 500001)}", "more than 1,000,000 characters"),
    ("local f(n) = if n == 0 then 1 else f(n - 1) + f(n - 1); {a: f(60)}", "more than 1 seconds")])
def test_evaluation_is_limited_in_time_and_memory(text: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "seconds" in message:
        monkeypatch.setattr(source, "_SECONDS", 1)
    with pytest.raises(BiLmError, match=f"^old.jsonnet: .*{message}"):
        read(text)


@pytest.mark.parametrize(
    "text",
    [
        'std.parseJson(std.extVar("N")) + " epochs"',
        '"epoch " + std.parseJson(std.extVar("N"))',
        '"epoch " + std.parseJson(std.extVar("N")) + " of " + std.parseJson(std.extVar("M"))',
    ],
)
def test_a_number_that_is_joined_to_a_text_stays_a_variable(text: str) -> None:
    config = read(f'{{"a": {text}}}')
    assert to_json(config) == f'{{\n  "a": {text}\n}}\n'
    assert with_values(config, {"N": "7", "M": "8"}) == read(to_json(config), N="7", M="8")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": if std.extVar("N") == "yes" then 1 else error "neither yes nor no"}',
        'local sizes = { small: 1 }; {"a": sizes[std.extVar("N")]}',
        '{"a": assert std.length(std.extVar("N")) > 3; 1}',
    ],
)
def test_an_error_that_a_tried_value_causes_names_the_variable_and_its_option(text: str) -> None:
    with pytest.raises(BiLmError, match=r"variable N: if .*, pass --ext-var N=VALUE\)$"):
        read(text)
    with pytest.raises(BiLmError) as raised:
        read(text, N="1")
    assert "ext-var" not in str(raised.value)
