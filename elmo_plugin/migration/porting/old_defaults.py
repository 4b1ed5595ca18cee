"""The rule that writes the defaults of old versions, where AllenNLP 2.10.1 has others."""

import re

from elmo_plugin.migration.porting.config import Config, Porting, read_table, type_of

# The defaults that changed, each with the file of AllenNLP's source that says so.
_DEFAULTS: list[Config] = read_table("defaults.json")


def write_defaults(porting: Porting) -> None:
    """
    Writes each default that AllenNLP 2.10.1 has changed, with its old value. A configuration that
    needed no other change is one of AllenNLP 2, and stays unchanged.
    """
    if not any(note.kind == "changed" for note in porting.notes):
        return
    for place, part in porting.objects():
        for default in _DEFAULTS:
            if porting.version in default["versions"] and _concerns(default, place, part):
                _write_default(porting, default, place, part)
    _write_label_encoding(porting)


def _concerns(default: Config, place: str, part: Config) -> bool:
    """Returns whether a changed default is one of the object at this place."""
    if "of" in default and default["of"] != type_of(part):
        return False
    return re.search(default.get("in", ""), place) is not None


def _write_default(porting: Porting, default: Config, place: str, part: Config) -> None:
    """
    Writes an old default. An option that has a value keeps it, and the option is not needed if the
    part has another option that takes its place.
    """
    *parents, option = default["key"].split(".")
    for parent in parents:
        part = part.setdefault(parent, {})
    substitute = default.get("unless")
    if option in part or substitute in part:
        return
    part[option] = default["old"]
    text = (
        f"now {default['old']!r}, as AllenNLP {porting.version} took it; 2.10.1 takes "
        f"{default['new']!r}"
    )
    porting.note(f"{place}.{default['key']}", text)


def _write_label_encoding(porting: Porting) -> None:
    """
    Makes a `crf_tagger` report the F1 of spans, as AllenNLP 0.5 always did, if its training chooses
    the best epoch by it.
    """
    model = porting.get("model")
    if porting.version != "0" or type_of(model) != "crf_tagger":
        return
    if "label_encoding" in model or "calculate_span_f1" in model:
        return
    validation_metric = porting.get("trainer").get("validation_metric")
    if not isinstance(validation_metric, str) or "f1-measure" not in validation_metric:
        return
    model["label_encoding"] = "BIO"
    model["constrain_crf_decoding"] = False
    model["calculate_span_f1"] = True
    porting.note("model.label_encoding", "'BIO' without constraints, as AllenNLP 0.5 took it")
