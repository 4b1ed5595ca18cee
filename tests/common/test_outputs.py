"""An output is neither an input nor another output, by any name."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.outputs import check_outputs


def test_an_input_under_any_name_is_refused_as_output(tmp_path: Path) -> None:
    source = tmp_path / "source.json"
    source.write_text("{}")
    (tmp_path / "link").symlink_to(source)
    os.link(source, tmp_path / "hard")
    for name in ("source.json", "link", "hard", "../" + tmp_path.name + "/source.json"):
        for inputs in (
            [str(source)],
            [f"{tmp_path}/*.json"],
            [f"{source}:variant"],
            [[f"other:{source}"]],
        ):
            with pytest.raises(BiLmError, match=r"^the output .* is also an input \(.*\)$"):
                check_outputs([tmp_path / name], inputs)
    check_outputs([tmp_path / "other"], [str(source), "x" * 5000, "\0", None, 1])
    check_outputs([os.devnull, os.devnull], [os.devnull])
    (tmp_path / "config.json").touch()  # so the folder is a model
    for outputs, message in (
        ([tmp_path / "source.json"], "is also an input"),
        ([tmp_path / "new", tmp_path / "new"], "is also another output"),
        ([tmp_path], "is a directory; name a file to be written"),
    ):
        with pytest.raises(BiLmError, match=message):
            check_outputs(outputs, [str(tmp_path)])


def test_a_new_file_under_two_names_is_refused_as_two_outputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    (tmp_path / "dangling").symlink_to("folder/new")
    for name in ("link/new", "folder/../link/new", "./folder/new", "dangling"):
        with pytest.raises(BiLmError, match=f"^the output {name} is also another output$"):
            check_outputs(["folder/new", name], [])
    check_outputs(["folder/new", "link/other", "new"], [])


def test_an_output_that_cannot_be_a_path_is_refused() -> None:
    with pytest.raises(BiLmError, match=r"^the path 'a\\x00b' has the character NUL$"):
        check_outputs(["a\0b"], [])


def test_a_pattern_of_inputs_is_looked_for_only_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patterns: list[str] = []

    def count(pattern: str) -> Iterator[str]:
        patterns.append(pattern)
        return iter(())

    monkeypatch.setattr("elmo_plugin.common.outputs.iglob", count)
    check_outputs([tmp_path / "new"], ["text/*.txt", "a*:b*"])
    assert patterns == ["text/*.txt", "a*:b*", "a*", "b*"]
