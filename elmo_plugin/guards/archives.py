"""Archives of trained models: unpacked within their folder, read whole or not at all, and written whole."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from allennlp.commands import train
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import SigTermReceived
from allennlp.models import archival

from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.files import replace_when_written
from elmo_plugin.common.formats.archives import unpack
from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.common.formats.torch_files import check_tensors, load_plain

GET_WEIGHTS_PATH = archival.get_weights_path
LOAD_MODEL = archival._load_model
LOAD_DATASET_READERS = archival._load_dataset_readers
ARCHIVE_MODEL = archival.archive_model

StrPath = str | PathLike[str]
_TORCH = tuple(int(number) for number in re.findall(r"\d+", torch.__version__)[:2])


class UnpackedArchive(str):
    """The folder where an archive was unpacked, which AllenNLP hands on as a string, and the archive."""

    archive: str


@contextmanager
def extracted_archive(resolved_archive_file: StrPath, cleanup: bool = True) -> Iterator[str]:
    """
    Does what AllenNLP's function of this name does, but writes nothing outside the folder, and leaves none
    where it fails. Raises `ConfigurationError` where the archive is damaged.
    """
    folder = UnpackedArchive(tempfile.mkdtemp())
    folder.archive = str(resolved_archive_file)
    try:
        with as_configuration_error():
            unpack(str(resolved_archive_file), folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    try:
        yield folder
    finally:
        if cleanup:
            shutil.rmtree(folder, ignore_errors=True)


def get_weights_path(serialization_dir: StrPath) -> str:
    """Does what AllenNLP's does, and looks first whether there are weights and a configuration."""
    path = GET_WEIGHTS_PATH(serialization_dir)
    name = _name(serialization_dir)
    config = Path(serialization_dir) / archival.CONFIG_NAME
    with as_configuration_error():
        content = read_json_object(config, f"{name}, its {archival.CONFIG_NAME}")
    if not isinstance(content.get("model"), dict):
        raise ConfigurationError(f"{name}: its {archival.CONFIG_NAME} has no model")
    if not Path(path).is_file():
        raise ConfigurationError(f"{name}: has no {archival._WEIGHTS_NAME} or {Path(path).name}")
    return path


def load_model(config: Any, weights_path: StrPath, serialization_dir: StrPath, cuda_device: int) -> Any:
    """Does what AllenNLP's does with weights that are what was written."""
    name = _name(serialization_dir)
    with as_configuration_error():
        if (1, 13) <= _TORCH < (2, 6):  # whose `load` runs code unless it is told not to
            load_plain(weights_path, name)
        else:
            check_tensors(weights_path, name)
    with _named(name, "its model cannot be made"):
        return LOAD_MODEL(config, weights_path, serialization_dir, cuda_device)


def load_dataset_readers(config: Any, serialization_dir: StrPath) -> Any:
    """Does what AllenNLP's does, with errors that name the archive."""
    with _named(_name(serialization_dir), "its dataset reader cannot be made"):
        return LOAD_DATASET_READERS(config, serialization_dir)


def archive_model(
    serialization_dir: StrPath,
    weights: str = "best.th",
    archive_path: StrPath | None = None,
    include_in_archive: list[str] | None = None,
) -> str:
    """Does what AllenNLP's does, but writes the archive whole or not at all."""
    path = Path(archive_path or serialization_dir)
    if path.is_dir():
        path /= "model.tar.gz"
    with replace_when_written(path) as temporary:
        ARCHIVE_MODEL(serialization_dir, weights, temporary, include_in_archive)
    return str(path)


def install() -> None:
    """Puts these functions in the place of AllenNLP's, where its own functions look them up."""
    archival.extracted_archive = extracted_archive
    archival.get_weights_path = get_weights_path
    archival._load_model = load_model
    archival._load_dataset_readers = load_dataset_readers
    archival.archive_model = train.archive_model = archive_model


def _name(serialization_dir: StrPath) -> str:
    if isinstance(serialization_dir, UnpackedArchive):
        return f"archive {serialization_dir.archive}"
    return f"directory {serialization_dir}"


@contextmanager
def _named(name: str, what: str) -> Iterator[None]:
    """Turns whatever damage may make AllenNLP or torch raise into an error that names the archive."""
    try:
        yield
    except ConfigurationError as error:
        message = str(error)
        raise ConfigurationError(message if name in message else f"{name}: {message}") from error
    except (SigTermReceived, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())
        raise ConfigurationError(f"{name}: {what} ({type(error).__name__}: {reason})") from error
