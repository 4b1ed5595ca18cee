"""`allennlp predict` names the line of its input that it cannot use, and writes what it can."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands.predict import _PredictManager
from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor

from elmo_plugin import hardening  # noqa: F401 (acts when imported)


class Shout(Predictor):
    """Needs no model."""

    def __init__(self) -> None:
        pass

    def predict_json(self, inputs: dict[str, Any]) -> dict[str, Any]:
        if inputs["text"] == "quiet":
            raise ConfigurationError("it says nothing")
        return {"text": inputs["text"].upper()}

    def predict_batch_json(self, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [self.predict_json(each) for each in inputs]


def run(content: bytes, folder: Path, batch_size: int = 1, name: str = "in.jsonl") -> list[str]:
    """The predictions that were written."""
    (folder / name).write_bytes(content)
    output = folder / "out.jsonl"
    manager = _PredictManager(Shout(), str(folder / name), str(output), batch_size, False, False)
    try:
        manager.run()
    finally:
        manager._output_file.close()  # type: ignore[union-attr]
    return [json.loads(line)["text"] for line in output.read_text().splitlines()]


@pytest.mark.parametrize("batch_size", [1, 2, 5])
def test_lines_are_predicted_without_blank_ones_and_byte_order_mark(batch_size: int, tmp_path: Path) -> None:
    lines = b'\xef\xbb\xbf{"text": "a"}\n\n{"text": "b"}\n  \n{"text": "\xc3\xbc"}'
    assert run(lines, tmp_path, batch_size) == ["A", "B", "Ü"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"text": ', r"line 3: not JSON \(Expecting value at column 1\)"),
        (b'{"text": "\xfc"}', "line 3: not UTF-8 text"),
        (b'{"text": "\\ud800"}', "line 3: .* half of a surrogate pair"),
        (b'{"text": NaN}', "line 3: not JSON .NaN is not a number"),
        (b'{"text": ' + b"1" * 5000 + b"}", "line 3: not JSON .* it has 5,000 digits"),
        (b"[" * 100_000, "line 3: not JSON that can be read .it is nested too deeply"),
        (b'{"words": 3}', "line 3: KeyError: 'text'"),
        (b'{"text": "quiet"}', "line 3: it says nothing"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(line: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=f"{tmp_path}/in.jsonl, {message}"):
        run(b'{"text": "a"}\n\n' + line + b"\n", tmp_path)


def test_the_lines_of_a_batch_are_named_together(tmp_path: Path) -> None:
    lines = b'\n{"text": "b"}\n\n{"text": "quiet"}\n'
    with pytest.raises(ConfigurationError, match=r"in\.jsonl, lines 2 to 4: it says nothing"):
        run(lines, tmp_path, batch_size=2)


def test_standard_input_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"no JSON\n")))
    manager = _PredictManager(Shout(), "-", None, 1, False, False)
    with pytest.raises(ConfigurationError, match="standard input, line 1: not JSON"):
        manager.run()


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    manager = _PredictManager(Shout(), str(tmp_path / "gone.jsonl"), None, 1, False, False)
    with pytest.raises(ConfigurationError, match=r"gone\.jsonl: there is no such file"):
        manager.run()


def test_a_batch_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="batch_size must be at least 1, not 0"):
        _PredictManager(Shout(), "-", None, 0, False, False)


def test_a_full_disk_is_named() -> None:
    manager = _PredictManager(Shout(), "-", "/dev/full", 1, False, False)
    manager._get_json_data = lambda: iter([{"text": "a" * 100_000}])  # type: ignore[method-assign]
    with pytest.raises(OSError, match="could not write /dev/full: the disk is full"):
        manager.run()
