"""
The rules that port a configuration, in the order in which they are applied; `docs/port.md` shows
the same table. They need no AllenNLP.
"""

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from itertools import chain, product
from typing import Any, NamedTuple

from elmo_plugin.migration.porting.config import (
    DEFAULTS,
    TABLES,
    Config,
    Note,
    Porting,
    replace,
    type_of,
)
from elmo_plugin.migration.porting.data_loaders import port_data_loaders, port_readers
from elmo_plugin.migration.porting.trainer import (
    TRAINER_KEYS,
    port_callbacks,
    port_trainer,
    port_trainer_key,
)

_EMBEDDER_OPTIONS = ("type", "allow_unmatched_keys", "embedder_to_indexer_map")
_OLD_BUCKET = "https://s3-us-west-2.amazonaws.com/allennlp/"
_BUCKET = "https://allennlp.s3.amazonaws.com/"
_SCHEMES = {"conll2003": "IOB1", "conll2000": "BIO"}  # of the files
_OLD_WORDS = ("simple", "bert-basic", "just_spaces", "letters_digits")


class Rule(NamedTuple):
    """old, new: as the page shows them; apply: changes a configuration and notes it"""

    old: str
    new: str
    apply: Callable[[Porting], None]


def port_config(config: Mapping[str, Any]) -> tuple[Config, list[Note]]:
    """
    Returns the configuration for AllenNLP 2.10.1, and notes on each change and each part left to
    do.
    """
    porting = Porting(config)
    for rule in RULES:
        before = deepcopy(porting.config)
        try:
            rule.apply(porting)
        except (
            AttributeError,
            IndexError,
            KeyError,
            TypeError,
            ValueError,
        ):  # a value of another form
            porting.config = before
            porting.note(
                rule.old.partition(":")[0].replace("`", ""), "not ported: unexpected value", "left"
            )
    return porting.config, porting.notes


def first_old_key(config: Mapping[str, Any]) -> Note | None:
    """
    Returns the note on the first key, in the order of the file, that AllenNLP 2.10.1 does not take.
    """
    changed = [note for note in port_config(config)[1] if note.kind == "changed"]
    keys = list(config)
    return min(changed, key=lambda note: keys.index(note.place.split(".")[0]), default=None)


def _applicators(porting: Porting) -> None:
    for place, part in porting.objects():
        for key in ("initializer", "regularizer"):
            if isinstance(pairs := part.get(key), list):
                prevented = [pair[0] for pair in pairs if type_of(pair[1]) == "prevent"]
                full = [
                    [regex, {"type": "normal"} if kind == "normal" else kind]
                    for regex, kind in pairs
                ]
                part[key] = {"regexes": [pair for pair in full if pair[0] not in prevented]}
                if prevented:
                    part[key]["prevent_regexes"] = prevented
                porting.note(f"{place}.{key}", "the list is now in `regexes`")


def _vocabulary(porting: Porting) -> None:
    vocabulary = porting.get("vocabulary")
    if "directory_path" in vocabulary:
        kind = "extend" if vocabulary.pop("extend", False) else "from_files"
        replace(
            vocabulary, "directory_path", {"type": kind, "directory": vocabulary["directory_path"]}
        )
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
            flat = {
                name: value for name, value in embedder.items() if name not in _EMBEDDER_OPTIONS
            }
            if flat and all(isinstance(value, dict) for value in flat.values()):
                rest = {name: value for name, value in embedder.items() if name not in flat}
                part[key] = {**rest, "token_embedders": flat}
                porting.note(f"{place}.{key}", "its embedders are now in `token_embedders`")


def _unmatched_embedders(porting: Porting) -> None:
    indexers = [part for place, part in porting.objects() if place.endswith("token_indexers")]
    names = set(chain.from_iterable(indexers))
    for place, part in porting.objects("model"):
        embedders = part.get("token_embedders")
        if not isinstance(embedders, dict):
            continue
        renamed: set[str] = set()
        for name, arrays in (part.pop("embedder_to_indexer_map", None) or {}).items():
            values = [arrays] if isinstance(arrays, str) else arrays
            values = list(filter(None, values.values() if isinstance(values, dict) else values))
            if type_of(embedders.get(name)) == "elmo_token_embedder":
                del values[1:]  # the words of its cache, which 2.10.1 lacks
            makers = [
                {each for each in names if f"{value}-".startswith(f"{each}-")} for value in values
            ]
            found = set(chain.from_iterable(makers))
            here = f"{place}.embedder_to_indexer_map.{name}"
            if len(found) != 1 or not all(makers):
                text = (
                    f"it took {', '.join(values)}; now it gets the output of the indexer of "
                    "its name"
                )
                porting.note(here, text, "left")
            elif name not in found:
                old = found.pop()
                renamed.add(old)
                for reader in indexers:
                    reader |= {name: deepcopy(reader[old])} if old in reader else {}
                porting.note(here, f"removed: the indexer {old!r} is now {name!r}")
            else:
                porting.note(
                    here, "removed: an embedder gets all that the indexer of its name makes"
                )
        for reader, old in product(indexers, renamed - embedders.keys()):
            reader.pop(old, None)
        if part.pop("allow_unmatched_keys", None) is not None:
            names = set(chain.from_iterable(indexers))
            unmatched = sorted(names - embedders.keys() - ({"elmo"} & porting.get("model").keys()))
            embedders |= {name: {"type": "empty"} for name in unmatched}
            text = f"removed; `empty` embeds {', '.join(unmatched)}" if unmatched else "removed"
            porting.note(f"{place}.allow_unmatched_keys", text)


