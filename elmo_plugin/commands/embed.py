"""Write the vectors of a text to HDF5, safetensors, NumPy's .npz or CSV. A run that was stopped
continues when you start it again, and writes the same file.

    elmo embed text.txt vectors.npz
    elmo embed text.txt vectors.hdf5 --bilm original --top
    elmo embed proteins.fasta vectors.h5 --bilm seqvec --sum
    elmo embed - vectors.csv --tokenizer spacy < text.txt
"""

import argparse
import os
from pathlib import Path

from elmo_plugin.commands.options import (
    OutputPath,
    TextPattern,
    add,
    add_shared,
    output_paths,
    positive_int,
)
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import target_of
from elmo_plugin.common.streams import show

NEEDS = "torch"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    about = (
        "one sentence per line, or proteins in .fasta, .fa or .faa (plain, .gz or .zst); - for "
        "standard input; with --dask a quoted pattern"
    )
    add(parser, "text TEXT", about, TextPattern)
    about = "a file, .hdf5, .safetensors, .npz or .csv; with --dask a folder"
    add(parser, "output OUTPUT", about, OutputPath, nargs="?")
    add_shared(parser, "--output", dest="named_output")

    group = parser.add_argument_group("the output for a sentence (one of these)")
    layers = group.add_mutually_exclusive_group()
    choices = {
        "all": "all layers: (layers, words, dim)",
        "top": "the top layer: (words, dim)",
        "mean": "the mean of the layers: (words, dim); the default",
        "sum": "the sum of the layers: (words, dim), as SeqVec's",
    }
    for name, about in choices.items():
        add(layers, f"--{name}", about, dest="layers", action="store_const", const=name)
    add_shared(layers, "--mix")
    about = "one vector per protein (or sentence), the mean over its residues (or words): (dim,)"
    add(group, "--per-protein", about, dest="pooling", action="store_const", const="mean")
    about = "for --mix: which, if ARCHIVE has several, such as input or output (see elmo weights)"
    add(group, "--placement NAME", about)

    group = parser.add_argument_group("the biLM (default: base, and for --mix ARCHIVE's)")
    add_shared(group, "--bilm", "--precision", "--trust")
    add(group, "--options-file FILE", "options.json, with --weight-file")
    add(group, "--weight-file FILE", "weights.hdf5, with --options-file")

    group = parser.add_argument_group("the text")
    add(group, "--max-words N", "refuse longer lines", positive_int, default=100_000)
    add_shared(group, "--tokenizer", "--language", "--column")

    group = parser.add_argument_group("the file")
    add_shared(group, "--dtype", default="float32")
    about = "format of OUTPUT (default: by its suffix); fasta: TEXT is FASTA, whatever its suffix"
    formats = ("hdf5", "safetensors", "npz", "csv", "fasta")
    add(group, "--format", about, choices=formats, action="append", default=[])
    add(group, "--compression", "compress the vectors of HDF5", choices=["gzip"])
    about = "leave the sentences out"
    add(group, "--forget-sentences", about, dest="keep_sentences", action="store_false")
    about = "name HDF5's datasets by sentence, not by line"
    add(group, "--use-sentence-keys", about, dest="keys", action="store_const", const="sentence")
    parser.set_defaults(layers="mean", keys="line")

    group = parser.add_argument_group("the work")
    add_shared(group, "--batch-size", default=64)
    about = "number of words at a time, padding included"
    add(group, "--max-batch-tokens N", about, positive_int, default=8192)
    add_shared(group, "--workers", "--dask")
    add(group, "--threads N", "number of threads of each worker", positive_int, default=1)
    about = "processor: cpu, cuda or cuda:N, or several GPUs with commas"
    add(group, "--device DEVICE[,…]", about, lambda text: text.split(","), default="cpu")


def check_arguments(args: argparse.Namespace) -> None:
    if (args.output is None) == (args.named_output is None):
        raise BiLmError("expected one file to write, as OUTPUT or with --output")
    if (args.options_file is None) != (args.weight_file is None):
        raise BiLmError("--options-file and --weight-file go together")
    if [args.bilm, args.options_file, args.mix].count(None) < 2:
        raise BiLmError("give one biLM: --bilm, --options-file and --weight-file, or --mix")


def outputs(args: argparse.Namespace) -> list[OutputPath]:
    return output_paths(args) if args.dask is None else []


def resume_path(args: argparse.Namespace) -> Path:
    path = args.output or args.named_output or os.devnull
    return Path(path if args.dask is not None else f"{target_of(path)}.unfinished")


def run(args: argparse.Namespace) -> None:
    from elmo_plugin.embed_files import EmbedSettings, embed_file, embed_shards

    pair = args.options_file and {"options": args.options_file, "weights": args.weight_file}
    args.bilm = next((each for each in (args.bilm, pair, args.mix) if each is not None), "base")
    args.layers = "mix" if args.mix is not None else args.layers
    args.output = args.output or args.named_output
    args.gzip = 4 if args.compression else None
    settings = EmbedSettings(
        **{name: getattr(args, name) for name in EmbedSettings.__dataclass_fields__}
    )
    source_format = "fasta" if "fasta" in args.format else None
    output_format = next((name for name in args.format if name != "fasta"), None)
    if args.dask is None:
        how = output_format, args.workers, args.device, True, source_format
        is_new = embed_file(args.text, args.output, settings, *how)
        show(f"wrote {args.output}" if is_new else f"{args.output} is already complete")
    else:
        cluster = args.dask or None, args.workers or 1, args.device, source_format
        files = embed_shards(args.text, args.output, settings, output_format or "hdf5", *cluster)
        show(f"{args.output} has {len(files)} files")
