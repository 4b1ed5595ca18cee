"""Models by name and by address, from a server on this machine, and without any."""

import errno
import re
import shutil
import socket
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import torch
from huggingface_hub.utils import filter_repo_objects

import elmo_plugin
from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.bilm.io import MODELS, sources
from elmo_plugin.common import downloads
from elmo_plugin.common.downloads import download_directory, fetch
from tests.bilm.conftest import BiLmMaker
from tests.small_bilm import write_pair

FILES = ("options.json", "weights.hdf5")


class Handler(SimpleHTTPRequestHandler):
    """
    Tells the size of a file, and breaks off in the middle of those whose name begins with `broken`.
    """

    def copyfile(self, source: Any, outputfile: Any) -> None:
        content = source.read()
        outputfile.write(content[:100] if "broken" in self.path else content)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def bilm(make_bilm: BiLmMaker, tmp_path: Path) -> BiLm:
    """A biLM whose files the server has."""
    bilm = make_bilm().requires_grad_(False)
    write_pair(bilm, tmp_path / "served")
    return bilm


@pytest.fixture
def server(bilm: BiLm, tmp_path: Path) -> Iterator[ThreadingHTTPServer]:
    handler = partial(Handler, directory=str(tmp_path / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr("urllib3.util.Retry.sleep", lambda *_: None)
    monkeypatch.setenv("ALLENNLP_CACHE_ROOT", str(tmp_path / "allennlp"))
    return tmp_path / "allennlp" / "cache"


@pytest.fixture
def address(server: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_port}"


@pytest.fixture
def named(address: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the model on the server."""
    monkeypatch.setitem(MODELS, "served", (f"{address}/options.json", f"{address}/weights.hdf5"))
    return "served"


def stop(server: ThreadingHTTPServer) -> None:
    server.shutdown()
    server.server_close()


@pytest.mark.slow
def test_a_downloaded_model_loads_again_without_a_network(
    named: str,
    bilm: BiLm,
    server: ThreadingHTTPServer,
    cache: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    expected = bilm.embed([["the", "cat"]])[0]
    assert torch.equal(BiLm.from_pretrained(named).embed([["the", "cat"]])[0], expected)
    assert f"downloading {MODELS[named][0]}\n" in capfd.readouterr().err
    from cached_path import cached_path  # AllenNLP calls it with its cache directory

    stop(server)
    options, weights = MODELS[named]
    assert [fetch(url) for url in MODELS[named]] == [
        cached_path(url, cache_dir=cache) for url in MODELS[named]
    ]
    for again in (
        BiLm.from_pretrained(named),
        BiLm.from_pretrained({"options": options, "weights": weights}),
        BiLm.from_pretrained(named),
    ):
        assert torch.equal(again.embed([["the", "cat"]])[0], expected)
    assert "downloading" not in capfd.readouterr().err
    assert cache == download_directory() and not list(cache.glob("*.tmp"))


def test_without_a_network_the_error_names_the_address_and_a_remedy(
    named: str, server: ThreadingHTTPServer
) -> None:
    stop(server)
    url = re.escape(MODELS[named][0])
    message = rf"cannot download {url} \(.*refused.*\): download it manually and pass its path"
    with pytest.raises(BiLmError, match=message):
        BiLm.from_pretrained(named)


@pytest.mark.parametrize(("name", "dim"), [("tiny", 256), ("base", 512)])
def test_bundled_bilms_need_no_download(
    name: str, dim: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cached_path", None)
    bilm = BiLm.from_pretrained(name)
    assert (bilm.num_layers, bilm.output_dim) == (3, dim)
    with pytest.raises(BiLmError, match=r"options.json \(install elmo_plugin\[download\]\)"):
        BiLm.from_pretrained("small")


@pytest.mark.parametrize("name", ["tiny", "base"])
def test_a_bundled_bilm_with_other_options_is_refused(name: str, tmp_path: Path) -> None:
    source = Path(elmo_plugin.__file__).parent / "models" / "bilm" / name
    (tmp_path / "weights.hdf5").symlink_to(source / "weights.hdf5")
    options = (source / "options.json").read_text()
    (tmp_path / "options.json").write_text(options.replace('"cell_clip": 3', '"cell_clip": 2'))
    with pytest.raises(
        BiLmError, match=r"not those that it was written with \(lstm.cell_clip was 3, not 2"
    ):
        BiLm.from_pretrained(tmp_path)


@pytest.mark.parametrize("address", ["s3://bucket/elmo", "gs://bucket/elmo"])
def test_addresses_of_other_schemes_are_passed_to_their_library(
    address: str, bilm: BiLm, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import cached_path

    asked = []

    def find(url: str, cache_dir: Path) -> Path:
        asked.append((url, cache_dir))
        return tmp_path / "served" / url.removeprefix(address).removeprefix("/")

    monkeypatch.setattr(cached_path, "cached_path", find)
    expected = bilm.embed([["the", "cat"]])[0]
    files = [f"{address}/{name}" for name in FILES]
    for source in (address, dict(zip(("options", "weights"), files, strict=True))):
        assert torch.equal(BiLm.from_pretrained(source).embed([["the", "cat"]])[0], expected)
    assert asked == [(url, cache) for url in (address, *files)]


@pytest.fixture
def hub(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """
    A hub that has `someone/elmo`, and the calls that it got: the model, the revision, the wanted
    files.
    """
    calls: list[tuple[Any, ...]] = []

    def model_info(_: Any, model: str, revision: str | None, timeout: float) -> None:
        if model != "someone/elmo":
            raise OSError("no such model")

    def download(
        model: str, *, revision: Any, cache_dir: Path, allow_patterns: Any = None, **_: Any
    ) -> str:
        assert cache_dir == cache
        if model != "someone/elmo":
            raise OSError("nothing of it in the cache")
        calls.append((model, revision, allow_patterns))
        return str(tmp_path / "served")

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", model_info)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    return calls


@pytest.mark.slow
def test_a_hub_model_is_loaded_from_a_folder_or_from_files(
    hub: list[tuple[str, ...]], bilm: BiLm, tmp_path: Path
) -> None:
    files = {
        "options": "hf://someone/elmo@v1/options.json",
        "weights": "hf://someone/elmo@v1/weights.hdf5",
    }
    for source in ("hf://someone/elmo", "someone/elmo", "someone/elmo@v1.0-rc", files):
        assert BiLm.from_pretrained(source).digest() == bilm.digest()
    assert hub == [
        *[("someone/elmo", None, None)] * 2,
        ("someone/elmo", "v1.0-rc", None),
        ("someone/elmo", "v1", ["options.json"]),
        ("someone/elmo", "v1", ["weights.hdf5"]),
    ]


@pytest.mark.parametrize("has_other_files", [False, True])
def test_a_slow_hub_gets_more_time_if_the_file_was_not_downloaded_earlier(
    has_other_files: bool, bilm: BiLm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> str:
        raise TimeoutError("no answer in time")

    def download(*_: Any, local_files_only: bool = False, **__: Any) -> str:
        if not local_files_only:
            return str(tmp_path / "served")
        if has_other_files:
            return str(tmp_path)
        return fail()

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", fail)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert fetch("hf://someone/elmo/options.json") == tmp_path / "served" / "options.json"


def test_a_full_disk_is_not_taken_for_a_hub_without_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise TimeoutError("no answer in time")

    def download(*_: Any, local_files_only: bool = False, **__: Any) -> str:
        if local_files_only:
            raise FileNotFoundError("not downloaded")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", fail)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    with pytest.raises(BiLmError, match="No space left on device"):
        fetch("hf://someone/elmo/options.json")


def test_an_address_of_the_hub_may_end_with_a_slash(hub: list[tuple[str, ...]]) -> None:
    assert fetch("hf://someone/elmo/") == fetch("hf://someone/elmo")
    assert hub == [("someone/elmo", None, None)] * 2


def test_an_address_of_the_hub_may_name_a_folder_of_a_model(
    hub: list[tuple[str, ...]], tmp_path: Path
) -> None:
    files = ["options.json", "small/options.json", "small/weights.hdf5"]
    assert fetch("hf://someone/elmo/small/") == tmp_path / "served" / "small"
    ((_, _, patterns),) = hub
    found = list(filter_repo_objects(files, allow_patterns=patterns))
    assert found == ["small/options.json", "small/weights.hdf5"]


def test_an_unknown_hub_model_is_an_error_listing_what_was_tried(
    hub: list[tuple[str, ...]],
) -> None:
    message = (
        r"biLM not found: some/elmo is neither a name nor a path, "
        r"and cannot download hf://some/elmo \(OSError: no such model\)"
    )
    with pytest.raises(BiLmError, match=message):
        BiLm.from_pretrained("some/elmo")


def test_a_mistyped_path_is_not_looked_up_on_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sources, "fetch", lambda path: 1 / 0 if "://" in str(path) else Path(path))
    (tmp_path / "runs").mkdir()
    with pytest.raises(
        BiLmError, match=r"^biLM not found: runs/model is neither a name nor a path$"
    ):
        BiLm.from_pretrained("runs/model")
    with pytest.raises(BiLmError, match=r"^biLM not found: https:/someone/elmo$"):
        BiLm.from_pretrained(Path("https://someone/elmo"))


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A hub that takes connections and never answers."""
    monkeypatch.setattr(downloads, "HUB_TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", address)
        yield


def test_the_earlier_download_is_used_when_the_hub_does_not_answer(
    bilm: BiLm, no_hub: None, cache: Path, tmp_path: Path
) -> None:
    snapshot = cache / "models--someone--elmo" / "snapshots" / "0a1b"
    shutil.copytree(tmp_path / "served", snapshot)
    (cache / "models--someone--elmo" / "refs").mkdir()
    (cache / "models--someone--elmo" / "refs" / "main").write_text("0a1b")
    assert BiLm.from_pretrained("hf://someone/elmo").digest() == bilm.digest()
    assert fetch("hf://someone/elmo/options.json") == snapshot / "options.json"
