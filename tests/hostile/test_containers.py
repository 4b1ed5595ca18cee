"""
Containers that ask for memory or time by a name or a size in them, and models of any kind with
numbers that are not finite: one sentence, soon.
"""

import json
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from allennlp.data import Vocabulary

from elmo_plugin import plugin  # noqa: F401 (registers)
from elmo_plugin.archives import load_archive, write_archive
from elmo_plugin.bilm import BiLmError
from elmo_plugin.bilm.io.manylangs import read_options
from elmo_plugin.common.formats.archives import MAX_MEMBERS, ZippedPath, read_members
from elmo_plugin.common.formats.torch_files import load_plain
from elmo_plugin.embed_files.chunks import Chunk, Record
from elmo_plugin.embed_files.outputs import check_member_names
from elmo_plugin.embedding.sqlite_store import FORMAT, NAME, SqliteStore
from elmo_plugin.language_model.corpus import prepare_shard
from tests.bilm.manylangs.model_folder import write_model
from tests.forks import run_forked
from tests.hostile.test_dry_run import MODEL, READER

SECONDS = 10


@pytest.mark.parametrize(
    "names",
    [
        ["/".join("a" * 30_000)],
        ["a//b/weights.hdf5"],
        ["a" * 60_000],
        [f"{number}" for number in range(MAX_MEMBERS + 1)],
    ],
    ids=["deep", "nameless", "long", "many"],
)
def test_a_zip_archive_with_such_names_is_refused_soon(names: list[str], tmp_path: Path) -> None:
    path = tmp_path / "model.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, b"")

    def work() -> None:
        with pytest.raises(BiLmError, match=r"model\.zip: .*(no name of a file|too many files)"):
            ZippedPath.folders(path)

    ended = run_forked(work, tmp_path, SECONDS)
    assert ended.status == 0, ended.error


def global_headers(number: int) -> bytes:
    headers = [tarfile.TarInfo.create_pax_global_header({f"k{key}": "v"}) for key in range(number)]
    return b"".join(headers)


