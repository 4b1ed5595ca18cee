"""Rules for iterators and dataset readers, which share the keys of a data loader."""

from typing import Any

from elmo_plugin.porting.config import Config, Porting, merge, replace

_KEYS = {"iterator": "data_loader", "validation_iterator": "validation_data_loader"}
_DEFAULT_BATCH_SIZE = 32  # of AllenNLP 0.x
_LAZY_INSTANCES = 1000
_PROCESSES = "`data_loader.num_workers` needs a reader with `apply_token_indexers`"
_PLAIN = ("basic", "bucket", "multiprocess", "epoch_tracking_bucket")
_DROPPED = ("biggest_batch_first", "cache_instances", "output_queue_size", "track_epoch")
_DROPPED_FROM_LOADER = ("pin_memory", "timeout", "worker_init_fn", "multiprocessing_context")


def port_data_loaders(porting: Porting) -> None:
    """Makes data loaders of the iterators of 0.x, and ports those of 1.x."""
    config = porting.config
    for old, new in _KEYS.items():
        if old in config:
            loader = _from_iterator(porting, old, config[old])
            replace(config, old, {new: loader})
            porting.note(old, f"now `{new}`")
        _port_loader(porting, new)


def _from_iterator(porting: Porting, place: str, iterator: Any) -> Config:
    old = {"type": iterator} if isinstance(iterator, str) else dict(iterator)
    kind = old.pop("type", "basic")
    if "base_iterator" in old:
        porting.note(place, f"the `base_iterator` alone: {_PROCESSES}")
        return _from_iterator(porting, f"{place}.base_iterator", old["base_iterator"])
    if kind not in _PLAIN:
        porting.note(place, f"{kind!r} was removed: batches are made at random instead", "left")
    batch_size: Any = old.pop("batch_size", _DEFAULT_BATCH_SIZE)
    sorting_keys = _names(old.pop("sorting_keys", None))
    samples = old.pop("maximum_samples_per_batch", None)
    sampler: Config = {"type": "bucket", "batch_size": batch_size}
    if samples:
        sampler = {"type": "max_tokens_sampler", "max_tokens": samples[1]}
    loader: Config = {"batch_sampler": sampler}
    if sorting_keys:
        sampler["sorting_keys"] = sorting_keys
    if "bucket" not in kind and not samples:
        loader = sampler = {"batch_size": batch_size, "shuffle": True}
    elif "padding_noise" in old:
        sampler["padding_noise"] = old.pop("padding_noise")
    if old.pop("skip_smaller_batches", False) and not samples:
        sampler["drop_last"] = True
    if instances := old.pop("instances_per_epoch", None):
        loader["batches_per_epoch"] = -(-int(instances) // int(batch_size))
        porting.note(f"{place}.instances_per_epoch", "now `batches_per_epoch`")
    if (in_memory := old.pop("max_instances_in_memory", None)) is not None:
        loader["max_instances_in_memory"] = in_memory
    if old.get("track_epoch") or kind == "epoch_tracking_bucket":
        merge(porting.config.setdefault("trainer", {}), "callbacks", [{"type": "track_epoch_callback"}])
    for key in old:
        kind = "changed" if key in _DROPPED else "left"
        porting.note(f"{place}.{key}", "removed: data loaders do not have it", kind)
    return loader


def _names(sorting_keys: Any) -> list[str]:
    """Returns the names of the fields in pairs such as `["tokens", "num_tokens"]`, once each."""
    names = [key if isinstance(key, str) else key[0] for key in sorting_keys or ()]
    return list(dict.fromkeys(names))


def _port_loader(porting: Porting, key: str) -> None:
    """Ports a data loader of AllenNLP 1.x: its samplers, and the arguments of torch's loader."""
    loader = porting.get(key)
    if loader.get("type") in ("pytorch_dataloader", "default"):
        porting.note(f"{key}.type", f"{loader.pop('type')!r} was removed: the default reads the same")
    for name in [name for name in _DROPPED_FROM_LOADER if name in loader]:
        del loader[name]
        porting.note(f"{key}.{name}", "removed")
    sampler = loader.get("batch_sampler")
    if isinstance(sampler, dict) and sampler.get("type") == "basic":
        rest = {name: value for name, value in sampler.items() if name != "type"}
        replace(loader, "batch_sampler", rest)
        porting.note(f"{key}.batch_sampler", "`basic` is now `batch_size` of the loader")
    elif isinstance(sampler, dict) and any(
        isinstance(pair, list) for pair in sampler.get("sorting_keys") or ()
    ):
        sampler["sorting_keys"] = _names(sampler["sorting_keys"])
        porting.note(f"{key}.batch_sampler.sorting_keys", "now names of fields alone")
    if "sampler" in loader:
        sampler = loader.pop("sampler")
        kind = sampler if isinstance(sampler, str) else sampler.get("type")
        loader["shuffle"] = kind != "sequential"
        known = kind in ("random", "sequential")
        porting.note(
            f"{key}.sampler",
            "now `shuffle`" + ("" if known else f", without {kind!r}"),
            "changed" if known else "left",
        )


def port_readers(porting: Porting) -> None:
    """Unwraps readers that ran in processes, and moves `lazy` to the data loader."""
    config = porting.config
    for key in ("dataset_reader", "validation_dataset_reader"):
        reader = porting.get(key)
        if reader.get("type") == "multiprocess" and isinstance(reader.get("base_reader"), dict):
            reader = config[key] = reader["base_reader"]
            porting.note(key, f"the `base_reader` alone: {_PROCESSES}")
        if "cache_directory" in reader:
            del reader["cache_directory"]
            porting.note(f"{key}.cache_directory", "removed")
        if "lazy" not in reader:
            continue
        if is_lazy := reader.pop("lazy"):
            loader = "data_loader" if key == "dataset_reader" else "validation_data_loader"
            if loader in config:
                config[loader].setdefault("max_instances_in_memory", _LAZY_INSTANCES)
        porting.note(f"{key}.lazy", "now `data_loader.max_instances_in_memory`" if is_lazy else "removed")
