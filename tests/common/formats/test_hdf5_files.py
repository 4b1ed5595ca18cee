import signal
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

from elmo_plugin.common.formats.hdf5_files import DeferringFile, new_hdf5


class Stopped(Exception):
    pass


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("method", ["write", "seek", "truncate"])
def test_an_exception_of_a_signal_handler_passes_through_hdf5(
    method: str, number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(number: int, frame: FrameType | None) -> None:
        raise Stopped

    def interrupted(file: DeferringFile, *arguments: object) -> object:
        signal.raise_signal(number)
        return original(file, *arguments)

    original = getattr(DeferringFile, method)
    monkeypatch.setattr(DeferringFile, method, interrupted)
    before = signal.signal(number, stop)
    try:
        with pytest.raises(Stopped), new_hdf5(tmp_path / "new.hdf5") as (file, target):
            file.create_dataset("numbers", data=np.ones(100_000))
            assert method == "truncate" or isinstance(target.error, InterruptedError)
        assert signal.getsignal(number) is stop
    finally:
        signal.signal(number, before)
