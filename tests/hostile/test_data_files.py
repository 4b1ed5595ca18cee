"""Data of every task and format with a mistake in one place: read as it is, or refused by file."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from allennlp.data import DatasetReader

from elmo_plugin.analysis.sense_corpus import read_senses
from elmo_plugin.analysis.tagged_words import read_tagged
from elmo_plugin.tasks.coref import score_coref
from elmo_plugin.tasks.ner.conlleval import score_tagged
from elmo_plugin.tasks.squad.scores import score_squad
from elmo_plugin.tasks.srl.props import read_props
from tests.hostile.material import damaged, random_of, times
from tests.hostile.outcomes import Outcomes

pytestmark = pytest.mark.slow
FIXTURES = Path(__file__).parents[1] / "fixtures"
COLUMNS = ("", "*", "-", "_", "(", ")", "((", "(A", "(A*", "*)", "(A*)*)", "(V*", "(0", "0)", "(0)|(0)")
COLUMNS += ("-1", "9999999999", "B-", "I-X", "O", "(3 (2 a) (2", "\x85", "\ufeff", "#end document", "é")
WRONG = (None, True, "", " ", "x", "-", -1, 0, 2.5, 10**30, float("nan"))
WRONG += ([], [[]], [None], ["", "x"], {}, {"x": 1})
SENSES = {
    "tokens": ["The", "Broadway", "play", "ended"],
    "targets": [
        {"index": 1, "length": 2, "lemma": "broadway_play", "pos": "n", "senses": ["play%1:10:00::"]},
        {"index": 3, "length": 1, "lemma": "end", "pos": "v", "senses": ["end%2:30:00::"]},
    ],
}

Read = Callable[[Path], object]


def instances(name: str) -> Read:
    reader = DatasetReader.by_name(name)(token_indexers={})
    return lambda path: list(map(str, reader.read(path)))


def score_against_articles(path: Path) -> object:
    return score_squad(str(FIXTURES / "squad" / "articles.json"), str(path))


def score_against_documents(path: Path) -> object:
    return score_coref(str(FIXTURES / "coref" / "documents.gold_conll"), str(path))


IN_COLUMNS: dict[str, tuple[Read, str]] = {
    "ner": (instances("ner_conll2003"), (FIXTURES / "ner" / "sentences.txt").read_text()),
    "srl": (instances("srl_conll2012"), (FIXTURES / "srl" / "sentences.gold_conll").read_text()),
    "predicates": (
        instances("srl_predicates"),
        (FIXTURES / "srl" / "sentences.gold_conll").read_text(),
    ),
    "coref": (
        instances("coref_conll2012"),
        (FIXTURES / "coref" / "documents.gold_conll").read_text(),
    ),
    "sst": (instances("sst_trees"), (FIXTURES / "sst" / "trees.txt").read_text()),
    "props": (lambda path: list(read_props(path)), "- (A0*\n- *)\nsay (V*)\n- (A1*)\n\nrun (V*)\n- *\n"),
    "tagged": (lambda path: list(read_tagged(path)), "the DT\ncat NN\n\nruns VB\n"),
    "conlleval": (lambda path: score_tagged(str(path)), "Ada B-PER B-PER\nran O O\n\nRome B-LOC O\n"),
    "coref response": (score_against_documents, (FIXTURES / "coref" / "documents.gold_conll").read_text()),
}
IN_JSON: dict[str, tuple[Read, list[Any]]] = {
    "squad": (
        instances("squad_v1"),
        [json.loads((FIXTURES / "squad" / "articles.json").read_text())],
    ),
    "snli": (
        instances("snli_jsonl"),
        [json.loads(line) for line in (FIXTURES / "snli" / "pairs.jsonl").read_text().splitlines()],
    ),
    "senses": (lambda path: list(read_senses(path)), [SENSES]),
    "answers": (score_against_articles, [{"a1": "1887", "a2": "Mira Koll", "a3": "the Tarn"}]),
}


def with_mistakes(text: str, columns: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yields text with a column changed, gone or doubled, and with a line gone, doubled, joined or blank."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        head, tail, place = lines[:number], lines[number + 1 :], f"line {number + 1}"
        changed = {
            "is gone": [],
            "is there twice": [line, line],
            "is blank": [""],
            "has a mark": ["\ufeff" + line],
            "is cut": [line[: len(line) // 2]],
            "goes on": [line + " x"],
        }
        for what, instead in changed.items():
            yield f"{place} {what}", "\n".join([*head, *instead, *tail, ""])
        parts = line.split()
        for index in range(len(parts)):
            value = columns[(number * 7 + index * 3) % len(columns)]
            other = columns[(number * 5 + index * 11 + 1) % len(columns)]
            for instead in (value, other):
                joined = " ".join([*parts[:index], instead, *parts[index + 1 :]])
                yield f"{place}, column {index + 1} is {instead!r}", "\n".join([*head, joined, *tail, ""])


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yields the path of each value in JSON."""
    yield path
    inner: Iterable[Any] = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        inner = list(enumerate(value))[:2]
    for key, each in inner:
        yield from places(each, (*path, key))


def with_value(value: Any, path: Sequence[Any], instead: Any) -> Any:
    if not path:
        return instead
    changed = deepcopy(value)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    if instead is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = instead
    return changed


def at(value: Any, path: Sequence[Any]) -> Any:
    for key in path:
        value = value[key]
    return value


@pytest.mark.parametrize("format_name", IN_COLUMNS)
def test_columns_and_lines(format_name: str, tmp_path: Path, outcomes: Outcomes) -> None:
    read, text = IN_COLUMNS[format_name]
    path = tmp_path / "data.txt"
    path.write_text(text)
    assert read(path)
    for case, changed in with_mistakes(text, COLUMNS):
        path.write_text(changed)
        outcomes.call(f"{format_name}: {case}", partial(read, path), ["data.txt", "documents.gold_conll"])


@pytest.mark.parametrize("format_name", IN_COLUMNS)
def test_damaged_text(format_name: str, tmp_path: Path, outcomes: Outcomes) -> None:
    read, text = IN_COLUMNS[format_name]
    generator = random_of(51)
    path = tmp_path / "data.txt"
    for case in times(40):
        path.write_bytes(damaged(text.encode(), generator))
        outcomes.call(f"{format_name} {case}", partial(read, path), ["data.txt", "documents.gold_conll"])


@pytest.mark.parametrize("format_name", IN_JSON)
def test_values_of_json(format_name: str, tmp_path: Path, outcomes: Outcomes) -> None:
    """A value of another type than the right one is refused, or nobody asks for it; a list may be empty."""
    read, lines = IN_JSON[format_name]
    path = tmp_path / "data.json"

    def write(values: list[Any]) -> None:
        path.write_text("".join(json.dumps(each) + "\n" for each in values))

    def look(before: Any, after: Any) -> None:
        found = read(path)
        same_type = type(before) is type(after) and not (isinstance(before, list | dict) and after)
        assert found or same_type, "nothing was read"
        assert found == expected or same_type or after is ..., "read as something else"

    write(lines)
    expected = read(path)
    for number, line in enumerate(lines[:2]):
        for place in places(line):
            for instead in (*WRONG, ...) if place else WRONG:
                changed = with_value(line, place, instead)
                write([*lines[:number], changed, *lines[number + 1 :]])
                look_here = partial(look, at(line, place), instead)
                case = f"{format_name} {number}, {'.'.join(map(str, place))} is {instead!r}"
                outcomes.call(case, look_here, ["data.json"])
