"""
The rules that port a configuration, in the order in which they are applied. `docs/port.md` shows the same
table. Rules are pure: they need neither AllenNLP nor files.
"""

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

from elmo_plugin.bilm.io import MODELS
from elmo_plugin.porting.config import Config, Note, Porting, describe_losses, replace, type_of
from elmo_plugin.porting.data_loaders import port_data_loaders, port_readers
from elmo_plugin.porting.trainer import TRAINER_KEYS, port_callbacks, port_trainer, port_trainer_key

RENAMED_TYPES: dict[str, dict[str, Any]] = {
    "alternating_highway_lstm": {"type": "alternating_lstm", "use_highway": True},
    "alternating_highway_lstm_cuda": {"type": "alternating_lstm", "use_highway": True},
    "alternating_lstm_cuda": {"type": "alternating_lstm"},
    "biattentive_classification_network": {"type": "bcn"},
    "bidirectional_token_embedder": {"type": "bidirectional_lm_token_embedder"},
    "textcat": {"type": "text_classification_json"},
    "bert_adam": {"type": "huggingface_adamw"},
}
PREDICTORS = {
    "machine-comprehension": "reading_comprehension",
    "simple_seq2seq": "seq2seq",
    "masked_lm_predictor": "masked_language_model",
}
"""The others have `_` instead of `-`."""


_EMBEDDER_OPTIONS = ("type", "allow_unmatched_keys", "embedder_to_indexer_map")
_SPLITTERS = {"word": "spacy", "simple": "letters_digits", "bert-basic": "letters_digits"}
_OLD_BUCKET = "https://s3-us-west-2.amazonaws.com/allennlp/"
_BUCKET = "https://allennlp.s3.amazonaws.com/"
# The old key, its new key (none: removed), and the types that have it (none: all).
_KEYS = [
    ("namespace_to_cache", "", ""),
    ("master_address", "primary_address", ""),
    ("cache_directory", "", ""),
    ("pin_memory", "", ""),
    ("master_port", "primary_port", ""),
    ("similarity_function", "matrix_attention", "bidaf bidaf-ensemble decomposable_attention esim bimpm"),
    ("constraint_type", "label_encoding", "crf_tagger"),
]


class Rule(NamedTuple):
    """old, new: as the page shows them; apply: changes a configuration and notes it"""

    old: str
    new: str
    apply: Callable[[Porting], None]


def port_config(config: Mapping[str, Any], native: bool = False) -> tuple[Config, list[Note]]:
    """
    Returns the configuration for AllenNLP 2.10.1, and notes on each change and each part that is left to do.
    `native` replaces AllenNLP's token embedder of ELMo with `elmo`.
    """
    porting = Porting(config)
    for rule in RULES:
        before = deepcopy(porting.config)
        try:
            rule.apply(porting)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):  # a value of another form
            porting.config = before
            porting.note(rule.old.partition(":")[0].replace("`", ""), "not ported: unexpected value", "left")
    if native:
        _port_to_native(porting)
    return porting.config, porting.notes


def first_old_key(config: Mapping[str, Any]) -> Note | None:
    """Returns the note on the first key, in the order of the file, that AllenNLP 2.10.1 does not take."""
    changed = [note for note in port_config(config)[1] if note.kind == "changed"]
    keys = list(config)
    return min(changed, key=lambda note: keys.index(note.place.split(".")[0]), default=None)


def _applicators(porting: Porting) -> None:
    for place, part in porting.objects():
        for key in ("initializer", "regularizer"):
            if isinstance(pairs := part.get(key), list):
                prevented = [pair[0] for pair in pairs if type_of(pair[1]) == "prevent"]
                part[key] = {"regexes": [pair for pair in pairs if pair[0] not in prevented]}
                if prevented:
                    part[key]["prevent_regexes"] = prevented
                porting.note(f"{place}.{key}", "the list is now in `regexes`")


