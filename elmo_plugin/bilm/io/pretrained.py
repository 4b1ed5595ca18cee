"""Names of biLMs, and where their files are: inside this package, or to be downloaded once."""

from pathlib import Path

from elmo_plugin.common import downloads

_BUNDLED = Path(__file__).parent.parent / "models"
# The addresses of one store, the current one first: configurations name any of them.
_STORES = (
    "https://allennlp.s3.amazonaws.com/",
    "https://s3-us-west-2.amazonaws.com/allennlp/",
    "https://allennlp.s3-us-west-2.amazonaws.com/",
)
_PUBLISHED = f"{_STORES[0]}models/elmo"  # as AllenNLP's cache knows it


def _bundled(name: str) -> tuple[str, str]:
    return str(_BUNDLED / name / "options.json"), str(_BUNDLED / name / "weights.hdf5")


def _published(folder: str, stem: str, weights: str = "weights") -> tuple[str, str]:
    return f"{_PUBLISHED}/{folder}/{stem}_options.json", f"{_PUBLISHED}/{folder}/{stem}_{weights}.hdf5"


MODELS: dict[str, tuple[str, str]] = {
    "tiny": _bundled("tiny"),
    "base": _bundled("base"),
    "small": _published("2x1024_128_2048cnn_1xhighway", "elmo_2x1024_128_2048cnn_1xhighway"),
    "medium": _published("2x2048_256_2048cnn_1xhighway", "elmo_2x2048_256_2048cnn_1xhighway"),
    "original": _published("2x4096_512_2048cnn_2xhighway", "elmo_2x4096_512_2048cnn_2xhighway"),
    "original-5.5b": _published(
        "2x4096_512_2048cnn_2xhighway_5.5B", "elmo_2x4096_512_2048cnn_2xhighway_5.5B"
    ),
    "pubmed": _published("contributed/pubmed", "elmo_2x4096_512_2048cnn_2xhighway", "weights_PubMed_only"),
    "portuguese": _published("contributed/pt", "elmo_pt"),
}


def fetch(path_or_address: str | Path) -> Path:
    """
    Returns the path of a file, downloaded if need be, see `elmo_plugin.common.downloads.fetch`. A published
    file in the cache under another address of its store is not downloaded again; messages name the model.
    """
    names = [name for name, files in MODELS.items() if str(path_or_address) in files]
    whose = f" of the biLM {names[0]!r}" if names else ""
    current, *others = _addresses(path_or_address)
    return downloads.fetch(current, whose, others)


def _addresses(path_or_address: str | Path) -> list[str | Path]:
    """Returns the addresses of a published file, the current one first; else what is given."""
    for store in _STORES:
        if str(path_or_address).startswith(store):
            return [other + str(path_or_address).removeprefix(store) for other in _STORES]
    return [path_or_address]
