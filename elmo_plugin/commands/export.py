"""Write a biLM as the options.json and weights.hdf5 of published ELMo models.

elmo export run/model.tar.gz exported
elmo export base exported --dtype float16 --hf
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

from elmo_plugin.commands.options import OutputPath, add_shared
from elmo_plugin.common.streams import show

NEEDS = "torch"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "bilm")
    parser.add_argument(
        "output",
        metavar="OUTPUT",
        type=OutputPath,
        help="the folder for options.json and weights.hdf5",
    )
    add_shared(parser, "--dtype")
    parser.add_argument(
        "--no-softmax",
        action="store_true",
        help="leave out the softmax; only training needs it",
    )
    parser.add_argument(
        "--hf",
        action="store_true",
        help="add a model card, for a model hub such as Hugging Face's",
    )


def outputs(args: argparse.Namespace) -> list[Path]:
    """Returns both files that are always written."""
    return [Path(args.output) / name for name in ("options.json", "weights.hdf5")]


def run(args: argparse.Namespace) -> None:
    export(
        args.bilm,
        args.output,
        dtype=args.dtype,
        with_softmax=not args.no_softmax,
        with_card=args.hf,
    )


def export(
    source: str | Mapping[str, str],
    folder: str | Path,
    dtype: str | None = None,
    with_softmax: bool = True,
    with_card: bool = False,
) -> None:
    """
    Writes a biLM as `options.json` and `weights.hdf5`. After an error, neither file is written or
    changed. The weights keep their type if `dtype` is `None`. `with_card` adds a `README.md` for a
    model hub, if the folder does not have one. Raises `BiLmError` if the source is not a biLM.
    """
    from elmo_plugin.bilm.io import read_checkpoint, write_card, write_files

    stored = read_checkpoint(source, with_softmax=with_softmax)
    # The weights of a checkpoint can be read only once, but the files and the card need them.
    weights = dict(stored.weights)
    stored = stored._replace(weights=weights.items())
    if dtype is not None:
        stored = stored._replace(dtype=dtype)
    options_file, weights_file = write_files(Path(folder), stored)
    if with_card:
        write_card(Path(folder), stored)
    if stored.softmax:
        softmax = f"a softmax over {len(stored.softmax.words)} words"
    else:
        softmax = "no softmax"
    show(f"wrote {options_file} and {weights_file} with {softmax}")
