"""Counts of arguments against the figures of srl-eval.pl, and a re-statement of its rules."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from allennlp.training.metrics import Metric
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_plugin.tasks.spans import Span, tags_to_spans
from elmo_plugin.tasks.srl.metrics import SrlCounts, SrlF1, SrlScores
from tests.tasks.two_processes import figures_in_two_processes

ROLES = ["V", "C-V", "A0", "C-A0", "A1", "C-A1", "R-A0", "C-C-A0"]
WORDS = 12


@st.composite
def arguments(draw: st.DrawFn) -> list[Span]:
    """Arguments in a sentence of 12 words, many of them in several pieces."""
    borders = sorted(draw(st.sets(st.integers(0, WORDS), max_size=WORDS)))
    spans = [span for span in pairwise(borders) if draw(st.booleans())]
    return [Span(start, end, draw(st.sampled_from(ROLES))) for start, end in spans]


@st.composite
def gold_and_system(draw: st.DrawFn) -> tuple[list[Span], list[Span]]:
    """What is right, and the same with some arguments left out, renamed, cut or split in two."""
    gold, system = draw(arguments()), []
    for start, end, role in gold:
        change = draw(st.sampled_from(["none"] * 4 + ["left out", "renamed", "cut", "split"]))
        if change == "renamed":
            role = draw(st.sampled_from(ROLES))
        if change == "split" and end - start > 1:
            system.append(Span(start, start + 1, role))
            role, start = f"C-{role}", start + 1
        if change == "cut" and end - start > 1:
            end -= 1
        if change != "left out":
            system.append(Span(start, end, role))
    return gold, system


def read_as_srl_eval(arguments: list[Span]) -> list[dict[str, Any]]:
    """What SRL::prop makes of a column: the last word of an argument is in it."""
    args: list[dict[str, Any]] = []
    ARGS: dict[str, dict[str, Any]] = {}
    for start, end, role in arguments:
        phrase = {"type": role, "start": start, "end": end - 1, "phrases": []}
        if role[:2] == "C-":
            if role[2:] in ARGS:
                arg = ARGS[role[2:]]
                if not arg["phrases"]:
                    arg["phrases"].append({"start": arg["start"], "end": arg["end"]})
                arg["phrases"].append(phrase)
                arg["end"] = phrase["end"]
                continue
            phrase["type"] = role[2:]
        args.append(phrase)
        ARGS[phrase["type"]] = phrase
    return args


def discriminate(gold: list[Span], system: list[Span]) -> dict[str, list[str]]:
    """The roles of the arguments that are correct, over-predicted and missed, one comparison at a time."""
    out: dict[str, list[str]] = {"ok": [], "op": [], "ms": []}
    ARGS = {(arg["start"], arg["end"]): arg for arg in read_as_srl_eval(gold)}
    for arg in read_as_srl_eval(system):
        place = (arg["start"], arg["end"])
        right = ARGS.get(place)
        if right is None or bool(right["phrases"]) != bool(arg["phrases"]) or right["type"] != arg["type"]:
            out["op"].append(arg["type"])
            continue
        left = [(phrase["start"], phrase["end"]) for phrase in right["phrases"]]
        matches = True
        for phrase in arg["phrases"]:
            if (phrase["start"], phrase["end"]) in left:
                left.remove((phrase["start"], phrase["end"]))
            else:
                matches = False
        if matches and not left:
            out["ok"].append(arg["type"])
            del ARGS[place]
        else:
            out["op"].append(arg["type"])
    out["ms"] = [arg["type"] for arg in ARGS.values()]
    return out


@settings(max_examples=200)
@given(st.lists(gold_and_system(), max_size=4))
def test_random_damage_counts_as_srl_eval_counts_it(propositions: list) -> None:
    scores = SrlScores()
    expected: dict[str, list[str]] = {"ok": [], "op": [], "ms": []}
    for gold, system in propositions:
        scores.add(gold, system)
        found = discriminate(gold, system)
        expected = {name: roles + found[name] for name, roles in expected.items()}
    assert scores.propositions == len(propositions)
    assert scores.overall() == tuple(sum(role != "V" for role in roles) for roles in expected.values())
    seen = {role for roles in expected.values() for role in roles}
    assert scores.role_counts() == {
        role: tuple(roles.count(role) for roles in expected.values()) for role in seen
    }


def read_tags(shared: Path) -> list[dict[str, Any]]:
    text = (shared / "parity" / "srl" / "tags.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_bio_tags_score_as_srl_eval_scored_their_props(shared: Path) -> None:
    figures = json.loads((shared / "parity" / "srl" / "scores.json").read_text(encoding="utf-8"))
    metric, scores = Metric.by_name("srl_f1")(), SrlScores()
    for line in read_tags(shared):
        metric([line["system"]], [line["gold"]])
        scores.add(tags_to_spans(line["gold"]), tags_to_spans(line["system"]))
    found = metric.get_metric()
    assert len(found) == 3 * len(figures)
    for name, counts in {"Overall": scores.overall(), **scores.role_counts()}.items():
        expected = figures.pop(name)
        assert counts._asdict() == {field: expected[field] for field in SrlCounts._fields}
        name = name.replace("Overall", "overall")
        values = [found[f"{figure}-{name}"] for figure in ("precision", "recall", "f1-measure")]
        assert [round(100 * value, 2) for value in values] == [
            expected[figure] for figure in ("precision", "recall", "f1")
        ]
    assert not figures


def test_predictions_that_do_not_belong_to_the_gold_tags_are_refused() -> None:
    with pytest.raises(ValueError, match="srl_f1: expected 2 tags, got 1"):
        SrlF1()([["O"]], [["O", "O"]])
    with pytest.raises(ValueError, match="longer than argument 1"):
        SrlF1()([["O"]], [["O"], ["O"]])


BATCHES = [
    ([["B-A0", "B-V", "O"]], [["B-A0", "B-V", "B-A1"]]),
    ([["B-V", "O"], ["O", "B-A2"]], [["B-V", "B-A2"], ["B-A3", "B-A2"]]),
    ([["B-A0", "I-A0"]], [["B-A0", "O"]]),
]


def test_processes_sum_what_they_counted(tmp_path: Path) -> None:
    metric = SrlF1()
    for batch in BATCHES:
        metric(*batch)
    expected = metric.get_metric()
    for first, second, after_reset in figures_in_two_processes(SrlF1, BATCHES, tmp_path):
        assert first == second == expected
        assert set(after_reset.values()) == {0.0}