def _classifier_words(porting: Porting) -> None:
    """
    `basic_classifier` of AllenNLP 2 looks for words' numbers, which an indexer of characters lacks.
    """
    indexers = [part for place, part in porting.objects() if place.endswith("token_indexers")]
    kinds = {type_of(indexer) for part in indexers for indexer in part.values()}
    if type_of(porting.get("model")) == "basic_classifier" and kinds == {"elmo_characters"}:
        for part in indexers:
            part["words"] = {"type": "single_id"}
        for _, part in porting.objects("model"):
            if "token_embedders" in part:
                part["token_embedders"]["words"] = {"type": "empty"}
        porting.note("model.type", "it also needs an indexer of words, which `empty` embeds")


def _tokenizers(porting: Porting) -> None:
    for place, part in porting.objects():
        for key in [
            key for key in part if key.endswith("tokenizer") and key != "character_tokenizer"
        ]:
            old = {"type": part[key]} if isinstance(part[key], str) else part[key]
            if not isinstance(old, dict) or not (
                "word_splitter" in old or old.get("type") == "word"
            ):
                continue
            here, splitter = f"{place}.{key}", old.get("word_splitter") or "spacy"
            new = {"type": splitter} if isinstance(splitter, str) else {"type": "spacy", **splitter}
            ends = {name: old[name] for name in ("start_tokens", "end_tokens") if old.get(name)}
            if new["type"] in TABLES["splitters"]:
                porting.note(
                    here, f"{new['type']!r} was removed: {TABLES['splitters'][new['type']]}", "left"
                )
                new["type"] = "spacy"
            if new["type"] in _OLD_WORDS[:2] or (ends and new["type"] in _OLD_WORDS):
                options = {
                    name: new[name] for name in new if name != "type" and new[name] is not None
                }
                new = {"type": "old_words", "splitter": new["type"], **options}
            part[key] = new | ends
            text = f"now {new['type']!r}" + ", of elmo_plugin.plugin" * (new["type"] == "old_words")
            porting.note(here, text)
            for name in ("word_filter", "word_stemmer"):
                if (kind := type_of(old.get(name))) not in ("", "pass_through"):
                    porting.note(
                        f"{here}.{name}", f"{kind!r} was removed: change the texts instead", "left"
                    )


def _keys(porting: Porting) -> None:
    for place, part in porting.objects():
        for old, new, kinds in TABLES["keys"]:
            if old in part and (not kinds or type_of(part) in kinds.split()):
                first, _, last = new.partition(".")
                replace(part, old, {first: {last: part[old]} if last else part[old]} if new else {})
                porting.note(f"{place}.{old}", f"now `{new}`" if new else "removed")
        if "coding_scheme" in part and (own := _SCHEMES.get(type_of(part))):
            new = (
                {}
                if part["coding_scheme"] == own
                else {"convert_to_coding_scheme": part["coding_scheme"]}
            )
            replace(part, "coding_scheme", new)
            porting.note(
                f"{place}.coding_scheme", f"now {', '.join(new) or 'the default'}", "advice"
            )


def _attention(porting: Porting) -> None:
    for place, part in porting.objects():
        function = part.get("similarity_function", "dot_product")
        if type_of(part) == "legacy" and isinstance(function, str | dict):
            part.clear()
            part |= {"type": function} if isinstance(function, str) else function
            porting.note(place, "the similarity function stands for itself, without `legacy`")
        if type_of(part) == "dot_product" and "scale_output" in part and "matrix" in place:
            if part.pop("scale_output"):
                part["type"] = "old_scaled_dot_product"
            porting.note(f"{place}.scale_output", f"now the type {part['type']!r}")
        if type_of(part) == "bilinear" and "tensor_1_dim" in part:
            names = (
                ("matrix_1_dim", "matrix_2_dim")
                if "matrix" in place
                else ("vector_dim", "matrix_dim")
            )
            for number, name in enumerate(names, 1):
                replace(part, f"tensor_{number}_dim", {name: part[f"tensor_{number}_dim"]})
            porting.note(place, f"its sizes are now `{names[0]}` and `{names[1]}`")


