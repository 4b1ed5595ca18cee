"""What the page opens on is right: the answers to the first examples are those that a person gives."""

import re

import pytest

from elmo_plugin.common.task_cards import task_cards
from elmo_plugin.demo.bilm_view import BiLmTab
from elmo_plugin.demo.tabs import task_tabs
from elmo_plugin.predictions.prediction import TASKS
from elmo_plugin.predictions.views import MarkedText

MARIA, DOG = "1", "2"
RIGHT = {
    "ner": [("Marie Curie", "PER"), ("Warsaw", "LOC"), ("University of Paris", "ORG")],
    "srl": [
        ("Ruth", "ARG0"),
        ("sold", "V"),
        ("her car", "ARG1"),
        ("to a neighbour", "ARG2"),
        ("in March", "ARGM-TMP"),
    ],
    "srl_predicates": [("sold", "predicate")],
    "coref": [("Maria", MARIA), ("she", MARIA), ("the dog", DOG), ("It", DOG), ("her", MARIA)],
    "squad": [("1764", "answer"), "1764"],
    "snli": ["entailment"],
    "sst": ["positive"],
}


@pytest.mark.parametrize("tab", [*TASKS, "bilm"])
def test_each_tab_has_one_sentence_and_three_examples_with_all_fields(tab: str) -> None:
    card = task_cards()[tab]
    assert re.fullmatch(r"[^.?]+\? [^.?]+\.", card.tab.about)
    assert len(card.tab.examples) == 3
    for example in card.tab.examples:
        assert set(example) - {"predicates"} == set(card.text_names)
        assert not any(" ." in text or " ," in text for text in example.values())  # as people write


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_the_first_example_of_each_task_is_answered_correctly(task: str) -> None:
    (tab,) = task_tabs([task], 1_000, trust=False)
    (column,) = tab.answer(tab.examples[0])["columns"]
    found: list[object] = []
    for part in column["parts"]:
        if isinstance(part, MarkedText):
            found += [(part.text[span.start : span.end], span.label) for span in part.spans]
        else:
            found.append(part.title.removeprefix("very "))
    assert found == RIGHT[task]


def test_the_top_layer_of_base_separates_the_meanings_in_the_first_example() -> None:
    tab = BiLmTab("base", 10_000)
    shown = tab.answer(task_cards()["bilm"].tab.examples[0])
    is_noun = [True, False, True, False, True]  # the play, children play, a play, they play, a play
    for row, kind in zip(shown["layers"][-1]["cosines"], is_noun, strict=True):
        alike = [cosine for cosine, other in zip(row, is_noun, strict=True) if other == kind]
        assert min(alike) > max(set(row) - set(alike))
    assert tab.notes == [
        "base is a small model, trained on 59 million words of Wikipedia, books and other English "
        "prose, to a perplexity of 81.0."
    ]
