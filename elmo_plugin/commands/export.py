"""Write a biLM as the options.json and weights.hdf5 of published ELMo models.

elmo export run/model.tar.gz exported
elmo export base exported --dtype float16 --hf
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

from elmo_plugin.commands.options import OutputPath, add, add_shared
from elmo_plugin.common.streams import show

NEEDS = "torch"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "bilm")
    add(parser, "output OUTPUT", "the folder for options.json and weights.hdf5", OutputPath)
    add_shared(parser, "--dtype")
    add(parser, "--no-softmax", "leave out the softmax, needed only in training")
    add(parser, "--hf", "add a model card, for a model hub such as Hugging Face's")


def outputs(args: argparse.Namespace) -> list[Path]:
    return [Path(args.output) / name for name in ("options.json", "weights.hdf5")]


def run(args: argparse.Namespace) -> None:
    export(args.bilm, args.output, args.dtype, not args.no_softmax, args.hf)


def export(
    source: str | Mapping[str, str],
    folder: str | Path,
    dtype: str | None = None,
    with_softmax: bool = True,
    with_card: bool = False,
) -> None:
    """
    Writes both files, in the source's dtype by default, or neither: earlier ones then stay.
    `with_card` adds a `README.md` for a model hub, unless there is one. Raises `BiLmError` if the
    source contains no biLM.
    """
    from elmo_plugin.bilm.io import read_checkpoint, write_card, write_files

    stored = read_checkpoint(source, with_softmax=with_softmax)
    stored = stored._replace(weights=dict(stored.weights).items(), dtype=dtype or stored.dtype)
    options_file, weights_file = write_files(Path(folder), stored)
    if with_card:
        write_card(Path(folder), stored)
    softmax = (
        f"a softmax over {len(stored.softmax.words)} words" if stored.softmax else "no softmax"
    )
    show(f"wrote {options_file} and {weights_file} with {softmax}")
