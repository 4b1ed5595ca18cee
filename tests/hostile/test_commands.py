"""Commands with arguments that cannot be, on full disks, and stopped at any moment."""

import filecmp
import json
import shutil
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from elmo_plugin.bilm import BiLm
from tests.hostile.fork_server import Forked, allennlp
from tests.hostile.material import (
    Material,
    bilm_training,
    pair,
    random_of,
    same_weights,
    times,
    vectors_of,
    write_config,
)
from tests.hostile.outcomes import Outcomes
from tests.trained_tagger import tagger_config

pytestmark = pytest.mark.slow
STOPS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
STOPPED = {  # how often each command is
    "embed": 12,
    "export": 12,
    "vocab": 9,
    "perplexity": 9,
    "train": 9,
    "train a tagger": 6,
    "sweep": 3,
}


def embed_arguments(material: Material, output: Path) -> list[str]:
    files = [material.pair["options"], "--weight-file", material.pair["weights"]]
    return ["elmo-embed", "--all", "--options-file", *files, str(material.text), str(output)]


def test_arguments(material: Material, tmp_path: Path, outcomes: Outcomes) -> None:
    output, text = tmp_path / "out.hdf5", str(material.text)
    archive, tagger = str(material.bilm), str(material.tagger)
    embed = embed_arguments(material, output)
    bad_json, bad_list = tmp_path / "damaged.json", tmp_path / "list.json"
    bad_json.write_text("{")
    bad_list.write_text("[]")
    config = write_config(tagger_config(material.pair, ["input"]), tmp_path / "tagger.json")
    sweep = ["elmo-sweep", str(config), "-s", str(tmp_path / "sweep"), "--seeds", "1"]
    train = ["train", str(config), "-s", str(tmp_path / "run")]
    predict = ["predict", str(material.tagger), text]
    cases: dict[str, tuple[list[str], str]] = {
        "threads": ([*embed, "--threads", "100000"], "threads"),
        "no threads": ([*embed, "--threads", "0"], "threads"),
        "workers": ([*embed, "--workers", "100000"], "workers"),
        "batch size": ([*embed, "--batch-size", "0"], "batch size"),
        "batch tokens": ([*embed, "--max-batch-tokens", "-1"], "max batch tokens"),
        "words": ([*embed, "--max-words", "3"], "--max-words"),
        "gzip": ([*embed, "--compression", "gzip", "--compression-level", "10"], "gzip"),
        "GPU": ([*embed, "--cuda-device", "999999999999999999999"], "--cuda-device"),
        "no GPU": ([*embed, "--cuda-device", "x"], "--cuda-device"),
        "language": ([*embed, "--tokenizer", "spacy", "--language", "../x"], "language"),
        "format": ([*embed[:-1], str(tmp_path / "out.txt")], "out.txt"),
        "output is a folder": ([*embed[:-1], str(tmp_path)], str(tmp_path)),
        "no text": ([*embed[:-2], "gone.txt", str(output)], "gone.txt"),
        "text is a folder": ([*embed[:-2], str(tmp_path), str(output)], str(tmp_path)),
        "placement": ([*embed, "--placement", "input"], "placement"),
        "no biLM": (["elmo-embed", "--all", text, str(output)], "--bilm"),
        "unknown biLM": (["elmo-embed", "--all", "--bilm", "huge", text, str(output)], "'huge'"),
        "mix of a biLM": (["elmo-embed", "--mix", archive, text, str(output)], archive),
        "export of nothing": (["elmo-export", "gone.tar.gz", str(tmp_path / "e")], "gone.tar.gz"),
        "export of text": (["elmo-export", text, str(tmp_path / "e")], text),
        "export over a folder": (
            ["elmo-export", archive, str(tmp_path / "f")],
            "options.json is a directory",
        ),
        "vocab: min-count": (["elmo-vocab", text, "-o", "v", "--min-count", "-1"], "--min-count"),
        "vocab: max-size": (["elmo-vocab", text, "-o", "v", "--max-size", "0"], "--max-size"),
        "vocab: no text": (["elmo-vocab", "gone*.txt", "-o", "v"], "gone*.txt"),
        "perplexity: blocks": (["elmo-perplexity", archive, text, "--block-words", "0"], "--block-words"),
        "perplexity: batch": (["elmo-perplexity", archive, text, "--batch-size", "0"], "--batch-size"),
        "perplexity: folder": (["elmo-perplexity", archive, text, "--json", str(tmp_path)], str(tmp_path)),
        "average of one": (["elmo-average", archive, "-o", "a.tar.gz"], archive),
        "average of others": (
            ["elmo-average", archive, str(material.tagger), "-o", "a"],
            str(material.tagger),
        ),
        "ensemble of one": (["elmo-ensemble", tagger, "-o", "a"], tagger),
        "weights of a biLM": (["elmo-weights", archive], archive),
        "weights: plot": (["elmo-weights", str(material.tagger), "-o", "a.gif"], "a.gif"),
        "probe: epochs": (["elmo-probe", "tiny", text, text, "--epochs", "0"], "--epochs"),
        "probe: seeds": (["elmo-probe", "tiny", text, text, "--seeds", "0"], "--seeds"),
        "score: no file": (["elmo-score", "ner", "gone.txt"], "gone.txt"),
        "sweep: damaged JSON": ([*sweep, "--json", str(bad_json)], "damaged.json"),
        "sweep: a list": ([*sweep, "--json", str(bad_list)], "list.json"),
        "sweep: a folder": ([*sweep, "--json", str(tmp_path)], str(tmp_path)),
        "sweep: seeds": ([*sweep[:-1], "0"], "--seeds"),
        "sweep: metric": ([*sweep, "--metric", "accuracy"], "accuracy"),
        "sweep: plot": ([*sweep, "--plot", "a.gif"], "a.gif"),
        "sweep: overrides": ([*sweep, "-o", "[]"], "overrides"),
        "sweep: no configuration": (["elmo-sweep", "gone.json", "-s", "s"], "gone.json"),
        "train: overrides are a list": ([*train, "-o", "[]"], "overrides"),
        "train: overrides are no JSON": ([*train, "-o", "{"], "overrides"),
        "train: epochs": ([*train, "-o", '{"trainer.num_epochs": 0}'], "num_epochs"),
        "train: batch size": ([*train, "-o", '{"data_loader.batch_size": 0}'], "batch_size"),
        "train: min_count": ([*train, "-o", '{"vocabulary": {"min_count": {"tokens": -1}}}'], "min_count"),
        "train: no data": ([*train, "-o", '{"train_data_path": "gone.txt"}'], "gone.txt"),
        "train: no folder to recover": ([*train, "--recover"], str(tmp_path / "run")),
        "predict: batch size": ([*predict, "--batch-size", "0"], "batch_size"),
        "predict: no file": (["predict", str(material.tagger), "gone.jsonl"], "gone.jsonl"),
        "predict: overrides": ([*predict, "-o", "[]"], "overrides"),
        "predict: no archive": (["predict", "gone.tar.gz", text], "gone.tar.gz"),
        "evaluate: batch size": (
            ["evaluate", str(material.tagger), text, "--batch-size", "0"],
            "--batch-size",
        ),
        "evaluate: no file": (["evaluate", tagger, "gone.txt"], "gone.txt"),
        "evaluate: text": (["evaluate", tagger, text], "text.txt, line 1"),
    }
    embedder = "model.contextual_encoder.text_field_embedder.token_embedders"
    for name, value in (
        ("hidden_sizes", {"model.contextual_encoder.encoder.hidden_sizes": []}),
        ("mixing weights", {f"{embedder}.elmo.mixing_weights": [1, 2, 3]}),
        ("layers", {f"{embedder}.elmo.layers": "some"}),
        ("max_gb", {f"{embedder}.elmo.cache": {"type": "memory", "max_gb": -1}}),
        ("path of a cache", {f"{embedder}.elmo.cache": {"type": "sqlite", "path": ""}}),
        ("no word vector", {f"{embedder}.tokens.pretrained_file": str(tmp_path / "empty.txt")}),
    ):
        cases[f"train: {name}"] = ([*train, "-o", json.dumps(value)], name)
    (tmp_path / "empty.txt").touch()
    (tmp_path / "f" / "options.json").mkdir(parents=True)
    for case, (arguments, name) in cases.items():
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        work = allennlp(*arguments)
        outcomes.run(case, work, tmp_path / "work", [name], lambda: False, is_command=True)
        assert not output.exists() and not (tmp_path / "e").exists()


