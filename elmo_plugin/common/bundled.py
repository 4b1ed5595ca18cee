"""The models that come with this package, as `models/models.json` lists them."""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

from elmo_plugin.common.downloads import fetch
from elmo_plugin.common.errors import BiLmError, nearest_name

BUNDLED = Path(__file__).parents[1] / "models"
"""The folder of the biLMs, the word vectors and the trained models."""
_ARCHIVE = "model.tar.gz"


class BundledModel(NamedTuple):
    """
    A biLM, a table of word vectors, or the archive of a trained model.

    path: in `BUNDLED`
    about: what it does or is
    score: on the data that its card names
    licence: the model's, and its training data's
    predicates: for semantic roles, the name of the model that finds the predicates
    """

    name: str
    path: str
    about: str
    score: str
    licence: str
    predicates: str = ""

    @property
    def file(self) -> Path:
        """The archive of a trained model; the folder of another."""
        return BUNDLED / self.path

    @property
    def size(self) -> int:
        """The bytes of the model and its card."""
        folder = self.file.parent if self.file.is_file() else self.file
        return sum(file.stat().st_size for file in folder.iterdir())


@cache
def bundled_models() -> dict[str, BundledModel]:
    """Returns all models by their names."""
    listed = json.loads((BUNDLED / "models.json").read_text(encoding="utf-8"))
    return {each["name"]: BundledModel(**each) for each in listed}


@cache
def trained_models() -> dict[str, BundledModel]:
    """Returns the trained models of tasks by their names."""
    return {name: model for name, model in bundled_models().items() if model.path.endswith(_ARCHIVE)}


def archive_path(archive: str | Path) -> Path:
    """
    Returns the path of an archive by the name of a trained model, else by `fetch`. A `Path` is never a name.
    """
    if isinstance(archive, str) and archive in trained_models():
        return trained_models()[archive].file
    path = fetch(archive)
    if path.exists():
        return path
    if other := bundled_models().get(str(archive)):
        kind = "a biLM" if other.path.startswith("bilm") else "a table of word vectors"
        raise BiLmError(
            f"archive {archive}: file not found, and {archive} is {kind}, not a trained model: "
            f"expected one of {', '.join(trained_models())}"
        )
    if nearest := nearest_name(str(archive), trained_models()):
        raise BiLmError(f"archive {archive}: file not found; did you mean {nearest!r}?")
    return path


def tagger_of(archive: str | Path) -> str:
    """Returns the name of the model that finds the predicates for a trained model, or an empty string."""
    model = trained_models().get(archive) if isinstance(archive, str) else None
    return model.predicates if model else ""
