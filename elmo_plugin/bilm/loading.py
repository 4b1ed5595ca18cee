"""One way to say which biLM is meant: by name, by archive, or by its two files."""

from collections.abc import Mapping

from elmo_plugin.bilm.bilm import BiLm
from elmo_plugin.bilm.errors import BiLmError
from elmo_plugin.bilm.pretrained import MODELS, fetch


def load_bilm(source: str | Mapping[str, str]) -> BiLm:
    """
    # Parameters

    source : `str | Mapping[str, str]`
        A name of `elmo_plugin.bilm.pretrained.MODELS`, the path or URL of a training archive (or its
        directory), or `{"options": ..., "weights": ...}` with a pair of paths or URLs.

    Raises `BiLmError` where it names no usable model.
    """
    if isinstance(source, str):
        return BiLm.pretrained(source) if source in MODELS else BiLm.from_archive(_archive_path(source))
    if not isinstance(source, Mapping) or set(source) != {"options", "weights"}:
        raise BiLmError(
            f'a biLM is given by name, by archive, or as {{"options": …, "weights": …}}, not as {source!r}'
        )
    return BiLm.from_files(source["options"], source["weights"])


def _archive_path(source: str) -> str:
    path = fetch(source)
    if not path.exists():
        raise BiLmError(
            f"there is no biLM {source!r}: it is neither one of {', '.join(MODELS)} nor a training archive"
        )
    return str(path)
