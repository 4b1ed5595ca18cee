"""What a run has left for later: the same answers from it, work done again, or a clear error."""

import filecmp
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from elmo_plugin.bilm import BiLm
from elmo_plugin.embed_files import EmbedSettings, embed_file, hdf5_output
from elmo_plugin.embedding.cache import SqliteCache
from elmo_plugin.embedding.cache.sqlite_store import NAME
from elmo_plugin.language_model.corpus import prepare_corpus
from tests.hostile.fork_server import allennlp
from tests.hostile.material import (
    SENTENCES,
    Material,
    bilm_training,
    damaged,
    random_of,
    same_weights,
    times,
    write_config,
)
from tests.hostile.outcomes import Outcomes

pytestmark = pytest.mark.slow


class Stopped(Exception):
    """Takes the place of a kill."""


def test_chunks_of_an_embedding_that_was_stopped(
    material: Material, tmp_path: Path, outcomes: Outcomes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elmo_plugin.embed_files.embedder.SEGMENT_VECTOR_BYTES", 2**12)

    def stop(*_: object) -> None:
        raise Stopped

    begun = tmp_path / "begun" / "out.hdf5"
    begun.parent.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(hdf5_output, "write", stop)
        with pytest.raises(Stopped):
            embed_file(material.text, begun, EmbedSettings(material.pair), show_progress=False)
    whole = tmp_path / "whole.hdf5"
    embed_file(material.text, whole, EmbedSettings(material.pair), show_progress=False)
    generator = random_of(21)
    for case in times(70):
        folder = tmp_path / "case"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(begun.parent, folder)
        unfinished = folder / "out.hdf5.unfinished"
        files = sorted(unfinished.glob("*.part"))
        file = files[int(generator.integers(len(files)))]
        file.write_bytes(damaged(file.read_bytes(), generator))
        dtype = "float16" if case % 10 == 7 else "float32"
        settings = EmbedSettings(material.pair, dtype=dtype)
        work = partial(embed_file, material.text, folder / "out.hdf5", settings, show_progress=False)
        outcomes.run(
            f"chunk {case} of {file.name}, {dtype}",
            work,
            tmp_path / "run",
            ["out.hdf5"],
            partial(filecmp.cmp, folder / "out.hdf5", whole, shallow=False),
        )


def test_damaged_caches(material: Material, tmp_path: Path, outcomes: Outcomes) -> None:
    def embed(cache: SqliteCache | None) -> list[np.ndarray]:
        bilm = BiLm.from_pretrained(material.pair)
        batches = [bilm._character_ids([sentence]) for sentence in SENTENCES]
        return [bilm.forward_cached(ids, cache=cache).layers.numpy() for ids in batches]

    def look(folder: Path) -> None:
        cache = SqliteCache(str(folder))
        for _ in range(2):
            same = all(map(np.array_equal, embed(cache), expected))
            assert same, "other vectors"
        cache.store.close()

    expected = embed(None)
    outcomes.run("whole", partial(look, tmp_path / "whole"), tmp_path / "run", [])
    content = (tmp_path / "whole" / NAME).read_bytes()
    generator = random_of(22)
    for case in times(120):
        folder = tmp_path / "case"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / NAME).write_bytes(damaged(content, generator))
        outcomes.run(f"cache {case}", partial(look, folder), tmp_path / "run", [str(folder)])


def test_damaged_text_that_was_prepared(material: Material, tmp_path: Path, outcomes: Outcomes) -> None:
    def words(cache: Path) -> list[str]:
        chunks = [files.open(50) for files in prepare_corpus([str(material.text)], cache).chunks]
        return [chunk.words[number] for chunk in chunks for number in chunk.types.tolist()]

    def look(cache: Path) -> None:
        assert words(cache) == expected, "other words"

    expected = words(tmp_path / "whole")
    generator = random_of(23)
    files = sorted(file for file in (tmp_path / "whole").rglob("*") if file.is_file())
    for case in times(60):
        folder = tmp_path / "case"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(tmp_path / "whole", folder)
        file = folder / files[case % len(files)].relative_to(tmp_path / "whole")
        file.write_bytes(damaged(file.read_bytes(), generator) if file.stat().st_size else b"x")
        outcomes.run(f"prepared {case}, {file.name}", partial(look, folder), tmp_path / "run", [str(folder)])


def test_damaged_checkpoints(material: Material, tmp_path: Path, outcomes: Outcomes) -> None:
    config = write_config(bilm_training(tmp_path), tmp_path / "config.json")
    whole = tmp_path / "whole"
    outcomes.run("training", allennlp("train", config, "-s", whole), tmp_path / "run", [], is_command=True)
    stopped = tmp_path / "stopped"
    shutil.copytree(whole, stopped)
    for name in ("metrics.json", "model.tar.gz", "best.th"):
        (stopped / name).unlink()
    generator = random_of(24)
    for case in times(12):
        folder = tmp_path / f"case{case}"
        shutil.copytree(stopped, folder)
        files = sorted(folder.glob("*.th"))[-4 if case % 3 else 0 :]
        file = files[int(generator.integers(len(files)))]
        file.write_bytes(damaged(file.read_bytes(), generator))
        outcomes.run(
            f"checkpoint {case}, {file.name}",
            allennlp("train", config, "-s", folder, "--recover"),
            tmp_path / "run",
            [str(folder)],
            partial(same_weights, [whole, folder]),
            is_command=True,
        )
        shutil.rmtree(folder)


def test_another_text_or_vocabulary_on_recovery(
    material: Material, tmp_path: Path, outcomes: Outcomes
) -> None:
    config = bilm_training(tmp_path)
    for key in ("train_data_path", "validation_data_path"):
        (tmp_path / f"{key}.txt").write_text((tmp_path / "text.txt").read_text())
        config[key] = str(tmp_path / f"{key}.txt")
    write_config(config, tmp_path / "config.json")
    train = allennlp("train", tmp_path / "config.json", "-s", tmp_path / "run")
    outcomes.run("training", train, tmp_path / "folder", [], is_command=True)
    for key in ("train_data_path", "validation_data_path"):
        before = Path(config[key]).read_text()
        Path(config[key]).write_text(before.replace("cat", "dog"))
        recover = allennlp("train", tmp_path / "config.json", "-s", tmp_path / "run", "--recover")
        names = ["the text and the vocabulary has changed", "the validation text has changed"]
        outcomes.run(key, recover, tmp_path / "folder", names, lambda: False, is_command=True)
        Path(config[key]).write_text(before)
