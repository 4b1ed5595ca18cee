"""Embeds a file of text."""

import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.files import NO_ROOM, atomic_write, reason
from elmo_plugin.common.formats.text_files import compression
from elmo_plugin.common.outputs import is_special, refuse_folder, target_of, write_into
from elmo_plugin.common.progress import progress_bar
from elmo_plugin.embed_files import hdf5_output, safetensors_output
from elmo_plugin.embed_files.embedder import Embedder
from elmo_plugin.embed_files.hdf5_output import LONGEST_KEY, sentence_key
from elmo_plugin.embed_files.resume import check_description, chunk_path, has_chunk, unfinished_chunks
from elmo_plugin.embed_files.settings import EmbedSettings, check_settings, max_processes
from elmo_plugin.embed_files.text import STANDARD_INPUT, Segment, digest_of, read_segments
from elmo_plugin.embed_files.workers import Job, write_chunks

VERSION = 1  # of chunks and outputs
OUTPUT_FORMATS = {"hdf5": hdf5_output, "safetensors": safetensors_output}
_BAR = {"unit": "B", "unit_scale": True, "smoothing": 0, "desc": "embedding"}


def embed_file(
    source: str | Path,
    output: str | Path,
    settings: EmbedSettings,
    output_format: str | None = None,
    workers: int | None = None,
    cuda_devices: tuple[int, ...] = (),
    show_progress: bool = True,
    progress_as_lines: bool | None = None,
) -> bool:
    """
    Embeds each line of a text. Until the output is complete its chunks are in the folder `OUTPUT.unfinished`.
    After a kill the same call resumes from there, to the same output, byte for byte.

    # Parameters

    source : `str | Path`
        A file of UTF-8 text with a sentence a line, plain, `.gz` or `.zst`; `-` for the standard input.
    output : `str | Path`
        The file to be written.
    settings : `EmbedSettings`
        The biLM, and what is written.
    output_format : `str`, optional
        "hdf5" or "safetensors"; by default by the suffix of the output.
    workers : `int`, optional
        How many processes embed. The output does not depend on it. By default one for each GPU, or one.
    cuda_devices : `tuple[int, ...]`
        The numbers of GPUs; empty for the CPU.
    show_progress : `bool`
        Whether there is a bar.
    progress_as_lines : `bool | None`
        Whether it is written in lines, see `progress_bar`.

    # Returns

    `bool`
        False if the output was complete already.

    Raises `BiLmError` if an argument is wrong, the text is not UTF-8, or the output or its chunks were made
    with other arguments; `OSError` if it cannot be written.
    """
    source, output = str(source), Path(output)
    try:
        name = _check_files(source, output, output_format)
        check_settings(settings, name)
        devices = _devices(workers, cuda_devices)
        embedder = Embedder(settings, devices[0] if len(devices) == 1 else "cpu")
        made_by = {"bilm": embedder.digest(), "device": devices[0].split(":")[0]}
        description = {"version": VERSION} | settings.description() | made_by
        text = read_segments(source, embedder.segment_bytes)
        with _regular(output) as file, unfinished_chunks(file, description) as folder:
            if file.exists():
                _check_finished(file, name, description, text)
                return False
            digests: list[str] = []
            bar_options = {"total": _size(source), "disable": not show_progress, **_BAR}
            with progress_bar(progress_as_lines, **bar_options) as bar:
                jobs = _missing(text, folder, settings, description, digests, bar)
                words, start = 0, time.monotonic()
                for segment, number in write_chunks(jobs, embedder, settings, devices):
                    words += number
                    rate = words / (time.monotonic() - start)
                    bar.set_postfix_str(f"{rate:,.0f} tokens/s", refresh=False)
                    bar.update(segment.num_bytes)
            described = description | {"text": digest_of(digests)}
            paths = [chunk_path(folder, number) for number in range(len(digests))]
            whole = folder / file.name
            with atomic_write(whole) as temporary:
                OUTPUT_FORMATS[name].write(temporary, paths, settings, embedder.row_shape, described)
            os.replace(whole, file)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        message = f"could not write {output}: {reason(error)}; free some space and start again to continue"
        raise OSError(error.errno, message) from error
    return True


