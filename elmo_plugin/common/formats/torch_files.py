"""
Files of torch, `.th` or `.pkl`: read with checks and without running code, and written completely.
"""

import io
import json
import os
import re
import warnings
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor, nn

from elmo_plugin.common.errors import BiLmError, message_of, raise_if_sigterm_or_out_of_memory
from elmo_plugin.common.files import atomic_write, reason
from elmo_plugin.common.formats.archives import MAX_BYTES, MAX_RATIO
from elmo_plugin.common.formats.json_files import parse_json

_MAJOR, _MINOR = re.findall(r"\d+", torch.__version__)[:2]
TORCH_VERSION = (int(_MAJOR), int(_MINOR))
EXTRA_STATE = "_extra_state"  # torch's name for a module's stored values other than tensors


def load_plain(file: str | os.PathLike[str] | bytes, name: str) -> Any:
    """
    Reads tensors and plain values from a file of `torch.save`, without running code. The tensors
    are on the CPU. `file` is a path, or the content of a file.

    Raises `BiLmError`, beginning with `name`, if the file is missing or damaged, or holds objects
    of other classes. Also refuses tensors that are sparse, quantized or of 8-bit floating point,
    and tensors that are far larger than the file.
    """
    check_tensors(file, name)
    try:
        content = torch.load(_opened(file), map_location="cpu", weights_only=True)
        size = sum(_size_of_plain(tensor) for tensor in _tensors_in(content))
    except Exception as error:  # damage can make the reader raise anything
        raise_if_sigterm_or_out_of_memory(error)
        raise BiLmError(f"{name}: its weights are not plain tensors, or damaged") from None
    _check_size(size, file, name)
    return content


def load_state(file: str | os.PathLike[str] | bytes, name: str) -> dict[str, Any]:
    """
    Reads the `state_dict` of a module, as `load_plain` does. Raises `BiLmError`, beginning with
    `name`, if the file holds anything but a dictionary with names.
    """
    state = load_plain(file, name)
    if not isinstance(state, dict) or not all(isinstance(key, str) for key in state):
        raise BiLmError(f"{name}: its weights are not tensors with names")
    return state


def check_tensors(file: str | os.PathLike[str] | bytes, name: str) -> None:
    """
    Compares the content of a file of torch with the checksums in it. Raises `BiLmError`, beginning
    with `name`, if the file is missing or damaged, or its content is far larger than the file.
    """
    opened = _opened(file)
    if isinstance(opened, Path) and not opened.exists():
        raise BiLmError(f"{name}: file not found")
    try:
        if not zipfile.is_zipfile(opened):
            return  # torch before 1.6 wrote another format, without checksums
        with zipfile.ZipFile(opened) as records:
            unpacked_size = sum(record.file_size for record in records.infolist())
            _check_size(unpacked_size, file, name)
            damaged = records.testzip()
    except OSError as error:
        raise BiLmError(f"{name}: cannot be read ({reason(error)})") from None
    except BiLmError:
        raise  # its message is clear already
    except Exception as error:  # damage can make the reader raise anything
        raise_if_sigterm_or_out_of_memory(error)
        raise BiLmError(f"{name}: its weights are damaged ({message_of(error)})") from None
    if damaged is not None:
        raise BiLmError(f"{name}: its weights are damaged ({damaged} does not match its checksum)")


def check_before_load(file: str | os.PathLike[str], name: str) -> None:
    """
    Checks a file that AllenNLP is about to load by `torch.load`. Raises `BiLmError`, beginning with
    `name`, if it is damaged. Before torch 2.6, `torch.load` runs the code in a file by default, so
    a file with code is refused too.
    """
    if TORCH_VERSION < (2, 6):
        load_plain(file, name)  # refuses code
        # torch still warns AllenNLP that the file may run code.
        warnings.filterwarnings(
            "ignore",
            message=r"You are using `torch\.load` with `weights_only=False`",
            category=FutureWarning,
            module=r"allennlp\.nn\.util",
        )
    else:
        check_tensors(file, name)


def save_tensors(content: Any, path: str | os.PathLike[str]) -> None:
    """
    Writes `content` by `torch.save`, completely or not at all. Raises `OSError` with the file and
    the reason.
    """
    try:
        with atomic_write(path) as temporary, open(temporary, "wb") as file:
            torch.save(content, file)
    except (OSError, RuntimeError) as error:
        system_error = _system_error_behind(error)
        if system_error is None:
            raise OSError(f"could not write {path}: {error}") from error
        message = f"could not write {path}: {reason(system_error)}"
        raise OSError(system_error.errno, message) from error


