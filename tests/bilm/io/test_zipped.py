"""Models as they were packed: NLPL's folders and zip archives, read in place."""

import json
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path

import h5py
import pytest
import torch

from elmo_plugin.bilm import BiLm, BiLmError
from tests.bilm.conftest import BiLmMaker
from tests.bilm.manylangs.model_folder import write_model
from tests.small_bilm import write_pair

SENTENCE = [["Mira", "left"]]


@pytest.fixture
def packed(make_bilm: BiLmMaker, tmp_path: Path) -> dict[str, bytes]:
    """The files of NLPL's archives, with the options of bilm-tf's training."""
    pair = write_pair(make_bilm(), tmp_path)
    options = json.loads(Path(pair["options"]).read_text())
    options["char_cnn"]["n_characters"] = 261
    weights = Path(pair["weights"]).read_bytes()
    return {"meta.json": b"{}", "options.json": json.dumps(options).encode(), "model.hdf5": weights}


def write_zip(path: Path, files: Mapping[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("folder", ["", "144/", "models/en/"])
def test_a_zip_archive_is_read_in_place(
    packed: dict[str, bytes], make_bilm: BiLmMaker, tmp_path: Path, folder: str
) -> None:
    files = {f"{folder}{name}": content for name, content in packed.items()}
    extra = {
        "__MACOSX/._options.json": b"",
        f"{folder}._model.hdf5": b"",
        "../outside.txt": b"",
        "/etc/x": b"",
    }
    path = write_zip(tmp_path / "downloaded", files | extra)
    before = sorted(tmp_path.parent.rglob("*"))
    loaded = BiLm.from_pretrained(path).embed(SENTENCE)[0]
    torch.testing.assert_close(loaded, make_bilm().embed(SENTENCE)[0])
    assert sorted(tmp_path.parent.rglob("*")) == before


def test_weights_may_have_any_name_and_datasets_any_order(
    packed: dict[str, bytes], make_bilm: BiLmMaker, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "options.json").write_bytes(packed["options.json"])
    (tmp_path / "model.hdf5").write_bytes(packed["model.hdf5"])
    with (
        h5py.File(tmp_path / "model.hdf5") as source,
        h5py.File(folder / "model.hdf5", "w") as target,
    ):
        for name in reversed(list(source)):
            source.copy(name, target)
    loaded = BiLm.from_pretrained(folder).embed(SENTENCE)[0]
    torch.testing.assert_close(loaded, make_bilm().embed(SENTENCE)[0])
    (folder / "other.hdf5").touch()
    with pytest.raises(BiLmError, match=r"expected config\.json, or one \*options\.json and one"):
        BiLm.from_pretrained(folder)


def test_a_model_of_elmoformanylangs_may_be_zipped(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "folder")
    path = write_zip(
        tmp_path / "x.zip", {file.name: file.read_bytes() for file in folder.iterdir()}
    )
    expected = BiLm.from_pretrained(folder).embed(SENTENCE)[0]
    torch.testing.assert_close(BiLm.from_pretrained(path).embed(SENTENCE)[0], expected)


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model.hdf5": b"no numbers"}, r"weight file .*x\.zip/model\.hdf5: not a whole HDF5 file"),
        ({"model.hdf5": bytes(2**27 + 1)}, r"x\.zip: too large: model\.hdf5 unpacks to 0\.1 GB"),
        (
            {link("model.hdf5"): b"/etc/passwd"},
            r"x\.zip: model\.hdf5 is neither a file nor a folder",
        ),
        (
            {"b/options.json": b"{}", "b/model.hdf5": b""},
            r"x\.zip: expected .* of one model, got \['.*x\.zip/b/",
        ),
    ],
)
def test_unreadable_members_of_a_zip_archive_are_named(
    packed: dict[str, bytes],
    tmp_path: Path,
    changes: dict[str | zipfile.ZipInfo, bytes],
    message: str,
) -> None:
    names = {getattr(name, "filename", name) for name in changes}
    files = {name: content for name, content in packed.items() if name not in names}
    with pytest.raises(BiLmError, match=message):
        BiLm.from_pretrained(write_zip(tmp_path / "x.zip", {**files, **changes}))


def test_encrypted_and_truncated_archives_are_refused(
    packed: dict[str, bytes], tmp_path: Path
) -> None:
    path = write_zip(tmp_path / "x.zip", packed)
    content = path.read_bytes()
    path.write_bytes(content[:-100])
    with pytest.raises(BiLmError, match=r"x\.zip: not a whole zip archive"):
        BiLm.from_pretrained(path)
    encrypted = bytearray(content)
    start = 0
    while (start := encrypted.find(b"PK\x01\x02", start) + 1) > 0:
        encrypted[start + 7] |= 1  # the flag of an encrypted member
    path.write_bytes(encrypted)
    with pytest.raises(BiLmError, match=r"x\.zip: options\.json is encrypted; unpack the archive"):
        BiLm.from_pretrained(path)
