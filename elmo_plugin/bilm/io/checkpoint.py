"""A biLM outside of the network: its parts, the files that it is written to, and its digest."""

import json
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm.io.card import CARD_NAME, Card
from elmo_plugin.bilm.io.hdf5_weights import write_weights
from elmo_plugin.bilm.io.softmax_weights import SoftmaxWeights
from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import atomic_write, atomic_write_all
from elmo_plugin.common.outputs import refuse_folder

OPTIONS_NAME = "options.json"
WEIGHTS_NAME = "weights.hdf5"
_CARD = Path(__file__).with_name("card.md")
_DIGEST_VERSION = b"elmo_plugin 1"  # raise it if the same biLM gives other numbers


class Checkpoint(NamedTuple):
    """
    A stored biLM.

    options: the sizes
    weights: names and tensors for `BiLm.load_weights`; each is read when the iteration reaches it
    softmax: the softmax that the biLM was trained with, if it is stored and requested
    dtype: the type of the stored weights, one of `DTYPES`
    card: the content of its model card, if it has one
    """

    options: BiLmOptions
    weights: Iterable[tuple[str, Tensor]]
    softmax: SoftmaxWeights | None = None
    dtype: str = "float32"
    card: Card | None = None


def write_files(folder: str | Path, checkpoint: Checkpoint) -> tuple[Path, Path]:
    """
    Writes a biLM as the two files of published models, and returns their paths. A process that is
    killed meanwhile may have replaced only one of them; reading then refuses the pair. Raises
    `BiLmError` if the weights are damaged or do not fit the format, and `OSError` if the system
    cannot write the files.
    """
    files = (Path(folder) / OPTIONS_NAME, Path(folder) / WEIGHTS_NAME)
    for file in files:
        refuse_folder(file)
    with atomic_write_all(files) as (options_file, weights_file):
        checkpoint.options.to_file(options_file)
        try:
            write_weights(
                weights_file,
                dict(checkpoint.weights),
                checkpoint.options,
                checkpoint.dtype,
                checkpoint.softmax,
            )
        except BiLmError as error:
            raise BiLmError(f"weight file {files[1]}: {error}") from None
    return files


def write_card(folder: str | Path, checkpoint: Checkpoint) -> None:
    """
    Writes a model card next to the files of a biLM, unless there is one. It keeps what the card of
    the source says about training data and licence. All weights are read, to count the parameters.
    """
    path = Path(folder) / CARD_NAME
    if path.exists():
        return
    options = checkpoint.options
    softmax = "none"
    if checkpoint.softmax is not None:
        softmax = f"{len(checkpoint.softmax.words):,} words"
    text = _CARD.read_text(encoding="utf-8").format(
        title=path.parent.resolve().name,
        cnn=options.char_cnn,
        lstm=options.lstm,
        num_layers=options.lstm.n_layers + 1,
        output_dim=2 * options.lstm.projection_dim,
        parameters=sum(values.numel() for _, values in checkpoint.weights),
        dtype=checkpoint.dtype,
        softmax=softmax,
        card=checkpoint.card or Card(),
    )
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def weights_digest(
    options: BiLmOptions, precision: str, tensors: Iterable[tuple[str, Tensor]]
) -> bytes:
    """
    Returns 32 bytes that identify a biLM: its sizes, its precision, and the bytes of its weights.
    """
    digest = blake2b(digest_size=32, person=_DIGEST_VERSION)
    settings = json.dumps([options.to_dict(), precision], sort_keys=True)
    digest.update(settings.encode())
    for name, tensor in tensors:
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        values = tensor.detach().cpu().contiguous().flatten()
        digest.update(values.view(torch.uint8).numpy().data)
    return digest.digest()
