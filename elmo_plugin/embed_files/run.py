"""A file of text to a file of vectors."""

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.files import NO_ROOM, reason, replace_when_written
from elmo_plugin.common.formats.text_files import compression
from elmo_plugin.common.progress import progress_bar
from elmo_plugin.embed_files import hdf5_output, safetensors_output
from elmo_plugin.embed_files.embedder import Embedder
from elmo_plugin.embed_files.hdf5_output import LONGEST_KEY, sentence_key, write_hdf5
from elmo_plugin.embed_files.resume import Chunks, check_description, unfinished_chunks
from elmo_plugin.embed_files.safetensors_output import write_safetensors
from elmo_plugin.embed_files.settings import FORMATS, Settings, check_settings, format_of, max_processes
from elmo_plugin.embed_files.text import STANDARD_INPUT, Passage, digest_of, read_passages
from elmo_plugin.embed_files.workers import Job, write_chunks

_BAR = {"unit": "B", "unit_scale": True, "smoothing": 0, "desc": "embedding"}


def embed_file(
    source: str | Path,
    output: str | Path,
    settings: Settings,
    output_format: str | None = None,
    workers: int | None = None,
    cuda_devices: tuple[int, ...] = (),
    show_progress: bool = True,
    progress_as_lines: bool | None = None,
) -> bool:
    """
    Embeds each line of a text. The output is there when it is whole. Until then its chunks are in the folder
    `OUTPUT.unfinished`, from which the same call goes on after a kill, to the same output, byte for byte.

    # Parameters

    source : `str | Path`
        A file of UTF-8 text with a sentence a line, plain, `.gz` or `.zst`; `-` for the standard input.
    output : `str | Path`
        The file to be written.
    settings : `Settings`
        The biLM, and what is written.
    output_format : `str`, optional
        "hdf5" or "safetensors"; by default what the suffix of the output says.
    workers : `int`, optional
        How many processes embed. The output does not depend on it. By default one for each GPU, or one.
    cuda_devices : `tuple[int, ...]`
        The numbers of GPUs; none for the CPU.
    show_progress : `bool`
        Whether there is a bar.
    progress_as_lines : `bool | None`
        Whether it is written in lines, see `progress_bar`.

    # Returns

    `bool`
        False where the output was whole already.

    Raises `BiLmError` where an argument is wrong, the text is not UTF-8, or the output or its chunks
    were made otherwise; `OSError` where it cannot be written.
    """
    source, output = str(source), Path(output)
    try:
        name = _check_files(source, output, output_format)
        check_settings(settings, name)
        devices = _devices(workers, cuda_devices)
        embedder = Embedder.load(settings, devices[0] if len(devices) == 1 else "cpu")
        made_by = {"bilm": embedder.digest(), "device": devices[0].split(":")[0]}
        description = settings.description() | made_by
        text = read_passages(source, embedder.passage_bytes)
        with unfinished_chunks(output, description) as chunks:
            if output.exists():
                _check_finished(output, name, description, text)
                return False
            digests: list[str] = []
            bar_options = {"total": _size(source), "disable": not show_progress, **_BAR}
            with progress_bar(progress_as_lines, **bar_options) as bar:
                jobs = _missing(text, chunks, settings, digests, bar)
                words, start = 0, time.monotonic()
                for passage, number in write_chunks(jobs, embedder, settings, devices):
                    words += number
                    rate = words / (time.monotonic() - start)
                    bar.set_postfix_str(f"{rate:,.0f} tokens/s", refresh=False)
                    bar.update(passage.num_bytes)
            description["text"] = digest_of(digests)
            paths = [chunks.path(number) for number in range(len(digests))]
            whole = chunks.folder / output.name
            with replace_when_written(whole) as temporary:
                if name == "hdf5":
                    write_hdf5(temporary, paths, settings, description)
                else:
                    write_safetensors(temporary, paths, settings, embedder.row_shape, description)
            os.replace(whole, output)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        message = f"could not write {output}: {reason(error)}; make room and start again to go on"
        raise OSError(error.errno, message) from error
    return True


def _check_files(source: str, output: Path, output_format: str | None) -> str:
    """Returns the format. Raises `BiLmError` where there is no text, or the output cannot be a file."""
    name = output_format or format_of(output)
    if name is None:
        suffixes = ", ".join(suffix for suffixes in FORMATS.values() for suffix in suffixes)
        raise BiLmError(f"{output}: name a format, or a file that ends in {suffixes}")
    if source != STANDARD_INPUT and "://" not in source and not Path(source).exists():
        raise BiLmError(f"{source}: there is no such file")
    for path in (Path(source), output):
        if path.is_dir():
            raise BiLmError(f"{path} is a directory; name a file")
    return name


def _devices(workers: int | None, cuda_devices: tuple[int, ...]) -> list[str]:
    """Returns the device of each worker; raises `BiLmError` where there is no such GPU."""
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
    """Returns the bytes of a text, where they are known before it is read."""
    path = Path(source)
    return path.stat().st_size if path.is_file() and not compression(source) else None


def _check_keys(passage: Passage) -> None:
    """Raises `BiLmError` where a sentence is too long to be the name of its vectors."""
    for number, sentence in enumerate(passage.sentences):
        if len(sentence) > LONGEST_KEY // 8 and len(sentence_key(sentence).encode()) > LONGEST_KEY:
            raise BiLmError(
                f"{passage.location(number)}: the sentence is longer than the {LONGEST_KEY:,} bytes that a "
                "name in HDF5 may have: leave out --use-sentence-keys"
            )


def _missing(
    text: Iterable[Passage], chunks: Chunks, settings: Settings, digests: list[str], bar: tqdm
) -> Iterator[Job]:
    """
    Yields what earlier processes have left to do, and notes the digests of all passages. What earlier
    processes did does not count for the bar's speed.
    """
    for passage in text:
        if settings.keys == "sentence":
            _check_keys(passage)
        digests.append(passage.digest())
        if not chunks.has(passage):
            yield Job(passage, chunks.path(passage.number), chunks.made_by)
            continue
        if not bar.disable:
            bar.initial += passage.num_bytes
        bar.update(passage.num_bytes)


def _check_finished(output: Path, name: str, description: dict[str, Any], text: Iterable[Passage]) -> None:
    """Raises `BiLmError` where the output is not what would be written now."""
    file_format = hdf5_output if name == "hdf5" else safetensors_output
    found = file_format.read_description(output)
    if found is None:
        raise BiLmError(f"{output} is there already; remove it or name another file")
    check_description(found, description, output)
    if found["text"] != digest_of([passage.digest() for passage in text]):
        raise BiLmError(f"{output} was made from another text; remove it or name another file")
