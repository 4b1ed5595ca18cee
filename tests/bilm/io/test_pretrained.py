"""Models by name and by address, from a server on this machine, and without any."""

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

import pytest
import torch

from elmo_plugin import ElmoEmbedder
from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.bilm.io.pretrained import MODELS, fetch
from elmo_plugin.common import downloads
from elmo_plugin.common.downloads import download_directory
from tests.bilm.conftest import BiLmMaker
from tests.small_bilm import write_pair

FILES = ("options.json", "weights.hdf5")


class Handler(SimpleHTTPRequestHandler):
    """Tells the size of a file, and breaks off in the middle of those whose name begins with `broken`."""

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


def test_names_are_those_of_the_bundled_and_the_published_models() -> None:
    published = ["small", "medium", "original", "original-5.5b", "pubmed", "portuguese"]
    assert list(MODELS) == ["tiny", "base", *published]
    folder = "https://allennlp.s3.amazonaws.com/models/elmo"
    assert MODELS["pubmed"] == (
        f"{folder}/contributed/pubmed/elmo_2x4096_512_2048cnn_2xhighway_options.json",
        f"{folder}/contributed/pubmed/elmo_2x4096_512_2048cnn_2xhighway_weights_PubMed_only.hdf5",
    )
    assert MODELS["portuguese"] == (
        f"{folder}/contributed/pt/elmo_pt_options.json",
        f"{folder}/contributed/pt/elmo_pt_weights.hdf5",
    )


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BiLmError, match=r"biLM not found: big is .*; the names are tiny, base, small"):
        BiLm.from_pretrained("big")


def test_a_path_is_the_file_itself(tmp_path: Path) -> None:
    assert fetch(tmp_path / "absent") == tmp_path / "absent" and fetch("model.tar.gz") == Path("model.tar.gz")


def test_a_tilde_is_the_users_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert fetch("~/elmo/options.json") == tmp_path / "elmo" / "options.json"


STORES = ["allennlp.s3.amazonaws.com", "s3-us-west-2.amazonaws.com/allennlp"]


@pytest.mark.parametrize(("kept", "asked"), [STORES, STORES[::-1]])
def test_an_address_of_a_published_file_finds_the_copy_under_another(
    kept: str, asked: str, cache: Path
) -> None:
    from cached_path.util import resource_to_filename

    file = "models/elmo/2x1024_128_2048cnn_1xhighway/elmo_2x1024_128_2048cnn_1xhighway_options.json"
    cache.mkdir(parents=True)
    copy = cache / resource_to_filename(f"https://{kept}/{file}")
    copy.write_text("{}")
    assert fetch(f"https://{asked}/{file}") == copy


def test_the_sizes_are_shown_before_a_download(
    named: str, address: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "served" / "large").write_bytes(bytes(2_345_678))
    BiLm.from_pretrained(named)
    fetch(f"{address}/large")
    error = capfd.readouterr().err
    sizes = [(tmp_path / "served" / name).stat().st_size for name in FILES]
    for name, size in zip(FILES, sizes, strict=True):
        assert f"downloading {address}/{name} of the biLM 'served': {size} bytes\n" in error
    assert f"downloading {address}/large: 2 MB\n" in error


