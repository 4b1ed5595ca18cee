"""A folder with the built wheel serves as an index: each extra of the package can be resolved by name."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.test_packaging import copy_sources

tomllib = pytest.importorskip("tomllib")  # of Python 3.11
REPOSITORY = Path(__file__).resolve().parents[1]
EXTRAS = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
NO_NETWORK = ("offline", "dns error", "error sending request", "Failed to fetch", "in the cache")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("uv"), reason="needs uv"),
]


def uv(*arguments: object, given: str = "", folder: Path) -> str:
    command = ["uv", *map(str, arguments)]
    done = subprocess.run(command, input=given, capture_output=True, text=True, cwd=folder, timeout=300)
    if done.returncode and any(reason in done.stderr for reason in NO_NETWORK):
        pytest.skip(f"no network and nothing in uv's cache: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, source = tmp_path_factory.mktemp("wheelhouse"), copy_sources(tmp_path_factory.mktemp("source"))
    uv("build", "--wheel", "--out-dir", folder, source, folder=folder)
    return folder


@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_the_package_is_found_by_name_with_its_extra(extra: str, wheelhouse: Path) -> None:
    options = ("--find-links", wheelhouse, "--no-header", "--no-annotate", "--python-version", "3.11")
    asked = f"elmo_plugin[{extra}]" if extra else "elmo_plugin"
    found = uv("pip", "compile", *options, "-", given=f"{asked}\n", folder=wheelhouse).splitlines()
    names = {line.partition("==")[0].partition(" ")[0] for line in found}
    assert {"elmo-plugin", "torch", "h5py"} <= names
    assert "allennlp" not in names
