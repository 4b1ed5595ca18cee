"""What is installed is complete, light to import, and names no machine."""

import configparser
import email
import importlib
import importlib.metadata
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from elmo_plugin import __version__, stand_ins

REPOSITORY = Path(__file__).resolve().parents[1]
STARTUP_FILE = "elmo_plugin.pth"  # Python runs it at its start

# Written so that they do not match themselves: this file is searched, too.
REGISTRY_HOST = re.compile(r"\b(py[p]i\.(org|python)|python[h]osted\.org|download\.py[t]orch\.org)")
MACHINE_PATH = re.compile(r"(?<![\w.])/(home|root|work|Users)/\w")


def files_to_publish() -> list[Path]:
    """Every file that git tracks or would add."""
    if not shutil.which("git") or not (REPOSITORY / ".git").exists():
        pytest.skip("needs a git checkout")
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    files = (REPOSITORY / name for name in listing.stdout.split("\0") if name)
    return [file for file in files if file.is_file()]


def offending_lines(pattern: re.Pattern[str]) -> list[str]:
    found = []
    for file in files_to_publish():
        content = file.read_bytes()
        if b"\0" in content:
            continue
        for number, line in enumerate(
            content.decode("utf-8", errors="replace").splitlines(), start=1
        ):
            if pattern.search(line):
                found.append(f"{file.relative_to(REPOSITORY)}:{number}: {line.strip()[:100]}")
    return found


def copy_sources(folder: Path) -> Path:
    """
    Copies what distributions are built from: a folder `build` of the checkout would get into a
    wheel.
    """
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    shutil.copytree(REPOSITORY / "elmo_plugin", folder / "elmo_plugin", ignore=ignored)
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(REPOSITORY / name, folder / name)
    shutil.copy(REPOSITORY / STARTUP_FILE, folder / STARTUP_FILE)
    return folder


