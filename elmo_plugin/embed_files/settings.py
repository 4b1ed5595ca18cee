"""What decides the content of an output."""

from dataclasses import asdict, dataclass
from typing import Any

from elmo_plugin.bilm import MAX_BATCH_TOKENS

LAYOUTS = ("all", "top", "average", "mix")
DTYPES = ("float32", "float16")
TOKENIZERS = ("whitespace", "spacy")
KEYS = ("line", "sentence")


@dataclass(frozen=True)
class Settings:
    """
    # Parameters

    bilm : `str | dict[str, str]`
        Which biLM, see `load_bilm`; for the layout "mix" the archive of a trained task model with ELMo.
    layout : `str`
        What is kept of each sentence: "all" layers, the "top" one, the "average" of all, or the "mix" that a
        task has learned.
    placement : `str`, optional
        For "mix": where in the task model, as `allennlp elmo-weights` names it. It may be left out where ELMo
        is at one place.
    tokenizer : `str`
        "whitespace" for text that is tokenised already, or "spacy" for the rules of a language.
    language : `str`
        Of spaCy's rules.
    precision : `str`
        See `BiLm`.
    batch_size, max_batch_tokens : `int`
        The most sentences, and the most words with padding, that the biLM reads at a time.
    threads : `int`
        The threads in which each worker computes. The last bits of vectors depend on them.
    dtype : `str`
        Of the vectors in the output: "float32" or "float16".
    gzip : `int`, optional
        The level, 1 to 9, at which HDF5 packs vectors.
    keys : `str`
        HDF5's names of sentences: the "line", or the "sentence" itself.
    keep_sentences : `bool`
        Whether the output has the sentences.
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

    def description(self) -> dict[str, Any]:
        """All but the name of the biLM, whose content counts."""
        return {name: value for name, value in asdict(self).items() if name != "bilm"}
