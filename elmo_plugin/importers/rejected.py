"""Examples that an annotator rejected or skipped: they must not train."""

from typing import Any

from elmo_plugin.common.formats.json_files import is_list_of

_REJECTED = ("reject", "ignore")


def is_rejected(fields: dict[str, Any]) -> bool:
    """Returns whether an annotator rejected an example, in Prodigy or in Label Studio."""
    if fields.get("answer") in _REJECTED:
        return True
    annotations = fields.get("annotations")
    if not annotations or not is_list_of(annotations, dict):
        return False
    return all(annotation.get("was_cancelled") for annotation in annotations)
