"""Names of biLMs, and where their files are: inside this package, or to be downloaded once."""

import os
from pathlib import Path
from urllib.parse import urlparse

import torch

from elmo_plugin.bilm.errors import BiLmError

_BUNDLED = Path(__file__).parent / "models"
_PUBLISHED = "https://allennlp.s3.amazonaws.com/models/elmo"


def _published(folder: str, stem: str) -> tuple[str, str]:
    return f"{_PUBLISHED}/{folder}/{stem}_options.json", f"{_PUBLISHED}/{folder}/{stem}_weights.hdf5"


MODELS: dict[str, tuple[str, str]] = {
    "tiny": (str(_BUNDLED / "tiny" / "options.json"), str(_BUNDLED / "tiny" / "weights.hdf5")),
    "small": _published("2x1024_128_2048cnn_1xhighway", "elmo_2x1024_128_2048cnn_1xhighway"),
    "medium": _published("2x2048_256_2048cnn_1xhighway", "elmo_2x2048_256_2048cnn_1xhighway"),
    "original": _published("2x4096_512_2048cnn_2xhighway", "elmo_2x4096_512_2048cnn_2xhighway"),
    "original-5.5b": _published(
        "2x4096_512_2048cnn_2xhighway_5.5B", "elmo_2x4096_512_2048cnn_2xhighway_5.5B"
    ),
}


def files_of(name: str) -> tuple[str, str]:
    """The options file and the weight file (paths or URLs) of a model in `MODELS`."""
    if name not in MODELS:
        raise BiLmError(f"there is no pretrained biLM {name!r}; known are {', '.join(MODELS)}")
    return MODELS[name]


def cache_directory() -> Path:
    """Where files are kept: `$ELMO_PLUGIN_CACHE`, by default `elmo_plugin` in torch's hub folder."""
    return Path(os.environ.get("ELMO_PLUGIN_CACHE") or Path(torch.hub.get_dir()) / "elmo_plugin")


def fetch(path_or_url: str | Path) -> Path:
    """A local path: the given one, or that of the URL's content, which is downloaded once into the cache."""
    url = urlparse(str(path_or_url))
    if url.scheme not in ("http", "https", "ftp"):
        return Path(path_or_url)
    path = cache_directory() / url.netloc / url.path.lstrip("/")
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            torch.hub.download_url_to_file(str(path_or_url), str(path))  # downloads beside it, then renames
        except OSError as error:
            raise BiLmError(f"cannot download {path_or_url} ({error})") from None
    return path
