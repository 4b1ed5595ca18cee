"""A user's own text in a table is refused by file and sentence."""

from pathlib import Path

import pytest

from elmo_plugin.bilm import BiLmError
from elmo_plugin.language_model import write_text

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
