"""Text that is damaged, binary or of another encoding: read as it should be, or refused by file and line."""

import bz2
import gzip
import json
import lzma
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import zstandard
from allennlp.data import DatasetReader

from elmo_plugin.embed_files.text import read_segments
from elmo_plugin.language_model.corpus.shards import read_sentences
from tests.hostile.fork_server import allennlp
from tests.hostile.material import Material, damaged, random_of, times
from tests.hostile.outcomes import Outcomes

pytestmark = pytest.mark.slow
FIXTURES = Path(__file__).parents[1] / "fixtures"
MARK = b"\xef\xbb\xbf"


def words_of_bilm_text(path: Path) -> list[list[str]]:
    return list(read_sentences(str(path)))


def words_of_embedding(path: Path) -> list[list[str]]:
    lines = [line for segment in read_segments(str(path), 1000) for line in segment.sentences]
    return [line.split() for line in lines if line.split()]


def instances(reader: str, path: Path) -> list[str]:
    return [str(instance) for instance in DatasetReader.by_name(reader)(token_indexers={}).read(path)]


READERS: dict[str, tuple[Callable[[Path], Sequence[object]], bytes]] = {
    "bilm_text": (words_of_bilm_text, "the cat sät\n\na dog ran\n".encode()),
    "elmo-embed": (words_of_embedding, "the cat sät\n\na dog ran\n".encode()),
    **{
        name: (partial(instances, name), next((FIXTURES / folder).glob(pattern)).read_bytes())
        for name, folder, pattern in (
            ("ner_conll2003", "ner", "sentences.txt"),
            ("snli_jsonl", "snli", "*.jsonl"),
            ("sst_trees", "sst", "*.txt"),
            ("squad_v1", "squad", "*.json"),
            ("coref_conll2012", "coref", "*.gold_conll"),
        )
    },
}


def forms(content: bytes) -> dict[str, tuple[str, bytes, bool]]:
    """Returns the text in other forms: the suffix of its file, its bytes, and whether it must be read."""
    text = content.decode()
    return {
        "plain": ("", content, True),
        "mark": ("", MARK + content, True),
        "gz": (".gz", gzip.compress(content), True),
        "zst": (".zst", zstandard.compress(content), True),
        "mark in gz": (".gz", gzip.compress(MARK + content), True),
        "bz2": (".bz2", bz2.compress(content), False),
        "xz": (".xz", lzma.compress(content), False),
        "gz without a suffix": ("", gzip.compress(content), False),
        "zst without a suffix": ("", zstandard.compress(content), False),
        "plain as gz": (".gz", content, False),
        "plain as zst": (".zst", content, False),
        "cut gz": (".gz", gzip.compress(content)[:-5], False),
        "cut zst": (".zst", zstandard.compress(content)[:-3], False),
        "utf-16": ("", text.encode("utf-16"), False),
        "utf-16 without a mark": ("", text.encode("utf-16-le"), False),
        "latin-1": ("", content + "schön\n".encode("latin-1"), False),
        "surrogate": ("", content + b"a \xed\xa0\x80\n", False),
        "NUL": ("", content + b"a\0b\n", False),
        "binary": ("", np.random.default_rng(0).bytes(2000), False),
        "empty": ("", b"", False),
    }


@pytest.mark.parametrize("reader", READERS)
def test_forms_of_text(reader: str, tmp_path: Path, outcomes: Outcomes) -> None:
    read, content = READERS[reader]
    (tmp_path / "plain.txt").write_bytes(content)
    expected = read(tmp_path / "plain.txt")
    assert expected

    def look(path: Path, must_be_read: bool) -> None:
        found = read(path)
        assert must_be_read or (reader == "elmo-embed" and not path.stat().st_size), "it was read as text"
        assert found == expected or not must_be_read, "other words"

    for form, (suffix, changed, must_be_read) in forms(content).items():
        path = tmp_path / f"text.txt{suffix}"
        path.write_bytes(changed)
        outcomes.run(f"{form} for {reader}", partial(look, path, must_be_read), tmp_path / "run", [path.name])


@pytest.mark.parametrize("reader", READERS)
def test_damaged_compression(reader: str, tmp_path: Path, outcomes: Outcomes) -> None:
    """What was compressed has a checksum, so that no damage may change a word."""
    read, content = READERS[reader]
    (tmp_path / "plain.txt").write_bytes(content)
    expected = read(tmp_path / "plain.txt")

    def look(path: Path) -> None:
        assert read(path) == expected, "other words"

    generator = random_of(31)
    checked = zstandard.ZstdCompressor(write_checksum=True)
    for case in times(8):
        for suffix, compressed in ((".gz", gzip.compress(content)), (".zst", checked.compress(content))):
            path = tmp_path / f"text.txt{suffix}"
            path.write_bytes(damaged(compressed, generator))
            outcomes.run(f"{reader} {case}{suffix}", partial(look, path), tmp_path / "run", [path.name])


def test_lines_to_predict(material: Material, tmp_path: Path, outcomes: Outcomes) -> None:
    good = {"words": ["Ada", "ran"]}
    lines = {
        "good": (json.dumps(good).encode(), True),
        "mark": (MARK + json.dumps(good).encode(), True),
        "latin-1": (b'{"sentence": "sch\xf6n"}', False),
        "no JSON": (b'{"sentence": ', False),
        "list": (b"[1]", False),
        "text": (b'"sentence"', False),
        "number": (b"3", False),
        "deep": (b"[" * 100_000, False),
        "digits": (b'{"sentence": ' + b"9" * 5000 + b"}", False),
        "NaN": (b'{"sentence": NaN}', False),
        "surrogate": (rb'{"sentence": "a \ud800 b"}', False),
        "no key": (b'{"text": "a"}', False),
        "empty": (b'{"sentence": ""}', False),
        "blank": (b'{"sentence": "  "}', False),
        "words: text": (b'{"words": "Ada ran"}', False),
        "words: numbers": (b'{"words": [1, 2]}', False),
        "words: none": (b'{"words": []}', False),
        "words: an empty one": (b'{"words": ["a", ""]}', False),
        "words: too many": (json.dumps({"words": ["a"] * 100_000}).encode(), False),
        "NUL": (b'{"sentence": "a\0b"}', False),
        "bzip2": (bz2.compress(b"{}"), False),
    }
    for case, (line, must_work) in lines.items():
        path, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
        path.write_bytes(line + b"\n")
        output.unlink(missing_ok=True)

        def is_right(output: Path = output, must_work: bool = must_work) -> bool:
            return must_work and len(json.loads(output.read_text())["tags"]) == 2

        work = allennlp("predict", material.tagger, path, "--output-file", output, "--silent")
        outcomes.run(case, work, tmp_path / "run", ["in.jsonl"], is_right, is_command=True)
