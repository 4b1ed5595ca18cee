"""What is installed is complete, light to import, and names no machine."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]

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
        for number, line in enumerate(content.decode("utf-8", errors="replace").splitlines(), start=1):
            if pattern.search(line):
                found.append(f"{file.relative_to(REPOSITORY)}:{number}: {line.strip()[:100]}")
    return found


def test_importing_the_package_imports_nothing_heavy() -> None:
    program = "import sys, elmo_plugin; print({'torch', 'allennlp', 'numpy', 'h5py'} & set(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "set()"


def test_what_is_built_for_installation_holds_every_file_of_the_package(tmp_path: Path) -> None:
    source, built = tmp_path / "source", tmp_path / "built"
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    shutil.copytree(REPOSITORY / "elmo_plugin", source / "elmo_plugin", ignore=ignored)
    for name in ["pyproject.toml", "setup.cfg", "README.md", "LICENSE"]:
        shutil.copy(REPOSITORY / name, source / name)
    build = [sys.executable, "-c", "import setuptools; setuptools.setup()", "build_py", "--build-lib", built]
    result = subprocess.run(build, cwd=source, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    files = {file.relative_to(built) for file in built.rglob("*") if file.is_file()}
    assert files == {file.relative_to(source) for file in source.glob("elmo_plugin/**/*") if file.is_file()}
    assert Path("elmo_plugin/py.typed") in files


def test_no_file_names_a_package_registry() -> None:
    assert offending_lines(REGISTRY_HOST) == []


def test_no_file_names_a_path_of_the_machine_that_it_was_made_on() -> None:
    assert offending_lines(MACHINE_PATH) == []


def test_the_lock_file_with_its_registry_addresses_is_not_tracked() -> None:
    assert REPOSITORY / "uv.lock" not in files_to_publish()
