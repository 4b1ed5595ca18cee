"""What decides the content of an output, and whether it can be had."""

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from elmo_plugin.bilm import MAX_BATCH_TOKENS, BiLmError, get_precision
from elmo_plugin.embed_files.text import make_tokenizer

LAYOUTS = ("all", "top", "average", "mix")
DTYPES = ("float32", "float16")
TOKENIZERS = ("whitespace", "spacy")
KEYS = ("line", "sentence")
FORMATS = {"hdf5": (".hdf5", ".h5"), "safetensors": (".safetensors",)}  # with the suffixes of their files


@dataclass(frozen=True)
class Settings:
    """
    # Parameters

    bilm : `str | dict[str, str]`
        Which biLM, see `load_bilm`; for the layout "mix" the archive of a trained task model with ELMo.
    layout : `str`
        What is written of each sentence: "all" layers, the "top" one, the "average" of all, or the "mix" that
        a task has learned.
    placement : `str`, optional
        For "mix": where in the task model, as `allennlp elmo-weights` names it. It may be left out where ELMo
        is at one place.
    tokenizer : `str`
        "whitespace" for text that is tokenised already, or "spacy" for the rules of a language.
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
        HDF5's names of sentences: the "line", or the "sentence" itself.
    keep_sentences : `bool`
        Whether the output has the sentences.
    max_words : `int`
        A sentence with more words is refused: its text has hardly a sentence a line.
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
        """Returns all but the name of the biLM, whose content counts, and the limit of words."""
        return {name: value for name, value in asdict(self).items() if name not in ("bilm", "max_words")}


def max_processes() -> int:
    """Returns how many threads or workers may be asked for: more than that end in a crash, not in speed."""
    return max(256, os.cpu_count() or 1)


def format_of(path: str | Path) -> str | None:
    """Returns the format that the suffix of a file's name says, if any."""
    return next((name for name, suffixes in FORMATS.items() if Path(path).suffix in suffixes), None)


def check_settings(settings: Settings, output_format: str) -> None:
    """Raises `BiLmError` where settings are wrong, or do not fit one another or the format."""
    choices = {"layout": LAYOUTS, "tokenizer": TOKENIZERS, "dtype": DTYPES, "keys": KEYS}
    for name, values in choices.items():
        _require(getattr(settings, name) in values, f"{name} is one of {', '.join(values)}", settings, name)
    for name in ("batch_size", "max_batch_tokens", "threads", "max_words"):
        _require(getattr(settings, name) >= 1, f"{name.replace('_', ' ')} is at least 1", settings, name)
    most = max_processes()
    _require(settings.threads <= most, f"threads are at most {most}", settings, "threads")
    _require(settings.gzip in (None, *range(1, 10)), "the level of gzip is from 1 to 9", settings, "gzip")
    if output_format not in FORMATS:
        raise BiLmError(f"the format is one of {', '.join(FORMATS)}, not {output_format!r}")
    if output_format != "hdf5" and (settings.gzip is not None or settings.keys != "line"):
        raise BiLmError(f"compression and keys are for hdf5, not for {output_format}")
    if settings.placement is not None and settings.layout != "mix":
        raise BiLmError("a placement is for the mixture of a trained model")
    get_precision(settings.precision)
    make_tokenizer(settings.tokenizer, settings.language)


def _require(is_fine: bool, rule: str, settings: Settings, name: str) -> None:
    if not is_fine:
        raise BiLmError(f"{rule}, not {getattr(settings, name)!r}")
