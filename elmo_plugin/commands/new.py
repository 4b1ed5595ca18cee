"""Write a project that trains a model of a task with ELMo. It is a folder with a configuration, the
library that it imports, your data or a little that is invented, and a README with the commands. The
biLM is base, or that of --bilm.

    elmo new ner my_project
    elmo new classify my_project --data train.csv dev.csv
    elmo new tag my_project --bilm my_bilm/run/model.tar.gz
    elmo new bilm my_bilm --data text.txt
    elmo new tutorial my_tutorial
"""

import argparse
import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from elmo_plugin import __version__
from elmo_plugin.commands.import_ import add_import_options
from elmo_plugin.commands.options import InputPath, add_shared, is_column_number
from elmo_plugin.commands.suggestions import task_name
from elmo_plugin.common.downloads import is_url
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import atomic_write
from elmo_plugin.common.parts import list_names, part_in_name
from elmo_plugin.common.streams import show
from elmo_plugin.common.task_cards import task_cards

if TYPE_CHECKING:
    from elmo_plugin.importers import ImportedData

PROJECTS = Path(__file__).parents[1] / "projects"
"""A folder for each task: a configuration, small invented data, and inputs to predict from."""
PROJECT_TASKS: dict[str, dict[str, str]] = {
    name: asdict(card.project) for name, card in task_cards().items() if card.project is not None
}
"""From the task's card: the findings of each task's model ("about"), an example for its README,
and the format of its data.
"""
TUTORIAL = "tutorial"
LIBRARY = Path(__file__).parents[1] / "jsonnet"
TEXTS = (".txt", ".txt.gz", ".txt.zst")
"""The names of texts in a folder."""
TEMPLATES = ("README.md", "requirements.txt")
PLUGINS = "elmo_plugin.quiet\nelmo_plugin.plugin\nelmo_plugin.hardening\n"
OWN_DATA = "The files in `data` are your own, as `elmo new` read them, in the form of this task."
OTHER_LANGUAGE = (
    "The texts seem to be in another language than English. The word vectors of this package are "
    "English, so this project learns its own."
)
ENGLISH_BILM = (
    " The biLM `{bilm}` is English, too, and helps little: train one on plain text of the language "
    "with `elmo new bilm FOLDER --data TEXT`, and name it with `elmo new {task} FOLDER --data PATH "
    "--bilm ARCHIVE`."
)
ENGLISH_BILMS = ("base", "tiny", "small", "medium", "original", "original-5.5b", "pubmed")
OWN_WORDS = "words.learned(100)"
INVENTED_DATA = (
    "The files in `data` are a few invented sentences, from which a model learns nothing of use. "
    "`elmo new {task} FOLDER --data PATH` writes a project like this one for your own: {format}."
)
INVENTED_TEXT = (
    "The text in `data` is a few invented sentences. `elmo new bilm FOLDER --data TEXT` writes a "
    "project like this one for your own, with sizes by its number of words.\n"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    about = [f"{name}, {task['about']}" for name, task in PROJECT_TASKS.items()]
    about.append(f"{TUTORIAL}, nothing: a notebook that compares the layers and trains a tagger")
    parser.add_argument(
        "task",
        metavar="TASK",
        type=partial(task_name, tasks=[*PROJECT_TASKS, TUTORIAL]),
        help=f"what the model finds: {'; '.join(about)}",
    )
    parser.add_argument(
        "folder", metavar="FOLDER", type=Path, help="the folder to create; must not exist yet"
    )
    parser.add_argument(
        "--data",
        metavar="PATH",
        type=InputPath,
        nargs="+",
        default=[],
        help="your own data: a folder with files called train…, dev… (or valid…) and maybe test…, "
        "or such files; files with other names are taken in the order train, dev, test. They are "
        "read as `elmo import` reads them, and written into the project. For bilm any texts; they "
        "are copied and split",
    )
    add_shared(parser, "--bilm")
    add_import_options(parser)


def new_project(
    task: str,
    folder: Path,
    data: "ImportedData | None" = None,
    bilm: str = "base",
    is_english: bool = True,
) -> None:
    """
    Writes a project for a task of `PROJECT_TASKS`, with the user's data, or with the invented data
    of its template. If the data are not English, the project learns its word vectors, because those
    of this package are English. Raises `BiLmError` if the folder exists already, or if the biLM
    does not exist.
    """
    readme_values = _values_for_task(task, data)
    if not is_english:
        readme_values["data"] += "\n\n" + note_on_language(task, bilm)
    with _project_from_template(task, folder, readme_values) as project:
        config = project / "config.jsonnet"
        text = config.read_text(encoding="utf-8")
        if bilm != "base":
            text = text.replace("bilm='base'", _bilm_arguments(bilm))
        if not is_english:
            text = text.replace("words.bundled()", OWN_WORDS)
        if data is not None:
            from elmo_plugin.importers import IMPORTERS, write_data  # here: it needs AllenNLP

            shutil.rmtree(project / "data")  # the invented sentences of the template
            files = write_data(IMPORTERS[task], data.parts, project / "data")
            file_names = {part: file.name for part, file in files.items()}
            text = _replace_data_files(text, file_names)
        config.write_text(text, "utf-8")


def note_on_language(task: str, bilm: str) -> str:
    """
    Returns a paragraph for data that are not English: the project learns its word vectors. If the
    biLM is a named one that is English, the paragraph also says how to train another.
    """
    if bilm in ENGLISH_BILMS:
        return OTHER_LANGUAGE + ENGLISH_BILM.format(task=task, bilm=bilm)
    return OTHER_LANGUAGE


@contextmanager
def _project_from_template(
    task: str, folder: Path, readme_values: dict[str, str]
) -> Iterator[Path]:
    """
    Makes a project from the template of a task. Yields a temporary folder with the project, to be
    changed in the block. After the block, this folder is renamed to `folder`. `readme_values` are
    the values of the placeholders in the README.
    """
    if folder.exists():
        raise BiLmError(f"{folder} already exists; name a new folder")
    with atomic_write(folder) as project:
        shutil.copytree(PROJECTS / task, project)
        (project / "lib").mkdir()
        for file in _library_files(project / "config.jsonnet"):
            shutil.copy(LIBRARY / file, project / "lib")
        (project / ".allennlp_plugins").write_text(PLUGINS, "utf-8")
        values = readme_values | {"version": __version__}
        for name in TEMPLATES:
            source = PROJECTS / task / name
            if not source.exists():  # all tasks share requirements.txt, and most share a README
                source = PROJECTS / name
            template = source.read_text(encoding="utf-8")
            (project / name).write_text(template.format(**values), "utf-8")
        yield project


def new_bilm(folder: Path, paths: Sequence[Path], language: str | None, column: int | None) -> None:
    """
    Writes a project that trains a biLM on the user's texts. The size of the biLM depends on their
    number of words. If `paths` is empty, the project has the invented text of the template.
    `language` and `column` say how the texts are read, as for `language_model.write_text`.
    """
    if not paths:
        with _project_from_template("bilm", folder, {"data": INVENTED_TEXT}):
            return  # nothing in the template changes
    from elmo_plugin import language_model  # here, because it imports torch

    with _project_from_template("bilm", folder, {"data": ""}) as project:
        figures = language_model.write_text(find_texts(paths), project / "data", language, column)
        if "test" not in figures:
            _replace_test_by_dev(project)
        config = project / "config.jsonnet"
        text = config.read_text(encoding="utf-8")
        for name, value in language_model.text_recipe(figures["train"]).items():
            # Each option is on a line at the top of the configuration, as `  dim=128,`.
            text = re.sub(rf"(?m)^  {name}=.*,$", f"  {name}={value},", text)
        config.write_text(text, "utf-8")
        for line in language_model.describe_text(figures):
            show(line)


def _replace_test_by_dev(project: Path) -> None:
    """
    Removes the invented test.txt from a project, and lets its README measure the biLM on dev.txt.
    The user's texts have replaced only the invented train.txt and dev.txt.
    """
    (project / "data" / "test.txt").unlink()
    readme = project / "README.md"
    text = readme.read_text("utf-8").replace("data/test.txt", "data/dev.txt")
    readme.write_text(text, "utf-8")


def _library_files(file: Path) -> set[str]:
    """
    Returns the names of the files in `LIBRARY` that a configuration imports, directly or through
    another of these files.
    """
    found = set(re.findall(r"import '(?:lib/)?(\w+\.libsonnet)'", file.read_text(encoding="utf-8")))
    names = set(found)
    for name in found:
        names |= _library_files(LIBRARY / name)
    return names


def _replace_data_files(config: str, file_names: Mapping[str, str]) -> str:
    """
    Returns a configuration that reads the user's files in place of the invented ones. `file_names`
    has the name of a file for each part, such as "train".
    """
    train = file_names["train"]
    dev = file_names.get("dev", train)  # a training without dev data is measured on its own data
    arguments = ["data='data'", f"train='{train}'", f"dev='{dev}'"]
    if "test" in file_names:
        arguments.append(f"test='{file_names['test']}'")
    # Such as `data='data', train='train.jsonl', dev='dev.jsonl'`, or only `data='data'`.
    pattern = r"data='data'(, (train|dev|test)='[^']*')*"
    return re.sub(pattern, ", ".join(arguments), config, count=1)


def _bilm_arguments(source: str) -> str:
    """
    Returns the text that replaces `bilm='base'` in a configuration, so that it uses another biLM.
    Raises `BiLmError` if the source is a path without a biLM.
    """
    from elmo_plugin.bilm import MAX_CHARACTERS_PER_TOKEN  # here, because it imports torch
    from elmo_plugin.bilm.io import MODELS, read_checkpoint

    if source in MODELS or is_url(source):
        return f"bilm={json.dumps(source)}"  # not read, as it may have to be downloaded first
    options = read_checkpoint(source, with_softmax=False).options
    path = os.path.expanduser(source)
    is_on_hub = not os.path.exists(path)  # a name such as USER/MODEL
    if not is_on_hub:
        source = os.path.abspath(path)  # the training runs in the project's folder
    arguments = f"bilm={json.dumps(source, ensure_ascii=False)}"
    max_characters = options.char_cnn.max_characters_per_token
    if max_characters != MAX_CHARACTERS_PER_TOKEN:
        arguments += f", max_characters_per_token={max_characters}"
    return arguments


def _values_for_task(task: str, data: "ImportedData | None") -> dict[str, str]:
    """
    Returns the values for the README of a task's project. It names the files of the user's data, or
    the files of invented data in the template.
    """
    values = PROJECT_TASKS[task]
    if data is None:
        invented = PROJECTS / task / "data"
        files = {file.stem: f"data/{file.name}" for file in invented.iterdir()}
        paragraph = INVENTED_DATA.format(task=task, format=values["format"])
    else:
        from elmo_plugin.importers import IMPORTERS

        # The names that `write_data` will give to the files.
        files = {part: f"data/{part}{IMPORTERS[task].suffix}" for part in data.parts}
        paragraph = OWN_DATA
    dev = files.get("dev", files["train"])
    evaluated = files.get("test", dev)
    return values | {"evaluated": evaluated, "dev": dev, "data": paragraph}


def new_tutorial(folder: Path) -> None:
    """Writes the tutorial, a notebook, into a new folder."""
    with atomic_write(folder) as written:
        shutil.copytree(PROJECTS / TUTORIAL, written)


def find_texts(paths: Sequence[Path]) -> dict[str, list[Path]]:
    """
    Returns the files of texts in each part, such as "train", if some are called train… and others
    dev…. Otherwise returns all files under "", and `language_model.write_text` splits their texts.

    Raises `BiLmError` if only some files name their part, or if no file is found.
    """
    files = _files_in(paths)
    parts: dict[str, list[Path]] = {}
    others = []
    for file in files:
        part = part_in_name(file.name)
        if part is None:
            others.append(file)
        else:
            parts.setdefault(part, []).append(file)
    if "train" not in parts or "dev" not in parts:
        return {"": files}
    if others:
        raise BiLmError(
            f"--data: expected only files called train…, dev… or test…, got {list_names(others)}"
        )
    return parts


def _files_in(paths: Sequence[Path]) -> list[Path]:
    """
    Returns the files among the paths, and the files in folders among them. In a folder, only files
    of `TEXTS` are taken; elsewhere, any file. Raises `BiLmError` if no file is found.
    """
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            texts = [file for file in sorted(path.iterdir()) if file.name.endswith(TEXTS)]
            files.extend(texts)
        else:
            files.append(path)
    if not files:
        raise BiLmError(
            f"--data: expected a file that ends in {', '.join(TEXTS)}, got {list_names(paths)}"
        )
    return files


def run(args: argparse.Namespace) -> None:
    """Writes the project and prints what to do next."""
    _check_options(args)
    if args.folder.exists():  # checked here already, because it takes long to read data
        raise BiLmError(f"{args.folder} already exists; name a new folder")
    if args.task == TUTORIAL:
        _write_tutorial(args)
        return
    if args.task == "bilm":
        paths = [Path(path) for path in args.data]
        column = _number_of_column(args)
        new_bilm(args.folder, paths, language=args.language, column=column)
        next_steps = "measure and use the biLM"
    else:
        _write_task_project(args)
        next_steps = "evaluate and predict"
    show(f"wrote {args.folder}; its README.md says how to train, {next_steps}:")
    show()
    show(f"    cd {shlex.quote(str(args.folder))} && allennlp train config.jsonnet -s run")


def _write_tutorial(args: argparse.Namespace) -> None:
    """Writes the tutorial and prints how to open it."""
    if args.data or args.bilm:
        raise BiLmError("the tutorial brings its own sentences and biLM: leave out the options")
    new_tutorial(args.folder)
    show(f"wrote {args.folder}; open its notebook, for example with")
    show()
    show(f"    jupyter lab {shlex.quote(str(args.folder / 'tutorial.ipynb'))}")


def _write_task_project(args: argparse.Namespace) -> None:
    """
    Writes the project of a task, with the user's data if there are any. Prints a note if the data
    are not English, and a note if they have no dev file.
    """
    data = None
    if args.data:
        data = _import_data(args)
    bilm = args.bilm
    if bilm is None:
        bilm = "base"
    is_english = data is None or _is_english(args, data)
    new_project(args.task, args.folder, data, bilm, is_english=is_english)
    if not is_english:
        show(note_on_language(args.task, bilm))
    if data is not None and "dev" not in data.parts:
        show(
            "There is no dev file: scores on the training data will look too good (--data "
            "TRAIN DEV, or --split 0.1)."
        )


def _check_options(args: argparse.Namespace) -> None:
    """
    Raises `BiLmError` for options that `elmo new bilm` does not take, and if an option says how
    data are read, but --data is missing.
    """
    # `elmo new bilm` does take --language and --column, because texts may need them as well.
    task_options = [args.encoding, args.separator, args.label_names, args.tags, args.split]
    has_task_option = any(task_options)
    if args.task == "bilm" and (args.bilm or has_task_option):
        raise BiLmError(
            "--bilm and the options of `elmo import` are for the other tasks; "
            "bilm.initialized_from in config.jsonnet trains a biLM further"
        )
    if not args.data and (args.language or args.column or has_task_option):
        raise BiLmError("the options that say how data are read are for --data, which is missing")


def _number_of_column(args: argparse.Namespace) -> int | None:
    """
    Returns the number of the column of words if the texts for a biLM are tables, else `None`.
    Raises `BiLmError` if --column is not a number: other tasks take names, such as text=body.
    """
    if not args.column:
        return None
    if len(args.column) > 1 or not is_column_number(args.column[0]):
        raise BiLmError(f"--column: expected its number, from 0, got {' '.join(args.column)}")
    return int(args.column[0])


def _is_english(args: argparse.Namespace, data: "ImportedData") -> bool:
    """Returns whether the user's data are English: by --language, or by the training examples."""
    language: str | None = args.language
    if language is not None:
        return language == "en"
    from elmo_plugin.importers import IMPORTERS, looks_english

    importer = IMPORTERS[args.task]
    return looks_english(importer.text(example) for example in data.parts["train"])


def _import_data(args: argparse.Namespace) -> "ImportedData":
    """Reads the user's data for a task as `elmo import` does, and prints its report."""
    from elmo_plugin.archives import import_all_plugins

    # First, because it says how to install AllenNLP if that is missing.
    import_all_plugins(subject="elmo new --data")
    from elmo_plugin.importers import IMPORTERS, find_parts, options_of, read_data

    importer = IMPORTERS[args.task]
    files = find_parts([Path(path) for path in args.data], option="--data")
    data = read_data(importer, files, options_of(args, importer.roles), split=args.split)
    for line in data.lines:
        show(line)
    return data