@contextmanager
def _regular(output: Path) -> Iterator[Path]:
    """Yields the file to be written: of a symlink its target, of a device or a pipe a temporary one."""
    if not is_special(output):
        yield target_of(output)
        return
    with tempfile.TemporaryDirectory(prefix=f".{output.name}.") as folder:
        yield Path(folder) / output.name
        write_into(output, Path(folder) / output.name)


def _check_files(source: str, output: Path, output_format: str | None) -> str:
    """Returns the format. Raises `BiLmError` if there is no text, or the output cannot be a file."""
    by_suffix = {suffix: name for name, each in OUTPUT_FORMATS.items() for suffix in each.SUFFIXES}
    name = output_format or by_suffix.get(output.suffix)
    if name is None:
        raise BiLmError(f"{output}: name a format, or a file that ends in {', '.join(by_suffix)}")
    if name not in OUTPUT_FORMATS:
        raise BiLmError(f"the format is one of {', '.join(OUTPUT_FORMATS)}, not {name!r}")
    if source != STANDARD_INPUT and "://" not in source and not Path(source).exists():
        raise BiLmError(f"{source}: there is no such file")
    if Path(source).is_dir():
        raise BiLmError(f"{source} is a directory; name a file")
    refuse_folder(output)
    return name


def _devices(workers: int | None, cuda_devices: tuple[int, ...]) -> list[str]:
    """Returns the device of each worker. Raises `BiLmError` if a GPU is missing."""
    if workers is not None and not 1 <= workers <= max_processes():
        raise BiLmError(f"the number of workers is from 1 to {max_processes()}, not {workers}")
    for number in cuda_devices:
        if not 0 <= number < torch.cuda.device_count():
            raise BiLmError(
                f"--cuda-device: there is no GPU {number}: this machine has {torch.cuda.device_count()}"
            )
    devices = [f"cuda:{number}" for number in cuda_devices] or ["cpu"]
    return [devices[worker % len(devices)] for worker in range(workers or len(devices))]


def _size(source: str) -> int | None:
    """Returns the bytes of a text, if they are known before it is read."""
    path = Path(source)
    return path.stat().st_size if path.is_file() and not compression(source) else None


def _check_keys(segment: Segment) -> None:
    """Raises `BiLmError` if a sentence is too long to be the name of its vectors."""
    for number, sentence in enumerate(segment.sentences):
        if len(sentence) > LONGEST_KEY // 8 and len(sentence_key(sentence).encode()) > LONGEST_KEY:
            raise BiLmError(
                f"{segment.location(number)}: the sentence is longer than the {LONGEST_KEY:,} bytes that a "
                "name in HDF5 may have: leave out --use-sentence-keys"
            )


def _missing(
    text: Iterable[Segment],
    folder: Path,
    settings: EmbedSettings,
    description: dict[str, Any],
    digests: list[str],
    bar: tqdm,
) -> Iterator[Job]:
    """
    Yields the segments without a chunk, and appends the digests of all segments to `digests`. Chunks of
    earlier processes do not count for the bar's speed.
    """
    for segment in text:
        if settings.keys == "sentence":
            _check_keys(segment)
        digests.append(segment.digest())
        if not has_chunk(folder, segment):
            yield Job(segment, chunk_path(folder, segment.number), description)
            continue
        if not bar.disable:
            bar.initial += segment.num_bytes
        bar.update(segment.num_bytes)


def _check_finished(output: Path, name: str, description: dict[str, Any], text: Iterable[Segment]) -> None:
    """Raises `BiLmError` unless the output is what would be written now."""
    found = OUTPUT_FORMATS[name].read_description(output)
    if found is None:
        raise BiLmError(f"{output} already exists; remove it or name another file")
    check_description(found, description, output)
    if found["text"] != digest_of([segment.digest() for segment in text]):
        raise BiLmError(f"{output} was made from another text; remove it or name another file")