def long_name(length: int) -> bytes:
    return tarfile.TarInfo("a" * length).tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (global_headers(200), "more than 100 global headers"),
        (long_name(5_000), "no name of a file"),
        (long_name(100_000), "header of"),
    ],
)
def test_a_tar_archive_with_such_headers_is_refused(
    content: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.tar"
    path.write_bytes(content + bytes(2 * 512))
    with pytest.raises(BiLmError, match=message):
        read_members(path, lambda name: True)


def test_a_tar_archive_with_a_global_header_is_read(tmp_path: Path) -> None:
    member = tarfile.TarInfo("a/b.txt").tobuf(tarfile.GNU_FORMAT)
    (tmp_path / "model.tar").write_bytes(global_headers(3) + member + bytes(1024))
    assert read_members(tmp_path / "model.tar", lambda name: True) == {"a/b.txt": b""}


class Calls:
    """Pickles as a call."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._call = (function, arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._call


SCALAR = np.float64(0).__reduce__()[0]


@pytest.mark.parametrize(
    "value",
    [
        Calls(np.dtype, ",".join(["i4"] * 100_000)),
        Calls(np.dtype, "V2000000000"),
        Calls(SCALAR, Calls(np.dtype, "V2000000000"), b""),
        Calls(SCALAR, Calls(np.dtype, "f8"), b"1234"),
        Calls(SCALAR, Calls(np.dtype, "f8"), bytes(8 * 100)),
        Calls(np.dtype, "O"),
    ],
)
def test_a_file_of_torch_cannot_ask_numpy_for_types(value: Any, tmp_path: Path) -> None:
    torch.save({"weight": value}, tmp_path / "weights.th")
    with pytest.raises(BiLmError, match="not plain tensors"):
        load_plain(tmp_path / "weights.th", "it")


SCHEMAS = {
    "a view that never ends": (
        "CREATE VIEW records AS WITH RECURSIVE r(id, content) AS "
        "(SELECT 1, 'x' UNION ALL SELECT id + 1, content FROM r) SELECT id, content FROM r"
    ),
    "another table": "CREATE TABLE records (id TEXT, content BLOB)",
    "a trigger": (
        "CREATE TABLE records (id INTEGER PRIMARY KEY, content BLOB); "
        "CREATE TRIGGER t BEFORE INSERT ON records BEGIN DELETE FROM records; END"
    ),
    "no table": "",
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_a_cache_with_a_foreign_schema_is_not_used(schema: str, tmp_path: Path) -> None:
    _check_that_a_cache_is_not_used(tmp_path, schema, version=FORMAT)


FOREIGN_TABLES = {
    "a table of another name": "CREATE TABLE songs (title TEXT)",
    "a table of the same name": "CREATE TABLE records (artist TEXT)",
    "our table without the format": "CREATE TABLE records (id INTEGER PRIMARY KEY, content BLOB)",
    "a view of the same name": "CREATE VIEW records AS SELECT 1 AS id, x'00' AS content",
    "a trigger": (
        "CREATE TABLE songs (title TEXT); "
        "CREATE TRIGGER t BEFORE INSERT ON songs BEGIN DELETE FROM songs; END"
    ),
}


@pytest.mark.parametrize("schema", FOREIGN_TABLES.values(), ids=FOREIGN_TABLES)
def test_a_file_of_another_program_does_not_become_a_cache(schema: str, tmp_path: Path) -> None:
    _check_that_a_cache_is_not_used(tmp_path, schema, version=0)


def test_a_file_of_another_program_with_a_low_version_is_not_emptied(tmp_path: Path) -> None:
    schema = "CREATE TABLE records (artist TEXT); CREATE TABLE songs (title TEXT)"
    _check_that_a_cache_is_not_used(tmp_path, schema, version=1)


def _check_that_a_cache_is_not_used(tmp_path: Path, schema: str, version: int) -> None:
    with sqlite3.connect(tmp_path / NAME) as connection:
        connection.executescript(f"{schema}; PRAGMA user_version = {version}")
    before = (tmp_path / NAME).read_bytes()

    def work() -> None:
        store = SqliteStore(tmp_path, 10**6)
        rows = [np.zeros(2, np.float32)]
        assert store.read([b"key key key"], rows) == [0]
        store.write([b"key key key"], rows)
        assert store.read([b"key key key"], rows) == [0]

    ended = run_forked(work, tmp_path, SECONDS)
    assert ended.status == 0, ended.error
    assert "it is not a file of this cache" in ended.error
    assert (tmp_path / NAME).read_bytes() == before


def test_a_config_path_does_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", config_path="net.json")
    (folder / "net.json").rename(tmp_path / "elsewhere.json")
    config = {"config_path": str(tmp_path / "elsewhere.json")}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(BiLmError, match="config_path not found"):
        read_options(folder)


@pytest.fixture
def tagger(tmp_path: Path) -> Path:
    """The folder of a training of AllenNLP's own tagger, which has nothing of this package."""
    folder = tmp_path / "run"
    vocabulary = Vocabulary()
    vocabulary.add_tokens_to_namespace(["N", "V"], "labels")
    vocabulary.save_to_files(str(folder / "vocabulary"))
    (folder / "config.json").write_text(json.dumps({"model": MODEL, "dataset_reader": READER}))
    weights = {
        "text_field_embedder.token_embedder_tokens.weight": torch.zeros(2, 2),
        "tag_projection_layer._module.weight": torch.zeros(2, 2),
        "tag_projection_layer._module.bias": torch.zeros(2),
    }
    torch.save(weights, folder / "best.th")
    return folder


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e300])
def test_weights_of_every_model_are_finite(number: float, tagger: Path) -> None:
    assert load_archive(tagger).model is not None
    weights = torch.load(tagger / "best.th", weights_only=True)
    weights["tag_projection_layer._module.bias"] = torch.tensor([0.0, number])
    torch.save(weights, tagger / "best.th")
    with pytest.raises(BiLmError, match=r"^directory .*tag_projection_layer\._module\.bias has"):
        load_archive(tagger)


@pytest.mark.parametrize(
    "namespace",
    [
        "../outside",
        "/outside",
        "a/b",
        "a\\b",
        "..",
        ".lock",
        "",
        "non_padded_namespaces",
        "words.txt",
    ],
)
def test_a_namespace_leads_out_of_no_archive_and_is_not_lost_in_it(
    namespace: str, tagger: Path, tmp_path: Path
) -> None:
    archive = load_archive(tagger)
    archive.model.vocab.add_token_to_namespace("x", namespace)
    with pytest.raises(BiLmError, match="is no name of a file"):
        write_archive(archive.model, archive.config.as_dict(), tmp_path / "new.tar.gz")
    assert not list(tmp_path.glob("*outside*")) and not (tmp_path / "new.tar.gz").exists()


@pytest.mark.parametrize("name", ["../a", "a/../../b", "/etc/a", "C:\\a", "a\\..\\..\\b"])
def test_the_name_of_a_record_cannot_lead_out_of_an_npz_file(name: str) -> None:
    with pytest.raises(BiLmError, match=r"^a\.fasta, line 1: .* cannot be a name in \.npz"):
        check_member_names(Chunk(0, [Record("MK", "a.fasta, line 1", 2, name)]))
    fine = Chunk(0, [Record("MK", "a.fasta, line 1", 2, "sp|P1/2 a..b")])
    check_member_names(fine)  # raises nothing


def test_a_changed_digit_of_a_prepared_text_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("a b c\nd e\n")
    (chunk,) = prepare_shard(str(tmp_path / "text.txt"), tmp_path)
    assert (chunk.tokens, chunk.sentences) == (5, 2)
    file = chunk.path.with_name("pieces.json")
    file.write_text(file.read_text().replace("[5, 2]", "[7, 2]"))
    (again,) = prepare_shard(str(tmp_path / "text.txt"), tmp_path)
    assert (again.tokens, again.sentences) == (5, 2)
