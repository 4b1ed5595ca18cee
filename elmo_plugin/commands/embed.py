"""`elmo embed`, `allennlp elmo-embed`: the biLM's vectors of a text, in a file."""

import argparse
from pathlib import Path

from elmo_plugin.bilm import MAX_BATCH_TOKENS, PRECISIONS, BiLmError
from elmo_plugin.commands.command import Command
from elmo_plugin.embed_files import DTYPES, FORMATS, TOKENIZERS, Settings, embed_file, embed_shards


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what says which biLM embeds which text in which way into which file."""
    add = parser.add_argument
    add("input", metavar="INPUT", help="a sentence a line (plain, .gz or .zst); - for standard input")
    add("output", metavar="OUTPUT", help="a file, .hdf5 or .safetensors; with --engine a folder")
    _add_layouts(parser)
    _add_bilm(parser)
    _add_text(parser)
    _add_file(parser)
    _add_machine(parser)


def _add_layouts(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is written of a sentence (one of these)")
    layouts = group.add_mutually_exclusive_group(required=True)
    layouts.add_argument("--all", action="store_true", help="all layers: (layers, words, dim)")
    layouts.add_argument("--top", action="store_true", help="the top layer: (words, dim)")
    layouts.add_argument("--average", action="store_true", help="the average of the layers: (words, dim)")
    layouts.add_argument(
        "--mix", metavar="ARCHIVE", help="the mixture that a trained task model has learned: (words, dim)"
    )
    group.add_argument("--placement", help="for --mix: which, if ARCHIVE has several (see elmo-weights)")


def _add_bilm(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("the biLM (for --mix it is that of ARCHIVE)").add_argument
    add("--bilm", metavar="NAME", help="tiny, original, …, the archive of a trained biLM, or a folder")
    add("--options-file", metavar="FILE", help="options.json, path or URL, with --weight-file")
    add("--weight-file", metavar="FILE", help="weights.hdf5, path or URL, with --options-file")
    add("--precision", choices=PRECISIONS, default="float32", help="that of the biLM's products")


def _add_text(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("the text").add_argument
    about = "whitespace: tokenised already (default); spacy: by spaCy's rules, with no model"
    add("--tokenizer", choices=TOKENIZERS, default=TOKENIZERS[0], help=about)
    add("--max-words", type=int, default=100_000, metavar="N", help="refuse longer lines (default: 100000)")
    add("--language", default="en", metavar="CODE", help="of spaCy's rules (default: en)")


def _add_file(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("the file").add_argument
    add("--format", choices=FORMATS, help="default: what the suffix of OUTPUT says")
    add("--dtype", choices=DTYPES, default=DTYPES[0], help="of the vectors (default: float32)")
    add("--compression", choices=["gzip"], help="compress the vectors of HDF5")
    add("--compression-level", type=int, default=4, metavar="N", help="1 to 9 (default: 4)")
    add("--forget-sentences", action="store_true", help="leave the sentences out")
    add("--use-sentence-keys", action="store_true", help="name HDF5's datasets by sentence, not by line")


def _add_machine(parser: argparse.ArgumentParser) -> None:
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


def run(args: argparse.Namespace) -> None:
    """Writes the file, or one for each file of a pattern."""
    settings, devices = settings_of(args), _cuda_devices(args.cuda_device)
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
        print(f"wrote {args.output}" if is_new else f"{args.output} is whole already")
    else:
        file_format, workers = args.format or next(iter(FORMATS)), args.workers or 1
        outputs = embed_shards(
            args.input, args.output, settings, file_format, args.scheduler, workers, devices
        )
        print(f"{args.output} has {len(outputs)} files")


def settings_of(args: argparse.Namespace) -> Settings:
    """Raises `BiLmError` where the arguments do not say one biLM."""
    layout = next((name for name in ("all", "top", "average") if getattr(args, name)), "mix")
    return Settings(
        bilm=_bilm(args),
        layout=layout,
        placement=args.placement,
        tokenizer=args.tokenizer,
        language=args.language,
        precision=args.precision,
        batch_size=args.batch_size,
        max_batch_tokens=args.max_batch_tokens,
        threads=args.threads,
        dtype=args.dtype,
        gzip=args.compression_level if args.compression else None,
        keys="sentence" if args.use_sentence_keys else "line",
        keep_sentences=not args.forget_sentences,
        max_words=args.max_words,
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


def kept(args: argparse.Namespace) -> Path | None:
    """Returns where a run that was stopped has what it embedded."""
    unfinished = Path(args.output if args.engine else f"{args.output}.unfinished")
    return unfinished if unfinished.exists() else None


COMMAND = Command(
    name="embed",
    description="Write the vectors of each line of a text. A run that was stopped goes on when you start it "
    "again, and writes the same file.",
    add_arguments=add_arguments,
    run=run,
    kept=kept,
)
