"""
The walk through a configuration: it pairs each value with the annotation it is for.

For example, if the constructor of a class is `Tagger(encoder: Lazy[Encoder], sizes: list[int] |
None)`, the configuration `{"encoder": "lstm", "sizes": [3, 4]}` of a `Tagger` is judged by

    judge_object(Tagger, {"encoder": "lstm", "sizes": [3, 4]}), which judges the arguments:
        judge_lazy(Encoder, "lstm")
            judge_object(Encoder, {"type": "lstm"})
        judge_union([list[int]], [3, 4])
            judge_plain(int, 3)
            judge_plain(int, 4)
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, Generic, NamedTuple, TypeVar, Union, get_args, get_origin

from allennlp.common import Lazy

Keys = tuple[str | int, ...]  # the keys and positions that lead to a value
Annotation = Any  # whatever Python accepts as one
Value = Any  # whatever JSON has
Finding = TypeVar("Finding")


class TypedItem(NamedTuple):
    """An entry of a list or dictionary, with the type that the whole's annotation has for it."""

    key: str | int
    annotation: Annotation
    value: Value


class Judge(ABC, Generic[Finding]):
    """
    Walks through the values of a configuration as AllenNLP would, and yields findings, whose
    type the subclass chooses. The subclass judges objects, from whose arguments the walk goes on,
    and plain values.
    """

    def judge(self, annotation: Annotation, value: Value, keys: Keys) -> Iterator[Finding]:
        """Yields the findings in the value of an argument with this annotation."""
        if value is None:
            return  # AllenNLP makes nothing of null
        generic = get_origin(annotation)  # such as `list` of `list[int]`
        types = get_args(annotation)  # such as `(int,)` of `list[int]`
        if generic is Lazy:
            yield from self.judge_lazy(types[0], value, keys)
        elif generic in (Union, UnionType):
            kinds = [kind for kind in types if kind is not NoneType]
            yield from self.judge_union(kinds, value, keys)
        elif hasattr(annotation, "from_params"):  # a class that AllenNLP makes from JSON
            if isinstance(value, str):
                value = {"type": value}  # a text is short for an object that has only a type
            yield from self.judge_object(generic or annotation, value, keys)
        else:
            yield from self._judge_items(annotation, value, keys)

    def _judge_items(self, annotation: Annotation, value: Value, keys: Keys) -> Iterator[Finding]:
        """Judges each item of a list or dictionary, or else the whole value."""
        items = typed_items(annotation, value)
        if items is None:
            yield from self.judge_plain(annotation, value, keys)
            return
        for item in items:
            yield from self.judge(item.annotation, item.value, (*keys, item.key))

    def judge_lazy(self, annotation: Annotation, value: Value, keys: Keys) -> Iterator[Finding]:
        """Judges a value that code turns into an object later."""
        yield from self.judge(annotation, value, keys)

    @abstractmethod
    def judge_union(self, kinds: list[Annotation], value: Value, keys: Keys) -> Iterator[Finding]:
        """Judges a value that may be of any of these types."""

    @abstractmethod
    def judge_object(self, cls: Any, value: Value, keys: Keys) -> Iterator[Finding]:
        """Judges a value that AllenNLP turns into an object of this class, or of a subclass."""

    @abstractmethod
    def judge_plain(self, annotation: Annotation, value: Value, keys: Keys) -> Iterator[Finding]:
        """Judges a value without typed items: a number, a text, or one of a wrong type."""


def is_list_type(annotation: Annotation) -> bool:
    """
    Returns whether AllenNLP makes a value for this annotation item by item, as for `list[Model]`;
    dictionaries do not count.
    """
    origin = get_origin(annotation)
    if not inspect.isclass(origin) or issubclass(origin, Mapping):
        return False
    return issubclass(origin, Iterable)


def typed_items(annotation: Annotation, value: Value) -> list[TypedItem] | None:
    """
    Returns the items of a list or dictionary with their types. Returns `None` if the annotation
    says nothing of items, as `int` or a bare `list`, or if the value is not such a list or
    dictionary.
    """
    origin = get_origin(annotation)
    kinds = get_args(annotation)
    if not inspect.isclass(origin) or not kinds:
        return None
    if issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            return None
        kind_of_values = kinds[-1]  # the first one is the type of the keys
        return [TypedItem(name, kind_of_values, item) for name, item in value.items()]
    if not is_list_type(annotation) or not isinstance(value, list | tuple | set):
        return None
    items = []
    for position, item in enumerate(value):
        items.append(TypedItem(position, _kind_at(position, annotation), item))
    return items


def _kind_at(position: int, annotation: Annotation) -> Annotation:
    """Returns the type of an item of a list, or of a tuple that may have a type for each item."""
    kinds = get_args(annotation)
    has_type_for_each = get_origin(annotation) is tuple and Ellipsis not in kinds
    if not has_type_for_each:
        return kinds[0]
    if position < len(kinds):
        return kinds[position]
    return Any  # AllenNLP ignores the rest