def test_a_model_is_downloaded_once_and_then_needs_no_network(
    named: str, bilm: BiLm, server: ThreadingHTTPServer, cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    expected = bilm.embed([["the", "cat"]])[0]
    assert torch.equal(BiLm.from_pretrained(named).embed([["the", "cat"]])[0], expected)
    capfd.readouterr()
    stop(server)
    options, weights = MODELS[named]
    for again in (
        BiLm.from_pretrained(named),
        BiLm.from_pretrained({"options": options, "weights": weights}),
        BiLm.from_pretrained(named),
    ):
        assert torch.equal(again.embed([["the", "cat"]])[0], expected)
    assert capfd.readouterr().err == ""
    assert cache == download_directory() and not list(cache.glob("*.tmp"))


def test_the_cache_is_allennlps(named: str, bilm: BiLm, server: ThreadingHTTPServer, cache: Path) -> None:
    """AllenNLP calls this function with its cache directory."""
    from cached_path import cached_path

    options, weights = (cached_path(url, cache_dir=cache) for url in MODELS[named])
    stop(server)
    assert [fetch(url) for url in MODELS[named]] == [options, weights]
    assert BiLm.from_pretrained(named).options == bilm.options


def test_without_a_network_the_address_is_named_and_what_to_do(
    named: str, server: ThreadingHTTPServer, cache: Path
) -> None:
    stop(server)
    url = re.escape(MODELS[named][0])
    message = rf"cannot download {url} of the biLM 'served' \(.*refused.*\); .* give its path, .*{cache}"
    with pytest.raises(BiLmError, match=message):
        BiLm.from_pretrained(named)


def test_what_the_server_does_not_have_is_named(address: str) -> None:
    with pytest.raises(BiLmError, match=rf"cannot download {address}/absent.tar.gz \(HTTP Error 404"):
        BiLm.from_pretrained(f"{address}/absent.tar.gz")


@pytest.mark.parametrize("is_noticed", [True, False])
def test_half_a_file_is_not_kept(
    is_noticed: bool, address: str, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the library that downloads does not notice, as its older versions do not."""
    content = bytes(1000)
    (tmp_path / "served" / "broken").write_bytes(content)
    if not is_noticed:
        import cached_path

        def leave_half(url: str, cache_dir: Path) -> Path:
            cache_dir.mkdir(parents=True)
            (cache_dir / "half").write_bytes(content[:100])
            return cache_dir / "half"

        monkeypatch.setattr(cached_path, "cached_path", leave_half)
    with pytest.raises(BiLmError, match=rf"cannot download {address}/broken \(.*[Cc]onnection broke"):
        fetch(f"{address}/broken")
    assert not [path for path in cache.iterdir() if path.suffix != ".lock"]


@pytest.mark.parametrize(("name", "dim"), [("tiny", 256), ("base", 512)])
def test_bundled_bilms_need_no_download(name: str, dim: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cached_path", None)
    bilm = BiLm.from_pretrained(name)
    assert (bilm.num_layers, bilm.output_dim) == (3, dim)


def test_without_cached_path_only_urls_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cached_path", None)
    with pytest.raises(BiLmError, match=r"biLM 'small' \(the package cached-path is not installed: .*"):
        BiLm.from_pretrained("small")


@pytest.mark.parametrize("address", ["hf://someone/elmo", "s3://bucket/elmo", "gs://bucket/elmo"])
def test_other_addresses_are_left_to_the_library_that_knows_them(
    address: str, bilm: BiLm, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder, as of a whole model on a hub, or a file of it."""
    import cached_path

    asked = []

    def find(url: str, cache_dir: Path) -> Path:
        asked.append((url, cache_dir))
        return tmp_path / "served" / url.removeprefix(address).removeprefix("/")

    monkeypatch.setattr(cached_path, "cached_path", find)
    monkeypatch.setattr(downloads, "_hub_answers", lambda: True)
    expected = bilm.embed([["the", "cat"]])[0]
    files = [f"{address}/{name}" for name in FILES]
    for source in (address, dict(zip(("options", "weights"), files, strict=True))):
        assert torch.equal(BiLm.from_pretrained(source).embed([["the", "cat"]])[0], expected)
    assert asked == [(url, cache) for url in (address, *files)]


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a hub that takes connections and never answers."""
    monkeypatch.delitem(sys.modules, "cached_path", raising=False)
    monkeypatch.setattr(downloads, "HUB_TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{listening.getsockname()[1]}")
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    assert "cached_path" not in sys.modules, "its import takes seconds, its client tries for half a minute"


@pytest.mark.parametrize("address", ["hf://someone/elmo", "hf://someone/elmo@main/options.json"])
def test_without_an_answer_of_the_hub_its_client_is_not_asked(address: str, no_hub: str) -> None:
    with pytest.raises(BiLmError, match=rf"^cannot download {address}.* \({no_hub} does not answer\); bring"):
        downloads.fetch(address)


def test_without_an_answer_of_the_hub_what_was_downloaded_before_is_used(
    bilm: BiLm, no_hub: str, cache: Path, tmp_path: Path
) -> None:
    snapshot = cache / "models--someone--elmo" / "snapshots" / "0a1b"
    shutil.copytree(tmp_path / "served", snapshot)
    (cache / "models--someone--elmo" / "refs").mkdir()
    (cache / "models--someone--elmo" / "refs" / "main").write_text("0a1b")
    assert torch.equal(BiLm.from_pretrained("hf://someone/elmo").embed([["a"]])[0], bilm.embed([["a"]])[0])
    assert downloads.fetch("hf://someone/elmo/options.json") == snapshot / "options.json"


@pytest.mark.parametrize("address", ["hf://elmo", "hf://someone/--bad..name"])
def test_without_an_answer_of_the_hub_what_cannot_be_there_is_an_error_like_others(
    address: str, no_hub: str
) -> None:
    with pytest.raises(BiLmError, match=f"^cannot download {address}"):
        BiLm.from_pretrained(address)


def test_whatever_a_cloud_raises_names_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    import cached_path

    def refuse(_url: str, cache_dir: Path) -> Path:
        raise RuntimeError("no credentials")

    monkeypatch.setattr(cached_path, "cached_path", refuse)
    with pytest.raises(BiLmError, match=r"cannot download s3://bucket/a.tar.gz \(no credentials\); bring"):
        BiLm.from_pretrained("s3://bucket/a.tar.gz")


def test_what_is_saved_is_loaded_from_its_folder_and_from_the_hub(
    bilm: BiLm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bilm.save_pretrained("user/saved")
    assert sorted(file.name for file in (tmp_path / "user" / "saved").iterdir()) == ["README.md", *FILES]
    for folder in ("user/saved", tmp_path / "user" / "saved"):
        assert BiLm.from_pretrained(folder).digest() == bilm.digest()
    assert BiLm.from_pretrained("tiny").digest() == BiLm.from_pretrained("tiny").digest()
    asked = []
    monkeypatch.setattr(
        downloads,
        "fetch",
        lambda path, *_: asked.append(path) or tmp_path / ("user/saved" if asked[1:] else "absent"),
    )
    assert BiLm.from_pretrained("someone/elmo@v1.0-rc").digest() == bilm.digest()
    assert asked == ["someone/elmo@v1.0-rc", "hf://someone/elmo@v1.0-rc"]


def test_a_biLM_with_allennlps_parameters_says_how_it_is_saved(bilm: BiLm, tmp_path: Path) -> None:
    with pytest.raises(BiLmError, match="use elmo export"):
        ElmoEmbedder(bilm=bilm).bilm.save_pretrained(tmp_path / "saved")
