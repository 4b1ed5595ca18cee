"""A file of text to a file of vectors."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from allennlp.common.checks import ConfigurationError

from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.files import replace_when_written
from elmo_plugin.embed_files.checks import check_files, check_settings, devices_of
from elmo_plugin.embed_files.embedder import Embedder
from elmo_plugin.embed_files.formats import FORMATS, format_of, make_format
from elmo_plugin.embed_files.part import OutputFormat
from elmo_plugin.embed_files.progress import Progress
from elmo_plugin.embed_files.settings import Settings
from elmo_plugin.embed_files.text import Text, size_of
from elmo_plugin.embed_files.unfinished import Parts, check_description, unfinished
from elmo_plugin.embed_files.workers import Job, do_jobs

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def embed_file(
    source: str | Path,
    output: str | Path,
    settings: Settings,
    output_format: str | None = None,
    workers: int | None = None,
    cuda_devices: tuple[int, ...] = (),
    show_progress: bool = True,
) -> bool:
    """
    Embeds each line of a text. The output is there when it is whole. Until then its parts are in the folder
    `OUTPUT.unfinished`, from which the same call goes on after a kill, to the same output, byte for byte.

    # Parameters

    source : `str | Path`
        A file of UTF-8 text with a sentence a line, plain, `.gz` or `.zst`; `-` for the standard input.
    output : `str | Path`
        The file to be written.
    settings : `Settings`
        The biLM, and what is written.
    output_format : `str`, optional
        "hdf5" or "safetensors"; by default what the end of the output's name says.
    workers : `int`, optional
        How many processes embed. The output does not depend on it. By default one for each GPU, or one.
    cuda_devices : `tuple[int, ...]`
        The numbers of GPUs; none for the CPU.
    show_progress : `bool`
        Whether there is a bar.

    # Returns

    `bool`
        False where the output was whole already.

    Raises `ConfigurationError` where an argument is wrong, the text is not UTF-8, or the output or its parts
    were made otherwise; `OSError` where it cannot be written.
    """
    source, output = str(source), Path(output)
    name = output_format or format_of(output)
    if name is None:
        ends = ", ".join(end for ends in FORMATS.values() for end in ends)
        raise ConfigurationError(f"{output}: name a format, or a file that ends in {ends}")
    check_settings(settings, name)
    check_files(source, output)
    devices = devices_of(workers, cuda_devices)
    try:
        embedder = Embedder.load(settings, devices[0] if len(devices) == 1 else "cpu")
        file_format = make_format(name, settings, embedder.row_shape)
        made_by = {"bilm": embedder.digest(), "device": devices[0].split(":")[0]}
        description = {**settings.description(), **made_by}
        text = Text(source, embedder.passage_bytes)
        with unfinished(output, file_format, description) as parts:
            if output.exists():
                _check_finished(output, file_format, description, text)
                return False
            with Progress(size_of(source), show_progress) as progress:
                jobs = _missing(text, parts, progress)
                for passage, words in do_jobs(jobs, embedder, settings, name, devices):
                    progress.advance(passage.num_bytes, words)
            whole = parts.folder / output.name
            with replace_when_written(whole) as temporary:
                paths = map(parts.path, range(text.num_passages))
                file_format.join(paths, temporary, {**description, "text": text.digest()})
            os.replace(whole, output)
    except BiLmError as error:
        raise ConfigurationError(str(error)) from None
    except OSError as error:
        if error.errno not in _NO_SPACE:
            raise
        message = f"could not write {output}: the disk is full; make room and start again to go on"
        raise OSError(error.errno, message) from error
    return True


def _missing(text: Text, parts: Parts, progress: Progress) -> Iterator[Job]:
    """What earlier processes have left to do."""
    for passage in text:
        if parts.has(passage):
            progress.skip(passage.num_bytes)
        else:
            yield Job(passage, parts.path(passage.number))


def _check_finished(output: Path, file_format: OutputFormat, description: dict[str, Any], text: Text) -> None:
    """Raises `ConfigurationError` where the output is not what would be written now."""
    found = file_format.read_description(output)
    if found is None:
        raise ConfigurationError(f"{output} is there already; remove it or name another file")
    check_description(found, description, output)
    for _ in text:
        pass
    if found["text"] != text.digest():
        raise ConfigurationError(f"{output} was made from another text; remove it or name another file")
