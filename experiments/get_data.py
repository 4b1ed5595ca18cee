"""Gets a public corpus and converts it for the experiments.

    python experiments/get_data.py ner
    python experiments/get_data.py srl pos --from downloads --to data --yes

This writes `data/ner/train.txt` and so on. The licence is shown and asked about first. With
`--from`, nothing is downloaded: it is a folder with the downloads, by the names that messages give
them, or with files that this program has written elsewhere. It reports files that differ from the
published results' files.
"""

import argparse
import gzip
import hashlib
import sys
from collections.abc import Iterable
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen
from zipfile import BadZipFile

from corpora import CORPORA, Corpus

CHECKSUMS = Path(__file__).with_name("checksums.txt")
TIMEOUT = 60
"""Seconds without an answer."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="+", choices=sorted(CORPORA), metavar="NAME", help=_names())
    parser.add_argument("--from", dest="source", type=Path, help="a folder with the downloads")
    parser.add_argument("--to", type=Path, default=Path("data"), help="default: data")
    parser.add_argument("--yes", action="store_true", help="accept the licences")
    args = parser.parse_args()
    try:
        for name in dict.fromkeys(args.names):
            corpus = CORPORA[name]
            print(f"{name}: {corpus.title}\nLicence: {corpus.licence}", file=sys.stderr)
            if not args.yes and not accepted():
                raise SystemExit(
                    "nothing was written: the licence was not accepted (--yes accepts it)"
                )
            write(name, corpus, args.source, args.to)
    except (OSError, ValueError, BadZipFile, HTTPException) as error:
        raise SystemExit(f"{name}: {error}") from None


def write(name: str, corpus: Corpus, source: Path | None, to: Path) -> None:
    """Writes the files of a corpus, converted from its downloads or copied from `source`."""
    expected = checksums()
    outputs = [output for output in expected if output.startswith(f"{name}/")]
    files: Iterable[tuple[str, bytes]]
    if source is not None and all((source / output).is_file() for output in outputs):
        files = ((output, content_of(source / output)) for output in outputs)
    else:
        paths = downloads(corpus, source or to / "downloads", may_download=source is None)
        files = ((f"{name}/{path}", text.encode()) for path, text in corpus.convert(paths))
    for output, content in files:
        path = to / output
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.with_name(f"{path.name}.part")
        whole.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
        whole.replace(path)
        same = hashlib.sha256(content).hexdigest() == expected.get(output)
        note = (
            ""
            if same
            else " (not the file of the published results, so scores may differ a little)"
        )
        print(f"{path}{note}", file=sys.stderr)


def downloads(corpus: Corpus, folder: Path, may_download: bool) -> list[Path]:
    """
    Returns the downloads of a corpus. Raises `FileNotFoundError` for one that may not be
    downloaded.
    """
    paths = [folder / file for file in corpus.files]
    for path, address in zip(paths, corpus.files.values(), strict=True):
        if path.is_file():
            continue
        if not may_download:
            raise FileNotFoundError(f"{path} is missing: it is {address}")
        print(f"downloading {address}", file=sys.stderr)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.part")
        with urlopen(address, timeout=TIMEOUT) as answer, part.open("wb") as file:
            size = answer.headers["Content-Length"]
            while block := answer.read(1 << 20):
                file.write(block)
        if size is not None and part.stat().st_size != int(size):
            raise OSError(f"{address}: the connection broke off")
        part.replace(path)
    return paths


def accepted() -> bool:
    print("Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def checksums() -> dict[str, str]:
    """Returns the SHA-256 of each file of the published results, uncompressed."""
    lines = CHECKSUMS.read_text(encoding="utf-8").splitlines()
    return {name: checksum for checksum, name in (line.split() for line in lines)}


def content_of(path: Path) -> bytes:
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def _names() -> str:
    return "\n".join(f"{name}: {corpus.title}" for name, corpus in CORPORA.items())


if __name__ == "__main__":
    main()
