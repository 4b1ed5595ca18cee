"""Embeds many files of text on the machines of a Dask cluster."""

from functools import partial
from glob import glob
from pathlib import Path

from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.progress import progress_bar
from elmo_plugin.embed_files.run import embed_file
from elmo_plugin.embed_files.settings import EmbedSettings


def embed_shards(
    pattern: str,
    folder: str | Path,
    settings: EmbedSettings,
    output_format: str = "hdf5",
    scheduler: str | None = None,
    workers: int = 1,
    cuda_devices: tuple[int, ...] = (),
) -> list[Path]:
    """
    Runs `embed_file` on each file, as a task of Dask. Skips complete outputs and resumes partial ones.

    # Parameters

    pattern : `str`
        Names the files. All machines must see them, and the folder, at the same paths.
    folder : `str | Path`
        Where the outputs are written, each named after its file and the format.
    scheduler : `str`, optional
        The address of the scheduler of a running cluster. By default one is made of processes on this
        machine.
    workers : `int`
        The number of these processes.
    settings, output_format, cuda_devices
        See `embed_file`.

    # Returns

    `list[Path]`
        The outputs.

    Raises `BiLmError` if no file matches, several have the same name, or Dask is not installed. Raises an
    error of a single file when the others are done.
    """
    try:
        from dask.distributed import Client, as_completed
    except ImportError:
        raise BiLmError("--engine dask needs Dask: install elmo_plugin[cluster]") from None
    outputs = _outputs(pattern, Path(folder).absolute(), output_format)
    embed = partial(
        embed_file,
        settings=settings,
        output_format=output_format,
        cuda_devices=cuda_devices,
        show_progress=False,
    )
    local = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
    with Client(scheduler) if scheduler else Client(**local) as client:
        tasks = client.map(embed, *zip(*outputs.items(), strict=True), pure=False)
        with progress_bar(total=len(tasks), unit="files", desc="embedding") as bar:
            for _ in as_completed(tasks):
                bar.update()
        client.gather(tasks)
    return list(outputs.values())


def _outputs(pattern: str, folder: Path, output_format: str) -> dict[str, Path]:
    sources = [path for path in map(Path, sorted(glob(pattern, recursive=True))) if path.is_file()]
    if not sources:
        raise BiLmError(f"no file matches {pattern}")
    outputs = {str(path.absolute()): folder / f"{path.name}.{output_format}" for path in sources}
    if len(set(outputs.values())) < len(outputs):
        raise BiLmError(f"several files that match {pattern} have one name, and so one output")
    return outputs
