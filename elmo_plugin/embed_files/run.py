"""Embeds files of text: one, or many on a Dask cluster."""

import logging
import os
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from glob import glob
from hashlib import blake2b
from pathlib import Path
from typing import Any

from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.errors import check_at_least, check_choice
from elmo_plugin.common.files import atomic_write, is_special, refuse_folder, target_of
from elmo_plugin.common.formats.fasta import count_residues, is_fasta
from elmo_plugin.common.formats.text_files import compression, looks_raw
from elmo_plugin.common.process import get_device
from elmo_plugin.common.progress import progress_bar
from elmo_plugin.embed_files.chunks import (
    Chunk,
    check_description,
    chunk_path,
    read_chunks,
    unfinished_chunks,
)
from elmo_plugin.embed_files.embedder import Embedder, embed_chunks
from elmo_plugin.embed_files.outputs import OUTPUT_FORMATS, Content, check_keys
from elmo_plugin.embed_files.settings import (
    MAX_PROCESSES,
    EmbedSettings,
    check_settings,
    protein_settings,
)

# The version of chunks and outputs; in version 1, long words could change the vectors after them.
VERSION = 2

logger = logging.getLogger(__name__)


def embed_file(
    source: str | Path,
    output: str | Path,
    settings: EmbedSettings,
    output_format: str | None = None,
    workers: int | None = None,
    devices: Sequence[str] = ("cpu",),
    show_progress: bool = True,
    source_format: str | None = None,
) -> bool:
    """
    Embeds each line of a text, or each record of FASTA. Until the output is complete its chunks are
    in the folder `OUTPUT.unfinished`. After a kill the same call resumes from there, to the same
    output, byte for byte.

    The source is UTF-8 text with one sentence per line, plain, `.gz` or `.zst`, or `-` for standard
    input; `source_format` is "text", or "fasta" for proteins. It and the output's, one of
    `OUTPUT_FORMATS`, follow from the suffixes. The output does not depend on the number of
    `workers`, processes that embed, by default one for each device: "cpu", "cuda" or "cuda:N".

    Returns false if the output was complete already. Raises `BiLmError` if an argument is wrong,
    the text is not UTF-8, or the output or its chunks were made with other arguments; `OSError` if
    it cannot be written; `ChildProcessError` if a worker was killed.
    """
    source, output = str(source), Path(output)
    output_format = _format_of(output, output_format)
    has_proteins = source_format == "fasta" or (source_format is None and is_fasta(source))
    if has_proteins:
        settings = protein_settings(settings)
    check_settings(settings, output_format)
    devices = _devices(workers, devices)
    # With several devices it is the workers' embedders that embed.
    embedder = Embedder(settings, devices[0] if len(devices) == 1 else "cpu")
    description = {
        "version": VERSION,
        **settings.description(),
        "bilm": embedder.digest(),
        "device": devices[0].split(":")[0],
    }
    digest = blake2b(digest_size=16)
    chunks = read_chunks(
        source, embedder.chunk_size(has_proteins), digest, settings.column, has_proteins
    )
    if settings.keys == "sentence":
        chunks = (check_keys(chunk) for chunk in chunks)
    show = partial(
        progress_bar,
        desc="embedding",
        total=_size(source, has_proteins, settings.column),
        unit=" residues" if has_proteins else "B",
        unit_scale=True,
        smoothing=0,
        disable=not show_progress,
    )
    with (
        atomic_write(output) if is_special(output) else nullcontext(target_of(output)) as file,
        unfinished_chunks(file, description) as folder,
    ):
        if file.exists():
            _check_finished(file, output_format, description, chunks, digest)
            return False
        paths: list[Path] = []
        with show() as bar:
            for chunk, is_new in embed_chunks(chunks, folder, embedder, settings, devices):
                if not paths and settings.tokenizer == "whitespace" and settings.column is None:
                    _warn_of_raw_text(chunk.sentences, source)
                paths.append(chunk_path(folder, chunk.number))
                if not is_new and not bar.disable:
                    bar.initial += chunk.size  # does not count for the speed
                bar.update(chunk.size)
        description["text"] = digest.hexdigest()
        with atomic_write(folder / file.name) as temporary:
            content = Content(paths, settings, embedder.row_shape, description)
            OUTPUT_FORMATS[output_format].write(temporary, content)
        os.replace(folder / file.name, file)
    return True