def _vocabulary(porting: Porting) -> None:
    vocabulary = porting.get("vocabulary")
    if "directory_path" in vocabulary:
        kind = "extend" if vocabulary.pop("extend", False) else "from_files"
        replace(vocabulary, "directory_path", {"type": kind, "directory": vocabulary["directory_path"]})
        porting.note("vocabulary.directory_path", f"now `directory`, with type {kind!r}")
    elif "extend" in vocabulary:
        del vocabulary["extend"]
        porting.note("vocabulary.extend", "removed: without a directory nothing is extended")
    if vocabulary.get("type") == "default":
        del vocabulary["type"]
        porting.note("vocabulary.type", "'default' is removed: it is the default")


def _token_embedders(porting: Porting) -> None:
    for place, part in porting.objects("model"):
        for key, embedder in part.items():
            is_embedder = key.endswith("_embedder") or key == "word_embeddings"
            if not is_embedder or not isinstance(embedder, dict) or "token_embedders" in embedder:
                continue
            flat = {name: value for name, value in embedder.items() if name not in _EMBEDDER_OPTIONS}
            if flat and all(isinstance(value, dict) for value in flat.values()):
                rest = {name: value for name, value in embedder.items() if name not in flat}
                part[key] = {**rest, "token_embedders": flat}
                porting.note(f"{place}.{key}", "its embedders are now in `token_embedders`")


def _unmatched_embedders(porting: Porting) -> None:
    readers = porting.objects("dataset_reader")
    indexers = {name for place, part in readers if place.endswith("token_indexers") for name in part}
    for place, part in porting.objects("model"):
        embedders = part.get("token_embedders")
        if not isinstance(embedders, dict):
            continue
        for name, sources in (part.pop("embedder_to_indexer_map", None) or {}).items():
            first, *others = sources.values() if isinstance(sources, dict) else sources
            if name in embedders and not others:
                replace(embedders, name, {first: embedders[name]})
            text = f"removed: the embedder goes by the name of its indexer, {first!r}"
            porting.note(f"{place}.embedder_to_indexer_map.{name}", text)
        if part.pop("allow_unmatched_keys", None) is not None:
            unmatched = sorted(indexers - embedders.keys() - ({"elmo"} & porting.get("model").keys()))
            embedders |= {name: {"type": "empty"} for name in unmatched}
            text = f"removed; `empty` embeds {', '.join(unmatched)}" if unmatched else "removed"
            porting.note(f"{place}.allow_unmatched_keys", text)


def _tokenizers(porting: Porting) -> None:
    for place, part in porting.objects():
        for key in [key for key in part if key.endswith("tokenizer") and key != "character_tokenizer"]:
            old = {"type": part[key]} if isinstance(part[key], str) else part[key]
            if not isinstance(old, dict) or not ("word_splitter" in old or old.get("type") == "word"):
                continue
            splitter = old.get("word_splitter", "spacy")
            new = {"type": splitter} if isinstance(splitter, str) else {"type": "spacy", **splitter}
            new["type"] = _SPLITTERS.get(new["type"], new["type"])
            if new["type"] == "spacy":
                new |= {name: old[name] for name in ("start_tokens", "end_tokens") if name in old}
            lost = sorted(name for name in old if name not in ("type", "word_splitter", *new) and old[name])
            part[key] = new
            porting.note(f"{place}.{key}", f"now {new['type']!r}" + describe_losses(lost))


def _keys(porting: Porting) -> None:
    for place, part in porting.objects():
        for old, new, kinds in _KEYS:
            if old in part and (not kinds or type_of(part) in kinds.split()):
                replace(part, old, {new: part[old]} if new else {})
                porting.note(f"{place}.{old}", f"now `{new}`" if new else "removed")
    for key in ("dataset_reader", "validation_dataset_reader"):
        reader = porting.get(key)
        if type_of(reader) == "conll2003" and "coding_scheme" in reader:
            scheme = reader["coding_scheme"]
            replace(reader, "coding_scheme", {} if scheme == "IOB1" else {"convert_to_coding_scheme": scheme})
            porting.note(f"{key}.coding_scheme", "now `convert_to_coding_scheme`", "advice")


def _legacy_attention(porting: Porting) -> None:
    for place, part in porting.objects():
        function = part.get("similarity_function")
        if type_of(part) == "legacy" and isinstance(function, str | dict):
            part.clear()
            part |= {"type": function} if isinstance(function, str) else function
            porting.note(place, "the similarity function stands for itself, without `legacy`")


