"""What people type first, by the habits of other libraries: it works, or one sentence says what to
type.
"""

from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import torch

import elmo_plugin
from elmo_plugin import BiLm, Elmo, ElmoEmbedder, ElmoRepresentations
from elmo_plugin.bilm import BiLmError

TEXT, WORDS = "The play ended.", ["The", "play", "ended", "."]


class Column:
    """A column of a table: values in order, without a type of their own."""

    ndim = 1

    def __init__(self, *values: Any) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Any:
        return iter(self.values)


class Table(Column):
    ndim = 2
    columns = ("text",)


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the lines use."""
    bilm, nlp = BiLm.from_pretrained("tiny"), spacy.blank("en")
    data = {
        "TEXT": TEXT,
        "WORDS": WORDS,
        "bilm": bilm,
        "nlp": nlp,
        "doc": nlp(TEXT),
        "np": np,
        "torch": torch,
    }
    used = (BiLm, Elmo, ElmoEmbedder, ElmoRepresentations, Column, Table, Path, deque)
    return {**data, **{each.__name__: each for each in used}}


WORKING = {
    'BiLm.from_pretrained("tiny").num_layers': 3,
    'BiLm.from_pretrained("tiny", device=torch.device("cpu")).output_dim': 256,
    'BiLm.from_pretrained("tiny", precision="bf16").precision': "bfloat16",
    # text
    "bilm.encode(TEXT).words": WORDS,
    "bilm.encode(TEXT).vectors.shape": (4, 256),
    "bilm.encode([TEXT, 'Hello'], pooling='mean').shape": (2, 256),
    "bilm.encode([TEXT, ''], pooling='mean', output='numpy').shape": (2, 256),
    "bilm.encode(Column(TEXT), pooling='mean', batch_size=32).shape": (1, 256),
    "bilm.encode(np.array([TEXT, 'Hello']), pooling='mean').shape": (2, 256),
    "bilm.encode(doc).words": WORDS,
    "[text.words for text in bilm.encode(nlp.pipe([TEXT]))]": [WORDS],
    # words
    "bilm.embed(iter(words) for words in [WORDS])[0].shape": (3, 4, 256),
    "bilm.embed([tuple(WORDS), deque(WORDS), np.array(WORDS)])[2].shape": (3, 4, 256),
    "bilm.embed([doc, doc[:2]])[1].shape": (3, 2, 256),
    "bilm.embed(nlp.pipe([TEXT]))[0].shape": (3, 4, 256),
    "bilm.embed(Column(WORDS))[0].shape": (3, 4, 256),
    "bilm(bilm.character_ids([WORDS])).layers.shape": (3, 1, 4, 256),
    "ElmoRepresentations('tiny')(bilm.character_ids([WORDS])).representations[0].shape": (
        1,
        4,
        256,
    ),
    "ElmoEmbedder(bilm='tiny').embed_sentence(doc).shape": (3, 4, 256),
}
TOLD = {
    'BiLm("base")': r"use BiLm\.from_pretrained\('base'\)",
    "BiLm()": r"use BiLm\.from_pretrained\('base'\)",
    'BiLm.from_pretrained("bse")': "did you mean 'base'",
    'BiLm.from_pretrained("tiny", device="gpu")': 'expected "cpu", "cuda" or "cuda:N", got \'gpu\'',
    'BiLm.from_pretrained("tiny", device="cuda:99")': "GPU not found: cuda:99",
    'BiLm.from_pretrained("tiny", precision="fp16")': "expected one of float32, bfloat16, int8",
    "bilm(TEXT)": r"use bilm\.encode for text, bilm\.embed for lists of words",
    "bilm([WORDS])": r"use bilm\.encode for text, bilm\.embed for lists of words",
    "bilm.embed(TEXT)": r"got 'The play ended\.': split it, or use BiLm\.encode",
    "bilm.embed([TEXT])": r"sentences\[0\]: .* got 'The play ended\.': split it, or use BiLm\.encode",
    "bilm.embed(WORDS)": r"sentences\[0\]: .* got 'The': put the words of a sentence in a list",
    "bilm.embed([[b'The']])": r"sentences\[0\]\[0\]: expected a word, got b'The'",
    "bilm.embed(Table())": "expected a list of lists of words, got Table",
    "bilm.encode(None)": "expected a text, or a list or column of texts, got None",
    "bilm.encode(b'The play')": "expected a text, or a list or column of texts, got bytes",
    "bilm.encode(Path('text.txt'))": "expected a text, or a list or column of texts, got .*Path",
    "bilm.encode(Table(TEXT))": "expected a text, or a list or column of texts, got Table",
    "bilm.encode(Column(TEXT, float('nan')))": r"texts\[1\]: expected a text or a list of words, got nan",
    "list(bilm.encode(iter([TEXT, b'a']), batch_size=1))": r"texts\[1\]: .* got bytes",
    "bilm.encode(TEXT, language='xy')": "spaCy has no rules for language 'xy'",
    "bilm.encode(TEXT, tokenizer=len)": r"tokenizer\(texts\[0\]\): expected a list of words, got 15",
    "bilm.similarity(TEXT, TEXT)": r'as encode\(texts, pooling="mean"\) returns, got',
    "ElmoRepresentations('bse')": "did you mean 'base'",
    "Elmo()": "Elmo needs either options_file and weight_file, or bilm, or module",
    "ElmoEmbedder(bilm='tiny').embed_sentence(TEXT)": r"split it, or use BiLm\.encode",
}


@pytest.mark.parametrize("line", WORKING)
def test_first_lines_work(line: str, names: dict[str, Any]) -> None:
    assert eval(line, names) == WORKING[line]


@pytest.mark.parametrize("line", TOLD)
def test_wrong_first_lines_are_answered_with_what_to_type(line: str, names: dict[str, Any]) -> None:
    with pytest.raises(BiLmError, match=TOLD[line]) as error:
        eval(line, names)
    assert "\n" not in str(error.value)


def test_names_missing_from_the_package_are_answered_with_existing_ones() -> None:
    with pytest.raises(
        AttributeError, match=r"has no attribute 'load': it has BiLm, .*load_predictor"
    ):
        elmo_plugin.load("base")
