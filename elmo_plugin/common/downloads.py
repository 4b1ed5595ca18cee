"""Files and folders at URLs, each downloaded once into AllenNLP's cache."""

import os
import sys
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path

from elmo_plugin.common.errors import BiLmError, raise_if_sigterm_or_out_of_memory
from elmo_plugin.common.files import NO_ROOM, atomic_write, refuse_nul
from elmo_plugin.common.progress import is_quiet
from elmo_plugin.common.streams import show

HUB_TIMEOUT = 3  # seconds until the Hugging Face Hub must have answered
_READ_SIZE = 2**20  # bytes at a time
_SCHEMES = ("http", "https", "hf", "s3", "gs")


def download_directory() -> Path:
    """Returns AllenNLP's cache: `cache` in `$ALLENNLP_CACHE_ROOT`, by default in `~/.allennlp`."""
    return Path(os.environ.get("ALLENNLP_CACHE_ROOT") or Path.home() / ".allennlp") / "cache"


def is_url(text: str) -> bool:
    """Returns whether a string is a URL that `fetch` downloads."""
    scheme, _, _ = text.partition(":")
    return scheme.lower() in _SCHEMES


def fetch(path_or_url: str | Path) -> Path:
    """
    Returns a path with `~` expanded, and for a URL the path of the downloaded file. URLs are
    `https://…`, `s3://…`, `gs://…`, and for the Hugging Face Hub `hf://USER/MODEL/FILE`, or
    `hf://USER/MODEL` for the folder of a model. Raises `BiLmError` if the URL cannot be downloaded,
    or if its file in the cache has changed since its first use.
    """
    refuse_nul(path_or_url)
    if not path_or_url:
        raise BiLmError("expected a name, a path or a URL, got an empty text")
    if not isinstance(path_or_url, str) or not is_url(path_or_url):
        return Path(os.path.expanduser(path_or_url))
    try:
        path = _download(path_or_url)
    except ImportError:
        raise _cannot_download(path_or_url, "install elmo_plugin[download]") from None
    except Exception as error:  # each cloud's client has exceptions of its own
        raise_if_sigterm_or_out_of_memory(error)
        raise _cannot_download(path_or_url, f"{type(error).__name__}: {error}") from None
    _check_unchanged_since_first_use(path)
    return path


def _cannot_download(url: str, reason: str) -> BiLmError:
    """Returns the error for a URL that cannot be downloaded."""
    return BiLmError(f"cannot download {url} ({reason}): download it manually and pass its path")


def _check_unchanged_since_first_use(path: Path) -> None:
    """
    Compares a downloaded file with the digest that was stored when it was used first. Raises
    `BiLmError` if it has changed since. At the first use, stores the digest.
    """
    if not path.is_file():
        return  # a folder of the hub
    digest = _digest_of_file(path)
    stored = _path_of_digest(path)
    expected: str | None
    try:
        expected = stored.read_text(encoding="ascii")
    except FileNotFoundError:
        # In a cache that this user may only read, nothing can be stored.
        with suppress(OSError), atomic_write(stored) as temporary:
            temporary.write_text(digest, encoding="ascii")
        return
    except (OSError, ValueError):
        expected = None  # the stored digest is damaged
    if digest != expected:
        raise BiLmError(f"{path} has changed since its download: remove it and {stored}")


def _digest_of_file(path: Path) -> str:
    """Returns a digest of the content of a file, as hexadecimal digits."""
    digest = blake2b(digest_size=16)
    with open(path, "rb") as file:
        while part := file.read(_READ_SIZE):
            digest.update(part)
    return digest.hexdigest()


def _path_of_digest(path: Path) -> Path:
    """Returns where the digest of a downloaded file is stored."""
    # The name stands for the whole path, because files of different models on the hub may have the
    # same name.
    name = blake2b(os.fsencode(path.absolute()), digest_size=16).hexdigest()
    # Digests have their own folder: beside a download, `cached_path` would take the file of its
    # digest for a newer download.
    return download_directory() / "digests" / f"{name}.blake2b"


def _download(url: str) -> Path:
    """Returns the path of a URL in the cache. It is downloaded if it is missing."""
    if url.startswith("hf://"):
        return _download_from_hub(url.removeprefix("hf://"))
    # Imported here, because importing the clients of all clouds takes seconds.
    from cached_path import cached_path, find_latest_cached

    # An earlier download is used without `cached_path`, because that function would ask the server
    # for a newer version.
    cached = find_latest_cached(url, download_directory())
    if cached is not None:
        return Path(cached)
    if not is_quiet():
        show(f"downloading {url}", file=sys.stderr)
    return Path(cached_path(url, cache_dir=download_directory()))


def _download_from_hub(address: str) -> Path:
    """
    Downloads the model at the address USER/MODEL, or USER/MODEL@REVISION, or only a file of it, at
    the address USER/MODEL/FILE. Returns the path of the folder or the file. If the hub does not
    answer soon, an earlier download is used, and without one the hub gets more time.
    """
    from huggingface_hub import snapshot_download

    parts = address.split("/", maxsplit=2)
    model, _, revision = "/".join(parts[:2]).partition("@")
    # One, or none if the whole model is wanted, as in `USER/MODEL/`. The hub takes `FOLDER/`, with
    # its slash, for all files in a folder of the model.
    wanted_files = [file for file in parts[2:] if file.strip("/")]
    download = partial(
        snapshot_download, model, revision=revision or None, cache_dir=download_directory()
    )
    download_from_network = partial(download, allow_patterns=wanted_files or None)  # `None`: all
    error_of_hub = _ask_hub(model, revision)
    if error_of_hub is None:
        return Path(download_from_network(), *wanted_files)
    for attempt in (partial(download, local_files_only=True), download_from_network):
        try:
            path = Path(attempt(), *wanted_files)
        except Exception as error:
            raise_if_sigterm_or_out_of_memory(error)
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                raise  # the hub answered, and the files do not fit
            continue
        # An earlier download may have been of another file.
        if path.exists():
            return path
    raise error_of_hub


def _ask_hub(model: str, revision: str) -> Exception | None:
    """
    Asks the hub whether it has a model. Returns `None` if it has, and otherwise the error. A hub
    that does not answer is such an error after `HUB_TIMEOUT`; a download would wait much longer.
    """
    from huggingface_hub import HfApi

    try:
        HfApi().model_info(model, revision=revision or None, timeout=HUB_TIMEOUT)
    except Exception as error:
        raise_if_sigterm_or_out_of_memory(error)
        return error
    return None
