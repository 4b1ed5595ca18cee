"""
Replaces the function by which AllenNLP loads a model of spaCy, in one thread alone. Other threads
may load models and predict meanwhile, without the replacement.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from threading import Lock
from typing import Any, NamedTuple


class _Replacement(NamedTuple):
    """
    What AllenNLP uses in one thread in place of spaCy.

    load: called in place of `spacy.load`
    models: the models that it has returned, by the options of each call
    """

    load: Callable[..., Any]
    models: dict[Any, Any]


_replacement: ContextVar[_Replacement | None] = ContextVar("replacement", default=None)
_replacing = Lock()  # so that two threads do not replace spaCy twice


@contextmanager
def loading_with(load: Callable[..., Any]) -> Iterator[None]:
    """Makes AllenNLP call `load` in place of `spacy.load`, within the block and in this thread."""
    _replace_spacy_in_allennlp()
    token = _replacement.set(_Replacement(load, models={}))
    try:
        yield
    finally:
        _replacement.reset(token)


def _replace_spacy_in_allennlp() -> None:
    """
    Gives AllenNLP other objects for the module spaCy and for its dictionary of loaded models. They
    look up the replacement of the calling thread. A thread without a replacement gets spaCy itself
    and the models of the old dictionary. Does nothing after the first call in a process.
    """
    from allennlp.common import util

    with _replacing:
        is_replaced = isinstance(util.LOADED_SPACY_MODELS, _ModelsOfThread)
        if not is_replaced:
            util.LOADED_SPACY_MODELS = _ModelsOfThread(util.LOADED_SPACY_MODELS)
            util.spacy = _SpacyOfThread()  # type: ignore[assignment]


class _SpacyOfThread:
    """Stands for the module spaCy. Its `load` is the replacement of the calling thread, if any."""

    def load(self, *args: Any, **options: Any) -> Any:
        replacement = _replacement.get()
        if replacement is None:
            return import_module("spacy").load(*args, **options)
        return replacement.load(*args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("spacy"), name)


class _ModelsOfThread(dict[Any, Any]):
    """
    The dictionary from which AllenNLP takes a model of spaCy that it has loaded. The keys are the
    options of loading. A thread with a replacement sees only the models of the replacement.
    """

    def __contains__(self, options: object) -> bool:
        replacement = _replacement.get()
        if replacement is None:
            return super().__contains__(options)
        return options in replacement.models

    def __getitem__(self, options: Any) -> Any:
        replacement = _replacement.get()
        if replacement is None:
            return super().__getitem__(options)
        return replacement.models[options]

    def __setitem__(self, options: Any, model: Any) -> None:
        replacement = _replacement.get()
        if replacement is None:
            super().__setitem__(options, model)
        else:
            replacement.models[options] = model
