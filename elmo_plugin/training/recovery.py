"""Checks before a training is recovered, so that it goes on without a change, or says why not."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.common.training_folder import check_kinds

_CONFIG = "config.json"
_MOST_SHOWN = 5  # differences in a message
_MISSING = object()


def check_recovery(folder: Path, params: Params) -> None:
    """
    Raises `ConfigurationError` if the folder of a training has something else, such as a folder or
    a pipe, in the place of a file, or its configuration differs from `params`. Writes the
    configuration again if a kill or damage has left no whole one.
    """
    if not folder.is_dir():
        return  # AllenNLP says that the folder is missing
    with as_configuration_error():
        check_kinds(folder, f"directory {folder}")
    file = folder / _CONFIG
    if not file.exists():
        return  # AllenNLP says that this is not the folder of a training
    # Through JSON, as the written configuration went, so that tuples are lists in both.
    given = json.loads(json.dumps(params.as_dict(quiet=True)))
    try:
        written = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        written = None
    if not isinstance(written, dict):
        params.to_file(str(file))
        return
    found = list(differences(written, given))
    if found:
        raise ConfigurationError(
            f"{folder}: the configuration is not the one of the training that --recover continues "
            f"({_listed(found)}): put that back, or train in another folder"
        )


def differences(
    written: Mapping[str, Any], given: Mapping[str, Any], prefix: str = ""
) -> Iterator[str]:
    """
    Yields a description of each difference between two configurations. If they are parts of others,
    `prefix` says where, such as "model.encoder.".
    """
    for key in sorted(written.keys() | given.keys()):
        place = f"{prefix}{key}"
        before = written.get(key, _MISSING)
        now = given.get(key, _MISSING)
        if isinstance(before, dict) and isinstance(now, dict):
            yield from differences(before, now, f"{place}.")
        elif now is _MISSING:
            yield f"{place} was {before!r:.60}, and is missing"
        elif before is _MISSING:
            yield f"{place} is {now!r:.60}, and was missing"
        elif before != now:
            yield f"{place} was {before!r:.60}, and is {now!r:.60}"


def _listed(found: list[str]) -> str:
    """Returns the first differences as a text, with the number of the others at its end."""
    shown = "; ".join(found[:_MOST_SHOWN])
    more = len(found) - _MOST_SHOWN
    if more > 0:
        shown += f"; and {more} more"
    return shown


def check_finished_metrics(folder: Path, num_epochs: int) -> None:
    """
    Raises `ConfigurationError` if the metrics of one of the first `num_epochs` epochs are damaged:
    a recovered training does not write them again.
    """
    for epoch in range(num_epochs):
        file = folder / f"metrics_epoch_{epoch}.json"
        if file.exists():
            with as_configuration_error():
                read_json_object(file, f"{file}, the figures of a finished epoch")
