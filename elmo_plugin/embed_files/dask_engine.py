"""Many files of text to as many files of vectors, on the machines of a Dask cluster."""

from functools import partial
from glob import glob
from pathlib import Path

from tqdm import tqdm

from elmo_plugin.bilm import BiLmError
from elmo_plugin.embed_files.run import embed_file
from elmo_plugin.embed_files.settings import Settings


def embed_shards(
    pattern: str,
    folder: str | Path,
    settings: Settings,
    output_format: str = "hdf5",
    scheduler: str | None = None,
    workers: int = 1,
    cuda_devices: tuple[int, ...] = (),
) -> list[Path]:
    """
    Runs `embed_file` on each file, as a task of Dask: what is whole is not embedded again, and what was begun
    goes on.

    # Parameters

    pattern : `str`
        Names the files. All machines must see them, and the folder, at the same paths.
    folder : `str | Path`
        Gets an output for each file, with the format after the file's name.
    scheduler : `str`, optional
        The address of the scheduler of a cluster that is there. By default one is made of processes on this
        machine.
    workers : `int`
        How many these are.
    settings, output_format, cuda_devices
        See `embed_file`.

    # Returns

    `list[Path]`
        The outputs.

    Raises `BiLmError` where no file matches, several have the same name, or Dask is not installed.
    What is raised for one file is raised when the others are done.
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
        for _ in tqdm(as_completed(tasks), total=len(tasks), unit="files", desc="embedding"):
            pass
        client.gather(tasks)
    return list(outputs.values())


def _outputs(pattern: str, folder: Path, output_format: str) -> dict[str, Path]:
    """Returns for each file its output."""
    sources = [path for path in map(Path, sorted(glob(pattern, recursive=True))) if path.is_file()]
    if not sources:
        raise BiLmError(f"no file matches {pattern}")
    outputs = {str(path.absolute()): folder / f"{path.name}.{output_format}" for path in sources}
    if len(set(outputs.values())) < len(outputs):
        raise BiLmError(f"several files that match {pattern} have one name, and so one output")
    return outputs
