"""Write a project that trains a model of a task with ELMo. It is a folder with a configuration, the
library that it imports, your data or a little that is invented, and a README with the commands. The
biLM is base, or that of --bilm.

    elmo new ner my_project
    elmo new classify my_project --data train.csv dev.csv
    elmo new tag my_project --bilm my_bilm/run/model.tar.gz
    elmo new bilm my_bilm --data text.txt
"""

import argparse
import json
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from elmo_plugin import __version__
from elmo_plugin.commands.options import InputPath, add_shared
from elmo_plugin.commands.suggestions import project_task
from elmo_plugin.common.downloads import is_url
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import atomic_write
from elmo_plugin.common.formats.json_files import as_object, parse_json
from elmo_plugin.common.streams import show

PROJECTS = Path(__file__).parents[1] / "projects"
"""A folder for each task: a configuration, small invented data, and inputs to predict from."""
PROJECT_TASKS: dict[str, dict[str, str]] = json.loads(
    (PROJECTS / "tasks.json").read_text(encoding="utf-8")
)
"""What the model of each task finds ("about"), an example for its README, and the format of its
data.
"""
LIBRARY = Path(__file__).parents[1] / "jsonnet"
TEXTS = (".txt", ".txt.gz", ".txt.zst")
"""The names of texts in a folder."""
TEMPLATES = ("README.md", "requirements.txt")
PLUGINS = "elmo_plugin.quiet\nelmo_plugin.plugin\nelmo_plugin.hardening\n"
OWN_DATA = "The data are {files}. They stay where they are; `config.jsonnet` has their paths."
INVENTED_DATA = (
    "The files in `data` are a few invented sentences, from which a model learns nothing of use. "
    "`elmo new {task} FOLDER --data PATH` writes a project like this one for your own: {format}."
)
INVENTED_TEXT = (
    "The text in `data` is a few invented sentences. `elmo new bilm FOLDER --data TEXT` writes a "
    "project "
    "like this one for your own, with sizes by its number of words.\n"
)

