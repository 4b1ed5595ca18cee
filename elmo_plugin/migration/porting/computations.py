"""
Changes the configuration of an old archive so that its model computes as before. A configuration
for a new training needs none of this.
"""

from typing import Any

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.migration.porting.config import (
    Config,
    Porting,
    objects_in,
    read_table,
    token_indexers_in,
    type_of,
)

_TABLES: Config = read_table("computations.json")
_PRELU_SLOPE = 0.25  # torch's initial value
_CONSTANT_PRELU = {"type": "leaky_relu", "negative_slope": _PRELU_SLOPE}
_SPACY_CHANGED = (
    "spaCy 3 splits 6 or 7 of 1,000 texts otherwise than the spaCy of AllenNLP 0.x did, such as "
    "24-hour into three words"
)
_ELMO = "elmo_token_embedder"


def port_computations(porting: Porting) -> None:
    """Changes the ported configuration of an archive, and notes each change and difference."""
    _note_differences(porting)
    if porting.version == "0":
        _note_spacy(porting)
        _use_old_layers(porting)
        _make_slopes_constant(porting)
        _index_cached_words(porting)


def keep_state(porting: Porting) -> None:
    """
    Makes ELMo carry its state between the texts of a call, such as a premise and its hypothesis:
    in all versions of AllenNLP, ELMo begins the second text with its state after the first.
    """
    model = porting.get("model")
    if type_of(model) in _TABLES["models_of_one_text"]:
        return
    for place, part in porting.objects("model"):
        if type_of(part) == _ELMO and "stateful" not in part:
            part["stateful"] = "call"
            reason = (
                "now 'call': AllenNLP's ELMo goes on in a second text from its state after the "
                "first"
            )
            porting.note(f"{place}.stateful", reason)


def _note_differences(porting: Porting) -> None:
    """Notes where AllenNLP 2 computes something else, and this module changes nothing about it."""
    for difference in _TABLES["differences"]:
        if porting.version not in difference["versions"]:
            continue
        for place, part in porting.objects(difference["below"]):
            if type_of(part) == difference["of"]:
                porting.note(place, difference["text"], kind="advice")


def _note_spacy(porting: Porting) -> None:
    """Notes that spaCy's rules have changed, for readers that split text by them."""
    for key in ("dataset_reader", "validation_dataset_reader"):
        reader = porting.get(key)
        tokenizer = type_of(reader.get("tokenizer"))
        if not tokenizer and type_of(reader) in _TABLES["readers_that_split_text"]:
            tokenizer = "spacy"  # the default of these readers
        if tokenizer == "spacy":
            porting.note(key, _SPACY_CHANGED, kind="advice")


def _use_old_layers(porting: Porting) -> None:
    """Replaces layers that AllenNLP 2 computes differently by ours, so they compute as before."""
    for place, part in porting.objects("model"):
        kind = type_of(part)
        if kind in _TABLES["old_layers"]:
            new_kind, reason = _TABLES["old_layers"][kind]
            part["type"] = new_kind
            porting.note(f"{place}.type", f"now {new_kind!r}, of elmo_plugin.plugin: {reason}")


def _make_slopes_constant(porting: Porting) -> None:
    """
    Makes the slopes of `prelu` in feed-forward layers constant. AllenNLP 0.x neither trained nor
    stored them.
    """
    for place, part in porting.objects("model"):
        activations = part.get("activations")  # one for all layers, or a list of one for each
        if activations == "prelu":
            part["activations"] = _CONSTANT_PRELU
        elif isinstance(activations, list) and "prelu" in activations:
            new_activations = []
            for activation in activations:
                if activation == "prelu":
                    activation = _CONSTANT_PRELU
                new_activations.append(activation)
            part["activations"] = new_activations
        else:
            continue
        text = f"'prelu' is now 'leaky_relu': AllenNLP 0.x kept its slope at {_PRELU_SLOPE}"
        porting.note(f"{place}.activations", text)


def _index_cached_words(porting: Porting) -> None:
    """
    Gives ELMo the characters of a vocabulary's words if it had a cache of vectors, one for each
    word of a namespace. The old configuration names the namespace and the inputs of ELMo, but the
    ported one no longer has these options.
    """
    for place, part in objects_in(porting.old, "model"):
        inputs_of_embedders = part.get("embedder_to_indexer_map")
        if not isinstance(inputs_of_embedders, dict):
            continue  # without the map, no embedder gets the ids of words beside the characters
        # Early versions had no `token_embedders`: the embedders were keys beside the map.
        embedders = part.get("token_embedders", part)
        for name, embedder in embedders.items():
            word_indexer = _find_word_input(inputs_of_embedders.get(name))
            has_cache = type_of(embedder) == _ELMO and "namespace_to_cache" in embedder
            if has_cache and word_indexer:
                _index_words_of_embedder(porting, f"{place}.{name}", name, embedder, word_indexer)


def _index_words_of_embedder(
    porting: Porting, place: str, name: str, embedder: Config, word_indexer: str
) -> None:
    """
    Replaces the indexer of characters of an embedder that read its vectors from a cache. The
    embedder looked them up by the ids that the indexer `word_indexer` gave to words.
    """
    if embedder.get("requires_grad"):
        raise BiLmError(
            f"{place}: the vectors of its cached words may differ from its biLM's, because both "
            "were trained"
        )
    indexer = {
        "type": "old_cached_elmo_characters",
        "vocabulary_namespace": embedder["namespace_to_cache"],
        "lowercase_tokens": _is_lowercased(porting.old, word_indexer),
    }
    # Each dataset reader has its own indexers.
    for indexers_place, indexers in token_indexers_in(porting.config).items():
        if name in indexers:
            indexers[name] = indexer
            text = "now the characters of the vocabulary's words, whose vectors were cached"
            porting.note(f"{indexers_place}.{name}", text)


def _find_word_input(inputs: Any) -> str | None:
    """
    Returns the indexer that gave ELMo the ids of words, or `None` if ELMo got only characters.
    `inputs` names the indexers of ELMo's arguments `inputs` and `word_inputs`, by name or in order.
    """
    if isinstance(inputs, dict):
        return inputs.get("word_inputs")
    if isinstance(inputs, list) and len(inputs) > 1:
        return inputs[1]
    return None


def _is_lowercased(config: Config, indexer_name: str) -> bool:
    """Returns whether an indexer looks words up in lower case."""
    for indexers in token_indexers_in(config).values():
        indexer = indexers.get(indexer_name)
        if isinstance(indexer, dict):
            return indexer.get("lowercase_tokens", False)
    return False
