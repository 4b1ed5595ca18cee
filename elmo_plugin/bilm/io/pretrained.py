"""Names of biLMs, and where their files are: inside this package, or to be downloaded once."""

import os
import sys
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import Request, urlopen

from elmo_plugin.common.errors import BiLmError

_BUNDLED = Path(__file__).parent.parent / "models"
# The addresses of one and the same store, the current one first: configurations of all ages name it.
_STORES = (
    "https://allennlp.s3.amazonaws.com/",
    "https://s3-us-west-2.amazonaws.com/allennlp/",
    "https://allennlp.s3-us-west-2.amazonaws.com/",
)
_PUBLISHED = f"{_STORES[0]}models/elmo"  # as AllenNLP's cache knows it
TIMEOUT = 30  # seconds without an answer


def _published(folder: str, stem: str, weights: str = "weights") -> tuple[str, str]:
    return f"{_PUBLISHED}/{folder}/{stem}_options.json", f"{_PUBLISHED}/{folder}/{stem}_{weights}.hdf5"


MODELS: dict[str, tuple[str, str]] = {
    "tiny": (str(_BUNDLED / "tiny" / "options.json"), str(_BUNDLED / "tiny" / "weights.hdf5")),
    "small": _published("2x1024_128_2048cnn_1xhighway", "elmo_2x1024_128_2048cnn_1xhighway"),
    "medium": _published("2x2048_256_2048cnn_1xhighway", "elmo_2x2048_256_2048cnn_1xhighway"),
    "original": _published("2x4096_512_2048cnn_2xhighway", "elmo_2x4096_512_2048cnn_2xhighway"),
    "original-5.5b": _published(
        "2x4096_512_2048cnn_2xhighway_5.5B", "elmo_2x4096_512_2048cnn_2xhighway_5.5B"
    ),
    "pubmed": _published("contributed/pubmed", "elmo_2x4096_512_2048cnn_2xhighway", "weights_PubMed_only"),
    "portuguese": _published("contributed/pt", "elmo_pt"),
}


def download_directory() -> Path:
    """AllenNLP's own cache: `cache` in `$ALLENNLP_CACHE_ROOT`, by default in `~/.allennlp`."""
    return Path(os.environ.get("ALLENNLP_CACHE_ROOT") or Path.home() / ".allennlp") / "cache"


def fetch(path_or_url: str | Path) -> Path:
    """
    A local path: the given one, in which `~` is the user's directory, or that of the URL's content, which is
    downloaded into AllenNLP's cache. What is in the cache already, because AllenNLP or an earlier call put it
    there, under this or another address of a published file, is used without a network.

    Raises `BiLmError` where it cannot be downloaded, or where the package `cached-path`, which knows that
    cache, is not installed.
    """
    url = str(path_or_url)
    if urlparse(url).scheme not in ("http", "https"):
        return Path(os.path.expanduser(path_or_url))
    try:
        from cached_path import cached_path, find_latest_cached
    except ImportError:
        raise _cannot_download(url, "the package cached-path is not installed") from None
    addresses = _addresses(url)
    for address in (url, *addresses):
        kept = find_latest_cached(address, download_directory())
        if kept is not None:
            return Path(kept)
    url = addresses[0]
    try:
        size = _size_of(url)
        print(f"downloading {url}{_of_bilm(url)}: {_shown(size)}", file=sys.stderr)
        path = Path(cached_path(url, cache_dir=download_directory()))
    except (OSError, HTTPException) as error:
        raise _cannot_download(url, error) from None
    if size is not None and path.stat().st_size != size:
        path.unlink()
        raise _cannot_download(url, "the connection broke off")
    return path


def _addresses(url: str) -> list[str]:
    """Returns the addresses of the same published file, the current one first; of another file its own."""
    for store in _STORES:
        if url.startswith(store):
            return [other + url.removeprefix(store) for other in _STORES]
    return [url]


def _size_of(url: str) -> int | None:
    """In bytes, where the server tells."""
    with urlopen(Request(url, method="HEAD"), timeout=TIMEOUT) as answer:
        size = answer.headers["Content-Length"]
    return None if size is None else int(size)


def _shown(size: int | None) -> str:
    if size is None:
        return "of unknown size"
    return f"{size / 1e6:.0f} MB" if size >= 1e6 else f"{size} bytes"


def _of_bilm(url: str) -> str:
    """For messages: whose file it is, if it is one of `MODELS`."""
    names = [name for name, urls in MODELS.items() if url in urls]
    return f" of the biLM {names[0]!r}" if names else ""


def _cannot_download(url: str, reason: object) -> BiLmError:
    return BiLmError(
        f"cannot download {url}{_of_bilm(url)} ({reason}); bring it here in another way and give its path, "
        'of two files as {"options": …, "weights": …}, or bring the content of '
        f"{download_directory()} from a machine where it was downloaded"
    )