def _system_error_behind(error: BaseException) -> OSError | None:
    """
    Returns the error of the system during which torch raised its own `error`, or `error` itself if
    it is of the system. Returns `None` if the system reported no error.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError):
            return cause
        cause = cause.__context__
    return None


def check_finite(name: str, values: Any) -> Any:
    """
    Checks that a tensor has only real numbers that float32 can hold, and returns it. Raises
    `BiLmError`, beginning with `name`, if it has others. Values that are no tensor are returned
    unchecked.
    """
    if not isinstance(values, Tensor):
        return values
    if values.is_complex():
        raise BiLmError(f"{name} has complex numbers")
    if values.is_floating_point() and values.numel() > 0:
        # The smallest and the largest number. Both are NaN if any number is.
        extremes = torch.stack(torch.aminmax(values.detach()))
        if not extremes.float().isfinite().all():
            raise BiLmError(f"{name} has {_non_finite_number(extremes)} in it")
    return values


def _non_finite_number(extremes: Tensor) -> str:
    """Describes the number of a tensor that is not finite in float32, by the tensor's extremes."""
    if extremes.isnan().any():
        return "NaN"
    if extremes.isfinite().all():  # in their own type, float64
        return "a number beyond float32"
    return "an infinite number"


def check_all_finite(tensors: Iterable[tuple[str, Any]], name: str = "") -> None:
    """
    Raises `BiLmError` if some tensor of a model has a number that float32 cannot hold. The message
    names the tensor. It begins with `name`, the name of the model's file, if that is given.
    """
    for tensor_name, values in tensors:
        place = f"the tensor {tensor_name}"
        if name:
            place = f"{name}: {place}"
        check_finite(place, values)


class FiniteModule(nn.Module):
    """
    A module that raises `BiLmError` when weights are loaded that are NaN, infinite or complex.
    """

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        weights = [(key, values) for key, values in state_dict.items() if key.startswith(prefix)]
        check_all_finite(weights)
        super()._load_from_state_dict(state_dict, prefix, *args)


def json_to_tensor(content: Any) -> Tensor:
    """
    Returns the bytes of JSON as a tensor. The tensor is in float32, because tools that change
    weights, for example to average checkpoints, compute with all tensors of a file.
    """
    text = json.dumps(content).encode()
    # Shape: (bytes,)
    numbers = torch.frombuffer(bytearray(text), dtype=torch.uint8)
    return numbers.float()


def json_from_tensor(tensor: Tensor, name: str) -> Any:
    """
    Reads the JSON that `json_to_tensor` stored. Raises `BiLmError`, beginning with `name`, if the
    tensor is damaged.
    """
    if not isinstance(tensor, Tensor):
        raise BiLmError(f"{name}: it is damaged")
    content = tensor.to("cpu", torch.uint8)
    # The cast to bytes changes numbers that are no bytes. float64 holds the numbers of all types.
    are_bytes = torch.equal(content.double(), tensor.cpu().double())
    if not are_bytes:
        raise BiLmError(f"{name}: it is damaged")
    return parse_json(content.numpy().tobytes(), name)


def entries_from_tensor(tensor: Tensor, name: str, keys: Collection[str]) -> dict[str, Any]:
    """
    Reads an object with exactly these keys that `json_to_tensor` stored. Raises `BiLmError`,
    beginning with `name`, if the tensor is damaged, or holds anything else.
    """
    entries = json_from_tensor(tensor, name)
    if not isinstance(entries, dict) or set(entries) != set(keys):
        raise BiLmError(f"{name}: expected {', '.join(keys)}, got {entries!r}")
    return entries


def _tensors_in(content: Any) -> Iterator[Tensor]:
    """Yields the tensors in dictionaries, lists and tuples, at any depth."""
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, Mapping):
            waiting += value.values()
        elif isinstance(value, list | tuple):
            waiting += value


def _size_of_plain(tensor: Tensor) -> int:
    """
    Returns how many bytes the elements of a tensor take. That may be more than its file stores,
    because the elements of an expanded tensor share their bytes. Raises `ValueError` for kinds of
    tensors that models do not have.
    """
    is_dense = tensor.layout == torch.strided and not tensor.is_nested and not tensor.is_quantized
    is_float8 = tensor.is_floating_point() and tensor.element_size() == 1
    if not is_dense or tensor.is_meta or is_float8:
        raise ValueError(f"a tensor of {tensor.dtype}, {tensor.layout}")
    return tensor.numel() * tensor.element_size()


def _check_size(size: int, file: str | os.PathLike[str] | bytes, name: str) -> None:
    """
    Raises `BiLmError` if content of `size` bytes is far larger than its file. Content of up to
    `MAX_BYTES` is always accepted.
    """
    if isinstance(file, bytes):
        stored_size = len(file)
    else:
        stored_size = os.path.getsize(file)
    if size > max(MAX_BYTES, MAX_RATIO * stored_size):
        raise BiLmError(f"{name}: its content would be {size / 1e9:.1f} GB, far more than the file")


def _opened(file: str | os.PathLike[str] | bytes) -> Path | BinaryIO:
    """Returns a path, or a stream of the content, as torch and zipfile take them."""
    if isinstance(file, bytes):
        return io.BytesIO(file)
    return Path(file)