_ROLE = re.compile(  # of a file, in its name
    r"(?<![a-z])(?:(?P<train>train(?:ing)?|trn)|(?P<dev>dev(?:el(?:opment)?)?|val(?:id(?:ation)?)?|testa)"
    r"|(?P<test>testb?))(?:set|data)?(?![a-z])"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    about = "; ".join(f"{name}, {task['about']}" for name, task in PROJECT_TASKS.items())
    parser.add_argument(
        "task",
        metavar="TASK",
        type=partial(project_task, tasks=PROJECT_TASKS),
        help=f"what the model finds: {about}",
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
        "or such files; others are taken in this order. They are read once, which needs AllenNLP, "
        "and stay where they are. For bilm any texts, which are copied and split",
    )
    parser.add_argument(
        "--reader",
        metavar="JSON",
        help="""options of the dataset reader for --data, such as '{"text_column": "body"}'""",
    )
    add_shared(parser, "--bilm")
    parser.add_argument(
        "--language",
        metavar="CODE",
        help="for bilm: split raw text into sentences and words by spaCy's rules for this language "
        "(default: one sentence per line, its words between spaces)",
    )
    add_shared(parser, "--column")


def new_project(
    task: str,
    folder: Path,
    files: Mapping[str, Path] | None = None,
    reader: Mapping[str, Any] | None = None,
    bilm: str = "base",
) -> None:
    """
    Writes a project for a task of `PROJECT_TASKS`, with the user's data by "train", "dev" and maybe
    "test". They are read before the folder appears. Raises `BiLmError` if it exists already, or
    there is no such biLM, and `ConfigurationError` if the data cannot be read.
    """
    with _project(task, folder, lambda project: _readme_values(task, project, files)) as project:
        config = project / "config.jsonnet"
        if bilm != "base":
            config.write_text(
                config.read_text(encoding="utf-8").replace("bilm='base'", _bilm(bilm)), "utf-8"
            )
        if files:
            shutil.rmtree(project / "data")
            config.write_text(
                _with_data(config.read_text(encoding="utf-8"), files, reader or {}), "utf-8"
            )
            _check_data(config)


@contextmanager
def _project(
    task: str, folder: Path, readme_values: Callable[[Path], Mapping[str, str]]
) -> Iterator[Path]:
    """Yields a project with the data of its template, which becomes `folder` after the block."""
    if folder.exists():
        raise BiLmError(f"{folder} already exists; name a new folder")
    with atomic_write(folder) as project:
        shutil.copytree(PROJECTS / task, project)
        (project / "lib").mkdir()
        for file in _library(project / "config.jsonnet"):
            shutil.copy(LIBRARY / file, project / "lib")
        (project / ".allennlp_plugins").write_text(PLUGINS, "utf-8")
        values = {"version": __version__, **readme_values(project)}
        for name in TEMPLATES:
            own = PROJECTS / task / name
            template = (own if own.exists() else PROJECTS / name).read_text(encoding="utf-8")
            (project / name).write_text(template.format(**values), "utf-8")
        yield project


def new_bilm(
    folder: Path, paths: Sequence[Path], language: str | None = None, column: int | None = None
) -> None:
    """
    Writes a project that trains a biLM, with the user's text and sizes by its number of words, if
    any.
    """
    with _project("bilm", folder, lambda _: {"data": "" if paths else INVENTED_TEXT}) as project:
        if not paths:
            return
        from elmo_plugin import language_model  # here, as torch takes a second

        figures = language_model.write_text(find_texts(paths), project / "data", language, column)
        if "test" not in figures:
            (project / "data" / "test.txt").unlink()
            readme = project / "README.md"
            readme.write_text(
                readme.read_text("utf-8").replace("data/test.txt", "data/dev.txt"), "utf-8"
            )
        config = project / "config.jsonnet"
        text = config.read_text(encoding="utf-8")
        for name, value in language_model.text_recipe(figures["train"]).items():
            text = re.sub(rf"(?m)^  {name}=.*,$", f"  {name}={value},", text)
        config.write_text(text, "utf-8")
        for line in language_model.describe_text(figures):
            show(line)


def _library(file: Path) -> set[str]:
    """
    Returns the files of the library that a configuration imports, and those that these import.
    """
    names = set(re.findall(r"import '(?:lib/)?(\w+\.libsonnet)'", file.read_text(encoding="utf-8")))
    return names.union(*(_library(LIBRARY / name) for name in names))


def _with_data(config: str, files: Mapping[str, Path], reader: Mapping[str, Any]) -> str:
    """Returns a configuration with the user's files in the place of the invented ones."""
    folder = os.path.commonpath([file.parent for file in files.values()])
    arguments = {"data": folder} | {
        role: os.path.relpath(file, folder) for role, file in files.items()
    }
    values = [
        f"{name}={json.dumps(str(value), ensure_ascii=False)}" for name, value in arguments.items()
    ]
    values += [f"reader={json.dumps(reader)}"] if reader else []
    return re.sub(r"data='data'(, \w+='[^']*')*", lambda _: ", ".join(values), config, count=1)


def _bilm(source: str) -> str:
    """Returns the arguments of `elmo.at` for a biLM. Raises `BiLmError` if it is not there."""
    from elmo_plugin.bilm import MAX_CHARACTERS_PER_TOKEN  # here, as torch takes a second
    from elmo_plugin.bilm.io import MODELS, read_checkpoint

    if source in MODELS or is_url(source):
        return f"bilm={json.dumps(source)}"
    length = read_checkpoint(source, with_softmax=False).options.char_cnn.max_characters_per_token
    path = os.path.expanduser(source)
    named = json.dumps(
        os.path.abspath(path) if os.path.exists(path) else source, ensure_ascii=False
    )
    is_longer = length != MAX_CHARACTERS_PER_TOKEN
    return f"bilm={named}{f', max_characters_per_token={length}' if is_longer else ''}"


def _readme_values(task: str, project: Path, files: Mapping[str, Path] | None) -> dict[str, str]:
    about = PROJECT_TASKS[task]
    if files:
        data = OWN_DATA.format(
            files=", ".join(f"`{file}` ({role})" for role, file in files.items())
        )
    else:
        data = INVENTED_DATA.format(task=task, format=about["format"])
        files = {file.stem: file.relative_to(project) for file in (project / "data").iterdir()}
    evaluated = shlex.quote(str(files.get("test", files["dev"])))
    return about | {"evaluated": evaluated, "dev": f"`{files['dev']}`", "data": data}


def find_files(paths: Sequence[Path]) -> dict[str, Path]:
    """Returns files by "train", "dev" and maybe "test". Raises `BiLmError` if that is unclear."""
    paths = [Path(os.path.abspath(path)) for path in paths]
    place, is_folder = "--data", len(paths) == 1 and paths[0].is_dir()
    if is_folder:
        place = str(paths[0])
        paths = [
            path for path in sorted(paths[0].iterdir()) if not path.name.startswith((".", "_"))
        ]
    elif len(paths) > 3:
        raise BiLmError(
            f"--data: expected one folder, or the files TRAIN DEV TEST, got {len(paths)} files"
        )
    roles = [
        match and match.lastgroup for match in (_ROLE.search(path.name.lower()) for path in paths)
    ]
    if not is_folder or len(paths) == 1:
        roles = [role or name for role, name in zip(roles, ("train", "dev", "test"), strict=False)]
    files: dict[str, Path] = {}
    for role, path in zip(roles, paths, strict=True):
        if role in files:
            both = _listed([files[role], path])
            hint = "name them: --data TRAIN DEV" if is_folder else "rename one"
            raise BiLmError(f"{place}: expected one {role} file, got {both}; {hint}")
        if role is not None:
            files[role] = path
    if "train" not in files:
        raise BiLmError(f"{place}: expected a file called train…, got {_listed(paths)}")
    return {"train": files["train"], "dev": files.get("dev", files["train"]), **files}


def find_texts(paths: Sequence[Path]) -> dict[str, list[Path]]:
    """
    Returns texts by what they are for, if there are some called train… and dev…, else all as "".
    """
    files = [
        file for path in paths for file in (sorted(path.iterdir()) if path.is_dir() else [path])
    ]
    files = [file for file in files if file in paths or file.name.endswith(TEXTS)]
    if not files:
        raise BiLmError(
            f"--data: expected a file that ends in {', '.join(TEXTS)}, got {_listed(paths)}"
        )
    roles: dict[str, list[Path]] = {}
    for file in files:
        if match := _ROLE.search(file.name.lower()):
            roles.setdefault(match.lastgroup or "", []).append(file)
    if not {"train", "dev"} <= roles.keys():
        return {"": files}
    if others := [file for file in files if not _ROLE.search(file.name.lower())]:
        raise BiLmError(
            f"--data: expected only files called train…, dev… or test…, got {_listed(others)}"
        )
    return roles


def _listed(paths: Sequence[Path]) -> str:
    return ", ".join([path.name for path in paths[:6]] + ["…"] * (len(paths) > 6)) or "nothing"


def _check_data(config: Path) -> None:
    """Reads the data of a configuration once, and prints what was found."""
    from elmo_plugin.archives import import_all_plugins

    import_all_plugins("elmo new --data")
    from allennlp.common import Params

    from elmo_plugin.config_check import check, mistakes
    from elmo_plugin.tasks import describe_data

    params = Params.from_file(config).params
    check(mistakes({"dataset_reader": params["dataset_reader"]}))
    for line in describe_data(params):
        show(line)


def run(args: argparse.Namespace) -> None:
    """Writes the project and prints what to do next."""
    reader = as_object(parse_json(args.reader or "{}", "--reader"), "--reader")
    of_text = args.language or args.column is not None
    if (reader or args.bilm) if args.task == "bilm" else of_text:
        raise BiLmError(
            "--language and --column are for bilm, --reader and --bilm for the other tasks; "
            "bilm.initialized_from in config.jsonnet trains a biLM further"
        )
    if (reader or of_text) and not args.data:
        raise BiLmError("--reader, --language and --column are for --data, which is missing")
    if args.task == "bilm":
        new_bilm(args.folder, list(map(Path, args.data)), args.language, args.column)
        uses = "measure and use the biLM"
    else:
        files = find_files(list(map(Path, args.data))) if args.data else None
        new_project(args.task, args.folder, files, reader, args.bilm or "base")
        if files and files["dev"] == files["train"]:
            show(
                "There is no dev file: scores on the training data will look too good (--data "
                "TRAIN DEV)."
            )
        uses = "evaluate and predict"
    show(f"wrote {args.folder}; its README.md says how to train, {uses}:\n")
    show(f"    cd {shlex.quote(str(args.folder))} && allennlp train config.jsonnet -s run")
