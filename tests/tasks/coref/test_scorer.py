"""Scores of clusters against test cases of the reference scorer, and of a response against its key."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.coref import read_scored_coref
from elmo_plugin.tasks.coref.metrics import METRICS, CorefConll, score_coref


def document(name: str, *labels: str) -> str:
    rows = [f"{name} 0 {row} w XX * - - - - * {label}\n" for row, label in enumerate(labels)]
    return f"#begin document ({name}); part 000\n{''.join(rows)}\n#end document\n"


A, B = document("a", "(0)", "(0)", "(1", "1)", "(1)"), document("b", "(0)", "(0)")


def score(folder: Path, key: str, response: str) -> dict:
    for name, text in (("key", key), ("response", response)):
        (folder / f"{name}.conll").write_text(text)
    return score_coref(
        read_scored_coref(str(folder / "key.conll")),
        read_scored_coref(str(folder / "response.conll")),
    )


def test_figures_equal_the_reference_scorer(shared: Path) -> None:
    folder = shared / "parity" / "coref"
    keys, responses = (
        read_scored_coref(str(folder / f"{name}.conll")) for name in ("key", "response")
    )
    found = score_coref(keys, responses)
    assert found == json.loads((folder / "scores.json").read_text(encoding="utf-8"))


def test_a_document_missing_from_the_response_counts_as_without_clusters(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = score(tmp_path, A + B, A)
    assert (found["muc"]["recall_numerator"], found["muc"]["recall_denominator"]) == (2, 3)
    assert found["muc"]["precision"] == 100
    (record,) = caplog.records
    assert record.getMessage() == (
        f"{tmp_path / 'key.conll'}, line 9: (b); part 000 is missing in the "
        "response; it counts as empty"
    )


def test_a_document_missing_from_the_key_is_skipped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert score(tmp_path, B, A + B) == score(tmp_path, B, B)
    (record,) = caplog.records
    assert record.getMessage() == (
        f"{tmp_path / 'response.conll'}, line 1: (a); part 000 is not in the key; it is skipped"
    )


def test_a_key_that_repeats_a_mention_in_a_cluster_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    key = document("a", "(0)|(0)", "-", "(0)")
    assert score(tmp_path, key, key)["ceafe"]["f1"] > 100  # as in the reference scorer
    assert "a cluster repeats a mention: scores may be above 100 %" in caplog.text


def test_more_than_ten_repeated_mentions_are_refused_as_by_the_reference_scorer(
    tmp_path: Path,
) -> None:
    repeats = document("a", "|".join(["(0)"] * 10), "(0)|(0)", "-", "-", "-")
    assert score(tmp_path, A + B, repeats + B)["muc"]["precision"] == 100
    place = re.escape(f"{tmp_path / 'response.conll'}, line 9")
    with pytest.raises(
        ConfigurationError, match=f"^{place}: .* more than 10 mentions are repeated"
    ):
        score(tmp_path, A + B, repeats + document("b", "(0)", "(0)|(0)"))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: re.sub(r"^\w .* ", "w\t", text, flags=re.M),  # two columns
        lambda text: re.sub(r"^(\w) .* ", r"\1 ", text, flags=re.M),  # the document and coreference
        lambda text: text.replace("w XX", "two words"),
        lambda text: text.replace(" - ", " Ann - ", 1),
        lambda text: text.replace("\n", " \r\n"),
        lambda text: "\ufeff# a comment\n" + text.replace("#", "# "),
        lambda text: text.removesuffix("\n#end document\n"),
        lambda text: re.sub(r"([(]?)1([)]?)$", r"\1person-1\2", text, flags=re.M),
    ],
)
def test_a_response_may_have_any_columns_before_coreference(
    tmp_path: Path, change: Callable[[str], str]
) -> None:
    response = document("a", "(0)", "(0)", "(1", "1)", "-") + document("b", "-", "-")
    assert change(response) != response
    assert score(tmp_path, A + B, change(response)) == score(tmp_path, A + B, response)


def test_a_document_without_words_has_no_clusters(tmp_path: Path) -> None:
    empty = "#begin document (c); part 000\n#end document\n"
    assert score(tmp_path, A + empty, A + empty) == score(tmp_path, A, A)


@pytest.mark.parametrize(
    ("key", "response", "place", "message"),
    [
        (A + B + A, A + B, "key.conll, line 14", r"\(a\); part 000 is also the document in line 1"),
        (A + B, B + B, "response.conll, line 6", r"\(b\); part 000 is also the document in line 1"),
        (
            A + B,
            A + document("b", "-"),
            "response.conll, line 9",
            "1 words, but 2 in .*key.conll, line 9",
        ),
        (
            A,
            A.replace("1)\n", "2)\n"),
            "response.conll, line 5",
            "'2\\)' closes a mention of cluster 2",
        ),
    ],
)
def test_mismatched_files_are_an_error_naming_file_and_line(
    tmp_path: Path, key: str, response: str, place: str, message: str
) -> None:
    place = re.escape(str(tmp_path / place))
    with pytest.raises(ConfigurationError, match=f"^{place}: .*{message}"):
        score(tmp_path, key, response)


def test_percentages_are_truncated_and_not_rounded(tmp_path: Path) -> None:
    key = document("a", "(0)", "(0)", "(0)")
    response = document("a", "(0)", "(0)", "(1)")  # MUC: 1 of 2 links; CEAF-e 0.8
    found = score(tmp_path, key + B, response + B)
    assert (found["muc"]["recall"], found["muc"]["f1"]) == (66.66, 80)
    assert found["ceafe"] == {
        "recall_numerator": 1.8,
        "recall_denominator": 2,
        "precision_numerator": 1.8,
        "precision_denominator": 3,
        "recall": 90,
        "precision": 60,
        "f1": 72,
    }


# The test cases of the reference scorer: a letter is a mention, and what is expected is recall and
# precision. Where it gives no figure, there is none here.
KEY = "a bc def"
CASES = {
    "A-1": (KEY, "a bc def", (1, 1), (1, 1), (1, 1)),
    "A-2": (KEY, "a de", (1 / 3, 1), (7 / 18, 1), (0.6, 0.9)),
    "A-3": (KEY, "a bcx defy z", (1, 3 / 5), (1, (4 + 7 / 12) / 9), (0.88571, 0.66429)),
    "A-4": (KEY, "a bcx dy z", (1 / 3, 1 / 3), (5 / 9, 17 / 42), (0.73333, 0.55)),
    "A-5": (KEY, "a bcxB dy z", (1 / 3, 1 / 4), (5 / 9, 5 / 16), (0.68889, 0.51667)),
    "A-6": (KEY, "a bcx dy Bz", (1 / 3, 1 / 4), (5 / 9, 17 / 48), (0.73333, 0.55)),
    "A-7": (KEY, "a bcxb dy z", (1 / 3, 1 / 3), (5 / 9, 17 / 42), (0.73333, 0.55)),
    "A-8": (KEY, "a bcx dy bz", (1 / 3, 1 / 3), (5 / 9, 17 / 42), (0.73333, 0.55)),
    "A-9": (KEY, "a bcx dy bbbbbbbbbbz", (1 / 3, 1 / 3), (5 / 9, 17 / 42), (0.73333, 0.55)),
    "A-10": (KEY, "a b c d e f", (0, 0), (1 / 2, 1), None),
    "A-11": (KEY, "abcdef", (1, 3 / 5), (1, 14 / 36), None),
    "A-12": (KEY, "a b d e x y z", (0, 0), (13 / 36, 4 / 7), None),
    "A-13": (KEY, "abdexyz", (1 / 3, 1 / 6), (17 / 36, 6 / 49), None),
    "D-1": ("abcde fg hijkl", "abcde fghijkl", (1, 9 / 10), (1, 16 / 21), None),
    "E-1": ("abcde fg hijkl", "abcdehijkl fg", (1, 9 / 10), (1, 7 / 12), None),
    "F-1": ("abcd", "ab cd", (2 / 3, 1), None, None),
    "G-1": ("ab cd", "abcd", (1, 2 / 3), None, None),
    "H-1": ("abcd", "abcd", (1, 1), None, None),
    "J-1": ("abc", "ab", (1 / 2, 1), None, None),
    "K-1": ("bcdeghj", "abc def ghi", (3 / 6, 3 / 6), None, None),
    "L-1": ("abc defg", "ab cd fgh", (2 / 5, 2 / 4), None, None),
}


@pytest.mark.parametrize("case", CASES)
def test_test_cases_of_the_reference_scorer_give_its_figures(case: str) -> None:
    key, response, *expected = CASES[case]
    metric = CorefConll()
    metric(response.split(), key.split())
    for name, figures in zip(METRICS, expected, strict=True):
        if figures is not None:
            precision, recall, _ = metric.numbers()[name].figures()
            assert (recall, precision) == pytest.approx(figures, abs=5e-6)


@pytest.mark.parametrize(
    ("gold", "predicted", "muc", "bcub", "ceafe", "mention"),
    [
        # Repeated where they are wrong, mentions count twice; but not as mentions.
        ("ab", "abxx", (1, 1, 1, 3), (2, 2, 1, 4), (4 / 6, 1, 4 / 6, 1), (2, 2, 2, 3)),
        # Repeated where they are right, only the first is kept, and with it its cluster.
        ("abc", "bb b", (0, 2, 0, 0), (1 / 3, 3, 1, 1), (2 / 4, 1, 2 / 4, 1), (1, 3, 1, 1)),
        # Repeated in the key, in a cluster: the similarity is more than one.
        ("aa", "a", (0, 1, 0, 0), (1 / 2, 2, 1, 1), (4 / 3, 1, 4 / 3, 1), (1, 1, 1, 1)),
        # And in two: it belongs to the last one.
        ("ab bc", "abc", (1, 2, 1, 2), (3, 4, 2, 3), (4 / 5, 2, 4 / 5, 1), (3, 3, 3, 3)),
        # One mention alone has no links, but is a cluster.
        ("a", "a", (0, 0, 0, 0), (1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1)),
        ("a", "", (0, 0, 0, 0), (0, 1, 0, 0), (0, 1, 0, 0), (0, 1, 0, 0)),
        ("", "a", (0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 0, 1), (0, 0, 0, 1)),
        ("", "", (0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0)),
    ],
)
def test_repeated_single_and_missing_mentions_are_scored_like_the_reference(
    gold: str, predicted: str, muc: tuple, bcub: tuple, ceafe: tuple, mention: tuple
) -> None:
    metric = CorefConll()
    metric(predicted.split(), gold.split())
    found = metric.numbers()
    assert (found["muc"], found["mention"]) == (muc, mention)
    assert found["bcub"] == pytest.approx(bcub) and found["ceafe"] == pytest.approx(ceafe)