def _types(porting: Porting) -> None:
    for place, part in porting.objects():
        if change := RENAMED_TYPES.get(kind := type_of(part)):
            part |= change
            porting.note(f"{place}.type", f"{kind!r} is now {change['type']!r}")
        old = part.get("predictor")
        if isinstance(old, str) and (new := PREDICTORS.get(old, old.replace("-", "_"))) != old:
            part["predictor"] = new
            porting.note(f"{place}.predictor", f"now {new!r}")


def _addresses(porting: Porting) -> None:
    for place, part in [("", porting.config), *porting.objects()]:
        for key, value in part.items():
            if isinstance(value, str) and _OLD_BUCKET in value:
                part[key] = value.replace(_OLD_BUCKET, _BUCKET)
                porting.note(f"{place}.{key}", "this download address is old and may not work", "advice")


RULES = [
    Rule("`iterator: {type, batch_size, …}`", "`data_loader: {batch_size, shuffle}`", port_data_loaders),
    Rule("`lazy`, readers `multiprocess`", "`data_loader.max_instances_in_memory`", port_readers),
    Rule("`tokenizer: {type: word, word_splitter: X}`", "`{type: X}`", _tokenizers),
    Rule("`vocabulary: {directory_path, extend}`", "`{type: from_files or extend, directory}`", _vocabulary),
    Rule("`text_field_embedder: {elmo: …}`", "`{token_embedders: {elmo: …}}`", _token_embedders),
    Rule("`embedder_to_indexer_map`, `allow_unmatched_keys`", "equal names; `empty`", _unmatched_embedders),
    Rule("`initializer` or `regularizer: [[regex, …]]`", "`{regexes, prevent_regexes}`", _applicators),
    Rule("`similarity_function`, `constraint_type`", "`matrix_attention`, `label_encoding`", _keys),
    Rule("`legacy` attention", "the function itself", _legacy_attention),
    Rule("`epoch_callbacks`, …, the trainer `callback`", "`callbacks`, keys of the trainer", port_callbacks),
    *(
        Rule(f"`trainer.{key}`", f"`{new}`" if new else "removed", partial(port_trainer_key, key))
        for key, new in TRAINER_KEYS.items()
    ),
    Rule("`cuda_device: [0, 1]`", "`distributed: {cuda_devices: [0, 1]}`", port_trainer),
    Rule("other types and predictors", "as `elmo_plugin/porting/rules.py` lists them", _types),
    Rule(f"`{_OLD_BUCKET}`", f"`{_BUCKET}`", _addresses),
]


def _port_to_native(porting: Porting) -> None:
    """Replaces `elmo_token_embedder` with this package's `elmo`, wherever it has the same options."""
    names = {weights.rpartition("/")[2]: name for name, (_, weights) in MODELS.items() if "://" in weights}
    for place, part in porting.objects("model"):
        if part.get("type") != "elmo_token_embedder":
            continue
        if lost := [key for key in ("projection_dim", "scalar_mix_parameters") if part.get(key) is not None]:
            porting.note(f"{place}.type", f"not made `elmo`, because of {' and '.join(lost)}", "left")
            continue
        options, weights = part.get("options_file"), part.get("weight_file", MODELS["original"][1])
        bilm = names.get(weights.rpartition("/")[2]) or {"options": options, "weights": weights}
        kept: Config = {key: part[key] for key in ("dropout", "requires_grad", "stateful") if key in part}
        layer_norm = {"layer_norm": True} if part.get("do_layer_norm") else {}
        part.clear()
        part |= {"type": "elmo", "bilm": bilm, **kept, **layer_norm}
        porting.note(f"{place}.type", f"now `elmo`, with the biLM {bilm!r}", "advice")
    for _, part in porting.objects("model"):
        for regexes in (part.get(key) for key in ("regexes", "prevent_regexes")):
            for number, each in enumerate(regexes if isinstance(regexes, list) else ()):
                pair: Any = each if isinstance(each, list) else regexes
                key = 0 if pair is each else number
                pair[key] = re.sub(r"scalar_parameters\b", r"scalar_mix\\.weights", pair[key])
