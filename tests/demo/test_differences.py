"""What models disagree on is marked, and nothing else."""

from elmo_plugin.demo.differences import mark_differences
from elmo_plugin.demo.views import Bars, MarkedText, Part, view
from tests.demo.stubs import SRL, coref_output, ner_output

SENTENCE = "Ada lives in Rome"


def differing(parts: list[Part]) -> list[str]:
    found: list[str] = []
    for part in parts:
        if isinstance(part, MarkedText):
            found += [f"{part.text[s.start : s.end]} {s.label}" for s in part.spans if s.differs]
        else:
            found += [bar.label for bar in part.bars if bar.differs]
    return found


def entities(*spans: tuple[int, int, str]) -> list[Part]:
    return view("ner", ner_output(SENTENCE, *spans), {})


def test_one_model_differs_from_none() -> None:
    assert differing(mark_differences("ner", [entities((0, 1, "PER"))])[0]) == []


def test_a_span_differs_where_another_model_has_another_label_or_none() -> None:
    first = entities((0, 1, "PER"), (3, 4, "LOC"))
    second = entities((0, 1, "PER"), (3, 4, "ORG"))
    third = entities((0, 1, "PER"), (3, 4, "LOC"))
    shown = mark_differences("ner", [first, second, third])
    assert [differing(parts) for parts in shown] == [["Rome LOC"], ["Rome ORG"], ["Rome LOC"]]
    assert differing(mark_differences("ner", [first, entities((0, 1, "PER"))])[0]) == ["Rome LOC"]


def test_frames_are_compared_by_their_predicates() -> None:
    only_leave = {**SRL, "frames": SRL["frames"][1:]}
    both, one = mark_differences("srl", [view("srl", SRL, {}), view("srl", only_leave, {})])
    assert differing(both) == ["She ARG0", "wants V", "to leave ARG1"]
    assert differing(one) == []


def test_only_the_choice_of_a_label_can_differ() -> None:
    def labels(best: str) -> list[Part]:
        return view("sst", {"label": best, "probabilities": {"positive": 0.5, "negative": 0.5}}, {})

    shown = mark_differences("sst", [labels("positive"), labels("negative")])
    assert [differing(parts) for parts in shown] == [["positive"], ["negative"]]
    assert differing(mark_differences("sst", [labels("positive"), labels("positive")])[0]) == []
    assert all(isinstance(part, Bars) for parts in shown for part in parts)


def test_clusters_are_compared_by_their_mentions_and_not_by_their_numbers() -> None:
    text = "Anna saw Ben . She waved . He laughed . Then Eve came"
    one = coref_output(text, ["Anna", "She"], ["Ben", "He"])
    other = coref_output(text, ["Then", "Eve"], ["Ben", "He"], ["Anna", "She", "came"])
    views = [view("coref", output, {"document": text}) for output in (one, other)]
    first, second = mark_differences("coref", views)
    assert differing(first) == []
    assert differing(second) == ["Then 3", "Eve 3", "came 1"]
