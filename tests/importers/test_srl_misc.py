"""Semantic roles in the last column of CoNLL-U."""

from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.spans import Span
from elmo_plugin.tasks.srl.sentences import sentence_of
from tests.importers.reading import read

WORDS = ["Cats", "eat", "what", "dogs", "leave", "."]
FRAMESETS = ["-", "eat.01", "-", "-", "leave.02", "-"]
ROLES = ["ARG0/_", "V/_", "_/ARG1", "_/ARG0", "ARG1/V", "_/_"]


def sentence(
    framesets: list[str] = FRAMESETS, roles: list[str] = ROLES, before: str = "Framefile=-"
) -> str:
    """Returns the rows of a sentence in CoNLL-U."""
    rows = ["# text = Cats eat what dogs leave."]
    for number, word in enumerate(WORDS):
        misc = f"{before}|Roleset={framesets[number]}|Args={roles[number]}|Match=111"
        rows.append("\t".join([str(number + 1), word, *["_"] * 7, misc]))
    rows.append("")
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("before", ["Framefile=-", "SpaceAfter=No|SRL=Y", "_"])
def test_roles_are_read_from_the_last_column(tmp_path: Path, before: str) -> None:
    examples, report = read("srl", tmp_path / "f.conllu", sentence(before=before))
    ((words, (eat, leave), _),) = [sentence_of(example.words) for example in examples]
    assert words == WORDS
    expected = [Span(0, 1, "ARG0"), Span(1, 2, "V"), Span(4, 5, "ARG1")]
    assert (eat.word_index, eat.lemma, eat.arguments) == (1, "eat", expected)
    expected = [Span(2, 3, "ARG1"), Span(3, 4, "ARG0"), Span(4, 5, "V")]
    assert (leave.word_index, leave.lemma, leave.arguments) == (4, "leave", expected)
    assert "each argument is one word, its head, as these columns mark it" in report.findings


def test_a_predicate_without_its_own_label_is_a_predicate(tmp_path: Path) -> None:
    """In Portuguese, the predicate itself has no label, and what is not annotated is `_`."""
    framesets = [frameset.replace("-", "_") for frameset in FRAMESETS]
    roles = [role.replace("V", "_") for role in ROLES]
    portuguese, _ = read("srl", tmp_path / "pt.conllu", sentence(framesets, roles))
    english, _ = read("srl", tmp_path / "en.conllu", sentence())
    found = [sentence_of(example.words) for example in portuguese]
    expected = [sentence_of(example.words) for example in english]
    assert [each.predicates for each in found] == [each.predicates for each in expected]


@pytest.mark.parametrize("role", ["", "_"])
def test_sentences_without_predicates_are_kept_and_unannotated_ones_are_not(
    tmp_path: Path, role: str
) -> None:
    without_predicates = sentence(["-"] * 6, [role] * 6)
    unannotated = "1\tYes\tyes\tINTJ\t_\t_\t0\troot\t_\tSpaceAfter=No\n\n"
    content = without_predicates + unannotated + sentence()
    examples, report = read("srl", tmp_path / "f.conllu", content)
    found = [sentence_of(example.words) for example in examples]
    assert [len(each.predicates) for each in found] == [0, 2]
    assert report.left_out == {"without Roleset and Args": ["line 9"]}


@pytest.mark.parametrize(
    "content",
    [
        sentence(roles=["ARG0", *ROLES[1:]]),
        sentence(roles=["ARG0/_/_", *ROLES[1:]]),
        sentence(["-"] * 6, ["ARG0", *["_"] * 5]),
        sentence().replace("|Args=ARG0/_", ""),
        sentence().replace("Roleset=-|Args=ARG0/_", "_"),
    ],
)
def test_a_word_without_a_role_for_each_predicate_is_an_error(tmp_path: Path, content: str) -> None:
    with pytest.raises(ConfigurationError, match=r"line 2: expected Args= with [02] roles"):
        read("srl", tmp_path / "f.conllu", content)


def test_a_missing_blank_line_is_an_error(tmp_path: Path) -> None:
    content = sentence().rstrip("\n") + "\n" + sentence()
    with pytest.raises(ConfigurationError, match=r"line 9: expected word 7 .*; a blank line"):
        read("srl", tmp_path / "f.conllu", content)
