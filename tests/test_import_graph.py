"""The rooms of the package: who may import whom, and through which door."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from elmo_plugin.commands.command import COMMANDS

PACKAGE = Path(__file__).parents[1] / "elmo_plugin"
# What each room may import, besides itself. `plugin`, `dropin` and `__main__` may import
# everything.
APPLICATIONS = {"analysis", "sweeps", "embed_files", "migration.allennlp_api", "integrations"}
ALLOWED: dict[str, set[str]] = {"common": set(), "bilm": {"common"}}
ALLOWED["embedding"] = {"common", "bilm"}
ALLOWED["encoders"] = ALLOWED["embedding"] | {"embedding"}
ALLOWED["migration.old_layers"] = set()
ALLOWED["tasks"] = ALLOWED["encoders"] | {"encoders"}
ALLOWED["training"] = ALLOWED["encoders"]
ALLOWED["language_model"] = ALLOWED["training"] | {"training"}
ALLOWED["register"] = ALLOWED["tasks"] | {"tasks", "training", "language_model", "shims"}
ALLOWED["register"] |= {"migration.old_layers"}
ALLOWED["config_check"] = {"common"}
ALLOWED["archives"] = ALLOWED["embedding"] | {"embedding", "register", "shims", "config_check"}
ALLOWED["migration.porting"] = ALLOWED["archives"] | {"archives", "config_check", "dropin"}
ALLOWED |= dict.fromkeys(APPLICATIONS, ALLOWED["register"] | {"archives"})
ALLOWED["importers"] = ALLOWED["tasks"] | {"tasks"}
ALLOWED["predictions"] = ALLOWED["sweeps"] | {"importers"}
ALLOWED["demo"] = ALLOWED["predictions"] | {"analysis", "predictions"}
ALLOWED["commands"] = (
    ALLOWED["demo"] | APPLICATIONS | {"config_check", "demo", "importers", "migration.porting"}
)
ALLOWED["commands"] |= {"elmo_plugin"}  # for its version
ALLOWED["migration"] = set()
ALLOWED["stand_ins"] = set()
ALLOWED["shims"] = {"common", "stand_ins"}
ALLOWED["quiet"] = {"common"}
ALLOWED["hardening"] = {"common", "archives", "config_check", "migration.porting", "shims"}
ALLOWED["hardening"] |= {"training"}
ALLOWED["elmo_plugin"] = {
    "migration.allennlp_api",
    "bilm",
    "embedding",
    "archives",
    "common",
    "integrations",
    "predictions",
    "sklearn",
}  # lazily
ALLOWED["sklearn"] = {"integrations"}  # a name that people type
ALLOWED["elmo_plugin"] |= {"stand_ins", "other_names"}
ALLOWED["other_names"] = {"common"}
SEPARATE = {
    "common",
    "analysis",
    "integrations",
    "predictions",
    "demo",
    "migration.porting",
    "sweeps",
}  # files of separate tools
CORE = {"torch", "numpy", "h5py", "spacy", "zstandard", "safetensors", "filelock", "tqdm"}
WITHOUT_EXTRAS = [  # what an installation without AllenNLP has
    "elmo_plugin.bilm",
    "elmo_plugin.embedding",
    "elmo_plugin.embedding.cache",
    "elmo_plugin.migration.allennlp_api",
    "elmo_plugin.embed_files",
    "elmo_plugin.language_model",
    "elmo_plugin.integrations.word_vectors",
    "elmo_plugin.__main__",
    *(
        f"elmo_plugin.commands.{name}"
        for name, command in COMMANDS.items()
        if command.needs != "allennlp"
    ),
]


def _name(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {_name(file): file for file in sorted(PACKAGE.rglob("*.py"))}
PACKAGES = {name for name, file in FILES.items() if file.name == "__init__.py"}


@cache
def _tree(name: str) -> ast.Module:
    return ast.parse(FILES[name].read_text(encoding="utf-8"))


def _imports(name: str, at_import_time: bool = False) -> Iterator[str]:
    """
    The modules of this package that a module imports; at import time, without those in functions.
    """
    tree = _tree(name)
    nodes = tree.body if at_import_time else list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in FILES)
        elif isinstance(node, ast.ImportFrom) and node.module in FILES:
            submodules = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (module for module in submodules if module in FILES)
            if not all(module in FILES for module in submodules):
                yield node.module
        elif isinstance(node, ast.Call) and _called(node.func).endswith("import_module"):
            imported = {module for module in map(_constant, node.args) if module in FILES}
            yield from imported - {name}


def _called(function: ast.expr) -> str:
    """The name of a function or a method, without where it is from."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _constant(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _room(name: str) -> str:
    if "." not in name:
        return "elmo_plugin"
    _, room, *below = name.split(".")
    if room == "migration" and below:  # its three parts stand at different heights
        return f"migration.{below[0]}"
    return room


@pytest.mark.parametrize("name", FILES)
def test_folders_import_only_from_folders_above_through_their_public_names(name: str) -> None:
    room = _room(name)
    if room in ("plugin", "dropin", "__main__"):
        return
    for imported in _imports(name):
        other = _room(imported)
        if other == room:
            continue
        assert other in ALLOWED[room], f"{room} must not import {other}: {name} imports {imported}"
        # A room may be a single file; and `register` names the files that need AllenNLP, which
        # their packages do not import.
        is_face = imported in PACKAGES or other in SEPARATE
        is_face |= imported == f"elmo_plugin.{other}"
        is_face |= room == "register"
        # Importers make what the reader of each task reads, of the parts of its form.
        is_face |= (room, other) == ("importers", "tasks")
        assert is_face, (
            f"{name} imports {imported}, an inner file of {other}: import it from a package"
        )


def test_tasks_do_not_import_one_another() -> None:
    for name in FILES:
        if not name.startswith("elmo_plugin.tasks.") or name.count(".") < 3:
            continue
        task = name.split(".")[2]
        for imported in _imports(name):
            is_other = imported.startswith("elmo_plugin.tasks.") and imported.count(".") >= 2
            if is_other and f"elmo_plugin.tasks.{imported.split('.')[2]}" in PACKAGES:
                assert imported.split(".")[2] == task, f"{name} imports {imported}"


def test_imports_are_not_circular() -> None:
    graph = {name: set(_imports(name)) for name in FILES}
    finished: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " > ".join((*path[path.index(name) :], name))
        if name not in finished:
            # A package's face imports its inner files, which is not an arrow from them to it.
            for imported in graph[name]:
                visit(imported, (*path, name))
            finished.add(name)

    for name in FILES:
        visit(name, ())


def test_modules_without_allennlp_import_only_core_dependencies() -> None:
    reached: set[str] = set()
    waiting = list(WITHOUT_EXTRAS)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += [name.rpartition(".")[0], *_imports(name, at_import_time=True)]
            waiting = [each for each in waiting if each]
    others = {name: _top_level(name) - CORE - sys.stdlib_module_names for name in sorted(reached)}
    assert {name: found for name, found in others.items() if found} == {}


def _top_level(name: str) -> set[str]:
    """The packages besides this one that a module imports when it is imported."""
    tree = _tree(name)
    modules = [node.module or "" for node in tree.body if isinstance(node, ast.ImportFrom)]
    modules += [
        each.name for node in tree.body if isinstance(node, ast.Import) for each in node.names
    ]
    return {module.partition(".")[0] for module in modules} - {"elmo_plugin"}
