"""Write the vectors of a text to HDF5, safetensors, NumPy's .npz or CSV. If a run is stopped, start
the same command again: it continues, and writes the same file.

    elmo embed text.txt vectors.npz
    elmo embed text.txt vectors.hdf5 --bilm original --top
    elmo embed proteins.fasta vectors.h5 --bilm seqvec --sum
    elmo embed - vectors.csv --tokenizer spacy < text.txt
    elmo embed reviews.csv vectors.npz --column text --tokenizer spacy
"""

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from elmo_plugin.commands.options import (
    BILM_NAMES,
    OutputPath,
    TextPattern,
    add_shared,
    cluster_address,
    is_column_number,
    output_paths,
    positive_int,
)
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.streams import show
from elmo_plugin.common.unfinished import unfinished_path

if TYPE_CHECKING:
    from elmo_plugin.embed_files import EmbedSettings, Record

NEEDS = "torch"
_TABLE = re.compile(r"\.(csv|xlsx|xlsm|parquet|arrow|feather)(\.gz|\.zst)?$", re.IGNORECASE)
LAYERS = {
    "all": "all layers: (layers, words, dim)",
    "top": "the top layer: (words, dim)",
    "mean": "the mean of the layers: (words, dim); the default",
    "sum": "the sum of the layers: (words, dim), as SeqVec's",
}
"""The options that choose layers, and the result of each for a sentence."""
GZIP_LEVEL = 4


class TextToEmbed(TextPattern):
    """The TEXT of `elmo embed`, with hints for what people type in its place."""

    def _hint_if_missing(self) -> str:
        if self in BILM_NAMES:  # in other commands, the biLM is the first argument
            return f"; {self} is a biLM: elmo embed TEXT OUTPUT --bilm {self}"
        if self.looks_like_sentence:
            return "; name a file of text, or - and pipe the text: echo TEXT | elmo embed - OUTPUT"
        return ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "text",
        metavar="TEXT",
        type=TextToEmbed,
        help="one sentence per line, or proteins in .fasta, .fa or .faa (plain, .gz or .zst); "
        "or a table with a column of texts, or of words, as .csv or .xlsx; - for standard input; "
        "with --dask a quoted pattern of files",
    )
    parser.add_argument(
        "output",
        metavar="OUTPUT",
        type=OutputPath,
        nargs="?",
        help="a file, .hdf5, .safetensors, .npz or .csv; with --dask a folder",
    )
    add_shared(parser, "--output", dest="named_output")
    _add_layers(parser.add_argument_group("the output for a sentence (one of these)"))
    _add_bilm(parser.add_argument_group("the biLM (default: base, and for --mix ARCHIVE's)"))
    _add_text(parser.add_argument_group("the text"))
    _add_file(parser.add_argument_group("the file"))
    _add_work(parser.add_argument_group("the work"))


def _add_layers(group: argparse._ArgumentGroup) -> None:
    """Adds the options that choose layers, and the form of a sentence's vectors."""
    layers = group.add_mutually_exclusive_group()
    for name, about in LAYERS.items():
        layers.add_argument(
            f"--{name}", dest="layers", action="store_const", const=name, default="mean", help=about
        )
    add_shared(layers, "--mix")
    group.add_argument(
        "--per-protein",
        dest="pooling",
        action="store_const",
        const="mean",
        help="one vector per protein (or sentence), the mean over its residues (or words): (dim,)",
    )
    group.add_argument(
        "--placement",
        metavar="NAME",
        help="for --mix: which mix, if ARCHIVE has several, such as input or output "
        "(see elmo weights)",
    )


def _add_bilm(group: argparse._ArgumentGroup) -> None:
    """Adds the options for the biLM."""
    add_shared(group, "--bilm", "--precision", "--trust")
    group.add_argument("--options-file", metavar="FILE", help="options.json, with --weight-file")
    group.add_argument("--weight-file", metavar="FILE", help="weights.hdf5, with --options-file")


