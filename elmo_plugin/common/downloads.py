"""Files at addresses, each downloaded once into AllenNLP's cache."""

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from urllib.error import HTTPError
from urllib.parse import urlparse
from urllib.request import Request, urlopen

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.progress import is_quiet

SCHEMES = ("http", "https", "hf", "s3", "gs")
TIMEOUT = 30  # seconds without an answer
HUB_TIMEOUT = 3  # seconds until the Hugging Face Hub must have answered anything


def download_directory() -> Path:
    """Returns AllenNLP's cache: `cache` in `$ALLENNLP_CACHE_ROOT`, by default in `~/.allennlp`."""
    return Path(os.environ.get("ALLENNLP_CACHE_ROOT") or Path.home() / ".allennlp") / "cache"


def is_address(path: str | Path) -> bool:
    """Returns whether a string is an address, not a path."""
    return urlparse(str(path)).scheme in SCHEMES


def fetch(path_or_address: str | Path, whose: str = "", others: Sequence[str | Path] = ()) -> Path:
    """
    Returns a local path: the given path, or that of a downloaded address. Nothing is downloaded if AllenNLP
    or an earlier call has put it into the cache.

    # Parameters

    path_or_address : `str | Path`
        A path, which may begin with `~`, or an address that the package `cached-path` reads: `https://…`,
        `hf://USER/MODEL/FILE` of the Hugging Face Hub (without a file the folder of the model), `s3://…`,
        `gs://…`.
    whose : `str`, optional (default = `""`)
        For messages: " of …", what the file belongs to.
    others : `Sequence[str | Path]`, optional (default = `()`)
        Other addresses of the same content, to be looked up in the cache.

    Raises `BiLmError` if it cannot be downloaded, or `cached-path` is not installed.
    """
    address = str(path_or_address)
    if not is_address(address):
        return Path(os.path.expanduser(path_or_address))
    if find_spec("cached_path") is None:
        reason = "the package cached-path is not installed: install elmo_plugin[download]"
        raise _cannot_download(address, whose, reason)
    if urlparse(address).scheme == "hf" and not _hub_answers():
        return _of_hubs_cache(address, whose)
    from cached_path import cached_path, find_latest_cached  # the clients of all clouds: takes seconds

    for known in (address, *others):
        found = find_latest_cached(str(known), download_directory())
        if found is not None:
            return Path(found)
    try:
        size = _size_of(address)
        if not is_quiet():
            print(f"downloading {address}{whose}: {_shown(size)}", file=sys.stderr)
        path = Path(cached_path(address, cache_dir=download_directory()))
    except Exception as error:  # the clients of clouds have exceptions of their own
        raise _cannot_download(address, whose, error) from None
    if size is not None and path.stat().st_size != size:
        path.unlink()
        raise _cannot_download(address, whose, "the connection broke off")
    return path


def _hub_answers() -> bool:
    """Returns whether the Hugging Face Hub can be reached; its client would retry for half a minute."""
    answers = []

    def ask() -> None:
        try:
            urlopen(Request(_hub(), method="HEAD"), timeout=HUB_TIMEOUT).close()
        except HTTPError:
            pass  # an answer, too
        except OSError:
            return
        answers.append(True)

    thread = Thread(target=ask, daemon=True)  # looking up the name has no time limit of its own
    thread.start()
    thread.join(HUB_TIMEOUT)
    return bool(answers)


def _hub() -> str:
    return os.environ.get("HF_ENDPOINT") or "https://huggingface.co"


def _of_hubs_cache(address: str, whose: str) -> Path:
    """Returns what the client of the Hugging Face Hub has downloaded before."""
    from huggingface_hub import snapshot_download

    user, _, rest = address.removeprefix("hf://").partition("/")
    model, _, file = rest.partition("/")
    name, _, revision = model.partition("@")
    try:
        folder = snapshot_download(
            f"{user}/{name}", revision=revision or None, cache_dir=download_directory(), local_files_only=True
        )
    except (OSError, ValueError):  # LocalEntryNotFoundError, HFValidationError
        raise _cannot_download(address, whose, f"{_hub()} does not answer") from None
    return Path(folder, file)


def _size_of(address: str) -> int | None:
    """Returns the size in bytes, if the server reports it."""
    if urlparse(address).scheme not in ("http", "https"):
        return None
    with urlopen(Request(address, method="HEAD"), timeout=TIMEOUT) as answer:
        size = answer.headers["Content-Length"]
    return None if size is None else int(size)


def _shown(size: int | None) -> str:
    if size is None:
        return "of unknown size"
    return f"{size / 1e6:.0f} MB" if size >= 1e6 else f"{size} bytes"


def _cannot_download(address: str, whose: str, reason: object) -> BiLmError:
    return BiLmError(
        f"cannot download {address}{whose} ({reason}); bring it here in another way and give its path, or "
        f"bring the content of {download_directory()} from a machine where it was downloaded"
    )
