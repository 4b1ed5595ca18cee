"""A user's own text: its parts, and the places that errors name."""

from pathlib import Path

import pytest

from elmo_plugin.bilm import BiLmError
from elmo_plugin.language_model import own_text, write_text

# The third sentence stands in the lines 6 and 7.
TABLE = b"the\tO\ncat\tO\n\nit\tO\n\n%s\tO\nsat\tO\n"


@pytest.fixture
def output(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


def write_parts(folder: Path, suffix: str, content: bytes) -> dict[str, list[Path]]:
    files = {part: [folder / f"{part}{suffix}"] for part in ("train", "dev")}
    for (file,) in files.values():
        file.write_bytes(content)
    return files


@pytest.mark.parametrize(
    ("word", "message"),
    [(b"sch\xf6n", "not UTF-8 text"), (b"<S>", "the sentence contains <S>")],
)
def test_an_error_in_a_table_names_the_sentence_and_not_a_line(
    tmp_path: Path, output: Path, word: bytes, message: str
) -> None:
    files = write_parts(tmp_path, ".tsv", TABLE % word)
    with pytest.raises(BiLmError, match=rf"train\.tsv, sentence 3: {message}"):
        write_text(files, output, column=0)


def test_an_error_in_a_text_names_the_line(tmp_path: Path, output: Path) -> None:
    files = write_parts(tmp_path, ".txt", b"the cat\n\nit sch\xf6n\n")
    with pytest.raises(BiLmError, match=r"train\.txt, line 3: not UTF-8 text"):
        write_text(files, output)


@pytest.mark.parametrize("sentences_per_line", [1, 500])
def test_dev_and_test_of_a_long_text_have_a_limited_number_of_blocks(
    sentences_per_line: int, tmp_path: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lines of a text may be whole books. Then its sentences are divided."""
    monkeypatch.setattr(own_text, "_MOST_BLOCKS_OF_PART", 2)
    num_sentences = 1000
    lines = []
    for _ in range(0, num_sentences, sentences_per_line):
        lines.append(" ".join(["The end of it ."] * sentences_per_line) + "\n")
    (tmp_path / "book.txt").write_text("".join(lines))
    figures = write_text({"": [tmp_path / "book.txt"]}, output, language="en")
    sizes = {role: figures_of_role.sentences for role, figures_of_role in figures.items()}
    assert sizes == {"train": num_sentences - 40, "dev": 20, "test": 20}
