"""
Makes AllenNLP use spaCy's rules in place of the models of spaCy, in one thread alone. Other threads
may load models and predict meanwhile, without the rules.
"""

from collections import UserDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from threading import Lock
from typing import Any, NamedTuple

from elmo_plugin.common.errors import TRUST, BiLmError
from elmo_plugin.common.logs import get_logger
from elmo_plugin.common.nested_values import values_in

logger = get_logger(__name__)


@contextmanager
def using_spacy_rules(config: Mapping[str, Any], name: str, trust: bool = False) -> Iterator[None]:
    """
    Makes AllenNLP use spaCy's rules, within the block, in place of the models of spaCy that it
    would load. A model may contain code, and loading it would run the code. The rules only split
    text into words: if `config` needs more of a model, AllenNLP gets a `BiLmError` that begins with
    `name`.

    With `trust`, AllenNLP loads the models that are installed. It never installs one.
    """
    import spacy
    from spacy import lang

    # spaCy has a module for each language: "en", "de".
    languages = {module.name for module in iter_modules(lang.__path__)}
    needs_tags = _needs_tags_of_spacy(config)

    def load(model: str, disable: Sequence[str]) -> Any:
        """Stands for `spacy.load`: returns the rules of the model's language, or the model."""
        is_installed = spacy.util.is_package(model) or Path(model).exists()
        if trust and is_installed:
            return spacy.load(model, disable=disable)
        language, _, _ = model.partition("_")  # "en" of en_core_web_sm
        # AllenNLP disables the parser and the entity recognizer if it needs only the words.
        needs_words_only = not needs_tags and "parser" in disable and "ner" in disable
        if needs_words_only and language in languages:
            logger.warning(
                "%s: words are split by spaCy's rules, without the model %s", name, model
            )
            return spacy.blank(language)
        if trust:
            raise BiLmError(f"{name}: spaCy's model {model} is not installed")
        raise BiLmError(f"{name}: spaCy's model {model} may contain code; {TRUST}")

    with _loading_with(load):
        yield


def _needs_tags_of_spacy(config: Mapping[str, Any]) -> bool:
    """
    Returns whether a token indexer in a configuration uses a feature of words that only a model of
    spaCy can find, such as "pos_".
    """
    features = [value for keys, value in values_in(config) if keys[-1:] == ("feature_name",)]
    return any(feature != "text" for feature in features)  # "text" is the word itself


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
def _loading_with(load: Callable[..., Any]) -> Iterator[None]:
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
            models = _ModelsOfThread(util.LOADED_SPACY_MODELS)
            util.LOADED_SPACY_MODELS = models  # type: ignore[assignment]
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


class _ModelsOfThread(UserDict[Any, Any]):
    """
    The dictionary from which AllenNLP takes a model of spaCy that it has loaded. The keys are the
    options of loading. A thread with a replacement sees only the models of the replacement.
    """

    def __init__(self, models_of_spacy: dict[Any, Any]) -> None:
        self._models_of_spacy = models_of_spacy

    @property
    def data(self) -> dict[Any, Any]:  # type: ignore[override]
        """The dictionary that `UserDict` reads and writes."""
        replacement = _replacement.get()
        if replacement is None:
            return self._models_of_spacy
        return replacement.models
