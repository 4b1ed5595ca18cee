"""Two processes on one device give what one gives."""

from pathlib import Path

import h5py
import pytest
import torch
from torch import Tensor, distributed, multiprocessing
from torch.nn.parallel import DistributedDataParallel

from elmo_plugin.embed_files import EmbedSettings, embed_file
from tests.close import assert_near
from tests.cuda.language_model import LanguageModel, Window, medium_bilm, random_windows
from tests.small_bilm import write_pair

LINES = ["the cat sat on the mat .", "a dog ran", "why did the cat run away ?", ".", "dogs sat ."] * 20


def _trained(model: torch.nn.Module, windows: list[Window], device: str) -> dict[str, Tensor]:
    """The weights after a step on each window."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for window in windows:
        optimizer.zero_grad()
        model(window.to(device, torch.double), sampled=False).backward()
        optimizer.step()
    return {name.removeprefix("module."): each.detach().cpu() for name, each in model.named_parameters()}


def _train_half(rank: int, windows: list[Window], device: str, folder: str) -> None:
    torch.set_num_threads(1)
    torch.backends.cudnn.allow_tf32 = False  # as in the first process
    # NCCL refuses two processes on one GPU.
    distributed.init_process_group("gloo", f"file://{folder}/store", world_size=2, rank=rank)
    model = DistributedDataParallel(LanguageModel().to(device))
    halves = []
    for window in windows:
        types, targets = (part.chunk(2, dim=1)[rank] for part in (window.types, window.targets))
        halves.append(window._replace(types=types, targets=targets))
    torch.save(_trained(model, halves, device), f"{folder}/{rank}.pt")
    distributed.destroy_process_group()


@pytest.mark.slow
def test_training_with_two_processes_is_training_with_one_that_has_all_rows(
    device: str, tmp_path: Path
) -> None:
    windows = random_windows(3, batch=4, steps=5)
    method = "spawn" if torch.cuda.is_available() else "fork"  # a copy of a process cannot use its GPU
    arguments = (windows, device, str(tmp_path))
    multiprocessing.start_processes(_train_half, arguments, nprocs=2, start_method=method)
    expected = _trained(LanguageModel().to(device), windows, device)
    for rank in range(2):
        assert_near(torch.load(tmp_path / f"{rank}.pt"), expected)


@pytest.mark.slow
def test_a_text_is_embedded_by_two_workers_as_by_one(device: str, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("".join(f"{line}\n" for line in LINES))
    settings = EmbedSettings(write_pair(medium_bilm(), tmp_path / "bilm"))
    found = []
    for workers in (1, 2):
        output = tmp_path / f"{workers}.hdf5"
        embed_file(text, output, settings, workers=workers, devices=[device], show_progress=False)
        with h5py.File(output) as file:
            numbers = sorted(map(int, (name for name in file if name.isdigit())))
            found.append([torch.from_numpy(file[str(number)][()]) for number in numbers])
    assert len(found[0]) == len(LINES)
    assert_near(found[1], found[0])
