"""Proteins: the records of a FASTA file, and the letters that SeqVec and other biLMs of proteins
read.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.text_files import decode, read_lines, suffix_of
from elmo_plugin.common.typography import Word

_KNOWN_RESIDUES = frozenset("ACDEFGHIKLMNPQRSTVWYUOBZX")  # in the training data of SeqVec
_BASES = set("ACGT")
_BASES_AND_MARKS = _BASES | set("N*-")
_LEAST_BASES = 30  # a protein of this length surely has letters other than the bases
_EXPECTED_FASTA = "expected FASTA, a record that begins with > and its name"
_NO_RESIDUE = re.compile(r"[^A-Za-z*?.~\s-]")


class Protein(NamedTuple):
    """
    A record of a FASTA file.

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
    too, so such a file must also begin as FASTA does: with a record, `>`, or a comment, `;`.
    """
    suffix = suffix_of(path)
    if suffix != ".fa":
        return suffix in (".fasta", ".faa")
    for line in read_lines(path):
        if line.strip():
            return line.lstrip().startswith((b">", b";"))
    return False


def residues(text: str) -> list[Word]:
    """
    Returns each letter of a protein as a word, in upper case. A character that stands for no known
    residue, such as a gap, becomes `X`.
    """
    words = []
    for match in re.finditer(r"\S", text):
        letter = match[0].upper()
        if letter not in _KNOWN_RESIDUES:
            letter = "X"
        words.append(Word(letter, match.start(), match.end()))
    return words


def read_fasta(source: str, lines: Iterable[bytes] | None = None) -> Iterator[Protein]:
    """
    Yields the records of the file `source`, read from `lines` if they are given. Raises
    `BiLmError`, naming the line, if the file is not FASTA, or if a record has no name, the name of
    another record, letters of DNA alone, or characters that stand for no residue.
    """
    line_of_name: dict[str, int] = {}
    name = ""
    place = ""  # where the record that is being read began; empty before the first one
    parts: list[str] = []  # its letters
    if lines is None:
        lines = read_lines(source)
    for number, raw in enumerate(lines, start=1):
        here = f"{source}, line {number}"
        line = decode(raw, here).strip()
        if "\r" in line:
            raise BiLmError(f"{here}: expected lines that end in \\n, got \\r within one")
        if line.startswith(">"):
            if place:
                yield _check_alphabet(Protein(name, "".join(parts), place))
            name = _name_of_record(line, here)
            if name in line_of_name:
                first = line_of_name[name]
                raise BiLmError(f"{here}: line {first} has the name {name} too")
            line_of_name[name] = number
            place = here
            parts = []
        elif line and not line.startswith(";"):  # old files have comments that begin with ;
            if not place:
                raise BiLmError(f"{here}: {_EXPECTED_FASTA}")
            parts.append(_letters(line, here))
    if not place:
        raise BiLmError(f"{source}: {_EXPECTED_FASTA}")
    yield _check_alphabet(Protein(name, "".join(parts), place))


def _name_of_record(line: str, place: str) -> str:
    """Returns the first word behind `>`. Raises `BiLmError` if there is none."""
    name, *_ = re.split(r"[ \t]", line[1:].strip(), maxsplit=1)
    if not name:
        raise BiLmError(f"{place}: expected a name after >")
    return name


def _letters(line: str, place: str) -> str:
    """
    Returns a line without its spaces. Raises `BiLmError` if a character cannot stand for a residue.
    """
    wrong = _NO_RESIDUE.search(line)
    if wrong:
        raise BiLmError(f"{place}: expected letters of amino acids, got {wrong[0]!r}")
    return "".join(line.split())


def _check_alphabet(protein: Protein) -> Protein:
    """Returns the protein unchanged. Raises `BiLmError` if it is DNA or RNA."""
    as_dna = protein.letters.upper().replace("U", "T")
    is_long = len(protein.letters) >= _LEAST_BASES
    has_only_bases = _BASES <= set(as_dna) <= _BASES_AND_MARKS
    if is_long and has_only_bases:
        raise BiLmError(f"{protein.place}: expected a protein, got the letters of DNA or RNA alone")
    return protein


def count_residues(source: str) -> int:
    """
    Returns the number of letters in a file. The whole file is read, so that an error in it is found
    before an hour of work.
    """
    return sum(len(protein.letters) for protein in read_fasta(source))
