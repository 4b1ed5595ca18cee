"""The cards of the tasks: complete, in order, and cheap to read."""

import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest

from elmo_plugin.common.bundled import trained_models
from elmo_plugin.common.task_cards import InputText, TaskCard, task_cards
from tests.conftest import REPOSITORY

PACKAGE = REPOSITORY / "elmo_plugin"


def test_cards_are_sorted_and_no_two_have_the_same_place() -> None:
    orders = [card.order for card in task_cards().values()]
    assert orders == sorted(set(orders))


@pytest.mark.parametrize("name", task_cards())
def test_a_card_is_named_after_its_task(name: str) -> None:
    paths = list(PACKAGE.rglob(f"{name}.card.json"))
    assert len(paths) == 1
    assert task_cards()[name].name == name


def test_each_trained_model_and_each_project_has_a_card() -> None:
    projects = {path.parent.name for path in (PACKAGE / "projects").glob("*/config.jsonnet")}
    with_project = {name for name, card in task_cards().items() if card.project is not None}
    assert with_project == projects
    archives = {path.parent.name for path in (PACKAGE / "models/tasks").glob("*/model.tar.gz")}
    with_predictor = {name for name, card in task_cards().items() if card.finds}
    assert trained_models().keys() == archives == with_predictor


def test_no_synonym_is_shared_by_two_tasks() -> None:
    for key in ("words", "command_words"):
        words = [word for card in task_cards().values() for word in getattr(card, key)]
        assert len(words) == len(set(words))


def test_a_tagger_is_a_task_that_finds_predicates() -> None:
    taggers = [card.tagger for card in task_cards().values() if card.tagger]
    assert taggers == ["srl_predicates"]
    assert task_cards()[taggers[0]].finds == ["predicates"]


def test_reading_the_cards_imports_neither_torch_nor_allennlp() -> None:
    program = (
        "import sys; from elmo_plugin.common.task_cards import task_cards; task_cards(); "
        "print(sorted({'torch', 'allennlp', 'spacy'} & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


def test_texts_may_have_other_keys_and_commands_name_theirs() -> None:
    card = TaskCard("qa", texts=(InputText("passage", 6, ("context",)), InputText("question", 1)))
    assert [card.usual_name(name) for name in ("context", "passage", "else")] == [
        "passage",
        "passage",
        "else",
    ]
    assert card.command == "elmo predict qa PASSAGE QUESTION"
    assert TaskCard("topic").command == "elmo predict topic TEXT"


def test_a_card_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        task_cards()["ner"].order = 1  # type: ignore[misc]
