"""FASTA as the world has it."""

import gzip
from pathlib import Path

import pytest

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.fasta import count_residues, is_fasta, read_fasta, residues


def test_lines_of_a_record_are_joined_in_every_dialect_of_fasta(tmp_path: Path) -> None:
    file = tmp_path / "a.fasta.gz"
    content = "\ufeff>sp|P1|A_HUMAN first\r\n;old\r\nMK T\r\nqi*-\r\n\r\n>empty\r\n>z\tb\r\nMX.~?J"
    file.write_bytes(gzip.compress(content.encode()))
    found = [(protein.name, protein.letters) for protein in read_fasta(str(file))]
    assert found == [("sp|P1|A_HUMAN", "MKTqi*-"), ("empty", ""), ("z", "MX.~?J")]
    assert count_residues(str(file)) == 13


def test_a_name_ends_at_a_space_or_a_tab_alone(tmp_path: Path) -> None:
    content = ">a\u00a01 x\nMK\n>a\u00a02\tx\nMK\n> \tb\u2003c \nMK\n"
    (tmp_path / "a.faa").write_text(content, encoding="utf-8")
    names = [protein.name for protein in read_fasta(str(tmp_path / "a.faa"))]
    assert names == ["a\u00a01", "a\u00a02", "b\u2003c"]


@pytest.mark.parametrize("letters", ["ACGT" * 7, "GA" * 30, "ACGTS" * 20])
def test_short_proteins_and_repetitive_ones_are_accepted(tmp_path: Path, letters: str) -> None:
    (tmp_path / "a.faa").write_text(f">a\n{letters}\n")
    assert count_residues(str(tmp_path / "a.faa")) == len(letters)


def test_residues_become_capitals_and_unknown_ones_x() -> None:
    words = residues(" mU*\n-bjX")
    assert [word.text for word in words] == list("MUXXBXX")
    assert [word.start for word in words] == [1, 2, 3, 5, 6, 7, 8]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "a.faa: expected FASTA"),
        ("\nMKT\n", "a.faa, line 2: expected FASTA"),
        (">\nMKT\n", "a.faa, line 1: expected a name after >"),
        (">a\nMKT\n>b\nM\n>a\nM\n", "a.faa, line 5: line 1 has the name a too"),
        (">a\nMKT\n1 MKT\n", "a.faa, line 3: expected letters of amino acids, got '1'"),
        (">a\rMKT\r>b\rMM\r", r"a.faa, line 1: expected lines that end in \\n, got \\r within one"),
        (
            ">a\nMKT\n>b\n" + "acgu-N\nTT\n" * 4,
            "a.faa, line 3: expected a protein, got the letters of DNA",
        ),
        (">a\nMÄ\n", "a.faa, line 2: expected letters of amino acids, got 'Ä'"),
    ],
)
def test_a_record_that_is_no_protein_is_refused_naming_its_line(
    tmp_path: Path, content: str, message: str
) -> None:
    file = tmp_path / "a.faa"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(BiLmError, match=message.replace(">", "\\>")):
        list(read_fasta(str(file)))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.FASTA", "", True),
        ("a.faa.zst", "", True),
        ("a.fa", "\n>a\nM\n", True),
        ("persian.fa", "سلام\n", False),
        ("a.txt", ">a\nM\n", False),
    ],
)
def test_proteins_are_recognized_by_file_suffix(
    tmp_path: Path, name: str, content: str, expected: bool
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert is_fasta(str(tmp_path / name)) == expected
