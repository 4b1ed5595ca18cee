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
_ARCHIVE_NAME = "model.tar.gz"
_PATH_CHARACTER = re.compile(r"[/\\.:]")  # paths and URLs have one, names and words do not


class BundledModel(NamedTuple):
    """
    A biLM, a table of word vectors, or the archive of a trained model.

    path: the archive, or else the folder of the model, relative to `BUNDLED`
    about: what a trained model finds, or the kind and size of the vectors
    score: the score on the data that its README.md names; empty for a biLM and for word vectors
    licence: the licence of the model, and of its training data
    predicates: the name of the model that finds the predicates for this one, if this one labels
        semantic roles; empty for others
    trained_on: the training data in a few words
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
    def is_trained(self) -> bool:
        """Whether it is the trained model of a task: only these are archives."""
        return self.file.name == _ARCHIVE_NAME

    @property
    def size(self) -> int:
        """The number of bytes of all files in the model's folder, with its README.md."""
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
            archive = f"tasks/{name}/{_ARCHIVE_NAME}"
            models[name] = BundledModel(name=name, path=archive, predicates=card.tagger, **facts)
    return models


@cache
def trained_models() -> dict[str, BundledModel]:
    """Returns the trained models of tasks by their names, without biLMs and word vectors."""
    return {name: model for name, model in bundled_models().items() if model.is_trained}


def model_name(archive: str | Path) -> str | Path:
    """
    Returns the name of the trained model if `archive` is a word for its task, such as "sentiment"
    for `sst`, and everything else unchanged. A path such as `./sst`, or a file that exists, is
    never such a word.
    """
    if not isinstance(archive, str) or _PATH_CHARACTER.search(archive):
        return archive
    if archive in trained_models() or os.path.exists(archive):
        return archive
    return _names_by_word().get(_letters_and_digits(archive), archive)


@cache
def _names_by_word() -> dict[str, str]:
    """
    Returns the names of the trained models by the words that somebody may type for them. The words
    are keys as `_letters_and_digits` returns them.
    """
    names = {}
    for name in trained_models():
        names[_letters_and_digits(name)] = name
        for word in task_cards()[name].words:  # cards have nothing but small letters and digits
            names[word] = name
    return names


def _letters_and_digits(text: str) -> str:
    """Returns only the letters and digits of a text, in lower case."""
    return re.sub(r"[\W_]", "", text.casefold())


def archive_path(archive: str | Path) -> Path:
    """
    Returns the path of a trained model, given its path, its URL, its name or a word for its task.
    Raises `BiLmError` for a missing file, unless the text is surely a path: whoever opens a path
    says that it is missing.
    """
    archive = model_name(archive)
    if isinstance(archive, str) and archive in trained_models():
        return trained_models()[archive].file
    path = fetch(archive)
    is_surely_path = not isinstance(archive, str) or _PATH_CHARACTER.search(archive)
    if is_surely_path or os.path.exists(path):
        return path
    archive = str(archive)
    _refuse_other_names(archive)
    names = ", ".join(trained_models())
    advice = f"this package has the trained models {names}"
    nearest = _nearest_model(archive)
    if nearest:
        advice = f"did you mean {nearest!r}? This package has the trained models {names}"
    raise BiLmError(f"archive {archive}: file not found; {advice}")


def _nearest_model(archive: str) -> str:
    """
    Returns the name of the trained model that was probably meant, or an empty string. The names of
    models are compared first, and then the words for their tasks. A word must be more alike than a
    name, because there are so many words that almost any text is a little like one of them.
    """
    nearest = nearest_name(archive.lower(), trained_models())
    if nearest:
        return nearest
    word = nearest_name(_letters_and_digits(archive), _names_by_word(), cutoff=0.8)
    return _names_by_word().get(word, "")


def _refuse_other_names(archive: str) -> None:
    """
    Raises `BiLmError` if `archive` is a word for a task without a bundled model, or the name of a
    biLM or of word vectors. Words for tasks with a bundled model do not come here: `model_name` has
    replaced them.
    """
    for card in task_cards().values():
        can_be_trained = card.project is not None
        if can_be_trained and _letters_and_digits(archive) in card.words:
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
    if not isinstance(name, str) or name not in trained_models():
        return ""
    return trained_models()[name].predicates
