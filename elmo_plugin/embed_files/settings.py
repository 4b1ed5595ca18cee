"""The settings that decide the content of an output."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from elmo_plugin.bilm import LAYER_NAMES, MAX_BATCH_TOKENS, TOKENIZERS, BiLmError
from elmo_plugin.bilm.io import DTYPES
from elmo_plugin.common.errors import check_at_least, check_choice
from elmo_plugin.common.workers import MAX_PROCESSES

LAYERS = (*LAYER_NAMES, "mix")
KEYS = ("line", "sentence", "name")
POOLINGS = (None, "mean")
# The default of `max_batch_tokens` for proteins. They are longer than sentences, so few of them
# would fit into a batch of the usual size.
PROTEIN_BATCH_TOKENS = 4 * MAX_BATCH_TOKENS


@dataclass(frozen=True)
class EmbedSettings:
    """
    Says how a text is embedded.

    # Parameters

    bilm : `str | dict[str, str]`
        See `BiLm.from_pretrained`; for the layers "mix" the archive of a trained task model with
        ELMo.
    layers : `str`
        "all", "mean", "sum", "top", "token", or the "mix" that a task model has learned.
    placement : `str`, optional
        For "mix": the place in the task model, as `elmo weights` names it.
        Not needed if ELMo is at one place.
    tokenizer : `str`
        "whitespace" for tokenized text, "spacy" for the rules of a language, "letters" for
        proteins.
    language : `str`
        The language code of spaCy's rules.
    precision : `str`
        See `BiLm`.
    batch_size, max_batch_tokens : `int`
        The most sentences, and the most words with padding, that the biLM reads at a time.
    threads : `int`
        The number of threads of each worker. The last bits of vectors depend on it.
    dtype : `str`
        The type of the vectors in the output: "float32" or "float16".
    gzip : `int`, optional
        The level, 1 to 9, at which HDF5 compresses vectors.
    keys : `str`
        The names of HDF5's datasets: the number of the "line", or the "sentence" itself; for
        proteins their "name".
    pooling : `str`, optional
        "mean" for one vector per sentence, the mean over its words.
    keep_sentences : `bool`
        Whether to also write the sentences.
    trust : `bool`
        For "mix": see `load_archive`.
    max_words : `int`
        A longer sentence is an error: the text probably does not have one sentence per line.
    column : `int`, optional
        The number of the column of words, from 0, if the text is a table with a word in each line.
    """

    bilm: str | dict[str, str] = "base"
    layers: str = "all"
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
    pooling: str | None = None
    trust: bool = False
    max_words: int = 100_000
    column: int | None = None

    @property
    def has_proteins(self) -> bool:
        """Whether the text is FASTA: only proteins have names."""
        return self.keys == "name"

    def description(self) -> dict[str, Any]:
        """
        Returns the settings on which the output depends. The biLM is left out, because a digest of
        its weights describes it better than its name.
        """
        settings = asdict(self)
        del settings["bilm"]
        # These two decide only whether there is an output at all.
        del settings["trust"]
        del settings["max_words"]
        return settings


def protein_settings(settings: EmbedSettings) -> EmbedSettings:
    """
    Returns the settings, changed for FASTA. Raises `BiLmError` if the user has chosen spaCy's
    tokenizer, or sentences as the names of vectors.
    """
    if settings.tokenizer == "spacy" or settings.keys == "sentence":
        raise BiLmError(
            "FASTA has letters and names: leave out --tokenizer and --use-sentence-keys"
        )
    tokens = settings.max_batch_tokens
    if tokens == MAX_BATCH_TOKENS:  # the default, chosen for sentences
        tokens = PROTEIN_BATCH_TOKENS
    return replace(settings, tokenizer="letters", keys="name", max_batch_tokens=tokens)


def check_settings(settings: EmbedSettings, output_format: str) -> None:
    """
    Raises `BiLmError` if a setting has a wrong value, or two settings do not go together, or one
    does not go with the format of the output.
    """
    choices = {
        "layers": LAYERS,
        "tokenizer": TOKENIZERS,
        "dtype": DTYPES,
        "keys": KEYS,
        "pooling": POOLINGS,
    }
    for name, values in choices.items():
        check_choice(name, getattr(settings, name), values)
    for name in ("batch_size", "max_batch_tokens", "max_words"):
        check_at_least(name, getattr(settings, name), least=1)
    check_at_least("threads", settings.threads, least=1, most=MAX_PROCESSES)
    if settings.gzip is not None:
        check_at_least("gzip", settings.gzip, least=1, most=9)
    if output_format != "hdf5" and (settings.gzip is not None or settings.keys == "sentence"):
        raise BiLmError(f"{output_format} does not support compression or sentence keys: use hdf5")
    if settings.placement is not None and settings.layers != "mix":
        raise BiLmError("a placement goes with the mix of a trained model")
