"""`elmo embed`: writes the biLM's vectors of a text to a file."""

import argparse

from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.streams import show
from elmo_plugin.embed_files import OUTPUT_FORMATS, EmbedSettings, embed_file, embed_shards


def run(args: argparse.Namespace) -> None:
    settings = _settings(args)
    source_format = "fasta" if "fasta" in args.format else None
    output_format = next((name for name in args.format if name != "fasta"), None)
    if args.dask is None:
        is_new = embed_file(
            args.text,
            args.output,
            settings,
            output_format,
            args.workers,
            args.device,
            source_format=source_format,
        )
        show(f"wrote {args.output}" if is_new else f"{args.output} is already complete")
    else:
        outputs = embed_shards(
            args.text,
            args.output,
            settings,
            output_format or next(iter(OUTPUT_FORMATS)),
            args.dask or None,
            args.workers or 1,
            args.device,
            source_format,
        )
        show(f"{args.output} has {len(outputs)} files")


def _settings(args: argparse.Namespace) -> EmbedSettings:
    """Raises `BiLmError` if the arguments name several biLMs."""
    if args.mix is not None:
        args.layers = "mix"
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
    if len(named) > 1:
        raise BiLmError("give one biLM: --bilm, --options-file and --weight-file, or --mix")
    return named[0] if named else "base"
