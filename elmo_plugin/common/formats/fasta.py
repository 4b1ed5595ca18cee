"""Proteins: the records of a FASTA file, and the letters that SeqVec and other biLMs of proteins
read.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.text_files import compression, decode, read_lines
from elmo_plugin.common.typography import Word

_KNOWN = frozenset("ACDEFGHIKLMNPQRSTVWYUOBZX")  # the letters in the training data of SeqVec
_BASES, _LEAST_BASES = {*"ACGT"}, 30  # a protein of so many letters contains more than these four
_WRONG = re.compile(r"[^A-Za-z*?.~\s-]")


class Protein(NamedTuple):
    """
    name: the first word after `>`
    letters: as in the file, without spaces
    place: its file and line
    """

    name: str
    letters: str
    place: str


def is_fasta(path: str) -> bool:
    """
    Returns whether a file has a suffix of FASTA, compressed or not. A Persian text may end in `.fa`
    too, but does not begin with `>`.
    """
    suffix = Path(path.removesuffix(compression(path))).suffix.lower()
    if suffix == ".fa":
        return next(filter(bytes.strip, read_lines(path)), b"").lstrip().startswith((b">", b";"))
    return suffix in (".fasta", ".faa")


def residues(text: str) -> list[Word]:
    """Returns each letter as a word, a capital; anything else, such as a gap, is `X`."""
    capitals = ((match.start(), match[0].upper()) for match in re.finditer(r"\S", text))
    return [Word(letter if letter in _KNOWN else "X", at, at + 1) for at, letter in capitals]


def read_fasta(source: str, lines: Iterable[bytes] | None = None) -> Iterator[Protein]:
    """
    Yields the records of the file `source`, or of its lines. Raises `BiLmError`, naming the line,
    if it is not FASTA: for a record without a name, two records of the same name, DNA, or
    characters that stand for no residue.
    """
    seen: dict[str, int] = {}
    name = ""
    place = ""  # of the record that is being read, if any has begun
    parts: list[str] = []
    if lines is None:
        lines = read_lines(source)
    for number, raw in enumerate(lines, start=1):
        here = f"{source}, line {number}"
        line = decode(raw, here).strip()
        if "\r" in line:
            raise BiLmError(f"{here}: expected lines that end in \\n, got \\r within one")
        if line.startswith(">"):
            if place:
                yield _checked(Protein(name, "".join(parts), place))
            name = line[1:].strip().partition(" ")[0].partition("\t")[0]
            place = here
            parts = []
            if not name:
                raise BiLmError(f"{here}: expected a name after >")
            if seen.setdefault(name, number) != number:
                raise BiLmError(f"{here}: the name {name} is that of line {seen[name]} too")
        elif line and not line.startswith(";"):  # a comment, in old files
            if not place:
                raise BiLmError(f"{here}: expected FASTA, a record that begins with > and its name")
            wrong = _WRONG.search(line)
            if wrong:
                raise BiLmError(f"{here}: expected letters of amino acids, got {wrong[0]!r}")
            parts.append("".join(line.split()))
    if not place:
        raise BiLmError(f"{source}: expected FASTA, a record that begins with > and its name")
    yield _checked(Protein(name, "".join(parts), place))


def _checked(protein: Protein) -> Protein:
    letters = {*protein.letters.upper().replace("U", "T")}
    if len(protein.letters) >= _LEAST_BASES and _BASES <= letters <= _BASES | {*"N*-"}:
        raise BiLmError(f"{protein.place}: expected a protein, got the letters of DNA or RNA alone")
    return protein


def count_residues(source: str) -> int:
    """
    Reads a whole file, so that an error in it is found before an hour of work. Returns its letters.
    """
    return sum(len(protein.letters) for protein in read_fasta(source))
