"""`elmo predict FILE -o OUTPUT` that is stopped and started again, and in several processes."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elmo_plugin.bilm import BiLmError
from elmo_plugin.commands.main import main
from elmo_plugin.common import unfinished
from elmo_plugin.predictions import resumable
from elmo_plugin.predictions.predictor import TextPredictor
from tests.commands.run import run
from tests.forks import Ended, run_forked

NUM_LINES = 23
LINES = [f"Ada moved from London to Lisbon {number} times ." for number in range(NUM_LINES)]


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two batches with two texts each, so that there are six chunks."""
    monkeypatch.setattr(resumable, "_CHUNK_INPUTS", 4)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("".join(f"{line}\n" for line in LINES))
    return path


def predict(archive: Path, texts: Path, output: Path, *options: object) -> bytes:
    """Returns the content of the output."""
    run("predict", archive, texts, "-o", output, "--batch-size", 2, *options)
    return output.read_bytes()


def run_until(
    number: int, owner: Any, name: str, call: int, archive: Path, texts: Path, output: Path
) -> Ended:
    """Runs the command in a process that gets a signal in one of the calls of a function."""
    function = getattr(owner, name)
    num_calls = 0

    def call_or_end(*arguments: Any, **options: Any) -> Any:
        nonlocal num_calls
        num_calls += 1
        if num_calls == call:
            os.kill(os.getpid(), number)
        return function(*arguments, **options)

    def work() -> None:
        setattr(owner, name, call_or_end)
        words = ["elmo", "predict", archive, texts, "-o", output, "--batch-size", 2]
        sys.argv = [str(word) for word in words]
        main()

    return run_forked(work, output.parent, seconds=200)


def count_calls_of_the_model(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    num_calls = 0
    predict_batch = TextPredictor.predict_batch_json

    def count(self: TextPredictor, inputs: Any) -> Any:
        nonlocal num_calls
        num_calls += 1
        return predict_batch(self, inputs)

    monkeypatch.setattr(TextPredictor, "predict_batch_json", count)
    return lambda: num_calls


PLACES: list[tuple[Any, str, int]] = [
    (TextPredictor, "predict_batch_json", 1),  # nothing is finished
    (TextPredictor, "predict_batch_json", 4),  # in the second chunk
    (TextPredictor, "predict_batch_json", 12),  # in the last one
    (os, "replace", 3),
    (resumable, "write_predictions", 1),
    (resumable, "Prediction", 7),  # while the output is written
    (unfinished, "rmtree", 1),  # the output is written
]
WHILE_WRITING = PLACES[5:6]  # where the format of the output counts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "name", "places"),
    [
        (signal.SIGKILL, "out.jsonl", PLACES),
        (signal.SIGKILL, "out.csv", WHILE_WRITING),
        (signal.SIGTERM, "out.html", PLACES[1:6:4]),
        (signal.SIGTERM, "out.conll", WHILE_WRITING),
    ],
    ids=["SIGKILL-jsonl", "SIGKILL-csv", "SIGTERM-html", "SIGTERM-conll"],
)
def test_a_stop_at_any_place_does_not_change_the_output(
    number: int,
    name: str,
    places: list[tuple[Any, str, int]],
    tagger_archives: list[Path],
    texts: Path,
    tmp_path: Path,
) -> None:
    archive = tagger_archives[0]
    expected = predict(archive, texts, tmp_path / "whole" / name)
    folder = tmp_path / "stopped"
    output = folder / name
    for owner, function, call in places:
        ended = run_until(number, owner, function, call, archive, texts, output)
        if number == signal.SIGKILL:
            assert ended.status == -number
        else:
            assert ended.status == 128 + number
            assert "elmo predict: stopped; " in ended.last_line
        is_whole_already = function == "rmtree"
        assert output.exists() == is_whole_already
        assert predict(archive, texts, output) == expected
        assert [path.name for path in folder.iterdir()] == [name]
        output.unlink()


