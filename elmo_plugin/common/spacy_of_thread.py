"""
The function that AllenNLP calls to load a model of spaCy, exchanged in one thread alone: other
threads may load and predict meanwhile.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from threading import Lock
from typing import Any, NamedTuple


class _Exchange(NamedTuple):
    """The function that one thread calls for spaCy's `load`, and the models it has loaded."""

    load: Callable[..., Any]
    models: dict[Any, Any]


_exchanged: ContextVar[_Exchange | None] = ContextVar("exchanged", default=None)
_installing = Lock()


@contextmanager
def loading_with(load: Callable[..., Any]) -> Iterator[None]:
    """Makes AllenNLP call `load` in place of `spacy.load`, within the block and in this thread."""
    _install()
    token = _exchanged.set(_Exchange(load, {}))
    try:
        yield
    finally:
        _exchanged.reset(token)


def _install() -> None:
    """
    Makes AllenNLP's module look up spaCy, and the models that it has loaded, in the objects below.
    This happens once, for the whole process.
    """
    from allennlp.common import util

    with _installing:
        if not isinstance(util.LOADED_SPACY_MODELS, _ModelsOfThread):
            util.LOADED_SPACY_MODELS = _ModelsOfThread(util.LOADED_SPACY_MODELS)
            util.spacy = _SpacyOfThread()  # type: ignore[assignment]


class _SpacyOfThread:
    """Stands for the module spaCy, with the `load` of this thread."""

    def load(self, *args: Any, **options: Any) -> Any:
        exchange = _exchanged.get()
        if exchange is None:
            return import_module("spacy").load(*args, **options)
        return exchange.load(*args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("spacy"), name)


class _ModelsOfThread(dict[Any, Any]):
    """AllenNLP's models of spaCy by their options, exchanged for the models of this thread."""

    def __contains__(self, options: object) -> bool:
        exchange = _exchanged.get()
        if exchange is None:
            return super().__contains__(options)
        return options in exchange.models

    def __getitem__(self, options: Any) -> Any:
        exchange = _exchanged.get()
        if exchange is None:
            return super().__getitem__(options)
        return exchange.models[options]

    def __setitem__(self, options: Any, model: Any) -> None:
        exchange = _exchanged.get()
        if exchange is None:
            super().__setitem__(options, model)
        else:
            exchange.models[options] = model
