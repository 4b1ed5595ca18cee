"""The names of weights in archives of AllenNLP 0.x, and their names today."""

import re
from collections.abc import MutableMapping
from typing import Any

# The part of a name that says which layer of a stacked LSTM is meant.
_LAYER = r"(?:forward_|backward_)?layer_\d+\."
_LINEAR = r"(?:input|state)_linearity\."
# Parts of names: a regular expression for the old one, and its replacement. The LSTMs
# inside ELMo have no `_module`, and keep their names.
RENAMED = {
    r"\._similarity_function\.": ".",
    rf"(\._module\.(?:{_LAYER})?)({_LINEAR})": r"\1cell.\2",
    r"^_mention_pruner\._scorer\.0\.": "_mention_feedforward.",
    r"^_mention_pruner\._scorer\.1\.": "_mention_scorer.",
}
# The vectors of ELMo's cached words; its biLM can compute them.
DERIVED = re.compile(r"\._elmo_lstm\._word_embedding\.weight$")


def port_weights(tensors: MutableMapping[str, Any]) -> None:
    """
    Gives weights the names that AllenNLP 2.10.1 has for them, and takes out the vectors of ELMo's
    cached words.
    """
    for old in list(tensors):
        if DERIVED.search(old):
            del tensors[old]
            continue
        new = old
        for pattern, replacement in RENAMED.items():
            new = re.sub(pattern, replacement, new)
        if new != old:
            tensors[new] = tensors.pop(old)
