"""Examples that an annotator rejected or skipped: they must not train."""

from typing import Any

from elmo_plugin.common.formats.json_files import is_list_of

_ANSWERS_OF_REJECTION = ("reject", "ignore")  # as Prodigy writes them


def is_rejected(fields: dict[str, Any]) -> bool:
    """
    Returns whether the annotator of Prodigy rejected or ignored an example, or all annotators of
    Label Studio skipped it.
    """
    if fields.get("answer") in _ANSWERS_OF_REJECTION:
        return True
    annotations = fields.get("annotations")
    if not annotations or not is_list_of(annotations, dict):
        return False
    return all(annotation.get("was_cancelled") for annotation in annotations)
