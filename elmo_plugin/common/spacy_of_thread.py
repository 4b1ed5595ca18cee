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
    """What one thread calls in place of `spacy.load`, and the models that it has loaded so."""

    load: Callable[..., Any]
    models: dict[Any, Any]


_exchanged: ContextVar[_Exchange | None] = ContextVar("exchanged", default=None)
_installing = Lock()  # held by `_install`, so that two threads do not wrap the models twice


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
    Replaces AllenNLP's module spaCy, and its dictionary of loaded models, by the objects below:
    they ask for the exchange of the calling thread. Threads without one get spaCy itself, and the
    old models. Does nothing after the first call in a process.
    """
    from allennlp.common import util

    with _installing:
        is_installed = isinstance(util.LOADED_SPACY_MODELS, _ModelsOfThread)
        if not is_installed:
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
    """
    The dictionary from which AllenNLP takes a model of spaCy that it has loaded. The keys are the
    options of loading. A thread with an exchange sees only the models of the exchange.
    """

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
