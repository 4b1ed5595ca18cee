"""
Rules for token embedders and the token indexers that they read from.

In AllenNLP 0.x, an indexer made arrays that had its name, or its name and a word: `tokens` and
`tokens-lengths`. The map `embedder_to_indexer_map: {"words": ["tokens"]}` made the embedder `words`
read the first of these. In AllenNLP 2, an embedder reads all that the indexer of its own name
makes.
"""

from collections.abc import Collection
from copy import deepcopy
from typing import Any

from elmo_plugin.migration.porting.config import Config, Porting, token_indexers_in, type_of

_EMBEDDER_OPTIONS = ("type", "allow_unmatched_keys", "embedder_to_indexer_map")


def port_token_embedders(porting: Porting) -> None:
    """
    Moves the token embedders of a text field embedder, which were keys beside its options, under
    `token_embedders`.
    """
    for place, part in porting.objects("model"):
        for key, embedder in part.items():
            is_embedder = key.endswith("_embedder") or key == "word_embeddings"
            if not is_embedder or not isinstance(embedder, dict) or "token_embedders" in embedder:
                continue
            new = _with_token_embedders(embedder)
            if new is not None:
                part[key] = new
                porting.note(f"{place}.{key}", "its embedders are now in `token_embedders`")


def _with_token_embedders(embedder: Config) -> Config | None:
    """
    Returns a text field embedder in the new form. Returns `None` if it is no text field embedder of
    the old form: that contains only its options and at least one token embedder.
    """
    options: Config = {}
    token_embedders: Config = {}
    for name, value in embedder.items():
        if name in _EMBEDDER_OPTIONS:
            options[name] = value
        elif isinstance(value, dict):
            token_embedders[name] = value
        else:
            return None
    if not token_embedders:
        return None
    return {**options, "token_embedders": token_embedders}


def port_unmatched_embedders(porting: Porting) -> None:
    """
    Gives each indexer the name of the embedder that reads from it, because AllenNLP 2 has no
    `embedder_to_indexer_map`. `empty` embeds the output of indexers that no embedder reads.
    """
    indexers_of_readers = list(token_indexers_in(porting.config).values())
    old_names = _names_in(indexers_of_readers)
    for place, part in porting.objects("model"):
        embedders = part.get("token_embedders")
        if not isinstance(embedders, dict):
            continue  # it is no text field embedder
        arrays_of_embedders = part.pop("embedder_to_indexer_map", None)
        if arrays_of_embedders:
            _rename_indexers(
                porting, place, embedders, arrays_of_embedders, indexers_of_readers, old_names
            )
        if part.pop("allow_unmatched_keys", None) is not None:
            unmatched = _names_in(indexers_of_readers) - embedders.keys()
            if "elmo" in porting.get("model"):
                unmatched.discard("elmo")  # the model itself has an `Elmo` that reads it
            _embed_as_empty(porting, place, embedders, unmatched)


def _rename_indexers(
    porting: Porting,
    place: str,
    embedders: Config,
    arrays_of_embedders: Config,
    indexers_of_readers: list[Config],
    old_names: Collection[str],
) -> None:
    """
    Gives each indexer the name of the embedder that reads its arrays. If several embedders read the
    arrays of an indexer, each gets a copy of the indexer. `old_names` are those of all indexers
    before any was renamed: another text field embedder of the model may read the same arrays.
    """
    copied: set[str] = set()
    for name, value in arrays_of_embedders.items():
        arrays = _names_of_arrays(value)
        if type_of(embedders.get(name)) == "elmo_token_embedder":
            # ELMo's second array, the ids of cached words, is not needed in AllenNLP 2.
            arrays = arrays[:1]
        old_name = _indexer_of_arrays(arrays, old_names)
        _note_embedder(porting, f"{place}.embedder_to_indexer_map.{name}", name, arrays, old_name)
        if old_name is not None and old_name != name:
            _copy_indexer(indexers_of_readers, old_name, name)
            copied.add(old_name)
    # An indexer stays under its old name only if an embedder of that name reads it.
    _remove_indexers(indexers_of_readers, copied - embedders.keys())


