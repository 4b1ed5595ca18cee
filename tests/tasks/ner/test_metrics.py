"""Whole chunks, against conlleval's figures, a re-statement of it, and AllenNLP's."""

import gzip
import json
import re
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.ner.metrics import NerF1, parse_tagged, score_tagged

TAGS = (
    ["O", "."]
    + [f"{prefix}-{kind}" for prefix in "BIES[]" for kind in ("PER", "ORG-1")]
    + ["B", "I", "S"]
)


def lines(text: str) -> list[Line]:
    return [
        Line(line, "f.txt", number) for number, line in enumerate(text.splitlines(True), start=1)
    ]


def count(sentences: list[list[tuple[str, str]]]) -> NerF1:
    blocks = [
        "".join(f"word {gold} {system}\n" for gold, system in sentence) for sentence in sentences
    ]
    metric = NerF1()
    metric.add(parse_tagged(lines("\n".join(blocks))))
    return metric


def starts(before: str, tag: str, type_before: str, kind: str) -> bool:
    if before in ("B", "I", "O") and tag == "B":
        return True
    if (before, tag) in (("O", "I"), ("E", "E"), ("E", "I"), ("O", "E")):
        return True
    if tag not in ("O", ".") and type_before != kind:
        return True
    return tag in ("[", "]")


def ends(before: str, tag: str, type_before: str, kind: str) -> bool:
    if before in ("B", "I") and tag in ("B", "O"):
        return True
    if before == "E" and tag in ("E", "I", "O"):
        return True
    if before not in ("O", ".") and type_before != kind:
        return True
    return before in ("[", "]")


def conlleval(words: list[tuple[str, str]]) -> dict[str, list[str]]:
    """
    The types of all chunks, and of those that are correct, as the loop of conlleval.pl finds them.
    """
    found: dict[str, list[str]] = {"gold": [], "predicted": [], "correct": []}
    last_correct = last_guessed = "O"
    last_correct_type = last_guessed_type = ""
    in_correct = False
    for gold, system in words:
        correct, correct_type = re.fullmatch("([^-]*)-?(.*)", gold).groups()
        guessed, guessed_type = re.fullmatch("([^-]*)-?(.*)", system).groups()
        of_gold = last_correct, correct, last_correct_type, correct_type
        of_system = last_guessed, guessed, last_guessed_type, guessed_type
        if in_correct:
            if ends(*of_gold) and ends(*of_system) and last_guessed_type == last_correct_type:
                in_correct = False
                found["correct"].append(last_correct_type)
            elif ends(*of_gold) != ends(*of_system) or guessed_type != correct_type:
                in_correct = False
        if starts(*of_gold) and starts(*of_system) and guessed_type == correct_type:
            in_correct = True
        if starts(*of_gold):
            found["gold"].append(correct_type)
        if starts(*of_system):
            found["predicted"].append(guessed_type)
        last_correct, last_correct_type = correct, correct_type
        last_guessed, last_guessed_type = guessed, guessed_type
    if in_correct:
        found["correct"].append(last_correct_type)
    return found


