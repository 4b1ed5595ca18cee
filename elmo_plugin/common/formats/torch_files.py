"""
Files of torch, `.th` or `.pkl`: read with checks and without running code, and written completely.
"""

import io
import json
import os
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping
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


def load_plain(file: str | os.PathLike[str] | bytes, name: str) -> Any:
    """
    Reads tensors and plain values from a file of `torch.save`, without running code. The tensors
    are on the CPU. `file` is a path, or the content of a file. Raises `BiLmError`, beginning with
    `name`, if the file is missing, differs from its checksums or holds other values; or if a tensor
    is sparse, quantized, of 8-bit floating point, or far larger than the file.
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


def check_tensors(file: str | os.PathLike[str] | bytes, name: str) -> None:
    """
    Compares the content of a file of torch with its checksums. Raises `BiLmError`, beginning with
    `name`, if it is missing, damaged, or would unpack to far more than the file. Files of torch
    before 1.6 are no zip archives, and are not checked.
    """
    opened = _opened(file)
    if isinstance(opened, Path) and not opened.exists():
        raise BiLmError(f"{name}: file not found")
    try:
        if not zipfile.is_zipfile(opened):
            return
        with zipfile.ZipFile(opened) as records:
            _check_size(sum(record.file_size for record in records.infolist()), file, name)
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
    Checks a file that another library is about to load by `torch.load`. Raises `BiLmError`,
    beginning with `name`, if it is damaged. Before torch 2.6, `torch.load` runs code by default, so
    the file must also be one that `load_plain` reads.
    """
    if TORCH_VERSION < (2, 6):
        load_plain(file, name)
        # AllenNLP loads it next, and torch would warn of code in it.
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
        # The system's error has the reason, but torch may raise another one while it handles it.
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, OSError):
            cause = cause.__context__
        if cause is None:
            raise OSError(f"could not write {path}: {error}") from error
        raise OSError(cause.errno, f"could not write {path}: {reason(cause)}") from error


def check_finite(name: str, values: Any) -> Any:
    """
    Returns the values unchanged. Raises `BiLmError` if they are a tensor with a number that
    float32 cannot hold.
    """
    if not isinstance(values, Tensor):
        return values
    if values.is_complex():
        raise BiLmError(f"{name} has complex numbers")
    if values.is_floating_point() and values.numel() > 0:
        extremes = torch.stack(torch.aminmax(values.detach()))
        if not extremes.float().isfinite().all():
            wrong = "an infinite number"
            if values.isnan().any():
                wrong = "NaN"
            elif extremes.isfinite().all():  # in their own type, such as float64
                wrong = "a number beyond float32"
            raise BiLmError(f"{name} has {wrong} in it")
    return values


def check_all_finite(tensors: Iterable[tuple[str, Any]], name: str = "") -> None:
    """
    Raises `BiLmError` if some tensor of a model has a number that float32 cannot hold. The message
    begins with the tensor's name, or with the `name` of its file if that is given.
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
    Returns the bytes of JSON as a tensor. It is in float32 because tools for weights, such as those
    that average checkpoints, compute with all tensors.
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
    is_changed = not torch.equal(content.double(), tensor.cpu().double())
    if is_changed:  # some number is no byte
        raise BiLmError(f"{name}: it is damaged")
    return parse_json(content.numpy().tobytes(), name)


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
    Returns the bytes of all elements of a tensor. A file can have fewer, because an expanded tensor
    stores an element once. Raises `ValueError` for tensors that models do not have.
    """
    is_dense = tensor.layout == torch.strided and not tensor.is_nested and not tensor.is_quantized
    is_float8 = tensor.is_floating_point() and tensor.element_size() < 2
    if not is_dense or tensor.is_meta or is_float8:
        raise ValueError(f"a tensor of {tensor.dtype}, {tensor.layout}")
    return tensor.numel() * tensor.element_size()


def _check_size(size: int, file: str | os.PathLike[str] | bytes, name: str) -> None:
    """Raises `BiLmError` if content of `size` bytes is far larger than its file."""
    if isinstance(file, bytes):
        stored = len(file)
    else:
        stored = os.path.getsize(file)
    if size > max(MAX_BYTES, MAX_RATIO * stored):
        raise BiLmError(f"{name}: its content would be {size / 1e9:.1f} GB, far more than the file")


def _opened(file: str | os.PathLike[str] | bytes) -> Path | BinaryIO:
    """Returns a path, or a stream of the content, as torch and zipfile take them."""
    if isinstance(file, bytes):
        return io.BytesIO(file)
    return Path(file)