@pytest.mark.slow
def test_a_stopped_run_is_resumed_and_says_so(
    tagger_archives: list[Path],
    texts: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    archive = tagger_archives[0]
    output = tmp_path / "out.jsonl"
    place = (TextPredictor, "predict_batch_json", 6)
    ended = run_until(signal.SIGTERM, *place, archive, texts, output)
    assert ended.last_line == (
        f"elmo predict: stopped; {output}.unfinished keeps the finished part; the same command "
        "resumes it"
    )
    num_calls = count_calls_of_the_model(monkeypatch)
    predict(archive, texts, output)
    assert num_calls() == 12 - 4  # two chunks of two batches were kept
    assert f"{output}: 23 predictions, 8 of them by an earlier run" in capsys.readouterr().err


def stop_in_the_fourth_chunk(archive: Path, texts: Path, output: Path) -> None:
    ended = run_until(
        signal.SIGKILL, TextPredictor, "predict_batch_json", 8, archive, texts, output
    )
    assert ended.status == -signal.SIGKILL


@pytest.mark.slow
def test_changed_texts_are_predicted_again(
    tagger_archives: list[Path],
    texts: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    archive = tagger_archives[0]
    output = tmp_path / "out.jsonl"
    stop_in_the_fourth_chunk(archive, texts, output)
    texts.write_text(texts.read_text().replace(" 5 times", " five times") + "Bob left .\n")
    num_calls = count_calls_of_the_model(monkeypatch)
    found = predict(archive, texts, output)
    assert num_calls() == 12 - 4  # the first chunk and the third
    assert f"{texts}, line 5: the texts have changed, and are predicted again" in caplog.messages
    assert found == predict(archive, texts, tmp_path / "whole.jsonl")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "number_of_archive", "changed"),
    [
        (["--threads", "2"], 0, "number of threads"),
        ([], 1, "model"),
    ],
)
def test_another_model_or_setting_starts_again(
    options: list[str],
    number_of_archive: int,
    changed: str,
    tagger_archives: list[Path],
    texts: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    output = tmp_path / "out.jsonl"
    stop_in_the_fourth_chunk(tagger_archives[0], texts, output)
    num_calls = count_calls_of_the_model(monkeypatch)
    predict(tagger_archives[number_of_archive], texts, output, *options)
    assert num_calls() == 12
    expected = f"{output}.unfinished was made with another {changed}: starting again"
    assert expected in caplog.messages


@pytest.mark.slow
def test_a_damaged_chunk_is_predicted_again(
    tagger_archives: list[Path], texts: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    archive = tagger_archives[0]
    output = tmp_path / "out.jsonl"
    expected = predict(archive, texts, tmp_path / "whole.jsonl")
    for damage in (b"", b"no archive", None):
        stop_in_the_fourth_chunk(archive, texts, output)
        chunk = sorted((tmp_path / "out.jsonl.unfinished").glob("*.gz"))[1]
        if damage is None:  # a changed byte in the middle
            damaged = bytearray(chunk.read_bytes())
            damaged[len(damaged) // 2] ^= 255
            damage = bytes(damaged)
        chunk.write_bytes(damage)
        caplog.clear()
        assert predict(archive, texts, output) == expected
        assert f"{chunk} is damaged: its texts are predicted again" in caplog.messages
        output.unlink()


def test_a_compressed_file_of_somebody_else_is_kept(
    tagger_archives: list[Path], texts: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out.jsonl.unfinished"
    folder.mkdir()
    (folder / "mine.jsonl.gz").write_text("mine")
    with pytest.raises(Exception, match=r"has a file of something else, mine.jsonl.gz"):
        predict(tagger_archives[0], texts, tmp_path / "out.jsonl")
    assert (folder / "mine.jsonl.gz").read_text() == "mine"


@pytest.mark.slow
def test_a_mistake_keeps_the_texts_before_it(
    tagger_archives: list[Path], texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    predict_json = TextPredictor.predict_json
    predict_batch = TextPredictor.predict_batch_json

    def refuse(inputs: Any) -> None:
        if "Lisbon 13 times" in str(inputs):
            raise BiLmError("too long")

    def predict_one(self: TextPredictor, inputs: Any) -> Any:
        refuse(inputs)
        return predict_json(self, inputs)

    def predict_several(self: TextPredictor, inputs: Any) -> Any:
        refuse(inputs)
        return predict_batch(self, inputs)

    output = tmp_path / "out.jsonl"
    with monkeypatch.context() as patch:
        patch.setattr(TextPredictor, "predict_json", predict_one)
        patch.setattr(TextPredictor, "predict_batch_json", predict_several)
        with pytest.raises(Exception, match=rf"{texts}, line 14: too long"):
            predict(tagger_archives[0], texts, output)
    assert not output.exists()
    num_calls = count_calls_of_the_model(monkeypatch)
    predict(tagger_archives[0], texts, output)
    assert num_calls() == 12 - 6


@pytest.mark.slow
@pytest.mark.usefixtures("way_to_start_workers")
def test_several_processes_write_the_same_bytes(
    tagger_archives: list[Path], texts: Path, tmp_path: Path
) -> None:
    archive = tagger_archives[1]
    expected = predict(archive, texts, tmp_path / "one.jsonl")
    assert predict(archive, texts, tmp_path / "two.jsonl", "--workers", 2) == expected


@pytest.mark.parametrize(
    "arguments",
    [["texts.txt"], ["-", "-o", "out.jsonl"], ["texts.txt", "-o", "-"], ["Ada", "-o", "o.csv"]],
)
def test_several_processes_need_a_file_to_read_and_one_to_write(
    arguments: list[str], tmp_path: Path, texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception, match="--workers: expected a file of texts, no pipe, and -o"):
        run("predict", "ner", *arguments, "--workers", 2)
