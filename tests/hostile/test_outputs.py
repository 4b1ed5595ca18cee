"""Outputs that are devices, pipes, links, folders or inputs, for each command that writes a file."""

import filecmp
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from elmo_plugin.common import outputs
from tests.hostile.fork_server import Ended, Forked, allennlp
from tests.hostile.material import Material, write_config
from tests.hostile.outcomes import CLEAR, FAILURE, RIGHT, Outcomes
from tests.trained_tagger import tagger_config

pytestmark = pytest.mark.slow
# Opens a pipe before anything else, and waits for its reader, as shells do.
WAITS = ("predict", "predictions")


class Case(NamedTuple):
    """
    arguments: of a command, with `OUTPUT` for its output
    source: an input
    suffix: of the output
    """

    arguments: list[str]
    source: Path
    suffix: str

    def work(self, output: Path) -> Callable[[], None]:
        return allennlp(*(str(output) if each == "OUTPUT" else each for each in self.arguments))


def commands(material: Material, folder: Path) -> dict[str, Case]:
    archive, tagger, text = map(str, (material.bilm, material.tagger, material.text))
    second, tagged, sentences = (folder / name for name in ("second.tar.gz", "tagged.txt", "in.jsonl"))
    shutil.copy(archive, second)
    tagged.write_text("Ada B-PER B-PER\nran O O\n")
    sentences.write_text('{"words": ["Ada", "ran"]}\n')
    tagger_training = tagger_config(material.pair, ["input"])
    config = write_config(tagger_training, folder / "tagger.json")
    data = folder / "data.txt"
    shutil.copy(tagger_training["validation_data_path"], data)
    perplexity = ["elmo-perplexity", archive, text, "--cache-directory", str(folder / "cache")]
    pair = ["--options-file", material.pair["options"], "--weight-file", material.pair["weights"]]
    neighbors = ["--query", "a b", "--word", "a", "--index", str(folder / "index")]
    sweep = ["elmo-sweep", str(config), "-s", str(folder / "sweep"), "--seeds", "1"]
    predict, evaluate = ["predict", tagger, str(sentences), "--silent"], ["evaluate", tagger, str(data)]
    of_evaluation = ["--predictions-output-file", "OUTPUT"]
    return {
        "weights": Case(["elmo-weights", tagger, "--json", "OUTPUT"], material.tagger, ".json"),
        "perplexity": Case([*perplexity, "--json", "OUTPUT"], material.text, ".json"),
        "sentences": Case([*perplexity, "--per-sentence", "OUTPUT"], material.text, ".jsonl"),
        "average": Case(["elmo-average", archive, str(second), "-o", "OUTPUT"], second, ".tar.gz"),
        "ensemble": Case(["elmo-ensemble", tagger, tagger, "-o", "OUTPUT"], material.tagger, ".tar.gz"),
        "score": Case(["elmo-score", "ner", str(tagged), "--json", "OUTPUT"], tagged, ".json"),
        "neighbors": Case(
            ["elmo-neighbors", "tiny", text, *neighbors, "--html", "OUTPUT"], material.text, ".html"
        ),
        "embed": Case(
            ["elmo-embed", text, "OUTPUT", "--all", *pair, "--format", "hdf5"], material.text, ".hdf5"
        ),
        "predict": Case([*predict, "--output-file", "OUTPUT"], sentences, ".jsonl"),
        "evaluate": Case([*evaluate, "--output-file", "OUTPUT"], data, ".json"),
        "predictions": Case([*evaluate, *of_evaluation], data, ".jsonl"),
        "sweep": Case([*sweep, "--json", "OUTPUT"], config, ".json"),
    }


def test_outputs_that_are_no_files(
    material: Material, tmp_path: Path, outcomes: Outcomes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outputs, "SECONDS_FOR_A_READER", 0.5)
    for name, case in commands(material, tmp_path).items():
        places = tmp_path / f"places_{name}"
        (places / "far").mkdir(parents=True)
        whole, pipe = places / f"whole{case.suffix}", places / f"pipe{case.suffix}"
        link, other_link = places / f"link{case.suffix}", places / "far" / "link"
        first = Forked(case.work(whole), tmp_path / "work").wait()
        assert first.status == 0 and whole.is_file(), f"{name}: {first.error[-500:]}"
        other_link.symlink_to(whole)
        link.symlink_to(other_link)
        ended = Forked(case.work(link), tmp_path / "work").wait()
        stays = link.is_symlink() and other_link.is_symlink() and whole.is_file() and not whole.is_symlink()
        judge(outcomes, f"{name} into a link", ended, stays and ended.status == 0)
        for device in (Path("/dev/null"), Path("/dev/full")):
            ended = Forked(case.work(device), tmp_path / "work").wait()
            assert device.is_char_device(), f"{name} has replaced {device}"
            judge(outcomes, f"{name} into {device}", ended, ended.status in (0, 1))
        os.mkfifo(pipe)
        if name not in WAITS:
            ended = Forked(case.work(pipe), tmp_path / "work").wait()
            is_clear = ended.status == 1 and "nothing reads this pipe" in ended.last_line
            judge(outcomes, f"{name} into a pipe that nothing reads", ended, is_clear and pipe.is_fifo())
        read: list[bytes] = []
        reader = threading.Thread(target=lambda pipe=pipe, read=read: read.append(pipe.read_bytes()))
        process = Forked(case.work(pipe), tmp_path / "work")
        reader.start()
        ended = process.wait()
        unblock(pipe)
        reader.join()
        judge(outcomes, f"{name} into a pipe", ended, bool(read[0]) and pipe.is_fifo())
        ended = Forked(case.work(places), tmp_path / "work").wait()
        is_clear = ended.status == 1 and f"{places} is a directory" in ended.last_line
        judge(outcomes, f"{name} over a folder", ended, is_clear)


def test_outputs_that_are_inputs(material: Material, tmp_path: Path, outcomes: Outcomes) -> None:
    for name, case in commands(material, tmp_path).items():
        copy, hard, soft = (tmp_path / f"{name}_{kind}" for kind in ("copy", "hard", "soft"))
        shutil.copy(case.source, copy)
        os.link(case.source, hard)
        soft.symlink_to(case.source)
        for output in (case.source, hard, soft):
            ended = Forked(case.work(output), tmp_path / "work").wait()
            is_whole = filecmp.cmp(case.source, copy, shallow=False)
            is_clear = ended.status == 1 and "which is an input" in ended.last_line
            judge(outcomes, f"{name} over its input as {output.name}", ended, is_whole and is_clear)


def judge(outcomes: Outcomes, case: str, ended: Ended, is_right: bool) -> None:
    is_right = is_right and not ended.timed_out and "Traceback" not in ended.error
    outcome = (CLEAR if ended.status else RIGHT) if is_right else FAILURE
    outcomes.add(case, outcome, ended.error, [""])


def unblock(pipe: Path) -> None:
    """Ends a reader to which nobody has written."""
    try:
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return  # it has ended
