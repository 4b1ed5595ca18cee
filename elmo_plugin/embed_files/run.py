"""Embeds files of text: one, or many on a Dask cluster."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from glob import glob
from hashlib import blake2b
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.errors import check_at_least, check_choice
from elmo_plugin.common.files import atomic_write, is_special, resolve_link
from elmo_plugin.common.formats.fasta import count_residues, is_fasta
from elmo_plugin.common.formats.sentences import has_attached_full_stop
from elmo_plugin.common.formats.text_files import compression
from elmo_plugin.common.local_cluster import start_local_cluster
from elmo_plugin.common.logs import get_logger
from elmo_plugin.common.outputs import refuse_folder
from elmo_plugin.common.process import get_device
from elmo_plugin.common.progress import progress_bar
from elmo_plugin.common.workers import MAX_PROCESSES
from elmo_plugin.embed_files.chunks import (
    Chunk,
    Record,
    check_description,
    chunk_path,
    chunks_of,
    read_chunks,
    unfinished_chunks,
)
from elmo_plugin.embed_files.embedder import Embedder, embed_chunks
from elmo_plugin.embed_files.outputs import (
    OUTPUT_FORMATS,
    Content,
    check_keys,
    check_member_names,
)
from elmo_plugin.embed_files.settings import (
    EmbedSettings,
    check_settings,
    protein_settings,
)

# The version of chunks and outputs. Files of version 1 are not reused, because a long word could
# change the vectors after it.
VERSION = 2

logger = get_logger(__name__)


@dataclass(frozen=True)
class _Work:
    """A text that is to be embedded, and how."""

    source: str
    chunks: Iterable[Chunk]  # read from the source one at a time, and only once
    digest: blake2b  # of the text of the chunks read so far; reading a chunk updates it
    embedder: Embedder
    devices: Sequence[str]
    output_format: str
    description: dict[str, Any]  # how the vectors are made, without the digest of the text
    size: int | None  # the bytes of the text or the residues of proteins, if known


def embed_file(
    source: str | Path,
    output: str | Path,
    settings: EmbedSettings,
    output_format: str | None = None,
    workers: int | None = None,
    devices: Sequence[str] = ("cpu",),
    show_progress: bool = True,
    source_format: str | None = None,
    records: Iterable[Record] | None = None,
) -> bool:
    """
    Embeds each line of a text, or each protein of FASTA. Until the output is complete, its chunks
    are in the folder `OUTPUT.unfinished`. After a kill the same call resumes from there, and the
    output is the same, byte for byte.

    The source is UTF-8 text with one sentence per line, plain, `.gz` or `.zst`, or `-` for standard
    input. `source_format` is "text", or "fasta" for proteins; `output_format` is one of
    `OUTPUT_FORMATS`. By default they follow from the suffixes of the files. `devices` are "cpu",
    "cuda" or "cuda:N". `workers` is the number of processes that embed, by default one for each
    device. The output does not depend on the number of workers. `records` are the texts of a source
    that was read already, such as a column of a table; they take the place of its lines.

    Returns false if the output was complete already. Raises `BiLmError` if an argument is wrong,
    the text is not UTF-8, or the output or its chunks were made with other arguments; `OSError` if
    it cannot be written; `ChildProcessError` if a worker was killed.
    """
    output = Path(output)
    output_format = _output_format(output, output_format)
    work = _prepare(str(source), settings, output_format, workers, devices, source_format, records)
    if is_special(output):
        # Standard output, a pipe or a device cannot be replaced by a file. The file is written to a
        # temporary path, and its content is copied to the output at the end.
        with atomic_write(output) as temporary:
            return _write_output(temporary, work, show_progress)
    # A symlink is kept, and the file that it leads to is written.
    return _write_output(resolve_link(output), work, show_progress)


def _prepare(
    source: str,
    settings: EmbedSettings,
    output_format: str,
    workers: int | None,
    devices: Sequence[str],
    source_format: str | None,
    records: Iterable[Record] | None,
) -> _Work:
    """
    Checks the arguments of `embed_file`, fills in those that were left out, and loads the biLM. The
    chunks are not read yet.
    """
    if source_format is None:
        has_proteins = is_fasta(source)
    else:
        has_proteins = source_format == "fasta"
    if has_proteins:
        settings = protein_settings(settings)
    elif settings.has_proteins:
        raise BiLmError('keys: "name" is for the proteins of FASTA, and this is a text')
    check_settings(settings, output_format)
    devices = _devices_of_workers(workers, devices)
    embedder = _make_embedder(settings, devices)
    digest = blake2b(digest_size=16)  # of the text; reading the chunks updates it
    chunks: Iterable[Chunk]
    if records is None:
        chunks = read_chunks(source, settings, embedder.chunk_size(), digest)
        size = _source_size(source, settings)
    else:
        chunks = chunks_of(records, embedder.chunk_size(), digest)
        size = None  # the records may be an iterator
    chunks = _checked_chunks(chunks, settings, output_format)
    return _Work(
        source=source,
        chunks=chunks,
        digest=digest,
        embedder=embedder,
        devices=devices,
        output_format=output_format,
        description=_describe_vectors(embedder, devices[0]),
        size=size,
    )


def _make_embedder(settings: EmbedSettings, devices: Sequence[str]) -> Embedder:
    """
    Makes the embedder of this process. If there are several workers, each makes another one, and
    this one only describes the biLM and its output.
    """
    if len(devices) > 1:
        return Embedder(settings, "cpu")  # so it takes no memory of a GPU
    return Embedder(settings, devices[0])


def _describe_vectors(embedder: Embedder, device: str) -> dict[str, Any]:
    """Returns everything that the vectors depend on, apart from the text, to store it with them."""
    return {
        "version": VERSION,
        **embedder.settings.description(),
        "bilm": embedder.digest(),
        "device": _kind_of_device(device),
    }


def _checked_chunks(
    chunks: Iterable[Chunk], settings: EmbedSettings, output_format: str
) -> Iterator[Chunk]:
    """
    Yields the chunks. Raises `BiLmError` at a chunk with a sentence or a protein's name that cannot
    be a name in the output.
    """
    for chunk in chunks:
        if settings.keys == "sentence":
            check_keys(chunk)
        if output_format == "npz":
            check_member_names(chunk)
        yield chunk


def _write_output(file: Path, work: _Work, show_progress: bool) -> bool:
    """Embeds a text and writes the file. Returns false if it was complete already."""
    with unfinished_chunks(file, work.description) as folder:
        if file.exists():
            _check_finished(file, work)
            return False
        paths = _write_chunks(folder, work, show_progress)
        # All chunks are read now, so the digest is of the whole text.
        description = work.description | {"text": work.digest.hexdigest()}
        content = Content(paths, work.embedder.settings, work.embedder.row_shape, description)
        # Written in the folder, so that a killed run leaves nothing of it elsewhere.
        with atomic_write(folder / file.name) as temporary:
            OUTPUT_FORMATS[work.output_format].write(temporary, content)
        os.replace(folder / file.name, file)
    return True


def _write_chunks(folder: Path, work: _Work, show_progress: bool) -> list[Path]:
    """Writes the vectors of each chunk that is not in the folder yet. Returns all their files."""
    settings = work.embedder.settings
    unit = "B"
    if settings.has_proteins:
        unit = " residues"
    paths: list[Path] = []
    with progress_bar(
        desc="embedding",
        total=work.size,
        unit=unit,
        unit_scale=True,
        smoothing=0,  # the speed is the average since the start
        disable=not show_progress,
    ) as bar:
        embedded = embed_chunks(work.chunks, folder, work.embedder, work.devices)
        for chunk, is_new in embedded:
            is_first = not paths  # the first chunk is enough to tell raw text
            if is_first and settings.tokenizer == "whitespace" and settings.column is None:
                _warn_of_raw_text(chunk.sentences, work.source)
            paths.append(chunk_path(folder, chunk.number))
            if not is_new and not bar.disable:  # a disabled bar lacks `initial`
                # The chunk was there before the bar began, so the speed does not count it.
                bar.initial += chunk.size
            bar.update(chunk.size)
    return paths


def _source_size(source: str, settings: EmbedSettings) -> int | None:
    """
    Returns the bytes of a text or the residues of proteins; `None` if their number is not known
    before the file is read.
    """
    if not Path(source).is_file():
        return None
    if settings.has_proteins:
        return count_residues(source)
    if compression(source) or settings.column is not None:
        return None
    return Path(source).stat().st_size


def _warn_of_raw_text(sentences: Sequence[str], source: str) -> None:
    """
    Warns if the text seems not to be tokenized: in most sentences the full stop is a part of the
    last word, and not a word of its own.
    """
    last_words = [sentence.split()[-1] for sentence in sentences if sentence]
    raw_words = [word for word in last_words if has_attached_full_stop(word)]
    if len(raw_words) > len(last_words) / 2:
        logger.warning(
            '%s: words such as %r are not split; the tokenizer "spacy" does', source, raw_words[0]
        )


def _output_format(output: Path, output_format: str | None) -> str:
    """
    Returns the name of the format of an output: `output_format` if it is given, otherwise the
    format with the suffix of the file. Raises `BiLmError` if the format is unknown, or the output
    is a folder.
    """
    if output_format is None:
        format_of_suffix = {}
        for name, known_format in OUTPUT_FORMATS.items():
            for suffix in known_format.suffixes:
                format_of_suffix[suffix] = name
        output_format = format_of_suffix.get(output.suffix.lower())
        if output_format is None:
            raise BiLmError(
                f"{output}: unknown suffix {output.suffix!r}: use {', '.join(format_of_suffix)}, "
                "or --format"
            )
    check_choice("format", output_format, OUTPUT_FORMATS)
    refuse_folder(output)
    return output_format


def _devices_of_workers(workers: int | None, devices: Sequence[str]) -> list[str]:
    """
    Returns the device of each worker. If there are more workers than devices, several workers share
    a device. Raises `BiLmError` if the number of workers is wrong, this machine lacks a GPU, or the
    devices are of several kinds.
    """
    if workers is not None:
        check_at_least("workers", workers, least=1, most=MAX_PROCESSES)
    names = [str(get_device(device)) for device in devices]
    kinds = {_kind_of_device(name) for name in names}
    if len(kinds) > 1:
        # They round differently, and it is up to chance which one embeds a chunk.
        raise BiLmError(f"devices: expected one kind of device, got {' and '.join(sorted(kinds))}")
    if workers is None:
        return names
    return list(islice(cycle(names), workers))


def _kind_of_device(device: str) -> str:
    """Returns the kind of a device, "cpu" or "cuda", without the number of a GPU."""
    kind, _, _ = device.partition(":")
    return kind


def _check_finished(output: Path, work: _Work) -> None:
    """
    Raises `BiLmError` if a complete output was made from another text or with other arguments. All
    chunks are read, because only then is the digest of the text known.
    """
    found = OUTPUT_FORMATS[work.output_format].read_description(output)
    if found is None:
        raise BiLmError(f"{output} already exists; remove it or name another file")
    check_description(found, work.description, output)
    for _ in work.chunks:  # reading them updates the digest
        pass
    if found["text"] != work.digest.hexdigest():
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
    Runs `embed_file` on each file that matches a pattern, as a task of Dask, and returns the
    outputs. They are in `folder`, each named after its file. Complete outputs are skipped, and
    partial ones are resumed. All machines of the cluster must see the files and the folder.
    `scheduler` is the address of a running cluster's scheduler; by default a cluster of `workers`
    processes is made here.

    Raises `BiLmError` if no file matches, several have the same name, or Dask is not installed. An
    error in a file is raised when all other files are done.
    """
    try:
        from dask.distributed import Client, as_completed
    except ImportError:
        raise BiLmError("--dask needs Dask: install elmo_plugin[cluster]") from None
    sources = _matching_files(pattern)
    outputs = [Path(folder).absolute() / f"{path.name}.{output_format}" for path in sources]
    if len(set(outputs)) < len(outputs):
        raise BiLmError(f"several files that match {pattern} have one name, and so one output")
    if scheduler is not None:
        client = Client(scheduler)
    else:
        client = start_local_cluster(workers)
    with client:
        embed = partial(
            embed_file,
            settings=settings,
            output_format=output_format,
            devices=devices,
            show_progress=False,
            source_format=source_format,
        )
        # Not pure, so that Dask does not take the result of an earlier call for this one.
        tasks = client.map(embed, sources, outputs, pure=False)
        with progress_bar(total=len(tasks), unit="files", desc="embedding") as bar:
            for _ in as_completed(tasks):
                bar.update()
        client.gather(tasks)  # raises the error of a task that failed
    return outputs


def _matching_files(pattern: str) -> list[Path]:
    """Returns the files that match a pattern, sorted. Raises `BiLmError` if there are none."""
    matches = [Path(match) for match in sorted(glob(pattern, recursive=True))]
    files = [path.absolute() for path in matches if path.is_file()]
    if not files:
        raise BiLmError(f"no file matches {pattern}")
    return files
