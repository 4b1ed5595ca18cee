"""
The walk through a configuration. It pairs each value with the annotation of the argument that the
value is for.

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

from elmo_plugin.common.nested_values import Keys

Annotation = Any  # Python accepts any object as an annotation
Value = Any  # any value of JSON
Finding = TypeVar("Finding")


class TypedItem(NamedTuple):
    """An item of a list or dictionary, with the type that the annotation gives to the item."""

    key: str | int
    annotation: Annotation
    value: Value


class Judge(ABC, Generic[Finding]):
    """
    Walks through the values of a configuration as AllenNLP does when it makes objects of them. A
    subclass chooses the type of the findings. It judges plain values and objects; to go on with the
    arguments of an object, it calls `judge` for each of them.
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
            cls = annotation
            if generic is not None:  # a class such as `Batch[int]`, without its types
                cls = generic
            yield from self.judge_object(cls, value, keys)
        else:
            yield from self._judge_items(annotation, value, keys)

    def _judge_items(self, annotation: Annotation, value: Value, keys: Keys) -> Iterator[Finding]:
        """Judges each item of a list or dictionary; any other value is judged as a whole."""
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
        """Judges a value without typed items: a number, a text, or a value of a wrong type."""


def is_list_type(annotation: Annotation) -> bool:
    """
    Returns whether an annotation is a list type, such as `list[Model]`: it gives a type to the
    items, and is not the type of a dictionary. AllenNLP makes the items of such a list one by one.
    """
    origin = get_origin(annotation)
    if not inspect.isclass(origin) or issubclass(origin, Mapping):
        return False
    return issubclass(origin, Iterable)


def typed_items(annotation: Annotation, value: Value) -> list[TypedItem] | None:
    """
    Returns the items of a list or dictionary, each with the type that the annotation gives to it.
    Returns `None` if the annotation gives no types to items, such as `int` or `list`. Also returns
    `None` for a value of another kind, such as a number for the annotation `list[int]`.
    """
    origin = get_origin(annotation)
    kinds = get_args(annotation)
    if not inspect.isclass(origin) or not kinds:
        return None
    if issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            return None
        type_of_values = kinds[-1]  # kinds[0] is the type of the keys
        return [TypedItem(name, type_of_values, item) for name, item in value.items()]
    if not is_list_type(annotation) or not isinstance(value, list | tuple | set):
        return None
    items = []
    for position, item in enumerate(value):
        items.append(TypedItem(position, _type_of_item(position, annotation), item))
    return items


def _type_of_item(position: int, annotation: Annotation) -> Annotation:
    """
    Returns the type that an annotation such as `list[int]` or `tuple[int, str]` gives to the item
    at a position.
    """
    types = get_args(annotation)
    has_type_for_each_item = get_origin(annotation) is tuple and Ellipsis not in types
    if not has_type_for_each_item:
        return types[0]
    if position < len(types):
        return types[position]
    return Any  # AllenNLP ignores the items that are left
