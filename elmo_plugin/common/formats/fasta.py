"""Proteins: the records of a FASTA file, and the letters that SeqVec and other biLMs of proteins
read.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.text_files import decode, read_lines, suffix_of
from elmo_plugin.common.typography import Word

_KNOWN_RESIDUES = frozenset("ACDEFGHIKLMNPQRSTVWYUOBZX")  # in the training data of SeqVec
_BASES = set("ACGT")
_LETTERS_OF_DNA = _BASES | set("N*-")  # N is any base, * an end, and - a gap
_MIN_LENGTH_OF_DNA = 30  # a protein of this length surely has letters other than the bases
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
    another record, only letters of DNA, or characters that stand for no residue.
    """
    if lines is None:
        lines = read_lines(source)
    record: _UnfinishedRecord | None = None
    line_of_name: dict[str, int] = {}
    for number, raw in enumerate(lines, start=1):
        place = f"{source}, line {number}"
        line = decode(raw, place).strip()
        if "\r" in line:
            raise BiLmError(f"{place}: expected lines that end in \\n, got \\r within one")
        if line.startswith(">"):
            if record is not None:
                yield record.protein()
            record = _UnfinishedRecord(_name_of_record(line, place), place)
            if record.name in line_of_name:
                first = line_of_name[record.name]
                raise BiLmError(f"{place}: line {first} has the name {record.name} too")
            line_of_name[record.name] = number
        elif line and not line.startswith(";"):  # old files have comments that begin with ;
            if record is None:
                raise BiLmError(f"{place}: {_EXPECTED_FASTA}")
            record.pieces.append(_letters(line, place))
    if record is None:
        raise BiLmError(f"{source}: {_EXPECTED_FASTA}")
    yield record.protein()


@dataclass
class _UnfinishedRecord:
    """
    A record of which more lines may follow.

    name: the name of its protein
    place: the file and the line of the name
    pieces: the letters of each line so far
    """

    name: str
    place: str
    pieces: list[str] = field(default_factory=list)

    def protein(self) -> Protein:
        """Returns the protein of the whole record. Raises `BiLmError` if it is DNA or RNA."""
        protein = Protein(self.name, "".join(self.pieces), self.place)
        _refuse_dna(protein)
        return protein


def _name_of_record(line: str, place: str) -> str:
    """Returns the first word behind `>`. Raises `BiLmError` if there is none."""
    # Only a space or a tab ends a name. Other white space, such as a no-break space, is part of it.
    words = re.split(r"[ \t]", line[1:].strip(), maxsplit=1)
    name = words[0]
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


def _refuse_dna(protein: Protein) -> None:
    """
    Raises `BiLmError` for DNA or RNA: a long sequence that has all four bases and no letter of any
    other residue. The bases are letters of residues, too, so a short protein may look like DNA.
    """
    as_dna = protein.letters.upper().replace("U", "T")  # RNA has U in place of T
    is_long = len(protein.letters) >= _MIN_LENGTH_OF_DNA
    has_only_bases = _BASES <= set(as_dna) <= _LETTERS_OF_DNA
    if is_long and has_only_bases:
        raise BiLmError(f"{protein.place}: expected a protein, got the letters of DNA or RNA alone")


def count_residues(source: str) -> int:
    """
    Returns the number of letters in a file. The whole file is read, so that an error in it is found
    before an hour of work.
    """
    return sum(len(protein.letters) for protein in read_fasta(source))