def _add_text(group: argparse._ArgumentGroup) -> None:
    """Adds the options for how the text is read."""
    group.add_argument(
        "--input-format",
        choices=("text", "fasta"),
        help="format of TEXT (default: by its suffix)",
    )
    group.add_argument(
        "--max-words",
        metavar="N",
        type=positive_int,
        default=100_000,
        help="refuse a line with more words (default: %(default)s)",
    )
    add_shared(group, "--tokenizer", "--language")
    group.add_argument(
        "--column",
        metavar="COLUMN",
        help="in a table, the column of texts: its name, or its number from 0. In a file with a "
        "word in each line and blank lines between sentences, the number of the column of words; "
        "spaces in a word become _",
    )


def _add_file(group: argparse._ArgumentGroup) -> None:
    """Adds the options of the output file."""
    add_shared(group, "--dtype", default="float32")
    group.add_argument(
        "--format",
        choices=("hdf5", "safetensors", "npz", "csv"),
        help="format of OUTPUT (default: by its suffix; with --dask hdf5)",
    )
    group.add_argument("--compression", choices=["gzip"], help="compress the vectors of HDF5")
    group.add_argument(
        "--forget-sentences",
        dest="keep_sentences",
        action="store_false",
        help="write the vectors without the sentences",
    )
    group.add_argument(
        "--use-sentence-keys",
        dest="keys",
        action="store_const",
        const="sentence",
        default="line",
        help="name HDF5's datasets by sentence, not by line",
    )


def _add_work(group: argparse._ArgumentGroup) -> None:
    """Adds the options for the machine: batches, workers, threads and devices."""
    add_shared(group, "--batch-size", default=64)
    group.add_argument(
        "--max-batch-tokens",
        metavar="N",
        type=positive_int,
        default=8192,
        help="number of words at a time, padding included (default: %(default)s)",
    )
    add_shared(group, "--workers", "--dask")
    group.add_argument(
        "--threads",
        metavar="N",
        type=positive_int,
        default=1,
        help="number of threads of each process (default: %(default)s)",
    )
    group.add_argument(
        "--device",
        metavar="DEVICE[,…]",
        type=devices,
        default="cpu",
        help="processor: cpu, cuda or cuda:N, or several GPUs with commas between them "
        "(default: %(default)s)",
    )


def devices(text: str) -> list[str]:
    """Parses `cpu`, `cuda:1`, or `cuda:0,cuda:1`."""
    return text.split(",")


def check_arguments(args: argparse.Namespace) -> None:
    """Raises `BiLmError` if arguments do not go together."""
    outputs_given = [path for path in (args.output, args.named_output) if path is not None]
    if len(outputs_given) != 1:
        raise BiLmError("expected one file to write, as in elmo embed TEXT vectors.npz")
    if (args.options_file is None) != (args.weight_file is None):
        raise BiLmError("--options-file and --weight-file go together")
    bilm_sources = (args.bilm, args.options_file, args.mix)
    bilms_given = [source for source in bilm_sources if source is not None]
    if len(bilms_given) > 1:
        raise BiLmError("give one biLM: --bilm, --options-file and --weight-file, or --mix")
    if args.input_format is not None and _has_table(args):
        raise BiLmError("--input-format: expected lines of text or FASTA, got a table")
    if args.dask is not None and _has_table(args):
        raise BiLmError("--dask: expected texts with a sentence in each line, got a table")


def outputs(args: argparse.Namespace) -> list[OutputPath]:
    """Returns the file to write, for a check that it can be written."""
    if args.dask is not None:
        return []  # the output is a folder, and may exist already, from a run that was stopped
    return output_paths(args)


def resume_path(args: argparse.Namespace) -> Path | None:
    """Returns the folder that a stopped run leaves, or `None` if the user has named no output."""
    output = _output(args)
    if not output:
        return None
    if args.dask is not None:
        return Path(output)  # the folder of the output has the finished files
    return unfinished_path(output)


def run(args: argparse.Namespace) -> None:
    if args.dask is None:
        _embed_text(args)
    else:
        _embed_on_cluster(args)


