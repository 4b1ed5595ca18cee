"""Files of torch, `.th` or `.pkl`: read without running code and with checks, written whole."""

import inspect
import io
import os
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor

from elmo_plugin.common.errors import BiLmError, raise_stop
from elmo_plugin.common.files import reason, replace_when_written
from elmo_plugin.common.formats.archives import MAX_BYTES, MAX_RATIO


def load_plain(file: str | os.PathLike[str] | bytes, name: str) -> Any:
    """
    Reads what `torch.save` wrote, onto the CPU: tensors and plain values only, so that no code is run. The
    checksums that torch writes with each tensor since 1.6, but does not look at, are compared.

    # Parameters

    file : `str | PathLike | bytes`
        A path, or the content of a file.
    name : `str`
        What error messages begin with.

    Raises `BiLmError` where the file is missing or damaged, or has something else in it.
    """
    if "weights_only" not in inspect.signature(torch.load).parameters:
        raise BiLmError("torch before 1.13 cannot read an archive safely; export the biLM to files")
    check_tensors(file, name)
    try:
        return torch.load(_opened(file), map_location="cpu", weights_only=True)
    except Exception as error:  # damage can make the reader stumble over anything
        raise_stop(error)
        raise BiLmError(f"{name}: its weights are no plain tensors, or damaged") from None


def check_tensors(file: str | os.PathLike[str] | bytes, name: str) -> None:
    """
    Compares the checksums in a file of torch, at some 2 GB a second. Files of torch before 1.6 have none.

    Raises `BiLmError`, beginning with `name`, where the file is missing or damaged.
    """
    opened = _opened(file)
    try:
        if not zipfile.is_zipfile(opened):
            return
        with zipfile.ZipFile(opened) as records:
            size = sum(record.file_size for record in records.infolist())
            if size > max(MAX_BYTES, MAX_RATIO * _size(file)):
                raise BiLmError(f"{name}: its content would be {size / 1e9:.1f} GB, far more than the file")
            damaged = records.testzip()
    except FileNotFoundError:
        raise BiLmError(f"{name}: there is no such file") from None
    except OSError as error:
        raise BiLmError(f"{name}: cannot be read ({reason(error)})") from None
    except BiLmError:
        raise
    except Exception as error:  # likewise
        raise_stop(error)
        raise BiLmError(f"{name}: its weights are damaged ({error or type(error).__name__})") from None
    if damaged is not None:
        raise BiLmError(f"{name}: its weights are damaged ({damaged} is not what was written)")


def save_tensors(content: Any, path: str | os.PathLike[str]) -> None:
    """
    Writes what `torch.save` can write, whole or not at all.

    Raises `OSError` where it cannot be written, with the file and the reason; what was at `path` is then
    still there.
    """
    try:
        with replace_when_written(path) as temporary, open(temporary, "wb") as file:
            torch.save(content, file)
    except (OSError, RuntimeError) as error:
        cause = _os_error(error)
        if cause is None:
            raise OSError(f"could not write {path}: {error}") from error
        raise OSError(cause.errno, f"could not write {path}: {reason(cause)}") from error


def check_finite(name: str, values: Any) -> Any:
    """
    Returns what was read from a file. Raises `BiLmError`, beginning with `name`, where it is a tensor with a
    number that is infinite or none, or would be so in float32.
    """
    if not isinstance(values, Tensor):
        return values
    if values.is_complex():
        raise BiLmError(f"{name} has complex numbers")
    if values.is_floating_point() and values.numel() > 0:
        extremes = torch.stack(torch.aminmax(values.detach()))
        if not extremes.float().isfinite().all():
            wrong = "NaN" if values.isnan().any() else "an infinite number"
            if extremes.isfinite().all():
                wrong = "a number beyond float32"
            raise BiLmError(f"{name} has {wrong} in it")
    return values


def check_all_finite(tensors: Iterable[tuple[str, Any]], name: str = "") -> None:
    """Does so for each tensor of a model, and calls it by its own name, after that of a file."""
    for tensor, values in tensors:
        check_finite(f"{name}: the tensor {tensor}" if name else f"the tensor {tensor}", values)


def _opened(file: str | os.PathLike[str] | bytes) -> Path | BinaryIO:
    return io.BytesIO(file) if isinstance(file, bytes) else Path(file)


def _size(file: str | os.PathLike[str] | bytes) -> int:
    return len(file) if isinstance(file, bytes) else os.path.getsize(file)


def _os_error(error: BaseException | None) -> OSError | None:
    """The system's error that caused `error`: torch may raise another while it handles that of a write."""
    while error is not None and not isinstance(error, OSError):
        error = error.__context__
    return error
