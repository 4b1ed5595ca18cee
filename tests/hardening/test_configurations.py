"""Mistakes in configurations: the key, what was expected, and what is there."""

import pickle
from collections.abc import Iterable
from typing import Any, Union

import pytest
import torch
from allennlp.common import FromParams, Lazy, Params, Registrable, util
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance

from elmo_plugin.hardening.configurations import MistakeError


class Part(Registrable):
    pass


@Part.register("sum")
class Sum(Part):
    def __init__(
        self,
        size: int,
        parts: list[Part] = None,  # noqa: RUF013 (as AllenNLP's own constructors have it, here and below)
        by_name: dict[str, Part] = None,  # noqa: RUF013
    ) -> None:
        if size < 0:
            raise ValueError("a negative\nsize")


@Part.register("full")
class Full(Part):
    def __init__(self) -> None:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory")


class Whole(FromParams):
    def __init__(
        self,
        name: str,
        is_large: bool = False,
        rate: float = 0.1,
        limit: int | None = None,
        sizes: Union[int, list[int]] = 3,  # noqa: UP007
        part: Part = None,
        either: Union[Part, list[Part]] = None,  # noqa: UP007
        late: Lazy[Part] = None,
        **others: Any,
    ) -> None:
        if others:
            raise TypeError("__init__() got an unexpected keyword argument 'nmae'")
        self.limit = limit
        if late is not None:
            late.construct()


def whole(**changes: Any) -> Whole:
    return Whole.from_params(Params({"whole": {"name": "x", **changes}})["whole"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": 3}, "whole.name: expected text, not 3"),
        ({"is_large": "yes"}, "whole.is_large: expected true or false, not 'yes'"),
        ({"rate": "fast"}, "whole.rate: expected a number, not 'fast'"),
        ({"limit": "5"}, "whole.limit: expected a whole number, not '5'"),
        ({"sizes": "big"}, "whole.sizes: expected a whole number or a list, not 'big'"),
        ({"sizes": ["x"]}, "whole.sizes.0: expected a whole number, not 'x'"),
        ({"nmae": "x"}, "whole: Whole has no option 'nmae'"),
        ({"part": []}, "whole.part: expected an object or the name of a type, not []"),
        ({"part": {"type": None}}, "whole.part.type: expected text, not None"),
        ({"part": {"type": "sum", "size": 1, "x": 1}}, "whole.part: Extra parameters passed to Sum: {'x'"),
        ({"part": {"type": "sum", "size": "x"}}, "whole.part.size: expected a whole number, not 'x'"),
        ({"part": "sum"}, 'whole.part: key "size" is required'),
        (
            {"part": {"type": "sum", "size": -1}},
            "whole.part: cannot be made (ValueError: a negative size; ELMO_PLUGIN_TRACEBACK=1 shows where)",
        ),
        (
            {"part": {"type": "sum", "size": 1, "parts": [{"type": "sum", "size": "x"}]}},
            "whole.part.parts.0.size: expected a whole number, not 'x'",
        ),
        (
            {"part": {"type": "sum", "size": 1, "parts": "sum"}},
            "whole.part.parts: expected a list, not 'sum'",
        ),
        (
            {"part": {"type": "sum", "size": 1, "by_name": {"a": {"type": "sum", "size": "x"}}}},
            "whole.part.by_name.a.size: expected a whole number, not 'x'",
        ),
        (
            {"part": {"type": "sum", "size": 1, "by_name": 7}},
            "whole.part.by_name: expected an object, not 7",
        ),
        ({"either": [{"type": "sum", "size": "x"}]}, "whole.either.0.size: expected a whole number, not 'x'"),
        ({"either": 7}, "whole.either: expected an object or a list, not 7"),
        ({"late": [{"a": {}}]}, "whole.late: expected an object or the name of a type, not [{'a': {}}]"),
        ({"late": "nobody"}, "late: nobody not in acceptable choices for late.type"),
        ({"late": {"type": "sum", "size": "x"}}, "whole.late.size: expected a whole number, not 'x'"),
    ],
)
def test_a_mistake_is_a_sentence_that_begins_with_its_key(changes: Any, message: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        whole(**changes)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r'key "name" is required at location "whole\."'):
        Whole.from_params(Params({"whole": {}})["whole"])


def test_what_is_right_is_made_as_before() -> None:
    assert whole(limit=None).limit is None
    assert whole(limit=4, sizes=[1, 2], part={"type": "sum", "size": 1}).limit == 4


def test_the_cause_is_kept_and_the_mistake_can_be_pickled() -> None:
    with pytest.raises(MistakeError) as error:
        whole(part={"type": "sum", "size": -1})
    assert isinstance(error.value.__cause__, ValueError)
    copied = pickle.loads(pickle.dumps(error.value))
    assert (str(copied), copied.path) == (str(error.value), "whole.part")


def test_a_full_memory_is_no_mistake() -> None:
    with pytest.raises(torch.cuda.OutOfMemoryError):
        whole(part="full")


class Reads(FromParams):
    def __init__(self, reader: DatasetReader) -> None:
        list(reader.read("x.txt"))


@pytest.mark.parametrize("error", [ConfigurationError("x.txt, line 3: wrong"), ZeroDivisionError("a bug")])
def test_errors_of_reading_stay_as_they_are(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(self: DatasetReader, path: str) -> Iterable[Instance]:
        raise error

    monkeypatch.setattr(DatasetReader.by_name("babi"), "_read", read)
    with pytest.raises(type(error)) as found:
        Reads.from_params(Params({"loader": {"reader": "babi"}})["loader"])
    assert found.value is error


def test_a_seed_that_is_no_number_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"numpy_seed: expected a whole number, not \[3\]"):
        util.prepare_environment(Params({"random_seed": 1, "numpy_seed": [3]}))
