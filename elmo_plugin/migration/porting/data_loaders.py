"""Rules for iterators and dataset readers: both share the keys of a data loader."""

from typing import Any

from elmo_plugin.common.integers import ceil_div
from elmo_plugin.migration.porting.config import (
    TABLES,
    Config,
    Porting,
    as_options,
    replace_by_items,
    type_of,
    without_type,
)

_NEW_KEYS = {"iterator": "data_loader", "validation_iterator": "validation_data_loader"}
_DEFAULT_BATCH_SIZE = 32  # AllenNLP 0.x took it if none was given.
_LAZY_INSTANCES = 1000
_NOTE_ON_PROCESSES = (
    "the `{key}` alone: `data_loader.num_workers` needs a reader with `apply_token_indexers`"
)
_PORTED_ITERATORS = ("basic", "bucket", "epoch_tracking_bucket")
# Options that hardly change a training.
_MINOR_OPTIONS = ("biggest_batch_first", "cache_instances", "track_epoch")


def port_data_loaders(porting: Porting) -> None:
    """Makes data loaders of the iterators of 0.x, and ports the data loaders of 1.x."""
    for old, new in _NEW_KEYS.items():
        if old in porting.config:
            loader = _loader_from_iterator(porting, old, porting.config[old])
            replace_by_items(porting.config, old, {new: loader})
            porting.note(old, f"now `{new}`")
        _port_loader(porting, new)


def _loader_from_iterator(porting: Porting, place: str, iterator: Any) -> Config:
    """
    Makes the data loader that reads as an iterator did, and notes the options of the iterator that
    a data loader does not have.
    """
    options = _innermost_iterator(porting, place, iterator)
    kind = options.pop("type", "bucket")
    if kind not in _PORTED_ITERATORS:
        _note_lost_iterator(porting, place, kind)
    batch_size: Any = options.pop("batch_size", _DEFAULT_BATCH_SIZE)
    max_samples = options.pop("maximum_samples_per_batch", None)
    loader: Config = {}
    if max_samples:
        sampler = _max_tokens_sampler(porting, place, max_samples)
        loader["batch_sampler"] = sampler | _pop_sorting_options(options)
        if options.pop("skip_smaller_batches", False):
            text = "removed: `max_tokens_sampler` lacks `drop_last`"
            porting.note(f"{place}.skip_smaller_batches", text, kind="left")
    elif "bucket" in kind:
        sampler = {"type": "bucket", "batch_size": batch_size}
        loader["batch_sampler"] = sampler | _pop_sorting_options(options) | _pop_drop_last(options)
    else:
        loader["batch_size"] = batch_size
        loader["shuffle"] = True
        loader |= _pop_drop_last(options)
    instances = options.pop("instances_per_epoch", None)
    if instances:
        loader["batches_per_epoch"] = ceil_div(int(instances), int(batch_size))
        porting.note(f"{place}.instances_per_epoch", "now `batches_per_epoch`")
    in_memory = options.pop("max_instances_in_memory", None)
    if in_memory is not None:
        loader["max_instances_in_memory"] = in_memory
    # Each ported option was taken out of `options`.
    for option in options:
        _note_removed_option(porting, place, option)
    return loader


def _max_tokens_sampler(porting: Porting, place: str, max_samples: list[Any]) -> Config:
    """Returns the sampler for a limit such as `["num_tokens", 2000]`."""
    _padding_key, max_tokens = max_samples
    porting.note(f"{place}.maximum_samples_per_batch", "now `max_tokens` alone", kind="left")
    return {"type": "max_tokens_sampler", "max_tokens": max_tokens}


def _pop_sorting_options(options: Config) -> Config:
    """
    Removes the options that say how instances are sorted from an iterator's options. Returns them
    as options of a batch sampler.
    """
    sampler_options: Config = {}
    sorting_keys = _field_names(options.pop("sorting_keys", None))
    if sorting_keys:
        sampler_options["sorting_keys"] = sorting_keys
    if "padding_noise" in options:
        sampler_options["padding_noise"] = options.pop("padding_noise")
    return sampler_options


def _pop_drop_last(options: Config) -> Config:
    """Removes `skip_smaller_batches` from an iterator's options. Returns its new form."""
    if options.pop("skip_smaller_batches", False):
        return {"drop_last": True}
    return {}


