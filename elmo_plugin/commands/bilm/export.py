"""`elmo export`, `allennlp elmo-export`: a biLM in the layout of published ELMo models."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from elmo_plugin.bilm.io import CARD_NAME, DTYPES, Checkpoint, model_card, read_checkpoint, write_files
from elmo_plugin.commands.command import Command
from elmo_plugin.common.files import replace_when_written


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what says which biLM is written where."""
    add = parser.add_argument
    add(
        "source",
        help="model.tar.gz, or the directory, of a trained `bilm` model; the name of a pretrained biLM; "
        "or a directory with an options.json and a weights.hdf5",
    )
    add("output_directory", help="where options.json and weights.hdf5 are written")
    add("--dtype", choices=DTYPES, help="type of the numbers (default: the source's)")
    add("--no-softmax", action="store_true", help="leave out the softmax, which only training needs")
    add("--hf", action="store_true", help="add a model card, for a model hub such as Hugging Face's")


def export(
    source: str | Mapping[str, str],
    output_directory: str | Path,
    dtype: str | None = None,
    with_softmax: bool = True,
    with_card: bool = False,
) -> None:
    """
    # Parameters

    source : `str | Mapping[str, str]`
        Whatever `load_bilm` takes.
    output_directory : `str | Path`
        Gets `options.json` and `weights.hdf5`; made if it is not there.
    dtype : `str`, optional
        The type of the numbers in `weights.hdf5`. By default that of the source, so that no bit is lost.
    with_softmax : `bool`
        Whether the source's softmax, if it has one, is written with the biLM.
    with_card : `bool`
        Whether the folder gets a `README.md` that a model hub shows. One that is there stays as it is.

    Raises `BiLmError` where the source holds no biLM, `OSError` where a file cannot be written; then the
    options and the weights are what they were.
    """
    folder = Path(output_directory)
    stored = read_checkpoint(source, with_softmax)
    stored = stored._replace(weights=dict(stored.weights).items(), dtype=dtype or stored.dtype)
    options_file, weights_file = write_files(folder, stored)
    if with_card and not (folder / CARD_NAME).exists():
        _write_card(folder, stored)
    softmax = f"a softmax over {len(stored.softmax.words)} words" if stored.softmax else "no softmax"
    print(f"wrote {options_file} and {weights_file} with {softmax}")


def _write_card(folder: Path, stored: Checkpoint) -> None:
    parameters = sum(weights.numel() for _, weights in stored.weights)
    vocabulary_size = len(stored.softmax.words) if stored.softmax else None
    text = model_card(folder.resolve().name, stored.options, parameters, stored.dtype, vocabulary_size)
    with replace_when_written(folder / CARD_NAME) as temporary:
        temporary.write_text(text, encoding="utf-8")


COMMAND = Command(
    name="export",
    description="Write a biLM as the options.json and weights.hdf5 of published ELMo models.",
    add_arguments=add_arguments,
    run=lambda args: export(args.source, args.output_directory, args.dtype, not args.no_softmax, args.hf),
)
