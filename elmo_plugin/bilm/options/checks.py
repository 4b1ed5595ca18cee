"""What the options of a biLM must be: types, bounds, and known keys."""

import logging
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from elmo_plugin.common.errors import BiLmError

ACTIVATIONS = ("relu", "tanh")
MAX_SIZE = 2**20  # of any dimension
MAX_LAYERS = 100
MAX_CHARACTERS = 10_000
_TRAINING_KEYS = (  # that bilm-tf writes next to the sizes
    "all_clip_norm_val",
    "batch_size",
    "dropout",
    "n_epochs",
    "n_negative_samples_batch",
    "n_tokens_vocab",
    "n_train_tokens",
    "sample_softmax",
    "share_embedding_softmax",
    "unroll_steps",
)
logger = logging.getLogger(__name__)


def check_cnn(name: str, filters: Sequence[tuple[int, int]], slots: int, activation: str) -> None:
    if not filters:
        raise BiLmError(f"{name}.filters must be pairs of positive [width, number], not {filters}")
    for width, number in filters:
        require_number(f"a width in {name}.filters", width, 1, MAX_CHARACTERS)
        require_number(f"a number in {name}.filters", number, 1, MAX_SIZE)
    if max(width for width, _ in filters) > slots:
        raise BiLmError(f"{name}.filters has a width beyond the {slots} character slots")
    if activation not in ACTIVATIONS:
        raise BiLmError(f"{name}.activation must be one of {ACTIVATIONS}, not {activation!r}")


def check_keys(options: dict[str, Any], known: Mapping[str, Collection[str]], source: str) -> None:
    """
    Raises `BiLmError` for keys that are misspelt, missing or of other language models. Keys of training alone
    are ignored; an unknown key is ignored with a warning.

    # Parameters

    options : `dict`
        In the published layout.
    known : `Mapping[str, Collection[str]]`
        The keys of each section.
    source : `str`
        What a warning calls the options.
    """
    for section in known:
        if section in options and not isinstance(options[section], dict):
            raise BiLmError(f"{section} must be an object, not {options[section]!r}")
    others = {key: value for key, value in options.items() if key not in _TRAINING_KEYS}
    for key in unknown_keys(others, (*known, "bidirectional")):
        logger.warning("%s: the key %r is unknown and is ignored", source, key)
    require_truth_value("bidirectional", options.get("bidirectional", True))
    if "char_cnn" not in options and "n_tokens_vocab" in options:
        raise BiLmError(
            "there is no char_cnn, so this biLM reads whole words, "
            "but only biLMs that read characters can be used"
        )
    if not options.get("bidirectional", True):
        raise BiLmError("bidirectional is false, but only language models in both directions can be used")
    if "lstm" in options and "projection_dim" not in options["lstm"]:
        raise BiLmError(
            "the key 'projection_dim' is missing in lstm, where it must be given even if the LSTMs have no "
            "projections: then it equals lstm.dim"
        )
    for section, keys in known.items():
        for key in unknown_keys(options.get(section, {}), keys):
            raise BiLmError(f"the key {key!r} in {section} is not one of {', '.join(keys)}")


def unknown_keys(options: dict[str, Any], known: Collection[str]) -> list[str]:
    """Returns the keys that are not known; raises `BiLmError` for one that looks like a known one."""
    unknown = [key for key in options if key not in known]
    for key in unknown:
        if meant := get_close_matches(key, known, n=1, cutoff=0.8):
            raise BiLmError(f"unknown key {key!r}: did you mean {meant[0]!r}?")
    return unknown


def require_truth_value(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise BiLmError(f"{name} must be true or false, not {value!r}")


def require_number(name: str, value: Any, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise BiLmError(f"{name} must be a whole number of at least {least}, not {value!r}")
    if value > most:
        raise BiLmError(f"{name} must be a whole number of at most {most:,}, not {value}")
