"""A figure says which code measured it, when, and where."""

import subprocess
from pathlib import Path

from elmo_plugin.common.provenance import commit


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_provenance_is_the_last_commit_that_changed_the_folder_or_the_experiments(
    tmp_path: Path,
) -> None:
    package = tmp_path / "package"
    git(tmp_path, "init")
    hashes = []
    for name in ("package/code.py", "README.md", "experiments/ner.jsonnet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("first")
        assert commit.__wrapped__(package) == (
            f"{hashes[0]}-changed" if "ner" in name else "".join(hashes[:1])
        )
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-m", name)
        hashes.append(git(tmp_path, "log", "-1", "--format=%h"))
    assert commit.__wrapped__(package) == hashes[2], "the experiments are what is measured"
    (tmp_path / ".gitignore").write_text("installed\n")
    (tmp_path / "installed" / "package").mkdir(parents=True)
    assert commit.__wrapped__(tmp_path / "installed" / "package") == "", (
        "a package in a virtual environment"
    )