def test_full_disks(material: Material, tmp_path: Path, outcomes: Outcomes) -> None:
    """Each command with room for some of its largest file: what was there before stays, or all is new."""
    archive, tagger, text = str(material.bilm), str(material.tagger), str(material.text)
    bilm_config = write_config(bilm_training(tmp_path), tmp_path / "bilm.json")
    config = write_config(tagger_config(material.pair, ["input"]), tmp_path / "tagger.json")
    sentences = tmp_path / "in.jsonl"
    sentences.write_text('{"words": ["Ada", "ran"]}\n' * 300)
    cache = ["--cache-directory", str(tmp_path / "cache")]
    commands: dict[str, Callable[[Path], list[str]]] = {
        "embed": lambda out: embed_arguments(material, out / "out.hdf5"),
        "embed to safetensors": lambda out: embed_arguments(material, out / "out.safetensors"),
        "export": lambda out: ["elmo-export", archive, str(out)],
        "export in float16": lambda out: ["elmo-export", archive, str(out), "--dtype", "float16"],
        "average": lambda out: ["elmo-average", archive, f"{tmp_path}/second.tar.gz", "-o", f"{out}/a"],
        "ensemble": lambda out: ["elmo-ensemble", tagger, tagger, "-o", f"{out}/a.tar.gz"],
        "vocab": lambda out: ["elmo-vocab", text, "-o", f"{out}/v", "--cache-directory", f"{out}/cache"],
        "perplexity": lambda out: ["elmo-perplexity", archive, text, "--per-sentence", f"{out}/a", *cache],
        "weights": lambda out: ["elmo-weights", tagger, "--json", f"{out}/a.json"],
        "train a biLM": lambda out: ["train", str(bilm_config), "-s", f"{out}/run"],
        "train a tagger": lambda out: ["train", str(config), "-s", f"{out}/run"],
        "predict": lambda out: ["predict", tagger, str(sentences), "--silent", "--output-file", f"{out}/p"],
    }
    shutil.copy(archive, tmp_path / "second.tar.gz")
    generator = random_of(41)
    for name, command in commands.items():
        room = tmp_path / "room"
        room.mkdir()
        whole = Forked(allennlp(*command(room)), tmp_path / "work").wait()
        assert whole.status == 0, whole.error[-500:]
        largest = max(file.stat().st_size for file in room.rglob("*") if file.is_file())
        shutil.rmtree(room)
        for share in (0.0, *generator.uniform(0, 1, 4)):
            out = tmp_path / "out"
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            size = int(share * largest)
            outcomes.run(
                f"{name} with {size} of {largest} bytes",
                allennlp(*command(out)),
                tmp_path / "work",
                [str(out), str(tmp_path), "/tmp"],
                lambda: False,
                max_file=size,
                is_command=True,
            )
            left = [file for file in out.rglob("*") if file.is_file() and "unfinished" not in str(file)]
            half = [file for file in left if file.suffix in (".hdf5", ".safetensors", ".gz")]
            assert not half, f"{name} left {half}"