def _embed_text(args: argparse.Namespace) -> None:
    """Embeds a text or a table on this machine."""
    from elmo_plugin.embed_files import embed_file

    output = _output(args)
    settings = _settings(args)
    records = None
    if _has_table(args):
        records = _records_of_table(args)
    is_new = embed_file(
        args.text,
        output,
        settings,
        output_format=args.format,
        workers=args.workers,
        devices=args.device,
        source_format=args.input_format,
        records=records,
    )
    if is_new:
        show(f"wrote {output}")
    else:
        show(f"{output} is already complete")


def _embed_on_cluster(args: argparse.Namespace) -> None:
    """Embeds the files that match TEXT on a Dask cluster."""
    from elmo_plugin.embed_files import embed_shards

    output = _output(args)
    output_format = args.format
    if output_format is None:
        output_format = "hdf5"
    num_workers = args.workers
    if num_workers is None:
        num_workers = 1
    files = embed_shards(
        args.text,
        output,
        _settings(args),
        output_format=output_format,
        scheduler=cluster_address(args.dask),
        workers=num_workers,
        devices=args.device,
        source_format=args.input_format,
    )
    show(f"{output} has {len(files)} files")


def _settings(args: argparse.Namespace) -> "EmbedSettings":
    """Returns the settings for `embed_file` and `embed_shards` that the options choose."""
    from elmo_plugin.embed_files import EmbedSettings

    gzip_level = None
    if args.compression == "gzip":
        gzip_level = GZIP_LEVEL
    return EmbedSettings(
        bilm=_bilm(args),
        layers=_layers(args),
        placement=args.placement,
        tokenizer=args.tokenizer,
        language=args.language,
        precision=args.precision,
        batch_size=args.batch_size,
        max_batch_tokens=args.max_batch_tokens,
        threads=args.threads,
        dtype=args.dtype,
        gzip=gzip_level,
        keys=args.keys,
        keep_sentences=args.keep_sentences,
        pooling=args.pooling,
        trust=args.trust,
        max_words=args.max_words,
        column=_number_of_column(args),
    )


def _has_table(args: argparse.Namespace) -> bool:
    """
    Returns whether TEXT is a table with a column of texts: by the end of its name, or because the
    column has a name. In other files, the number of a column means a column of words, as in CoNLL.
    """
    if _TABLE.search(args.text) is not None:
        return True
    return args.column is not None and not is_column_number(args.column)


def _number_of_column(args: argparse.Namespace) -> int | None:
    """Returns the number of the column of words if TEXT is a file such as CoNLL, else `None`."""
    if args.column is None or _has_table(args):
        return None
    return int(args.column)


def _records_of_table(args: argparse.Namespace) -> "list[Record]":
    """Reads the texts of a table as `elmo import` does, and prints its report."""
    from elmo_plugin.archives import import_all_plugins

    # First, because it says how to install AllenNLP if that is missing.
    import_all_plugins(subject="elmo embed TABLE")
    from elmo_plugin.embed_files import Record
    from elmo_plugin.importers import Report, read_text_column

    report = Report(args.text)
    records = []
    for row in read_text_column(args.text, args.column, report):
        place = f"{args.text}, {row.place}"
        records.append(Record(row.text, place, size=len(row.text.encode())))
    for line in report.lines(examples="rows"):
        show(line, file=sys.stderr)
    return records


def _output(args: argparse.Namespace) -> str:
    """Returns the file to write, given as an argument or as an option."""
    return args.output or args.named_output


def _bilm(args: argparse.Namespace) -> str | dict[str, str]:
    """Returns the source of the biLM. `check_arguments` has ensured that at most one is given."""
    if args.options_file is not None:
        return {"options": args.options_file, "weights": args.weight_file}
    if args.bilm is not None:
        return args.bilm
    if args.mix is not None:
        return args.mix  # the archive of a trained model has its biLM as well
    return "base"


def _layers(args: argparse.Namespace) -> str:
    """Returns the name of the layers to write, one of `LAYERS`, or "mix"."""
    if args.mix is not None:
        return "mix"
    return args.layers
