"""A response against its key, file against file."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.coref.metrics import score_coref


def document(name: str, *labels: str) -> str:
    rows = [f"{name} 0 {row} w XX * - - - - * {label}\n" for row, label in enumerate(labels)]
    return f"#begin document ({name}); part 000\n{''.join(rows)}\n#end document\n"


A, B = document("a", "(0)", "(0)", "(1", "1)", "(1)"), document("b", "(0)", "(0)")


def score(folder: Path, key: str, response: str) -> dict:
    for name, text in (("key", key), ("response", response)):
        (folder / f"{name}.conll").write_text(text)
    return score_coref(str(folder / "key.conll"), str(folder / "response.conll"))


def test_figures_are_those_of_the_reference_scorer(shared: Path) -> None:
    folder = shared / "parity" / "coref"
    found = score_coref(str(folder / "key.conll"), str(folder / "response.conll"))
    assert found == json.loads((folder / "scores.json").read_text(encoding="utf-8"))


def test_documents_are_matched_by_their_names(tmp_path: Path) -> None:
    found = score(tmp_path, A + B, B + A)
    assert (found["muc"]["recall_numerator"], found["average_f1"]) == (3, 100)


def test_a_document_that_the_response_lacks_has_no_clusters(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = score(tmp_path, A + B, A)
    assert (found["muc"]["recall_numerator"], found["muc"]["recall_denominator"]) == (2, 3)
    assert found["muc"]["precision"] == 100
    (record,) = caplog.records
    assert record.getMessage() == (
        f"{tmp_path / 'key.conll'}, line 9: (b); part 000 is missing in {tmp_path / 'response.conll'}; "
        "it counts as empty"
    )


def test_a_document_that_the_key_lacks_is_skipped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert score(tmp_path, B, A + B) == score(tmp_path, B, B)
    (record,) = caplog.records
    assert record.getMessage() == (
        f"{tmp_path / 'response.conll'}, line 1: (a); part 000 is not in {tmp_path / 'key.conll'}; "
        "it is skipped"
    )


def test_more_than_ten_repeated_mentions_are_refused_as_by_the_reference_scorer(tmp_path: Path) -> None:
    repeats = document("a", "|".join(["(0)"] * 10), "(0)|(0)", "-", "-", "-")
    assert score(tmp_path, A + B, repeats + B)["muc"]["precision"] == 100
    place = re.escape(f"{tmp_path / 'response.conll'}, line 9")
    with pytest.raises(ConfigurationError, match=f"^{place}: .* more than 10 mentions are repeated"):
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
        (A + B, A + document("b", "-"), "response.conll, line 9", "1 words, but 2 in .*key.conll, line 9"),
        (A, A.replace("1)\n", "2)\n"), "response.conll, line 5", "'2\\)' closes a mention of cluster 2"),
    ],
)
def test_files_that_do_not_fit_are_an_error_with_file_and_line(
    tmp_path: Path, key: str, response: str, place: str, message: str
) -> None:
    place = re.escape(str(tmp_path / place))
    with pytest.raises(ConfigurationError, match=f"^{place}: .*{message}"):
        score(tmp_path, key, response)


def test_percentages_are_cut_off_and_not_rounded(tmp_path: Path) -> None:
    key = document("a", "(0)", "(0)", "(0)")
    response = document("a", "(0)", "(0)", "(1)")  # MUC: 1 of 2 links; CEAF-e 0.8
    found = score(tmp_path, key + B, response + B)
    assert (found["muc"]["recall"], found["muc"]["f1"]) == (66.66, 80)
    assert found["ceafe"] == {
        "recall_numerator": 1.8, "recall_denominator": 2, "precision_numerator": 1.8,
        "precision_denominator": 3, "recall": 90, "precision": 60, "f1": 72,
    }  # fmt: skip
