"""The sizes of a biLM, as dataclasses and as the `options.json` of published ELMo models."""

from elmo_plugin.bilm.options.checks import ACTIVATIONS
from elmo_plugin.bilm.options.sizes import (
    BiLmOptions,
    CharCnnOptions,
    Lexicon,
    LexiconCnnOptions,
    LstmOptions,
)

__all__ = ["ACTIVATIONS", "BiLmOptions", "CharCnnOptions", "Lexicon", "LexiconCnnOptions", "LstmOptions"]