def _types(porting: Porting) -> None:
    for place, part in porting.objects():
        if change := TABLES["types"].get(kind := type_of(part)):
            part |= {**change, **part, "type": change["type"]}
            porting.note(f"{place}.type", f"{kind!r} is now {change['type']!r}")
            if kind == "bert_adam":
                text = (
                    "`bert_adam` clipped the gradient of each parameter to the norm 1, this "
                    "one does not"
                )
                porting.note(place, text, "advice")
        old = part.get("predictor")
        if (
            isinstance(old, str)
            and (new := TABLES["predictors"].get(old, old.replace("-", "_"))) != old
        ):
            part["predictor"] = new
            porting.note(f"{place}.predictor", f"now {new!r}")


def _addresses(porting: Porting) -> None:
    for place, part in [("", porting.config), *porting.objects()]:
        for key, value in part.items():
            if isinstance(value, str) and _OLD_BUCKET in value:
                part[key] = value.replace(_OLD_BUCKET, _BUCKET)
                porting.note(
                    f"{place}.{key}", "this download address is old and may not work", "advice"
                )


def _defaults(porting: Porting) -> None:
    """Writes the old defaults of a configuration, where AllenNLP 2.10.1 takes something else."""
    if not any(note.kind == "changed" for note in porting.notes):
        return
    version = porting.version
    for place, part in porting.objects():
        for default in DEFAULTS:
            is_of = default.get("of") in (None, type_of(part)) and re.search(
                default.get("in", ""), place
            )
            if version not in default["versions"] or not is_of:
                continue
            *parents, last = default["key"].split(".")
            inner = part
            for parent in parents:
                inner = inner.setdefault(parent, {})
            if not {last, default.get("unless")} & inner.keys():
                inner[last] = default["old"]
                text = (
                    f"now {inner[last]!r}, as AllenNLP {version} took it; 2.10.1 takes "
                    f"{default['new']!r}"
                )
                porting.note(f"{place}.{default['key']}", text)
    metric, model = str(porting.get("trainer").get("validation_metric")), porting.get("model")
    plain = {"label_encoding", "calculate_span_f1"}.isdisjoint(model)
    if version == "0" and type_of(model) == "crf_tagger" and plain and "f1-measure" in metric:
        model |= {
            "label_encoding": "BIO",
            "constrain_crf_decoding": False,
            "calculate_span_f1": True,
        }
        porting.note("model.label_encoding", "'BIO' without constraints, as AllenNLP 0.5 took it")


RULES = [
    Rule(
        "`iterator: {type, batch_size, …}`",
        "`data_loader: {batch_size, shuffle}`",
        port_data_loaders,
    ),
    Rule("`lazy`, readers `multiprocess`", "`data_loader.max_instances_in_memory`", port_readers),
    Rule("`tokenizer: {type: word, word_splitter: X}`", "`{type: X}` or `old_words`", _tokenizers),
    Rule(
        "`vocabulary: {directory_path, extend}`",
        "`{type: from_files or extend, directory}`",
        _vocabulary,
    ),
    Rule("`text_field_embedder: {elmo: …}`", "`{token_embedders: {elmo: …}}`", _token_embedders),
    Rule(
        "`embedder_to_indexer_map`, `allow_unmatched_keys`",
        "equal names; `empty`",
        _unmatched_embedders,
    ),
    Rule(
        "`basic_classifier` with ELMo alone", "`single_id` and `empty` beside it", _classifier_words
    ),
    Rule(
        "`initializer` or `regularizer: [[regex, …]]`", "`{regexes, prevent_regexes}`", _applicators
    ),
    Rule(
        "`similarity_function`, `beam_size`, …",
        "`matrix_attention`, `beam_search.beam_size`, …",
        _keys,
    ),
    Rule(
        "`legacy` attention, sizes of `bilinear`",
        "the function itself, `matrix_1_dim`, …",
        _attention,
    ),
    Rule(
        "`epoch_callbacks`, …, the trainer `callback`",
        "`callbacks`, keys of the trainer",
        port_callbacks,
    ),
    *(
        Rule(f"`trainer.{key}`", f"`{new}`" if new else "removed", partial(port_trainer_key, key))
        for key, new in TRAINER_KEYS.items()
    ),
    Rule("defaults that changed", "written, as `defaults.json` lists them", _defaults),
    Rule("`cuda_device: [0, 1]`", "`distributed: {cuda_devices: [0, 1]}`", port_trainer),
    Rule(
        "other types and predictors",
        "as `elmo_plugin/migration/porting/tables.json` lists them",
        _types,
    ),
    Rule(f"`{_OLD_BUCKET}`", f"`{_BUCKET}`", _addresses),
]
