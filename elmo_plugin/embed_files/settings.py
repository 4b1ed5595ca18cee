"""The settings that decide the content of an output."""

import os
from dataclasses import asdict, dataclass
from typing import Any

from elmo_plugin.bilm import MAX_BATCH_TOKENS, BiLmError
from elmo_plugin.bilm.io import DTYPES

LAYOUTS = ("all", "top", "average", "mix")
TOKENIZERS = ("whitespace", "spacy")
KEYS = ("line", "sentence")


@dataclass(frozen=True)
class EmbedSettings:
    """
    # Parameters

    bilm : `str | dict[str, str]`
        See `BiLm.from_pretrained`; for the layout "mix" the archive of a trained task model with ELMo.
    layout : `str`
        What is written of each sentence: "all" layers, the "top" layer, the "average" of all, or the "mix"
        that a task has learned.
    placement : `str`, optional
        For "mix": the place in the task model, as `elmo weights` names it. Not needed if ELMo is at one
        place.
    tokenizer : `str`
        "whitespace" for tokenized text, or "spacy" for the rules of a language.
    language : `str`
        The code of the language of spaCy's rules.
    precision : `str`
        See `BiLm`.
    batch_size, max_batch_tokens : `int`
        The most sentences, and the most words with padding, that the biLM reads at a time.
    threads : `int`
        The threads in which each worker computes. The last bits of vectors depend on them.
    dtype : `str`
        Of the vectors in the output: "float32" or "float16".
    gzip : `int`, optional
        The level, 1 to 9, at which HDF5 compresses vectors.
    keys : `str`
        The names of sentences in HDF5: the number of the "line", or the "sentence" itself.
    keep_sentences : `bool`
        Whether the sentences are written, too.
    max_words : `int`
        Longer sentences are refused, as the text has probably not one sentence a line.
    """

    bilm: str | dict[str, str]
    layout: str = "all"
    placement: str | None = None
    tokenizer: str = "whitespace"
    language: str = "en"
    precision: str = "float32"
    batch_size: int = 64
    max_batch_tokens: int = MAX_BATCH_TOKENS
    threads: int = 1
    dtype: str = "float32"
    gzip: int | None = None
    keys: str = "line"
    keep_sentences: bool = True
    max_words: int = 100_000

    def description(self) -> dict[str, Any]:
        """Returns what decides the output, except for the content of the biLM."""
        return {name: value for name, value in asdict(self).items() if name not in ("bilm", "max_words")}


def max_processes() -> int:
    """Returns the largest number of threads or workers. More would end in a crash."""
    return max(256, os.cpu_count() or 1)


def check_settings(settings: EmbedSettings, output_format: str) -> None:
    """Raises `BiLmError` if settings are wrong, or fit neither each other nor the format."""
    choices = {"layout": LAYOUTS, "tokenizer": TOKENIZERS, "dtype": DTYPES, "keys": KEYS}
    for name, values in choices.items():
        _require(getattr(settings, name) in values, f"{name} is one of {', '.join(values)}", settings, name)
    for name in ("batch_size", "max_batch_tokens", "threads", "max_words"):
        _require(getattr(settings, name) >= 1, f"{name.replace('_', ' ')} is at least 1", settings, name)
    most = max_processes()
    _require(settings.threads <= most, f"threads are at most {most}", settings, "threads")
    _require(settings.gzip in (None, *range(1, 10)), "the level of gzip is from 1 to 9", settings, "gzip")
    if output_format != "hdf5" and (settings.gzip is not None or settings.keys != "line"):
        raise BiLmError(f"compression and keys are for hdf5, not for {output_format}")
    if settings.placement is not None and settings.layout != "mix":
        raise BiLmError("a placement is for the mixture of a trained model")


def _require(is_fine: bool, rule: str, settings: EmbedSettings, name: str) -> None:
    if not is_fine:
        raise BiLmError(f"{rule}, not {getattr(settings, name)!r}")