def _innermost_iterator(porting: Porting, place: str, iterator: Any) -> Config:
    """
    Returns the options of an iterator, with its type. An iterator that ran another one in several
    processes is left out, and the options of the inner one are returned.
    """
    innermost = as_options(iterator)
    while "base_iterator" in innermost:
        porting.note(place, _NOTE_ON_PROCESSES.format(key="base_iterator"))
        innermost = as_options(innermost["base_iterator"])
    return innermost


def _note_lost_iterator(porting: Porting, place: str, kind: str) -> None:
    """Notes that data loaders cannot make batches as an iterator of this kind did."""
    if kind in TABLES["iterators"]:
        reason = "was removed"
    else:
        reason = "is not AllenNLP's: write it as a `BatchSampler`"
    porting.note(place, f"{kind!r} {reason}; batches are made at random for now", kind="left")


def _note_removed_option(porting: Porting, place: str, option: str) -> None:
    """Notes an option of an iterator that a data loader does not have."""
    text = "removed"
    if option == "track_epoch":
        text = "removed: take the callback `track_epoch_callback`"
    note_kind = "left"
    if option in _MINOR_OPTIONS:
        note_kind = "changed"
    porting.note(f"{place}.{option}", text, kind=note_kind)


def _field_names(sorting_keys: Any) -> list[str]:
    """Returns the names of the fields in pairs such as `["tokens", "num_tokens"]`, once each."""
    names = []
    for key in sorting_keys or ():
        if isinstance(key, str):
            names.append(key)
        else:
            names.append(key[0])
    return list(dict.fromkeys(names))


def _port_loader(porting: Porting, key: str) -> None:
    """Ports a data loader of AllenNLP 1.x: its samplers, and the arguments of torch's loader."""
    loader = porting.get(key)
    if loader.get("type") in ("pytorch_dataloader", "default"):
        old_type = loader.pop("type")
        porting.note(f"{key}.type", f"{old_type!r} was removed: the default reads the same")
    batch_sampler = loader.get("batch_sampler")
    if isinstance(batch_sampler, dict):
        _port_batch_sampler(porting, key, loader, batch_sampler)
    # The loader's own sampler, or the one that was in the batch sampler before
    if "sampler" in loader:
        kind = type_of(loader.pop("sampler"))
        loader["shuffle"] = kind != "sequential"
        if kind in ("random", "sequential"):
            porting.note(f"{key}.sampler", "now `shuffle`")
        else:
            porting.note(f"{key}.sampler", f"now `shuffle`, without {kind}", kind="left")


def _port_batch_sampler(porting: Porting, key: str, loader: Config, batch_sampler: Config) -> None:
    """Ports the sampler that makes the batches of a data loader."""
    if type_of(batch_sampler) == "basic":
        replace_by_items(loader, "batch_sampler", without_type(batch_sampler))
        porting.note(f"{key}.batch_sampler", "`basic` is now `batch_size` of the loader")
        return
    sorting_keys = batch_sampler.get("sorting_keys") or ()
    # AllenNLP before version 1 sorted by pairs of a field and a key of its padding.
    if any(isinstance(sorting_key, list) for sorting_key in sorting_keys):
        batch_sampler["sorting_keys"] = _field_names(sorting_keys)
        porting.note(f"{key}.batch_sampler.sorting_keys", "now names of fields alone")


def port_readers(porting: Porting) -> None:
    """Unwraps readers that ran in processes, and moves `lazy` to the data loader."""
    config = porting.config
    for prefix in ("", "validation_"):
        key = f"{prefix}dataset_reader"
        loader = f"{prefix}data_loader"
        reader = porting.get(key)
        if type_of(reader) == "multiprocess" and isinstance(reader.get("base_reader"), dict):
            reader = reader["base_reader"]
            config[key] = reader
            porting.note(key, _NOTE_ON_PROCESSES.format(key="base_reader"))
        if "lazy" in reader:
            is_lazy = reader.pop("lazy")
            if is_lazy and loader in config:
                config[loader].setdefault("max_instances_in_memory", _LAZY_INSTANCES)
                porting.note(f"{key}.lazy", f"now `{loader}.max_instances_in_memory`")
            else:
                porting.note(f"{key}.lazy", "removed")
