"""Builds the distributions for a package index: with absolute links in the README, and the
project's URLs.

    python .ci/release.py https://github.com/OWNER/elmo_plugin dist

Builds from what is committed, as version `elmo_plugin.__version__`; links lead to the tag of that
version. Needs git and uv.
"""

import argparse
import re
import subprocess
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
RELATIVE_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def absolute_links(markdown: str, address: str, tag: str) -> str:
    """
    Returns the text with each relative link, to a page or of a picture, led to the tag at the
    address.
    """

    def linked(match: re.Match[str]) -> str:
        is_picture, text, target = match.groups()
        return f"{is_picture}[{text}]({address}/{'raw' if is_picture else 'blob'}/{tag}/{target})"

    return RELATIVE_LINK.sub(linked, markdown)


def project_urls(address: str, tag: str) -> str:
    """Returns the table `project.urls` of `pyproject.toml`."""
    urls = {
        "Homepage": address,
        "Documentation": f"{address}/blob/{tag}/README.md#where-to-go-next",
        "Changelog": f"{address}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }
    return "\n[project.urls]\n" + "".join(f'{name} = "{url}"\n' for name, url in urls.items())


def prepare(folder: Path, address: str) -> None:
    """Changes the README and `pyproject.toml` of a copy of the repository."""
    source = (folder / "elmo_plugin" / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"$', source, re.MULTILINE)
    readme, project = folder / "README.md", folder / "pyproject.toml"
    readme.write_text(
        absolute_links(readme.read_text(encoding="utf-8"), address, f"v{version}"), encoding="utf-8"
    )
    with project.open("a", encoding="utf-8") as file:
        file.write(project_urls(address, f"v{version}"))


def main() -> None:
    """Builds from a copy of the last commit."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "address", help="of the repository, such as https://github.com/OWNER/elmo_plugin"
    )
    parser.add_argument("out", type=Path, help="the folder of the distributions")
    args = parser.parse_args()
    archive = subprocess.run(
        ["git", "archive", "HEAD"], cwd=REPOSITORY, capture_output=True, check=True
    )
    with tempfile.TemporaryDirectory() as name:
        with tarfile.open(fileobj=BytesIO(archive.stdout)) as tar:
            tar.extractall(name, filter="data")
        prepare(Path(name), args.address.rstrip("/"))
        subprocess.run(["uv", "build", "--out-dir", args.out.absolute()], cwd=name, check=True)


if __name__ == "__main__":
    main()
