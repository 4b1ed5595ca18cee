"""`elmo embed`: writes the biLM's vectors of a text to a file."""

import argparse
from pathlib import Path

from elmo_plugin.bilm import MAX_BATCH_TOKENS, PRECISIONS, BiLmError
from elmo_plugin.commands.command import BILM_HELP, Command, OutputPath, add_trust, output_paths
from elmo_plugin.common.outputs import target_of
from elmo_plugin.common.streams import show
from elmo_plugin.embed_files import (
    DTYPES,
    OUTPUT_FORMATS,
    TOKENIZERS,
    EmbedSettings,
    embed_file,
    embed_shards,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("input", metavar="INPUT", help="one sentence per line (plain, .gz or .zst); - for standard input")
    about = "a file, .hdf5 or .safetensors; with --engine a folder"
    add("output", type=OutputPath, metavar="OUTPUT", help=about)

    group = parser.add_argument_group("the output for a sentence (one of these)")
    add = group.add_mutually_exclusive_group(required=True).add_argument
    choices = {
        "all": "all layers: (layers, words, dim)",
        "top": "the top layer: (words, dim)",
        "mean": "the mean of the layers: (words, dim)",
    }
    for layers, about in choices.items():
        add(f"--{layers}", dest="layers", action="store_const", const=layers, help=about)
    add("--mix", metavar="ARCHIVE", help="the mixture that a trained task model has learned: (words, dim)")
    group.add_argument("--placement", help="for --mix: which, if ARCHIVE has several (see elmo-weights)")

    add = parser.add_argument_group("the biLM (for --mix: ARCHIVE's)").add_argument
    add("--bilm", metavar="NAME", help=BILM_HELP)
    add("--options-file", metavar="FILE", help="options.json, path or URL, with --weight-file")
    add("--weight-file", metavar="FILE", help="weights.hdf5, path or URL, with --options-file")
    add("--precision", choices=PRECISIONS, default="float32", help="in which the biLM computes")

    add = parser.add_argument_group("the text").add_argument
    about = "whitespace: already tokenized (default); spacy: by spaCy's rules, without a model"
    add("--tokenizer", choices=TOKENIZERS, default=TOKENIZERS[0], help=about)
    add("--max-words", type=int, default=100_000, metavar="N", help="refuse longer lines (default: 100000)")
    add("--language", default="en", metavar="CODE", help="of spaCy's rules (default: en)")

    add = parser.add_argument_group("the file").add_argument
    add("--format", choices=OUTPUT_FORMATS, help="default: by the suffix of OUTPUT")
    add("--dtype", choices=DTYPES, default=DTYPES[0], help="of the vectors (default: float32)")
    add("--compression", choices=["gzip"], help="compress the vectors of HDF5")
    add("--compression-level", type=int, default=4, metavar="N", help="1 to 9 (default: 4)")
    about = "leave the sentences out"
    add("--forget-sentences", dest="keep_sentences", action="store_false", help=about)
    about = "name HDF5's datasets by sentence, not by line"
    add("--use-sentence-keys", dest="keys", action="store_const", const="sentence", help=about)
    parser.set_defaults(layers="mix", keys="line")

    add = parser.add_argument_group("the work").add_argument
    add("--batch-size", type=int, default=64, metavar="N", help="sentences at a time (default: 64)")
    about = f"words at a time, padding included (default: {MAX_BATCH_TOKENS})"
    add("--max-batch-tokens", type=int, default=MAX_BATCH_TOKENS, metavar="N", help=about)
    add("--workers", type=int, metavar="N", help="processes (default: one, or one for each GPU)")
    add("--threads", type=int, default=1, metavar="N", help="of each worker (default: 1)")
    add("--cuda-device", default="-1", metavar="N[,N…]", help="numbers of GPUs (default: the CPU)")
    add("--engine", choices=["dask"], help="embed all files that the pattern INPUT names, on a cluster")
    add("--scheduler", metavar="ADDRESS", help="of Dask; without it --workers processes of this machine")
    add("--file-friendly-logging", action="store_true", help="show the progress in lines, for a file")
    add_trust(parser)


def run(args: argparse.Namespace) -> None:
    settings, devices = _settings(args), _cuda_devices(args.cuda_device)
    if args.engine is None:
        if args.scheduler is not None:
            raise BiLmError("--scheduler goes with --engine dask")
        is_new = embed_file(
            args.input,
            args.output,
            settings,
            args.format,
            args.workers,
            devices,
            progress_as_lines=args.file_friendly_logging or None,
        )
        show(f"wrote {args.output}" if is_new else f"{args.output} is already complete")
    else:
        output_format, workers = args.format or next(iter(OUTPUT_FORMATS)), args.workers or 1
        outputs = embed_shards(
            args.input, args.output, settings, output_format, args.scheduler, workers, devices
        )
        show(f"{args.output} has {len(outputs)} files")


def _settings(args: argparse.Namespace) -> EmbedSettings:
    """Raises `BiLmError` unless the arguments name exactly one biLM."""
    same_names = EmbedSettings.__dataclass_fields__.keys() & vars(args).keys() - {"bilm"}
    return EmbedSettings(
        bilm=_bilm(args),
        gzip=args.compression_level if args.compression else None,
        **{name: getattr(args, name) for name in same_names},
    )


def _bilm(args: argparse.Namespace) -> str | dict[str, str]:
    if (args.options_file is None) != (args.weight_file is None):
        raise BiLmError("--options-file and --weight-file go together")
    pair = args.options_file and {"options": args.options_file, "weights": args.weight_file}
    named = [source for source in (args.bilm, pair, args.mix) if source is not None]
    if len(named) != 1:
        raise BiLmError("give one biLM: --bilm, --options-file and --weight-file, or --mix")
    return named[0]


def _cuda_devices(text: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(number) for number in text.split(","))
    except ValueError:
        raise BiLmError(f"--cuda-device is a number, or several with commas, not {text!r}") from None
    return () if numbers == (-1,) else numbers


def resume_path(args: argparse.Namespace) -> Path:
    return Path(args.output if args.engine else f"{target_of(args.output)}.unfinished")


COMMAND = Command(
    description="Write the vectors of each line of a text. A run that was stopped continues when you start "
    "it again, and writes the same file.",
    add_arguments=add_arguments,
    run=run,
    resume_path=resume_path,
    outputs=lambda args: [] if args.engine else output_paths(args),
)
