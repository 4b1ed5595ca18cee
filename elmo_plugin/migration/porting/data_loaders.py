"""Rules for iterators and dataset readers: both share the keys of a data loader."""

from typing import Any

from elmo_plugin.migration.porting.config import TABLES, Config, Porting, replace, type_of

_KEYS = {"iterator": "data_loader", "validation_iterator": "validation_data_loader"}
_DEFAULT_BATCH_SIZE = 32  # of AllenNLP 0.x
_LAZY_INSTANCES = 1000
_PROCESSES = "alone: `data_loader.num_workers` needs a reader with `apply_token_indexers`"
_PLAIN = ("basic", "bucket", "epoch_tracking_bucket")
_REMOVED = ("biggest_batch_first", "cache_instances", "track_epoch")  # mattered little


def port_data_loaders(porting: Porting) -> None:
    """Makes data loaders of the iterators of 0.x, and ports the data loaders of 1.x."""
    for old, new in _KEYS.items():
        if old in porting.config:
            replace(porting.config, old, {new: _from_iterator(porting, old, porting.config[old])})
            porting.note(old, f"now `{new}`")
        _port_loader(porting, new)


def _from_iterator(porting: Porting, place: str, iterator: Any) -> Config:
    old: Config = {"type": iterator} if isinstance(iterator, str) else dict(iterator)
    while "base_iterator" in old:
        porting.note(place, f"the `base_iterator` {_PROCESSES}")
        old = dict(old["base_iterator"])
    kind = old.pop("type", "bucket")
    if kind not in _PLAIN:
        is_known = kind in TABLES["iterators"]
        origin = "was removed" if is_known else "is not AllenNLP's: write it as a `BatchSampler`"
        porting.note(place, f"{kind!r} {origin}; batches are made at random for now", "left")
    batch_size: Any = old.pop("batch_size", _DEFAULT_BATCH_SIZE)
    loader: Config = {"batch_size": batch_size, "shuffle": True}
    samples, sorting_keys = (
        old.pop("maximum_samples_per_batch", None),
        _names(old.pop("sorting_keys", None)),
    )
    if samples or "bucket" in kind:
        sampler: Config = {"type": "bucket", "batch_size": batch_size}
        if samples:
            sampler = {"type": "max_tokens_sampler", "max_tokens": samples[1]}
            porting.note(f"{place}.maximum_samples_per_batch", "now `max_tokens` alone", "left")
        if sorting_keys:
            sampler["sorting_keys"] = sorting_keys
        if "padding_noise" in old:
            sampler["padding_noise"] = old.pop("padding_noise")
        loader = {"batch_sampler": sampler}
    if old.pop("skip_smaller_batches", False) and not samples:
        loader.get("batch_sampler", loader)["drop_last"] = True
    if instances := old.pop("instances_per_epoch", None):
        loader["batches_per_epoch"] = -(-int(instances) // int(batch_size))
        porting.note(f"{place}.instances_per_epoch", "now `batches_per_epoch`")
    if (in_memory := old.pop("max_instances_in_memory", None)) is not None:
        loader["max_instances_in_memory"] = in_memory
    for key in old:
        hint = ": take the callback `track_epoch_callback`" if key == "track_epoch" else ""
        porting.note(f"{place}.{key}", f"removed{hint}", "changed" if key in _REMOVED else "left")
    return loader


def _names(sorting_keys: Any) -> list[str]:
    """Returns the names of the fields in pairs such as `["tokens", "num_tokens"]`, once each."""
    return list(
        dict.fromkeys(key if isinstance(key, str) else key[0] for key in sorting_keys or ())
    )


def _port_loader(porting: Porting, key: str) -> None:
    """Ports a data loader of AllenNLP 1.x: its samplers, and the arguments of torch's loader."""
    loader = porting.get(key)
    if loader.get("type") in ("pytorch_dataloader", "default"):
        porting.note(
            f"{key}.type", f"{loader.pop('type')!r} was removed: the default reads the same"
        )
    sampler = loader.get("batch_sampler")
    if isinstance(sampler, dict) and type_of(sampler) == "basic":
        replace(
            loader, "batch_sampler", {name: sampler[name] for name in sampler if name != "type"}
        )
        porting.note(f"{key}.batch_sampler", "`basic` is now `batch_size` of the loader")
    elif isinstance(sampler, dict) and any(
        isinstance(k, list) for k in sampler.get("sorting_keys") or ()
    ):
        sampler["sorting_keys"] = _names(sampler["sorting_keys"])
        porting.note(f"{key}.batch_sampler.sorting_keys", "now names of fields alone")
    if "sampler" in loader:
        kind = type_of(loader.pop("sampler"))
        loader["shuffle"] = kind != "sequential"
        is_lost = kind not in ("random", "sequential")
        text = f"now `shuffle`, without {kind}" if is_lost else "now `shuffle`"
        porting.note(f"{key}.sampler", text, "left" if is_lost else "changed")


def port_readers(porting: Porting) -> None:
    """Unwraps readers that ran in processes, and moves `lazy` to the data loader."""
    config = porting.config
    for kind in ("", "validation_"):
        key, loader = f"{kind}dataset_reader", f"{kind}data_loader"
        reader = porting.get(key)
        if type_of(reader) == "multiprocess" and isinstance(reader.get("base_reader"), dict):
            reader = config[key] = reader["base_reader"]
            porting.note(key, f"the `base_reader` {_PROCESSES}")
        if "lazy" in reader:
            is_lazy = reader.pop("lazy")
            if is_lazy and loader in config:
                config[loader].setdefault("max_instances_in_memory", _LAZY_INSTANCES)
            text = (
                f"now `{loader}.max_instances_in_memory`"
                if is_lazy and loader in config
                else "removed"
            )
            porting.note(f"{key}.lazy", text)
