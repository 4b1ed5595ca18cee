"""What `allennlp train` leaves behind for a `bilm` model, read and written without AllenNLP."""

import io
import json
import re
import tarfile
from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor

from elmo_plugin.bilm.io.hdf5_weights import SoftmaxWeights
from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import replace_when_written
from elmo_plugin.common.json_tensor import json_from_tensor

CONFIG_NAME = "config.json"
WEIGHTS_NAMES = ("weights.th", "best.th")  # in an archive, in a serialization directory
PREFIX = "bilm."

ArchivedBiLm = tuple[BiLmOptions, dict[str, Tensor], SoftmaxWeights | None]


def read_archive(path: str | Path, with_softmax: bool = True) -> ArchivedBiLm:
    """
    # Parameters

    path : `str | Path`
        A `model.tar.gz`, or the serialization directory of a training.
    with_softmax : `bool`
        Whether the softmax is read, too.

    # Returns

    `BiLmOptions`, `dict[str, Tensor]`
        The sizes, and the weights for `BiLm.load_state_dict`.
    `SoftmaxWeights | None`
        The softmax that the biLM was trained with: its words are from the archive's vocabulary, in the
        vocabulary's numbering. `None` where the archive has no softmax.

    Raises `BiLmError` where this is no archive of a `bilm` model, and where the vocabulary is missing or of
    another size than the softmax.
    """
    config, state = _read_config(path), read_state(path)
    options = config["model"].get("options") or options_from_state(state, name=f"archive {path}")
    weights = {name.removeprefix(PREFIX): state[name] for name in state if name.startswith(PREFIX)}
    return (
        BiLmOptions.from_dict(options, source=f"archive {path}, model.options"),
        weights,
        _softmax(path, config, state) if with_softmax else None,
    )


def replace_weights(
    source: str | Path, output: str | Path, weights: Mapping[str, Tensor], softmax: SoftmaxWeights
) -> None:
    """
    Writes an archive that is another one but for its weights, which have the same names and sizes.

    # Parameters

    source : `str | Path`
        A `model.tar.gz`.
    output : `str | Path`
        The archive to be written.
    weights : `Mapping[str, Tensor]`
        Those of the biLM, as `read_archive` gives them.
    softmax : `SoftmaxWeights`
        Over the same words.
    """
    state = read_state(source)
    state |= {f"{PREFIX}{name}": tensor for name, tensor in weights.items()}
    state |= {"softmax.weight": softmax.weight, "softmax.bias": softmax.bias}
    content = io.BytesIO()
    torch.save(state, content)
    with (
        tarfile.open(source, "r:*") as old,
        replace_when_written(output) as temporary,
        tarfile.open(temporary, "w:gz") as new,
    ):
        for member in old:
            file = old.extractfile(member) if member.isfile() else None
            if member.name.removeprefix("./") in WEIGHTS_NAMES:
                member.size = len(content.getvalue())
                file = io.BytesIO(content.getvalue())
            new.addfile(member, file)


def _softmax(path: str | Path, config: dict[str, Any], state: dict[str, Any]) -> SoftmaxWeights | None:
    if "softmax.weight" not in state:
        return None
    weight, bias = state["softmax.weight"].float(), state["softmax.bias"].float()
    name = f"vocabulary/{config['model'].get('namespace', 'words')}.txt"
    words = _read_words(_read_member(Path(path), (name,)), f"archive {path}, {name}")
    if len(words) == len(weight) - 1:  # AllenNLP leaves out the padding, which has the number 0
        words.insert(0, (config.get("vocabulary") or {}).get("padding_token") or "@@PADDING@@")
    if len(words) != len(weight):
        raise BiLmError(f"archive {path}: its softmax has {len(weight)} words, but {name} has {len(words)}")
    return SoftmaxWeights(weight, bias, words)


def read_state(path: str | Path) -> dict[str, Any]:
    """
    The weights of any model in an archive or a serialization directory, on the CPU.

    Raises `BiLmError` where there are none.
    """
    return load_plain(io.BytesIO(_read_member(Path(path), WEIGHTS_NAMES)), name=f"archive {path}")


def load_plain(file: str | Path | BinaryIO, name: str) -> dict[str, Any]:
    """
    The content of a `.th` file, on the CPU: tensors and plain values only, so that no code is run.

    Raises `BiLmError`, which calls the file `name`.
    """
    if "weights_only" not in signature(torch.load).parameters:
        raise BiLmError("torch before 1.13 cannot read an archive safely; export the biLM to files")
    try:
        return torch.load(file, map_location="cpu", weights_only=True)
    except Exception:  # damage can make the reader stumble over anything
        raise BiLmError(f"{name}: its weights are no plain tensors, or damaged") from None


def options_from_state(state: dict[str, Any], name: str) -> dict[str, Any]:
    """
    The options that a `bilm` model keeps with its weights, as its extra state in torch's sense.

    Raises `BiLmError`, which calls the weights `name`.
    """
    try:
        stored = state["_extra_state"]
        return (json_from_tensor(stored) if isinstance(stored, Tensor) else stored)["options"]
    except (KeyError, ValueError):
        raise BiLmError(f"{name}: its weights do not say the options of the biLM") from None


def _read_config(path: str | Path) -> dict[str, Any]:
    try:
        config = json.loads(_read_member(Path(path), (CONFIG_NAME,)))
    except json.JSONDecodeError as error:
        raise BiLmError(f"archive {path}: its {CONFIG_NAME} is no JSON ({error})") from None
    model_type = config.get("model", {}).get("type")
    if model_type != "bilm":
        raise BiLmError(f"archive {path}: its model is not a `bilm`, but {model_type!r}")
    return config


def _read_words(content: bytes, name: str) -> list[str]:
    """The words of a vocabulary file of AllenNLP, one a line."""
    try:
        lines = re.split(r"\r?\n", content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BiLmError(f"{name}: not UTF-8 ({error})") from None
    if lines[-1] == "":
        lines.pop()
    return [line.replace("@@NEWLINE@@", "\n") for line in lines]


def _read_member(path: Path, names: tuple[str, ...]) -> bytes:
    """The content of the first of `names` that the archive or directory has."""
    if path.is_dir():
        for name in names:
            if (path / name).is_file():
                return (path / name).read_bytes()
        raise BiLmError(f"directory {path}: has no {' or '.join(names)}")
    if not path.is_file():
        raise BiLmError(f"archive {path}: there is no such file")
    try:
        with tarfile.open(path, "r:*") as archive:
            for member in archive:
                if member.isfile() and member.name.removeprefix("./") in names:
                    content = archive.extractfile(member)
                    if content is not None:
                        return content.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        raise BiLmError(f"archive {path}: not a whole tar archive ({error})") from None
    raise BiLmError(f"archive {path}: has no {' or '.join(names)}")