def _note_embedder(
    porting: Porting, place: str, name: str, arrays: list[str], indexer: str | None
) -> None:
    """
    Notes which indexer the embedder `name` reads now. `indexer` is the old name of the indexer that
    makes all its arrays, or `None` if not all of them come from the same indexer.
    """
    if indexer is None:
        text = f"it took {', '.join(arrays)}; now it gets the output of the indexer of its name"
        porting.note(place, text, kind="left")
    elif indexer == name:
        porting.note(place, "removed: an embedder gets all that the indexer of its name makes")
    else:
        porting.note(place, f"removed: the indexer {indexer!r} is now {name!r}")


def _names_in(indexers_of_readers: list[Config]) -> set[str]:
    """Returns the names of the indexers of all dataset readers."""
    names: set[str] = set()
    for indexers in indexers_of_readers:
        names.update(indexers)
    return names


def _names_of_arrays(arrays: Any) -> list[str]:
    """
    Returns the names of the arrays that an embedder took. The map gives one name, a list of names,
    or an object with a name for each argument. An argument without an array is `null`.
    """
    if isinstance(arrays, str):
        arrays = [arrays]
    elif isinstance(arrays, dict):
        arrays = arrays.values()
    return [array for array in arrays if array]


def _indexer_of_arrays(arrays: list[str], indexer_names: Collection[str]) -> str | None:
    """
    Returns the name of the indexer that makes all these arrays: an array has the indexer's name,
    maybe followed by a hyphen and a word. Returns `None` if that is not clear.
    """
    found: set[str] = set()
    for array in arrays:
        makers = {name for name in indexer_names if array == name or array.startswith(f"{name}-")}
        if not makers:
            return None
        found |= makers
    if len(found) != 1:
        return None
    return found.pop()


def _copy_indexer(indexers_of_readers: list[Config], old_name: str, new_name: str) -> None:
    """Adds an indexer of each reader under another name."""
    for indexers in indexers_of_readers:
        if old_name in indexers:
            indexers[new_name] = deepcopy(indexers[old_name])


def _remove_indexers(indexers_of_readers: list[Config], names: Collection[str]) -> None:
    """Removes the indexers of these names from each reader."""
    for indexers in indexers_of_readers:
        for name in names:
            indexers.pop(name, None)


def _embed_as_empty(
    porting: Porting, place: str, embedders: Config, unmatched: Collection[str]
) -> None:
    """
    Adds the embedder `empty` for indexers whose output no embedder reads. Notes that it replaces
    the option `allow_unmatched_keys`.
    """
    for name in sorted(unmatched):
        embedders[name] = {"type": "empty"}
    note = "removed"
    if unmatched:
        note = f"removed; `empty` embeds {', '.join(sorted(unmatched))}"
    porting.note(f"{place}.allow_unmatched_keys", note)


def port_classifier_words(porting: Porting) -> None:
    """
    Adds an indexer of words to a `basic_classifier` that has only ELMo's characters: in AllenNLP 2,
    the classifier fails if its input does not contain the ids of words.
    """
    if type_of(porting.get("model")) != "basic_classifier":
        return
    indexers_of_readers = list(token_indexers_in(porting.config).values())
    kinds = set()
    for indexers in indexers_of_readers:
        for indexer in indexers.values():
            kinds.add(type_of(indexer))
    if kinds != {"elmo_characters"}:
        return
    for indexers in indexers_of_readers:
        indexers["words"] = {"type": "single_id"}
    for _, part in porting.objects("model"):
        if "token_embedders" in part:
            part["token_embedders"]["words"] = {"type": "empty"}
    porting.note("model.type", "it also needs an indexer of words, which `empty` embeds")
