"""`elmo export`: writes a biLM in the layout of published ELMo models."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from elmo_plugin.bilm.io import read_checkpoint, write_card, write_files
from elmo_plugin.common.streams import show


def export(
    source: str | Mapping[str, str],
    output_directory: str | Path,
    dtype: str | None = None,
    with_softmax: bool = True,
    with_card: bool = False,
) -> None:
    """
    Writes a biLM to `options.json` and `weights.hdf5` in a folder, by default in the source's dtype.
    `with_card` adds a `README.md` for a model hub, unless there is one.

    Raises `BiLmError` if the source contains no biLM, and `OSError` if a file cannot be written; earlier
    files then stay unchanged.
    """
    folder = Path(output_directory)
    stored = read_checkpoint(source, with_softmax=with_softmax)
    stored = stored._replace(weights=dict(stored.weights).items(), dtype=dtype or stored.dtype)
    options_file, weights_file = write_files(folder, stored)
    if with_card:
        write_card(folder, stored)
    softmax = f"a softmax over {len(stored.softmax.words)} words" if stored.softmax else "no softmax"
    show(f"wrote {options_file} and {weights_file} with {softmax}")


def run(args: argparse.Namespace) -> None:
    export(args.bilm, args.output, args.dtype, not args.no_softmax, args.hf)
