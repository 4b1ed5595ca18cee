"""The configurations of a sweep: how they are chosen in files, compared, and given a seed."""

import fnmatch
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.params import parse_overrides, with_overrides

from elmo_plugin.common.errors import message_of

SEEDS = ("random_seed", "numpy_seed", "pytorch_seed")


def read_configs(source: str, overrides: str = "") -> dict[str, dict[str, Any]]:
    """
    Reads configurations, and returns them by their names. The source `FILE` is a single one, which
    has the name of the file without its suffix. In the source `FILE:VARIANT`, the file has an
    object with several configurations, and `VARIANT` names one of them; `FILE:sst_*` chooses all
    whose names begin with `sst_`. The `overrides` change each configuration. They are written in
    JSON, as for `allennlp train`.

    Raises `ConfigurationError` if a text is malformed, if the variant is not in the file, or if the
    file contains anything but configurations.
    """
    try:
        changes = parse_overrides(overrides)
        configs = _read_variants(source)
    except RuntimeError as error:  # Jsonnet raises it for all mistakes
        raise ConfigurationError(message_of(error)) from None
    check_object(changes, "the overrides")
    changed = {}
    for name, config in configs.items():
        check_object(config, f"{source}: {name}")
        if isinstance(config.get("trainer"), str):  # AllenNLP also takes only the name of its type
            config["trainer"] = {"type": config["trainer"]}
        try:
            changed[name] = with_overrides(config, changes)
        except ValueError as error:
            raise ConfigurationError(f"{source}: {error}") from None
        # The type of the trainer will say whether a training can be resumed.
        check_object(changed[name].get("trainer", {}), f"{source}: {name}, its trainer")
    return changed


def _read_variants(source: str) -> dict[str, Any]:
    """
    Returns the configurations of a source, see `read_configs`, before the overrides change them.
    """
    file, _, pattern = source.rpartition(":")
    # In "https://host/file" and "C:\\file" the colon belongs to the path, and a path follows it.
    is_whole_file = not file or "/" in pattern or "\\" in pattern
    if is_whole_file:
        content = Params.from_file(source).as_dict(quiet=True)
        check_object(content, source)
        return {Path(source).stem: content}
    content = Params.from_file(file).as_dict(quiet=True)
    check_object(content, file)
    names = fnmatch.filter(content, pattern)
    if not names:
        raise ConfigurationError(
            f"{file}: unknown variant {pattern}, expected {', '.join(content)}"
        )
    return {name: content[name] for name in names}


def with_seed(config: dict[str, Any], seed: int) -> dict[str, Any]:
    """Returns the configuration with this seed for every library."""
    return config | dict.fromkeys(SEEDS, seed)


def differing_keys(trained: dict[str, Any], config: dict[str, Any]) -> str:
    """Returns the keys whose values differ, with commas between them, or an empty string."""
    old = Params(trained).as_flat_dict()
    new = Params(config).as_flat_dict()
    differing = [key for key in old.keys() | new.keys() if old.get(key) != new.get(key)]
    return ", ".join(sorted(differing))


def check_object(value: object, what: str) -> None:
    """Raises `ConfigurationError`, beginning with `what`, if a value is no JSON object."""
    if not isinstance(value, dict):
        raise ConfigurationError(f"{what}: expected a JSON object, got {value!r:.40}")