@pytest.mark.slow
@settings(max_examples=200)
@given(
    st.lists(
        st.lists(
            st.one_of(
                st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS)),
                st.sampled_from(TAGS).map(lambda tag: (tag, tag)),
            ),
            min_size=1,
            max_size=6,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_chunks_of_random_tags_equal_those_of_conlleval(
    sentences: list[list[tuple[str, str]]],
) -> None:
    words = list(chain.from_iterable([*sentence, ("O", "O")] for sentence in sentences))
    counts = count(sentences).counts
    for name, types in conlleval(words).items():
        assert counts[name] == Counter(types)
    counted = [pair for sentence in sentences for pair in sentence]
    assert counts["words"]["all"] == len(counted)
    assert counts["words"]["correct"] == sum(gold == system for gold, system in counted)


def test_figures_and_printed_lines_equal_conlleval(shared: Path) -> None:
    folder = shared / "parity" / "ner"
    expected = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    figures = score_tagged(str(folder / "tagged.txt"))
    assert figures == expected
    assert figures["raw"] == expected.pop("raw")
    metric = NerF1()
    blocks = (folder / "tagged.txt").read_text(encoding="utf-8").strip("\n").split("\n\n")
    for block in blocks:
        _, gold, system = zip(*(line.split(" ") for line in block.split("\n")), strict=True)
        metric([system], [gold])
    measured = metric.get_metric()
    for kind, row in expected.items():
        found = [measured[f"{name}-{kind}"] for name in ("precision", "recall", "f1-measure")]
        assert [round(100 * figure, 2) for figure in found] == [
            row[n] for n in ("precision", "recall", "f1")
        ]


@pytest.mark.parametrize(
    "text",
    [
        "a B-X B-X\nb I-X I-X\n\nc I-X I-X\n",
        "a\tB-X\tB-X\nb  I-X\tI-X\r\n \n\nc I-X I-X",
        "a B-X B-X\nb I-X I-X\n-X- O O\nc I-X I-X\n",
        "a B-X B-X\nb I-X I-X\n-X- - B-Y O\nc I-X I-X\n",
        "# id 5 domain=dev\na B-X B-X\nb L-X I-X\n\n# text = c U-X\nc U-X U-X\n",
        "# text = a I .\na B-X B-X\nb I-X I-X\n\n# I-X I-X\n",
        "# newdoc id = I .\na = B-X B-X\nb = I-X I-X\n\n#C = I-X I-X\n",
        "word gold predicted\na B-X B-X\nb I-X I-X\n-DOCSTART-\n# I-X I-X\n",
    ],
)
def test_sentences_end_at_blank_lines_and_boundaries(tmp_path: Path, text: str) -> None:
    (tmp_path / "f.txt.gz").write_bytes(gzip.compress(text.encode()))
    figures = score_tagged(str(tmp_path / "f.txt.gz"))
    assert figures["raw"][0] == "processed 3 tokens with 2 phrases; found: 2 phrases; correct: 2."
    assert figures["X"] == {"precision": 100.0, "recall": 100.0, "f1": 100.0, "found": 2}


def test_types_that_are_called_like_totals_do_not_replace_them(tmp_path: Path) -> None:
    words = [("B-overall", "B-overall"), ("B-raw", "O"), ("B-label_raw", "O"), ("B-X", "O")]
    (tmp_path / "f.txt").write_text("".join(f"a {gold} {system}\n" for gold, system in words))
    figures = score_tagged(str(tmp_path / "f.txt"))
    types = ["label_raw", "label_overall", "label_label_raw", "X"]
    assert figures.keys() == {"raw", "overall", *types}
    assert [figures[name]["recall"] for name in ("overall", "label_overall")] == [25, 100]
    printed = figures["raw"]
    assert printed[1].startswith("accuracy:  25.00%; precision: 100.00%; recall:  25.00%;")
    assert [line.split(":")[0].strip() for line in printed[2:]] == [
        "X",
        "label_raw",
        "overall",
        "raw",
    ]
    metric = NerF1()
    gold, system = zip(*words, strict=True)
    metric([system], [gold])
    measured = metric.get_metric()
    assert measured["recall-overall"] == 0.25
    assert measured["recall-label_overall"] == 1
    assert measured["recall-raw"] == 0


TAGS = (
    "expected at the end the gold tag and the predicted tag, which begin with B, I, E, S or O, got "
)


def test_a_hash_and_an_equals_sign_may_be_words() -> None:
    assert list(parse_tagged(lines("# = B-X O\n= = O I-X\n# O O O\n"))) == [
        [("B-X", "O"), ("O", "I-X"), ("O", "O")]
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a O O\n\nb O\n", ", line 3: expected 3 columns (as in line 1), got 2"),
        (b"a O O\nb x O O\n", ", line 2: expected 3 columns"),
        (b"\na\n", f", line 2: {TAGS}1 columns"),
        (b"Anna B-PER\nran O\n", f", line 1: {TAGS}2 columns"),
        (b"a O O\nb X-X O\n", f", line 2: {TAGS}'X-X'"),
        (b"a O PER\n", f", line 1: {TAGS}'PER'"),
        (b" \n\n-X- O O\n", ": no words in this file"),
        (b"word gold predicted\n\n", ": no words in this file"),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path: Path, text: bytes, message: str) -> None:
    (tmp_path / "f.txt").write_bytes(text)
    with pytest.raises(
        ConfigurationError, match=f"^{re.escape(str(tmp_path / 'f.txt') + message)}"
    ):
        score_tagged(str(tmp_path / "f.txt"))
