"""Reading the biLM out of what `allennlp train` leaves behind for a `bilm` model, without AllenNLP."""

import io
import json
import pickle
import tarfile
from pathlib import Path

import torch
from torch import Tensor

from elmo_plugin.bilm.errors import BiLmError
from elmo_plugin.bilm.options import BiLmOptions

CONFIG_NAME = "config.json"
WEIGHTS_NAMES = ("weights.th", "best.th")  # in an archive, in a serialization directory
PREFIX = "bilm."


def read_archive(path: str | Path) -> tuple[BiLmOptions, dict[str, Tensor]]:
    """
    # Parameters

    path : `str | Path`
        A `model.tar.gz`, or the serialization directory of a training.

    # Returns

    `BiLmOptions`, `dict[str, Tensor]`
        The sizes, and the weights for `BiLm.load_state_dict`.

    Raises `BiLmError` where this is no archive of a `bilm` model.
    """
    config = json.loads(_read_member(Path(path), (CONFIG_NAME,)))
    model_type = config.get("model", {}).get("type")
    if model_type != "bilm":
        raise BiLmError(f"archive {path}: its model is not a `bilm`, but {model_type!r}")
    options = BiLmOptions.from_dict(config["model"]["options"], source=f"archive {path}, model.options")
    weights = io.BytesIO(_read_member(Path(path), WEIGHTS_NAMES))
    try:
        state = torch.load(weights, map_location="cpu", weights_only=True)
    except TypeError:
        raise BiLmError("torch before 1.13 cannot read an archive safely; export the biLM to files") from None
    except (pickle.UnpicklingError, RuntimeError, EOFError):
        raise BiLmError(f"archive {path}: its weights are no plain tensors, or damaged") from None
    return options, {
        name.removeprefix(PREFIX): tensor for name, tensor in state.items() if name.startswith(PREFIX)
    }


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
