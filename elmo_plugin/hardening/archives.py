"""Archives of trained models: unpacked within their folder, and read only if they are undamaged."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import SigTermReceived
from allennlp.models import archival

from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.formats.archives import unpack
from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.common.formats.torch_files import check_before_load

GET_WEIGHTS_PATH = archival.get_weights_path
LOAD_MODEL = archival._load_model
LOAD_DATASET_READERS = archival._load_dataset_readers

StrPath = str | PathLike[str]


class UnpackedArchive(str):
    """The folder that an archive was unpacked into, as the string that AllenNLP passes on."""

    archive: str


@contextmanager
def extracted_archive(resolved_archive_file: StrPath, cleanup: bool = True) -> Iterator[str]:
    """Writes nothing outside the folder. Raises `ConfigurationError` if the archive is damaged."""
    folder = UnpackedArchive(tempfile.mkdtemp())
    folder.archive = str(resolved_archive_file)
    is_kept = False
    try:
        with as_configuration_error():
            unpack(str(resolved_archive_file), folder)
        is_kept = not cleanup
        yield folder
    finally:
        if not is_kept:
            shutil.rmtree(folder, ignore_errors=True)


def get_weights_path(serialization_dir: StrPath) -> str:
    """Raises `ConfigurationError` if there are no weights, or no configuration of a model."""
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
    """Runs no code from the weights. Raises `ConfigurationError`, naming the archive, if they are damaged."""
    name = _name(serialization_dir)
    with as_configuration_error():
        check_before_load(weights_path, name)
    with _errors_name(name, "its model cannot be made"):
        return LOAD_MODEL(config, weights_path, serialization_dir, cuda_device)


def load_dataset_readers(config: Any, serialization_dir: StrPath) -> Any:
    """Raises `ConfigurationError`, naming the archive, if its dataset readers cannot be made."""
    with _errors_name(_name(serialization_dir), "its dataset reader cannot be made"):
        return LOAD_DATASET_READERS(config, serialization_dir)


def _name(serialization_dir: StrPath) -> str:
    if isinstance(serialization_dir, UnpackedArchive):
        return f"archive {serialization_dir.archive}"
    return f"directory {serialization_dir}"


@contextmanager
def _errors_name(name: str, what: str) -> Iterator[None]:
    """Turns any error into one that names the archive: damage can make AllenNLP and torch raise anything."""
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


archival.extracted_archive = extracted_archive
archival.get_weights_path = get_weights_path
archival._load_model = load_model
archival._load_dataset_readers = load_dataset_readers
