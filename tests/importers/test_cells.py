"""A list in a cell is read as JSON, Python or numpy printed it."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.importers.cells import list_in_cell

WORDS = st.lists(
    st.sampled_from(["Anna", "it's", 'say "x"', "B-PER", "O", "北京", "a b", "[", ","])
)
NUMBERS = st.lists(st.integers(-100, 9))


@given(items=WORDS | NUMBERS)
def test_a_list_is_read_in_whichever_way_it_was_printed(items: list[Any]) -> None:
    for text in (json.dumps(items), str(items), str(np.array(items, dtype=object))):
        assert list_in_cell(text) == items


@pytest.mark.parametrize(
    "value", ["[LOC] left", "[", "[a, b]", "['a' ... 'b']", "a", None, 1, ["a"]]
)
def test_any_other_value_stays_unchanged(value: Any) -> None:
    assert list_in_cell(value) == value


@given(
    tokens=st.lists(st.sampled_from(["[", "]", "{", "}", "array", "()", "(", ")", "1", ":", "*"]))
)
def test_a_cell_with_any_brackets_is_read_or_stays_text(tokens: list[str]) -> None:
    text = "[" + "".join(tokens)
    assert list_in_cell(text) == text or isinstance(list_in_cell(text), list)


def test_too_many_brackets_stay_text() -> None:
    text = "[" * 100_000
    assert list_in_cell(text) == text


def test_an_array_without_a_value_stays_text() -> None:
    assert list_in_cell("[array()]") == "[array()]"
