from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_plugin.bilm import BiLmError, BiLmOptions, LstmOptions
from elmo_plugin.bilm.characters import word_to_character_ids
from elmo_plugin.bilm.io.manylangs import read_lexicon
from elmo_plugin.bilm.lexicon_encoder import LexiconTokenEncoder
from elmo_plugin.bilm.options import LexiconCnnOptions
from tests.bilm.manylangs.model_folder import CHARACTERS, WORDS


def lookup_options(slots: int = 10) -> LexiconCnnOptions:
    characters, words = (
        tuple((token, row) for row, token in enumerate(tokens)) for tokens in (CHARACTERS, WORDS)
    )
    return LexiconCnnOptions(characters, words, 3, 4, ((1, 2),), 1, "relu", slots)


def lookup(slots: int = 10) -> LexiconTokenEncoder:
    return LexiconTokenEncoder(lookup_options(slots), 5)


def ids_of(*words: str, slots: int = 10) -> torch.Tensor:
    return torch.stack(
        [torch.tensor(word_to_character_ids(word, 4 * (slots - 2) + 2)) for word in words]
    )


def write(path: Path, content: str) -> Path:
    path.write_bytes(content.encode("utf-8"))
    return path


def test_a_lexicon_maps_each_token_to_its_number(tmp_path: Path) -> None:
    path = write(tmp_path / "char.dic", "<oov>\t0\nж\t2\r\n🙂\t1\n<bow> \t4\n")
    assert dict(read_lexicon(path, ["<oov>"])) == {"<oov>": 0, "ж": 2, "🙂": 1, "<bow> ": 4}


@pytest.mark.parametrize("token", ["\u3000", "\u00a0", "\u2028", "\r", " ", "\t", ""])
def test_a_blank_token_is_read_as_the_ideographic_space(token: str, tmp_path: Path) -> None:
    path = write(tmp_path / "char.dic", f"a\t0\n{token}\t7\nb\t1\n")
    assert dict(read_lexicon(path, [])) == {"a": 0, "\u3000": 7, "b": 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<oov>\t0\na b\n", r"lexicon .*word\.dic, line 2: expected token<TAB>row, got 'a b'"),
        ("<oov>\t0\na\t1\t2\n", "line 2: expected token"),
        ("", "line 1: expected token"),
        ("a\t0\n", r"lexicon .*word\.dic: <oov> is missing"),
    ],
)
def test_a_damaged_lexicon_is_refused_naming_the_line(
    content: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(BiLmError, match=message):
        read_lexicon(write(tmp_path / "word.dic", content), ["<oov>"])


def test_a_missing_or_binary_lexicon_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BiLmError, match=r"lexicon .*char\.dic: file not found"):
        read_lexicon(tmp_path / "char.dic", [])
    (tmp_path / "char.dic").write_bytes(b"a\t0\n\xff\t1\n")
    with pytest.raises(BiLmError, match=r"lexicon .*char\.dic: not UTF-8"):
        read_lexicon(tmp_path / "char.dic", [])


def test_character_boundaries_are_swapped_as_in_the_released_models() -> None:
    encoder, ids = lookup(), ids_of("dog", "тЖ🙂", "言" * 20, "", "<S>", "</S>", "<bow>")
    rows = [
        [CHARACTERS[row] for row in encoder.character_rows(encoder.decode_word(each))]
        for each in ids.tolist()
    ]
    assert rows == [
        ["<eow>", "d", "o", "g", "<bow>", *["<pad>"] * 5],
        ["<eow>", "т", "<oov>", "🙂", "<bow>", *["<pad>"] * 5],
        ["<eow>", *["言"] * 8, "<bow>"],
        ["<eow>", "<bow>", *["<pad>"] * 8],
        ["<eow>", "<bos>", "<bow>", *["<pad>"] * 7],
        ["<eow>", "<eos>", "<bow>", *["<pad>"] * 7],
        ["<eow>", "<oov>", "b", "o", "w", "<oov>", "<bow>", *["<pad>"] * 3],
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([["<oov>", 0], ["a", -1]], "words: the row of 'a': expected 0 to "),
        ([["<oov>", 0], ["a", 10**30]], "words: the row of 'a': expected 0 to "),
        ([["<oov>", 0], ["a", 1.0]], "words: the row of 'a': expected a whole number"),
        ([["<oov>", "0"]], "words: the row of '<oov>': expected a whole number"),
        ([["<oov>", 0], [[], 1]], "words: expected a text"),
        ([["a", 0]], "words: <oov> is missing"),
    ],
)
def test_a_damaged_lexicon_in_options_is_refused(words: list[Any], message: str) -> None:
    options = BiLmOptions(lookup_options(), LstmOptions(dim=3, projection_dim=5)).to_dict()
    options["lexicon_cnn"]["words"] = words
    with pytest.raises(BiLmError, match=f"options: {message}"):
        BiLmOptions.from_dict(options)
