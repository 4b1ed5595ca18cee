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
from elmo_plugin.porting.config import Config, Note, Porting, replace
from elmo_plugin.porting.data_loaders import port_data_loaders, port_readers
from elmo_plugin.porting.names import PREDICTORS, RENAMED_TYPES
from elmo_plugin.porting.trainer import TRAINER_KEYS, port_callbacks, port_devices, port_trainer_key

_EMBEDDER_OPTIONS = ("type", "allow_unmatched_keys", "embedder_to_indexer_map")
_MATRIX_ATTENTION = ("bidaf", "bidaf-ensemble", "decomposable_attention", "esim", "bimpm")
_SPLITTERS = {"word": "spacy", "simple": "letters_digits", "bert-basic": "letters_digits"}
_OLD_BUCKET = "https://s3-us-west-2.amazonaws.com/allennlp/"
_BUCKET = "https://allennlp.s3.amazonaws.com/"


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
        port_to_native(porting)
    return porting.config, porting.notes


def first_old_key(config: Mapping[str, Any]) -> Note | None:
    """Returns the note on the first key, in the order of the file, that AllenNLP 2.10.1 does not take."""
    changed = [note for note in port_config(config)[1] if note.kind == "changed"]
    keys = list(config)
    return min(changed, key=lambda note: keys.index(note.place.split(".")[0]), default=None)


def _applicators(porting: Porting) -> None:
    for place, part in list(porting.objects()):
        for key in ("initializer", "regularizer"):
            if isinstance(pairs := part.get(key), list):
                prevented = [pair[0] for pair in pairs if "prevent" in (pair[1], *_type_of(pair[1]))]
                part[key] = {"regexes": [pair for pair in pairs if pair[0] not in prevented]}
                if prevented:
                    part[key]["prevent_regexes"] = prevented
                porting.note(f"{place}.{key}", "the list is now in `regexes`")


def _vocabulary(porting: Porting) -> None:
    vocabulary = porting.get("vocabulary")
    extends = vocabulary.pop("extend", None)
    if "directory_path" in vocabulary:
        kind = "extend" if extends else "from_files"
        directory = vocabulary.pop("directory_path")
        porting.config["vocabulary"] = {"type": kind, "directory": directory, **vocabulary}
        porting.note("vocabulary.directory_path", f"now `directory`, with type {kind!r}")
    elif extends is not None:
        porting.note("vocabulary.extend", "removed: without a directory nothing is extended")
    if vocabulary.get("type") == "default":
        vocabulary["type"] = "from_instances"
        porting.note("vocabulary.type", "'default' is now 'from_instances'")


def _token_embedders(porting: Porting) -> None:
    for place, part in list(porting.objects("model")):
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
    indexers = {
        name
        for place, part in porting.objects("dataset_reader")
        if place.endswith("token_indexers")
        for name in part
    }
    for place, part in list(porting.objects("model")):
        embedders = part.get("token_embedders")
        if not isinstance(embedders, dict):
            continue
        for name, sources in (part.pop("embedder_to_indexer_map", None) or {}).items():
            named = list(sources.values()) if isinstance(sources, dict) else list(sources)
            if len(named) == 1 and named[0] != name and name in embedders:
                replace(embedders, name, {named[0]: embedders[name]})
                porting.note(
                    f"{place}.embedder_to_indexer_map", f"the embedder {name!r} is now called {named[0]!r}"
                )
            else:
                porting.note(f"{place}.embedder_to_indexer_map.{name}", "removed: embedders go by name")
        if part.pop("allow_unmatched_keys", None) is not None:
            taken = {*embedders, *(name for name in ("elmo",) if name in porting.get("model"))}
            unmatched = sorted(indexers - taken)
            embedders |= {name: {"type": "empty"} for name in unmatched}
            text = f"removed; `empty` embeds {', '.join(unmatched)}" if unmatched else "removed"
            porting.note(f"{place}.allow_unmatched_keys", text)


def _elmo(porting: Porting) -> None:
    for place, part in porting.objects("model"):
        if "namespace_to_cache" in part:
            del part["namespace_to_cache"]
            porting.note(f"{place}.namespace_to_cache", "removed: frequent words are cached anyway")


