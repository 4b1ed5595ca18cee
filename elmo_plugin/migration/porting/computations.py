"""
Changes the configuration of an old archive so that its model computes as before. A configuration
for a new training needs none of this.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.migration.porting.config import Config, Porting, type_of

_TABLES: Config = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
_PRELU_SLOPE = 0.25  # torch's initial value
_FIXED_PRELU = {"type": "leaky_relu", "negative_slope": _PRELU_SLOPE}
_SPACY_CHANGED = (
    "spaCy 3 splits 6 or 7 of 1,000 texts otherwise than the spaCy of AllenNLP 0.x did, such as "
    "24-hour into three words"
)
_ELMO = "elmo_token_embedder"


def port_computations(porting: Porting) -> None:
    """Changes the ported configuration of an archive, and notes each change and difference."""
    _note_differences(porting)
    _note_spacy(porting)
    if porting.version == "0":
        _use_old_layers(porting)
        _fix_slopes(porting)
        _index_cached_words(porting)


def keep_state(porting: Porting) -> None:
    """
    Lets ELMo go on in the second text of a call from its state after the first, as AllenNLP's ELMo
    does in every version.
    """
    model = porting.get("model")
    if type_of(model) in _TABLES["models_of_one_text"]:
        return  # a call has only one text
    for place, part in porting.objects("model"):
        if type_of(part) == _ELMO and "stateful" not in part:
            part["stateful"] = "call"
            text = (
                "now 'call': AllenNLP's ELMo goes on in a second text from its state after the "
                "first"
            )
            porting.note(f"{place}.stateful", text)


def _note_differences(porting: Porting) -> None:
    """Notes where AllenNLP 2 computes something else, and nothing can be done about it."""
    for difference in _TABLES["differences"]:
        if porting.version not in difference["versions"]:
            continue
        for place, part in porting.objects(difference["below"]):
            if type_of(part) == difference["of"]:
                porting.note(place, difference["text"], "advice")


def _note_spacy(porting: Porting) -> None:
    """Notes that spaCy's rules have changed, for readers that split text by them."""
    if porting.version != "0":
        return
    for key in ("dataset_reader", "validation_dataset_reader"):
        reader = porting.get(key)
        tokenizer = type_of(reader.get("tokenizer"))
        if not tokenizer and type_of(reader) in _TABLES["readers_that_split_text"]:
            tokenizer = "spacy"  # the default of these readers
        if tokenizer == "spacy":
            porting.note(key, _SPACY_CHANGED, "advice")


def _use_old_layers(porting: Porting) -> None:
    """Replaces layers that AllenNLP 2 computes differently by ours, so they compute as before."""
    for place, part in porting.objects("model"):
        kind = type_of(part)
        if kind in _TABLES["old_layers"]:
            # Two texts, such as "old_cnn" and the difference in AllenNLP 2
            new_kind, reason = _TABLES["old_layers"][kind]
            part["type"] = new_kind
            porting.note(f"{place}.type", f"now {new_kind!r}, of elmo_plugin.plugin: {reason}")


def _fix_slopes(porting: Porting) -> None:
    """
    Makes the slopes of `prelu` in feed-forward layers constant. AllenNLP 0.x neither trained nor
    stored them.
    """
    for place, part in porting.objects("model"):
        activations = part.get("activations")
        if activations == "prelu":
            part["activations"] = _FIXED_PRELU
        elif isinstance(activations, list) and "prelu" in activations:
            fixed = []
            for activation in activations:
                if activation == "prelu":
                    activation = _FIXED_PRELU
                fixed.append(activation)
            part["activations"] = fixed
        else:
            continue  # no `prelu`
        text = f"'prelu' is now 'leaky_relu': AllenNLP 0.x kept its slope at {_PRELU_SLOPE}"
        porting.note(f"{place}.activations", text)


def _index_cached_words(porting: Porting) -> None:
    """
    Gives ELMo the characters of a vocabulary's words if it read vectors that were computed once
    for each word. The old configuration says where: the ported one no longer has these options.
    """
    for place, part in Porting(porting.old).objects("model"):
        arrays_of = part.get("embedder_to_indexer_map")
        if not isinstance(arrays_of, dict):
            continue  # only such a map can name the numbers of words
        # Before `token_embedders`, the embedders were keys beside the map.
        embedders = part.get("token_embedders", part)
        for name, embedder in embedders.items():
            words = _array_of_words(arrays_of.get(name))
            is_cached = type_of(embedder) == _ELMO and "namespace_to_cache" in embedder
            if is_cached and words:
                _index_words_of_embedder(porting, f"{place}.{name}", name, embedder, words)


def _index_words_of_embedder(
    porting: Porting, place: str, name: str, embedder: Config, words: str
) -> None:
    """
    Replaces the indexer of an embedder with cached words. `words` is the array from which it read
    their numbers.
    """
    if embedder.get("requires_grad"):
        raise BiLmError(
            f"{place}: the vectors of its cached words may differ from its biLM's, because both "
            "were trained"
        )
    indexer = {
        "type": "old_cached_elmo_characters",
        "vocabulary_namespace": embedder["namespace_to_cache"],
        "lowercase_tokens": _is_lowercased(porting.old, words),
    }
    # Each dataset reader has its own indexers.
    for place_of_part, part in porting.objects():
        if place_of_part.endswith("token_indexers") and name in part:
            part[name] = indexer
            text = "now the characters of the vocabulary's words, whose vectors were cached"
            porting.note(f"{place_of_part}.{name}", text)


def _array_of_words(arrays: Any) -> str | None:
    """
    Returns the array from which ELMo read the numbers of words, its second argument, if it had one.
    """
    if isinstance(arrays, dict):  # arguments by their names
        return arrays.get("word_inputs")
    if isinstance(arrays, list) and len(arrays) > 1:  # arguments in their order
        return arrays[1]
    return None


def _is_lowercased(config: Mapping[str, Any], indexer: str) -> bool:
    """Returns whether the indexer of this name counts words in lower case."""
    for place, part in Porting(config).objects():
        if place.endswith("token_indexers") and isinstance(part.get(indexer), dict):
            return part[indexer].get("lowercase_tokens", False)
    return False
