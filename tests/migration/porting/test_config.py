"""Changes of a configuration."""

from typing import Any

import pytest

from elmo_plugin.migration.porting.config import merge

NAMED = "track_epoch"
WITH_OPTIONS = {"type": "track_epoch", "name": "epoch"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([], [WITH_OPTIONS]),
        ([NAMED], [WITH_OPTIONS]),
        ([{"type": NAMED, "rate": 1}], [{"type": NAMED, "rate": 1, "name": "epoch"}]),
        (["other"], ["other", WITH_OPTIONS]),
    ],
)
def test_a_callback_in_a_list_keeps_its_options(before: list[Any], after: list[Any]) -> None:
    config = {"callbacks": before}
    merge(config, "callbacks", [dict(WITH_OPTIONS)])
    assert config == {"callbacks": after}


def test_a_callback_by_name_adds_nothing_to_one_with_options() -> None:
    config = {"callbacks": [dict(WITH_OPTIONS)]}
    merge(config, "callbacks", [NAMED])
    assert config == {"callbacks": [WITH_OPTIONS]}