def _bert(porting: Porting) -> None:
    for place, part in porting.objects():
        if part.get("type") not in ("bert-pretrained", "bert-basic-pretrained"):
            continue
        model = part.get("pretrained_model", "bert-base-cased")
        new: Config = {"type": "pretrained_transformer_mismatched", "model_name": model}
        if "requires_grad" in part:
            new["train_parameters"] = bool(part["requires_grad"])
        if "max_pieces" in part:
            new["max_length"] = part["max_pieces"]
        lost = sorted(part.keys() - {"type", "pretrained_model", "requires_grad", "max_pieces"})
        part.clear()
        part.update(new)
        porting.note(f"{place}.type", f"'bert-pretrained' is now {new['type']!r}" + _without(lost))


def _tokenizers(porting: Porting) -> None:
    for place, part in list(porting.objects()):
        for key in [key for key in part if key.endswith("tokenizer") and key != "character_tokenizer"]:
            old = {"type": part[key]} if isinstance(part[key], str) else part[key]
            if not isinstance(old, dict) or not ({"word_splitter"} & old.keys() or old.get("type") == "word"):
                continue
            splitter = old.get("word_splitter", "spacy")
            new = {"type": splitter} if isinstance(splitter, str) else {"type": "spacy", **splitter}
            new["type"] = _SPLITTERS.get(new["type"], new["type"])
            if new["type"] == "spacy":
                new |= {name: old[name] for name in ("start_tokens", "end_tokens") if name in old}
            lost = sorted(name for name in old if name not in ("type", "word_splitter", *new) and old[name])
            part[key] = new
            porting.note(f"{place}.{key}", f"now {new['type']!r}" + _without(lost))


def _similarity(porting: Porting) -> None:
    model = porting.get("model")
    if model.get("type") in _MATRIX_ATTENTION and "similarity_function" in model:
        replace(model, "similarity_function", {"matrix_attention": model["similarity_function"]})
        porting.note("model.similarity_function", "now `matrix_attention`")
        _rename_bilinear(model["matrix_attention"], "matrix_1_dim", "matrix_2_dim")
    for place, part in list(porting.objects()):
        if part.get("type") == "legacy" and isinstance(part.get("similarity_function"), dict):
            function = part["similarity_function"]
            part.clear()
            part.update(function)
            is_matrix = "matrix" in place
            _rename_bilinear(
                part, *(("matrix_1_dim", "matrix_2_dim") if is_matrix else ("vector_dim", "matrix_dim"))
            )
            porting.note(place, "the similarity function stands for itself, without `legacy`")


def _rename_bilinear(part: Any, first: str, second: str) -> None:
    if _type_of(part) == ["bilinear"] and "tensor_1_dim" in part:
        replace(part, "tensor_1_dim", {first: part["tensor_1_dim"]})
        replace(part, "tensor_2_dim", {second: part["tensor_2_dim"]})


def _crf_tagger(porting: Porting) -> None:
    model = porting.get("model")
    if "constraint_type" in model:
        replace(
            model,
            "constraint_type",
            {"label_encoding": model["constraint_type"], "constrain_crf_decoding": True},
        )
        porting.note("model.constraint_type", "now `label_encoding`, with `constrain_crf_decoding`")
    for key in ("dataset_reader", "validation_dataset_reader"):
        reader = porting.get(key)
        if _type_of(reader) == ["conll2003"] and "coding_scheme" in reader:
            scheme = reader["coding_scheme"]
            replace(reader, "coding_scheme", {} if scheme == "IOB1" else {"convert_to_coding_scheme": scheme})
            porting.note(f"{key}.coding_scheme", "now `convert_to_coding_scheme`", "advice")


def _types(porting: Porting) -> None:
    for place, part in porting.objects():
        for kind in _type_of(part):
            if change := RENAMED_TYPES.get(kind):
                part |= change
                porting.note(f"{place}.type", f"{kind!r} is now {change['type']!r}")
        if part.get("predictor") in PREDICTORS:
            porting.note(f"{place}.predictor", f"now {PREDICTORS[part['predictor']]!r}")
            part["predictor"] = PREDICTORS[part["predictor"]]


