"""Label Studio's exports: the data of a task, and the choices of its annotators."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.importers.json_records import Record

_ANNOTATIONS = ("annotations", "completions")  # the second until version 1.0
_UNNAMED = ""  # the control of choices that name none


def is_label_studio(fields: Mapping[str, Any]) -> bool:
    """Returns whether a record is a task of Label Studio with annotations."""
    return isinstance(fields.get("data"), dict) and _annotations(fields) is not None


def records_of_choices(records: Sequence[Record], label: str) -> list[Record]:
    """
    Returns each task's data as a record, with the choices of its annotators. They choose by the
    controls of a form, such as one that is called `sentiment`. If the form has one control, the
    choices are the field `label`. If it has several, the choices of each are a field with the
    control's name.
    """
    choices = [_choices_by_control(record.fields) for record in records]
    controls: set[str] = set()
    for chosen in choices:
        controls.update(chosen)
    controls.discard(_UNNAMED)
    found = []
    for record, chosen in zip(records, choices, strict=True):
        fields = dict(record.fields["data"])
        if len(controls) > 1:
            fields.update(chosen)
        else:
            fields[label] = list(chain.from_iterable(chosen.values()))
        found.append(record._replace(fields=fields))
    return found


def _annotations(fields: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Returns the annotations of a task, or `None` if it has no list of them."""
    for name in _ANNOTATIONS:
        annotations: Any = fields.get(name)
        if is_list_of(annotations, dict):
            return list(annotations)
    return None


def _choices_by_control(fields: Mapping[str, Any]) -> dict[str, list[Any]]:
    """
    Returns what was chosen by each control of a task, under the control's name. The choices of all
    annotators are in one list.
    """
    by_control: dict[str, list[Any]] = {}
    for annotation in _annotations(fields) or []:
        if annotation.get("was_cancelled"):
            continue  # the annotator skipped the task
        for result in annotation.get("result") or []:
            if not isinstance(result, dict):
                continue
            value = result.get("value")
            if isinstance(value, dict) and isinstance(value.get("choices"), list):
                control = str(result.get("from_name", _UNNAMED))
                by_control.setdefault(control, []).extend(value["choices"])
    return by_control
