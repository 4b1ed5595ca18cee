import gzip
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.modules.lines import decode, read_lines

TEXT = "one\n\nzwölf\n".encode()


@pytest.mark.parametrize(("name", "content"), [("text.txt", TEXT), ("text.txt.gz", gzip.compress(TEXT))])
def test_lines_are_read_plain_or_gzipped(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert [decode(line, "") for line in read_lines(str(tmp_path / name))] == ["one\n", "\n", "zwölf\n"]


@pytest.mark.parametrize(
    "content", [TEXT, gzip.compress(TEXT * 100)[:-9], gzip.compress(TEXT)[:12] + b"\xff" * 9]
)
def test_what_is_no_whole_gzip_file_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "text.gz"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=f"{path}: not a whole gzip file"):
        list(read_lines(str(path)))


def test_text_that_is_not_utf8_is_named_by_its_place() -> None:
    with pytest.raises(ConfigurationError, match="corpus, line 3: not UTF-8 text"):
        decode(b"sch\xf6n", "corpus, line 3")
