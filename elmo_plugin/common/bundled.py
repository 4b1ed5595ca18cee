"""
The models that come with this package: `models/models.json` lists the biLMs and the word vectors,
and the trained model of a task has a file `model.json` beside its archive.
"""

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from elmo_plugin.common.downloads import fetch
from elmo_plugin.common.errors import BiLmError, nearest_name
from elmo_plugin.common.task_cards import task_cards

BUNDLED = Path(__file__).parents[1] / "models"
"""The folder of the biLMs, the word vectors and the trained models."""


class BundledModel(NamedTuple):
    """
    A biLM, a table of word vectors, or the archive of a trained model.

    path: in `BUNDLED`
    about: what it does or is
    score: on the data in its README.md; empty for a biLM and for word vectors
    licence: the model's, and its training data's
    predicates: for semantic roles, the name of the model that finds the predicates; else empty
    trained_on: its training data in a few words
    """

    name: str
    path: str
    about: str
    score: str
    licence: str
    predicates: str = ""
    trained_on: str = ""

    @property
    def note(self) -> str:
        """One sentence for users: the training data, and the score if it has one."""
        note = f"{self.name} is a small model, trained on {self.trained_on}"
        if self.score:
            note += f": {self.score} on texts kept back"
        return f"{note}."

    @property
    def file(self) -> Path:
        """The archive file of a trained model, or the folder of a biLM or of word vectors."""
        return BUNDLED / self.path

    @property
    def size(self) -> int:
        """The bytes of all files in the model's folder: the model and its README.md."""
        if self.file.is_file():
            folder = self.file.parent
        else:
            folder = self.file
        return sum(file.stat().st_size for file in folder.iterdir())


@cache
def bundled_models() -> dict[str, BundledModel]:
    """Returns all models by their names. A trained model has the name of its task."""
    models = {}
    for entry in json.loads((BUNDLED / "models.json").read_text(encoding="utf-8")):
        models[entry["name"]] = BundledModel(**entry)
    for name, card in task_cards().items():
        file = BUNDLED / "tasks" / name / "model.json"
        if file.exists():  # some tasks have no bundled model
            facts = json.loads(file.read_text(encoding="utf-8"))
            archive = f"tasks/{name}/model.tar.gz"
            models[name] = BundledModel(name, archive, predicates=card.tagger, **facts)
    return models


@cache
def trained_models() -> dict[str, BundledModel]:
    """Returns the trained models of tasks by their names."""
    return {
        name: model
        for name, model in bundled_models().items()
        if model.path.endswith("model.tar.gz")
    }


def model_name(archive: str | Path) -> str | Path:
    """
    Returns the name of the trained model if `archive` is a word for its task, such as "sentiment"
    for `sst`, and everything else unchanged. A `Path`, or a file that exists, is never such a word.
    """
    if not isinstance(archive, str) or archive in trained_models() or os.path.exists(archive):
        return archive
    return _names_by_word().get(_plain(archive), archive)


@cache
def _names_by_word() -> dict[str, str]:
    """Returns the names of the trained models by the words for them, as `_plain` writes words."""
    names = {}
    for name in trained_models():
        names[_plain(name)] = name
        for word in task_cards()[name].words:  # written plainly on the cards
            names[word] = name
    return names


def _plain(text: str) -> str:
    """Returns only the letters and digits of a text, in lower case."""
    return re.sub(r"[\W_]", "", text.casefold())


def archive_path(archive: str | Path) -> Path:
    """
    Returns the path of a trained model, given its path, its URL, its name or a word for its task.
    Raises `BiLmError` for a word that means no trained model.
    """
    archive = model_name(archive)
    if isinstance(archive, str) and archive in trained_models():
        return trained_models()[archive].file
    path = fetch(archive)
    if os.path.exists(path):
        return path
    _refuse_name_of_no_trained_model(str(archive))
    looks_like_path = not isinstance(archive, str) or re.search(r"[/\\.:]", archive) is not None
    if looks_like_path:
        return path  # whoever opens it says that it is missing
    names = ", ".join(trained_models())
    advice = f"this package has the trained models {names}"
    nearest = _nearest_model(str(archive))
    if nearest:
        advice = f"did you mean {nearest!r}? This package has the trained models {names}"
    raise BiLmError(f"archive {archive}: file not found; {advice}")


def _nearest_model(archive: str) -> str:
    """
    Returns the name of the trained model that was probably meant, or an empty string. The names of
    models are compared first, and then the words for their tasks: more strictly, because with so
    many words almost any text is a little like one of them.
    """
    nearest = nearest_name(archive.lower(), trained_models())
    if nearest:
        return nearest
    word = nearest_name(_plain(archive), _names_by_word(), cutoff=0.8)
    return _names_by_word().get(word, "")


def _refuse_name_of_no_trained_model(archive: str) -> None:
    """
    Raises `BiLmError` if `archive` is a word for a task without a bundled model, or the name of a
    biLM or of word vectors. A word for a task with a model has become its name before.
    """
    for card in task_cards().values():
        can_be_trained = card.project is not None
        if can_be_trained and _plain(archive) in card.words:
            raise BiLmError(
                f"archive {archive}: this package has no such model; `elmo new {card.name} FOLDER "
                "--data PATH` writes a project that trains one"
            )
    other = bundled_models().get(archive)
    if other is not None:
        kind = "a table of word vectors"
        if other.path.startswith("bilm"):
            kind = "a biLM"
        raise BiLmError(
            f"archive {archive}: file not found, and {archive} is {kind}, not a trained model: "
            f"expected one of {', '.join(trained_models())}"
        )


def tagger_of(archive: str | Path) -> str:
    """
    Returns the name of the bundled model that finds the predicates for the bundled model of
    semantic roles, and an empty string for all other archives.
    """
    name = model_name(archive)
    if name not in trained_models():
        return ""
    return trained_models()[str(name)].predicates