def _size(source: str, has_proteins: bool, column: int | None) -> int | None:
    """Returns the size of all records, `None` if it is not known before they are read."""
    if not Path(source).is_file():
        return None
    if has_proteins:
        return count_residues(source)
    if compression(source) or column is not None:
        return None
    return Path(source).stat().st_size


def _warn_of_raw_text(sentences: Sequence[str], source: str) -> None:
    """Warns if most sentences end in a word with its full stop."""
    ends = [sentence.split()[-1] for sentence in sentences if sentence]
    raw = [end for end in ends if looks_raw(end)]
    if len(raw) > len(ends) / 2:
        logger.warning(
            '%s: words such as %r are not split; the tokenizer "spacy" does', source, raw[0]
        )


def _format_of(output: Path, output_format: str | None) -> str:
    formats = {}
    for name, known in OUTPUT_FORMATS.items():
        formats.update(dict.fromkeys(known.suffixes, name))
    output_format = output_format or formats.get(output.suffix.lower())
    if output_format is None:
        raise BiLmError(
            f"{output}: unknown suffix {output.suffix!r}: use {', '.join(formats)}, or --format"
        )
    check_choice("format", output_format, OUTPUT_FORMATS)
    refuse_folder(output)
    return output_format


def _devices(workers: int | None, devices: Sequence[str]) -> list[str]:
    """Returns the device of each worker. Raises `BiLmError` if a GPU is missing."""
    if workers is not None:
        check_at_least("workers", workers, most=MAX_PROCESSES)
    names = [str(get_device(device)) for device in devices]
    num_workers = workers or len(names)
    return [names[worker % len(names)] for worker in range(num_workers)]


def _check_finished(
    output: Path,
    output_format: str,
    description: dict[str, Any],
    chunks: Iterable[Chunk],
    digest: blake2b,
) -> None:
    """Raises `BiLmError` if the output is not what would be written now."""
    found = OUTPUT_FORMATS[output_format].read_description(output)
    if found is None:
        raise BiLmError(f"{output} already exists; remove it or name another file")
    check_description(found, description, output)
    for _ in chunks:  # updates the digest
        pass
    if found["text"] != digest.hexdigest():
        raise BiLmError(f"{output} was made from another text; remove it or name another file")


def embed_shards(
    pattern: str,
    folder: str | Path,
    settings: EmbedSettings,
    output_format: str = "hdf5",
    scheduler: str | None = None,
    workers: int = 1,
    devices: Sequence[str] = ("cpu",),
    source_format: str | None = None,
) -> list[Path]:
    """
    Runs `embed_file` on each file of a pattern, as a task of Dask. Skips complete outputs, called
    like their files, and resumes partial ones. All machines must see both. Without the address of a
    running cluster's scheduler, one is made of `workers` processes here.

    Raises `BiLmError` if no file matches, several have the same name, or Dask is not installed.
    Raises an error of a single file when all other files are done.
    """
    try:
        from dask.distributed import Client, as_completed
    except ImportError:
        raise BiLmError("--dask needs Dask: install elmo_plugin[cluster]") from None
    matches = [Path(match) for match in sorted(glob(pattern, recursive=True))]
    sources = [path.absolute() for path in matches if path.is_file()]
    if not sources:
        raise BiLmError(f"no file matches {pattern}")
    outputs = [Path(folder).absolute() / f"{path.name}.{output_format}" for path in sources]
    if len(set(outputs)) < len(outputs):
        raise BiLmError(f"several files that match {pattern} have one name, and so one output")
    if scheduler is not None:
        client = Client(scheduler)
    else:
        client = Client(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    with client:
        embed = partial(
            embed_file,
            settings=settings,
            output_format=output_format,
            devices=devices,
            show_progress=False,
            source_format=source_format,
        )
        tasks = client.map(embed, sources, outputs, pure=False)
        with progress_bar(total=len(tasks), unit="files", desc="embedding") as bar:
            for _ in as_completed(tasks):
                bar.update()
        client.gather(tasks)
    return outputs