def stop_and_go_on(
    case: str,
    arguments: list[str],
    go_on: Callable[[], list[str]],
    seconds: float,
    number: signal.Signals,
    is_right: Callable[[], bool],
    folder: Path,
    outcomes: Outcomes,
) -> None:
    """Stops a command after some seconds, and does it again: it must end as if it had not been stopped."""
    process = Forked(allennlp(*arguments), folder)
    time.sleep(seconds)
    process.send(number)
    ended = process.wait()
    if number != signal.SIGKILL and ended.status not in (0, -number):
        said = [line for line in ended.error.splitlines() if line.startswith("stopped; ")]
        outcome = "clear" if len(said) == 1 and "Traceback" not in ended.error else "failure"
        outcomes.add(
            f"{case}, what it says", outcome, ended.error[-300:] if not said else said[0], ["allennlp"]
        )
    # Where it had ended before the signal, its output "already exists".
    outcomes.run(case, allennlp(*go_on()), folder, ["already exists"], is_right, is_command=True)


@pytest.mark.parametrize("kind", STOPPED)
def test_stopped_at_any_moment(kind: str, material: Material, tmp_path: Path, outcomes: Outcomes) -> None:
    generator = random_of(42)
    bilm_config = write_config(bilm_training(tmp_path), tmp_path / "bilm.json")
    tagger_file = write_config(tagger_config(material.pair, ["input"]), tmp_path / "tagger.json")
    text = tmp_path / "long.txt"
    text.write_text(material.text.read_text() * 12)
    out, whole = tmp_path / "out", tmp_path / "whole"
    long = material._replace(text=text)

    def arguments(folder: Path) -> list[str]:
        cache = ["--cache-directory", str(folder / "cache")]
        return {
            "embed": embed_arguments(long, folder / "out.hdf5"),
            "export": ["elmo-export", str(material.bilm), str(folder)],
            "vocab": ["elmo-vocab", str(text), "-o", f"{folder}/words", *cache],
            "perplexity": [
                *("elmo-perplexity", str(material.bilm), str(text), "--json", f"{folder}/perplexity.json"),
                *cache,
            ],
            "train": ["train", str(bilm_config), "-s", str(folder)],
            "train a tagger": ["train", str(tagger_file), "-s", str(folder)],
            "sweep": ["elmo-sweep", str(bilm_config), "-s", str(folder), "--seeds", "2"],
        }[kind]

    def is_right() -> bool:
        if kind == "embed":
            return filecmp.cmp(out / "out.hdf5", whole / "out.hdf5", shallow=False)
        if kind == "export":
            return np.array_equal(vectors_of(BiLm.from_pretrained(pair(out))), material.vectors)
        if kind in ("vocab", "perplexity"):
            made = next(file for file in whole.iterdir() if file.name != "cache")
            files = [made] if made.is_file() else [file for file in made.rglob("*") if file.is_file()]
            return all(filecmp.cmp(file, out / file.relative_to(whole), shallow=False) for file in files)
        if kind == "sweep":
            return all(same_weights([whole / "bilm" / seed, out / "bilm" / seed]) for seed in "12")
        return kind == "train a tagger" or same_weights([whole, out])

    begun = time.monotonic()
    first = Forked(allennlp(*arguments(whole)), tmp_path / "work").wait(60)
    assert first.status == 0, first.error[-500:]
    seconds = time.monotonic() - begun
    for case in times(STOPPED[kind]):
        shutil.rmtree(out, ignore_errors=True)
        after = float(generator.uniform(0, seconds))
        number = STOPS[case % 3]
        stop_and_go_on(
            f"{kind} {case}, {number.name} after {after:.2f} s",
            arguments(out),
            partial(again, kind, arguments(out), out),
            after,
            number,
            is_right,
            tmp_path / "work",
            outcomes,
        )


def again(kind: str, arguments: list[str], out: Path) -> list[str]:
    """The command that goes on."""
    if not kind.startswith("train") or not out.exists():
        return arguments
    has_checkpoint = any(out.glob("model_state_*.th"))
    return [*arguments, "--recover" if has_checkpoint else "--force"]