def _optimizer(porting: Porting) -> None:
    optimizer: Any = porting.get("trainer").get("optimizer")
    if _type_of(optimizer) == ["bert_adam"]:
        lost = sorted(optimizer.keys() & {"warmup", "t_total", "schedule", "max_grad_norm", "e"})
        for key in lost:
            del optimizer[key]
        optimizer["type"] = "huggingface_adamw"
        porting.note("trainer.optimizer.type", "'bert_adam' is now 'huggingface_adamw'" + _without(lost))


def _addresses(porting: Porting) -> None:
    for place, part in [("", porting.config), *porting.objects()]:
        for key, value in part.items():
            if isinstance(value, str) and value.startswith(_OLD_BUCKET):
                part[key] = value.replace(_OLD_BUCKET, _BUCKET)
                porting.note(
                    f"{place}.{key}".lstrip("."), "AllenNLP's files moved; they may be gone", "advice"
                )


def _type_of(value: Any) -> list[str]:
    kind = value.get("type") if isinstance(value, dict) else None
    return [kind] if isinstance(kind, str) else []


def _without(lost: list[str]) -> str:
    return f", without {', '.join(lost)}" if lost else ""


RULES = [
    Rule("`iterator: {type, batch_size, …}`", "`data_loader: {batch_size, shuffle}`", port_data_loaders),
    Rule("`lazy`, readers `multiprocess`", "`data_loader.max_instances_in_memory`", port_readers),
    Rule("`tokenizer: {type: word, word_splitter: X}`", "`{type: X}`", _tokenizers),
    Rule("`vocabulary: {directory_path, extend}`", "`{type: from_files or extend, directory}`", _vocabulary),
    Rule("`text_field_embedder: {elmo: …}`", "`{token_embedders: {elmo: …}}`", _token_embedders),
    Rule("`embedder_to_indexer_map`, `allow_unmatched_keys`", "equal names; `empty`", _unmatched_embedders),
    Rule("`namespace_to_cache` of ELMo", "removed", _elmo),
    Rule("`bert-pretrained`", "`pretrained_transformer_mismatched`", _bert),
    Rule("`initializer` or `regularizer: [[regex, …]]`", "`{regexes, prevent_regexes}`", _applicators),
    Rule("`similarity_function`, `legacy` attention", "`matrix_attention`, the function itself", _similarity),
    Rule("`constraint_type`, `coding_scheme`", "`label_encoding`, `convert_to_coding_scheme`", _crf_tagger),
    Rule("callbacks of the trainer `callback`", "keys of the trainer", port_callbacks),
    *(Rule(f"`trainer.{key}`", new, partial(port_trainer_key, key)) for key, new in TRAINER_KEYS.items()),
    Rule("`cuda_device: [0, 1]`", "`distributed: {cuda_devices: [0, 1]}`", port_devices),
    Rule("optimizer `bert_adam`", "`huggingface_adamw`", _optimizer),
    Rule("other types and predictors", "as `elmo_plugin/porting/names.py` lists them", _types),
    Rule(f"`{_OLD_BUCKET}`", f"`{_BUCKET}`", _addresses),
]  # fmt: skip


def port_to_native(porting: Porting) -> None:
    """Replaces `elmo_token_embedder` with this package's `elmo`, wherever it has the same options."""
    names = {weights.rpartition("/")[2]: name for name, (_, weights) in MODELS.items() if "://" in weights}
    for place, part in porting.objects("model"):
        if part.get("type") != "elmo_token_embedder":
            continue
        if lost := [key for key in ("projection_dim", "scalar_mix_parameters") if part.get(key) is not None]:
            porting.note(f"{place}.type", f"not made `elmo`, because of {' and '.join(lost)}", "left")
            continue
        options, weights = part.get("options_file"), part.get("weight_file", MODELS["original"][1])
        name = names.get(weights.rpartition("/")[2])
        new: Config = {"type": "elmo", "bilm": name or {"options": options, "weights": weights}}
        new |= {key: part[key] for key in ("dropout", "requires_grad", "stateful") if key in part}
        if part.get("do_layer_norm"):
            new["layer_norm"] = True
        part.clear()
        part.update(new)
        porting.note(f"{place}.type", f"now `elmo`, with the biLM {new['bilm']!r}", "advice")
    porting.config = _with_native_regexes(porting.config)


def _with_native_regexes(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_native_regexes(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_native_regexes(each) for each in value]
    return re.sub(r"scalar_parameters\b", r"scalar_mix\\.weights", value) if isinstance(value, str) else value
