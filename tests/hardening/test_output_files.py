"""What AllenNLP writes next to its weights is complete, or is what was there before."""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params, util
from allennlp.data import Vocabulary

from elmo_plugin import hardening  # noqa: F401 (acts when imported)


def fail(*arguments: Any, **options: Any) -> None:
    raise InterruptedError


def test_a_configuration_is_replaced_only_by_a_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.json"
    Params({"a": 1}).to_file(str(path))
    with monkeypatch.context() as patch, pytest.raises(InterruptedError):
        patch.setattr(json, "dump", fail)
        Params({"a": 2}).to_file(str(path))
    assert Params.from_file(path).as_dict() == {"a": 1}
    assert list(tmp_path.iterdir()) == [path]


def test_a_vocabulary_is_there_as_a_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "vocabulary"
    vocabulary = Vocabulary({"words": {"cat": 2, "dog": 1}, "labels": {"N": 1}})
    with monkeypatch.context() as patch, pytest.raises(InterruptedError):
        patch.setattr(Path, "rename", fail)
        vocabulary.save_to_files(str(path))
    assert not list(tmp_path.iterdir())
    for _ in range(2):
        vocabulary.save_to_files(str(path))
        loaded = Vocabulary.from_files(str(path))
        assert loaded.get_index_to_token_vocabulary("words") == {
            0: "@@PADDING@@",
            1: "@@UNKNOWN@@",
            2: "cat",
            3: "dog",
        }
    assert list(tmp_path.iterdir()) == [path]


def test_metrics_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    util.dump_metrics(str(tmp_path / "metrics.json"), {"loss": 1.5})
    with pytest.raises(TypeError):
        util.dump_metrics(str(tmp_path / "metrics.json"), {"loss": object()})
    assert json.loads((tmp_path / "metrics.json").read_text()) == {"loss": 1.5}
    assert len(list(tmp_path.iterdir())) == 1
