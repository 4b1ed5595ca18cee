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
_MAX_SHOWN = 5  # differences in a message
_MISSING = object()


def check_recovery(folder: Path, params: Params) -> None:
    """
    Checks the folder of a training that is to be recovered with the configuration `params`. If a
    kill or damage has left no complete configuration in the folder, writes it again.

    Raises `ConfigurationError` if an entry is of the wrong kind, such as a folder or a pipe in
    place of a file, or if the configuration in the folder differs from `params`.
    """
    if not folder.is_dir():
        return  # AllenNLP says that the folder is missing
    with as_configuration_error():
        check_kinds(folder, f"directory {folder}")
    file = folder / _CONFIG
    if not file.exists():
        return  # AllenNLP says that this is not the folder of a training
    try:
        written = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        written = None
    if not isinstance(written, dict):  # the file is damaged
        params.to_file(str(file))
        return
    # Turned into JSON and back, as the written configuration was, so that tuples are lists in both.
    given = json.loads(json.dumps(params.as_dict(quiet=True)))
    found = list(differences(written, given))
    if found:
        raise ConfigurationError(
            f"{folder}: the configuration is not the one of the training in this folder "
            f"({_join_first(found)}): put that back, or train in another folder"
        )


def differences(
    written: Mapping[str, Any], given: Mapping[str, Any], prefix: str = ""
) -> Iterator[str]:
    """
    Yields a description of each difference between two configurations, with the full name of the
    option. `prefix` is the beginning of this name, such as "model.encoder.", when two objects
    inside the configurations are compared.
    """
    for key in sorted(written.keys() | given.keys()):
        option = f"{prefix}{key}"
        before = written.get(key, _MISSING)
        now = given.get(key, _MISSING)
        # `:.60` cuts off values that are longer than 60 characters.
        if isinstance(before, dict) and isinstance(now, dict):
            yield from differences(before, now, prefix=f"{option}.")
        elif now is _MISSING:
            yield f"{option} was {before!r:.60}, and is missing"
        elif before is _MISSING:
            yield f"{option} is {now!r:.60}, and was missing"
        elif before != now:
            yield f"{option} was {before!r:.60}, and is {now!r:.60}"


def _join_first(descriptions: list[str]) -> str:
    """Joins the first few descriptions, and adds how many more there are."""
    joined = "; ".join(descriptions[:_MAX_SHOWN])
    num_more = len(descriptions) - _MAX_SHOWN
    if num_more > 0:
        joined += f"; and {num_more} more"
    return joined


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