@pytest.fixture(scope="module")
def distributions(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[zipfile.ZipFile, tarfile.TarFile]:
    """The wheel and the source distribution, built from a copy."""
    built, source = (
        tmp_path_factory.mktemp("built"),
        copy_sources(tmp_path_factory.mktemp("source")),
    )
    build = (
        f"from setuptools import build_meta; out = {str(built)!r}; build_meta.build_sdist(out); "
        "build_meta.build_wheel(out)"
    )
    result = subprocess.run(
        [sys.executable, "-c", build], cwd=source, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    (wheel,), (archive,) = built.glob("*.whl"), built.glob("*.tar.gz")
    assert wheel.name == f"elmo_plugin-{__version__}-py3-none-any.whl"
    assert max(wheel.stat().st_size, archive.stat().st_size) < 60e6
    return zipfile.ZipFile(wheel), tarfile.open(archive)


def package_files() -> set[str]:
    ignored = {"__pycache__"}
    files = (file for file in (REPOSITORY / "elmo_plugin").rglob("*") if file.is_file())
    return {str(file.relative_to(REPOSITORY)) for file in files if not ignored & set(file.parts)}


@pytest.fixture(scope="module")
def metadata(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the metadata that the wheel will have, which takes less than building it."""
    written = tmp_path_factory.mktemp("metadata")
    source = copy_sources(tmp_path_factory.mktemp("source"))
    write = (
        "from setuptools import build_meta; "
        f"build_meta.prepare_metadata_for_build_wheel({str(written)!r})"
    )
    result = subprocess.run(
        [sys.executable, "-c", write], cwd=source, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return written / f"elmo_plugin-{__version__}.dist-info"


def requirements(metadata: Path) -> list[Requirement]:
    message = email.message_from_string((metadata / "METADATA").read_text(encoding="utf-8"))
    return [Requirement(line) for line in message.get_all("Requires-Dist", [])]


@pytest.mark.slow
def test_both_distributions_contain_every_file_of_the_package_and_its_metadata(
    distributions: tuple[zipfile.ZipFile, tarfile.TarFile], metadata: Path
) -> None:
    wheel, archive = distributions
    for name in ("METADATA", "entry_points.txt"):
        assert wheel.read(f"{metadata.name}/{name}") == (metadata / name).read_bytes()
    of_wheel = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert of_wheel == package_files() | {STARTUP_FILE} and "elmo_plugin/py.typed" in of_wheel
    top = f"elmo_plugin-{__version__}/"
    of_archive = {each.name.removeprefix(top) for each in archive if each.isfile()}
    others = {name for name in of_archive - package_files() if ".egg-info/" not in name}
    texts = {"LICENSE", "NOTICE", "README.md", "PKG-INFO"}
    assert others == texts | {
        "MANIFEST.in",
        "pyproject.toml",
        "setup.cfg",
        "setup.py",
        STARTUP_FILE,
    }
    assert package_files() <= of_archive
    demo = {"static/style.css", "templates/task.html"}
    assert {f"elmo_plugin/demo/{name}" for name in demo} <= of_wheel


def test_the_metadata_name_existing_commands_components_and_architectures(metadata: Path) -> None:
    points = configparser.ConfigParser(delimiters="=")
    points.optionxform = str  # type: ignore[assignment,method-assign]
    points.read(metadata / "entry_points.txt", encoding="utf-8")
    assert {name: [*points[name]] for name in points.sections()} == {
        "console_scripts": ["elmo"],
        "spacy_factories": ["elmo"],
        "spacy_architectures": ["elmo_plugin.Tok2VecElmo.v1"],
    }
    for target in (target for name in points.sections() for target in points[name].values()):
        module, _, attribute = target.partition(":")
        assert hasattr(importlib.import_module(module), attribute)


def test_allennlp_is_no_requirement_and_its_dependencies_are_an_extra(metadata: Path) -> None:
    needs = requirements(metadata)
    core = {need.name for need in needs if need.marker is None}
    assert core == {
        "torch",
        "numpy",
        "h5py",
        "spacy",
        "jinja2",
        "zstandard",
        "safetensors",
        "filelock",
        "tqdm",
    }
    assert "allennlp" not in {need.name for need in needs}
    missing = {
        Requirement(line).name.lower()
        for line in importlib.metadata.requires("allennlp") or []
        if not (marker := Requirement(line).marker) or marker.evaluate({"extra": ""})
    } - {need.name.lower() for need in needs}
    come_with_others = {"protobuf", "requests", "typer"}  # with cached-path and spaCy
    never_imported = {"dataclasses", "sacremoses", "traitlets"}
    assert missing <= come_with_others | never_imported | {"wandb"}  # a stand-in says what to do


def test_the_extra_transformers_brings_what_has_stand_ins(metadata: Path) -> None:
    needs = requirements(metadata)
    brought = {need.name for need in needs if str(need.marker) == 'extra == "transformers"'}
    named_otherwise = {"sklearn": "scikit-learn", "more_itertools": "more-itertools"}
    for package in stand_ins.PACKAGES:
        if "transformers" in package.install:
            assert named_otherwise.get(package.name, package.name) in brought


def test_without_allennlp_the_plugin_names_what_to_install() -> None:
    program = "import sys; sys.modules['allennlp'] = None; import elmo_plugin.plugin"
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert result.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: elmo_plugin.plugin needs AllenNLP: pip install "
        "'elmo_plugin[allennlp]', then pip install --no-deps allennlp==2.10.1"
    )


@pytest.mark.slow
def test_no_file_names_a_package_registry() -> None:
    assert offending_lines(REGISTRY_HOST) == []


@pytest.mark.slow
def test_no_file_names_a_path_of_the_build_machine() -> None:
    assert offending_lines(MACHINE_PATH) == []


def test_what_uv_installs_is_what_the_list_for_pip_says() -> None:
    if sys.version_info < (3, 11):
        pytest.skip("needs tomllib")
    import tomllib

    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    lines = (REPOSITORY / "requirements" / "modern.txt").read_text(encoding="utf-8").splitlines()
    listed = [line for line in lines if not line.startswith("#")]
    assert project["tool"]["uv"]["constraint-dependencies"] == listed != []
    assert all("==" in line for line in listed)
