"""The quick evaluation of JSON, which the tests use, gives what Jsonnet gives."""

import json

import _jsonnet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evaluated_json import LARGEST, evaluate_json

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]))
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-LARGEST, LARGEST)
    | st.floats(-LARGEST, LARGEST)
    | TEXTS
)
VALUES = st.recursive(SCALARS, lambda values: st.lists(values) | st.dictionaries(TEXTS, values))


@pytest.mark.slow
@given(st.lists(VALUES, max_size=60))
def test_json_becomes_what_jsonnet_makes_of_it(values: list[object]) -> None:
    text = json.dumps(values, ensure_ascii=False)
    expected = json.loads(_jsonnet.evaluate_snippet("", text))
    assert repr(json.loads(evaluate_json(text))) == repr(expected)  # 1, 1.0 and true differ


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "a": 2}', '"\\ud800"', "12345678901234567890", "1e300", "1e999", "NaN", "{a: 1}"],
)
def test_what_only_jsonnet_should_judge_is_left_to_it(text: str) -> None:
    with pytest.raises(ValueError):
        evaluate_json(text)
