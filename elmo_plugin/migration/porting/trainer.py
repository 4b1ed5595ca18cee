"""Rules for the trainer."""

from typing import Any

from elmo_plugin.common.integers import ceil_div
from elmo_plugin.migration.porting.config import (
    TABLES,
    Config,
    Porting,
    as_options,
    merge,
    nested,
    replace_by_items,
    type_of,
    without_type,
)

TRAINER_KEYS: dict[str, str] = TABLES["trainer_keys"]
"""Keys of trainers before AllenNLP 2, and the keys that replace them. `tensorboard` is a callback.
"""

_CALLBACK_KEYS = ("tensorboard_writer", "batch_callbacks", "epoch_callbacks", "end_callbacks")
_CALLBACKS = {
    "log_to_tensorboard": "tensorboard",
    "log_metrics_to_wandb": "wandb",
    "track_epoch": "track_epoch_callback",
}


def port_trainer_key(key: str, porting: Porting) -> None:
    """Replaces one key of the trainer or of its checkpointer."""
    trainer = porting.get("trainer")
    checkpointer = trainer.get("checkpointer")
    new_key = TRAINER_KEYS[key]
    text = "removed"
    if new_key:
        text = f"now `{new_key}`"
    if isinstance(checkpointer, dict) and key in checkpointer:
        value = _new_value(key, checkpointer[key], porting)
        new_items = {}
        if new_key:
            new_items = {new_key.removeprefix("checkpointer."): value}
        replace_by_items(checkpointer, key, new_items)
        porting.note(f"trainer.checkpointer.{key}", text)
    if key in trainer:
        value = _new_value(key, trainer[key], porting)
        replace_by_items(trainer, key, _new_items_of_trainer(new_key, value))
        porting.note(f"trainer.{key}", text)


def port_shuffle(porting: Porting) -> None:
    """Moves `shuffle` from the trainer to the part of the data loader that makes the batches."""
    trainer = porting.get("trainer")
    if "shuffle" not in trainer:
        return
    is_shuffled = trainer.pop("shuffle")
    text = "now `data_loader.shuffle`"
    kind = "changed"
    if is_shuffled is False:  # otherwise the data loader shuffles anyway
        maker = _maker_of_batches(porting)
        if type_of(maker) == "max_tokens_sampler":
            text = "removed: `max_tokens_sampler` always shuffles"
            kind = "left"
        else:
            merge(maker, "shuffle", False)
    porting.note("trainer.shuffle", text, kind=kind)


def _maker_of_batches(porting: Porting) -> Config:
    """Returns the batch sampler of the data loader, or the data loader itself without one."""
    loader = porting.get("data_loader")
    maker: Config = loader.get("batch_sampler", loader)
    return maker


def _new_items_of_trainer(new_key: str, value: Any) -> Config:
    """Returns the keys and values that replace an old key: none if the key was removed."""
    if not new_key:
        return {}
    if new_key.startswith("tensorboard."):
        option = new_key.removeprefix("tensorboard.")
        return {"callbacks": [{"type": "tensorboard", option: value}]}
    return nested(new_key, value)


def _new_value(key: str, value: Any, porting: Porting) -> Any:
    """Returns the value of the key that replaces an old one. Most keys keep their value."""
    if key == "num_serialized_models_to_keep" and isinstance(value, int) and value < 0:
        # A negative number meant that all models are kept. That is `None` in AllenNLP 2.
        return None
    if key == "gradient_accumulation_batch_size":
        # It was the number of instances in an update. The new key is the number of batches.
        batch_size = int(_maker_of_batches(porting).get("batch_size", value))
        return max(1, ceil_div(int(value), batch_size))
    if TRAINER_KEYS[key] == "use_amp":
        # `opt_level` was a level of apex: "O0" computes in float32, all others in mixed precision.
        return value not in (None, False, "O0")
    return value


def port_callbacks(porting: Porting) -> None:
    """
    Ports callbacks. AllenNLP 1.x had several lists of callbacks, and these are joined. In AllenNLP
    0.9, some steps of the training were callbacks, and their options become options of the trainer.
    """
    trainer = porting.get("trainer")
    for key in _CALLBACK_KEYS:
        if key in trainer:
            _join_callbacks(porting, trainer, key)
    callbacks = trainer.get("callbacks")
    if not isinstance(callbacks, list) or not callbacks:
        return
    kept = []
    for number, callback in enumerate(callbacks):
        place = f"trainer.callbacks.{number}"
        if type_of(callback) in TABLES["built_in_callbacks"]:
            trainer.update(_trainer_options(callback))
            text = f"the options of {type_of(callback)!r} are keys of the trainer"
            porting.note(place, text)
        else:
            kept.append(_renamed_callback(porting, place, callback))
    if kept:
        trainer["callbacks"] = kept
    else:
        del trainer["callbacks"]


def _join_callbacks(porting: Porting, trainer: Config, key: str) -> None:
    """Moves the callbacks at one of the old keys to `callbacks`. The old value may be `null`."""
    if key == "tensorboard_writer":
        writer = {"type": "tensorboard"}
        if trainer[key]:
            writer.update(trainer[key])
        callbacks = [writer]
        text = "now `tensorboard`"
    else:
        callbacks = list(trainer[key] or [])
        text = "now `callbacks`"
    replace_by_items(trainer, key, {"callbacks": callbacks})
    porting.note(f"trainer.{key}", text)


def _trainer_options(callback: Any) -> Config:
    """Returns the keys of the trainer that replace a callback of AllenNLP 0.9."""
    options = without_type(as_options(callback))
    # The callback of the moving average has an option `moving_average`, an object, or the options
    # of that object itself. The trainer only takes the object.
    is_average = type_of(callback).endswith("moving_average")
    if is_average and "moving_average" not in options:
        return {"moving_average": options}
    return options


def _renamed_callback(porting: Porting, place: str, callback: Any) -> Any:
    """Returns a callback with the names that its type and options have in AllenNLP 2."""
    kind = type_of(callback)
    options = without_type(as_options(callback))
    if kind in _CALLBACKS:
        callback = {"type": _CALLBACKS[kind], **options}
        porting.note(place, f"{kind!r} is now {_CALLBACKS[kind]!r}")
    if type_of(callback) == "tensorboard":
        for option, value in options.items():
            # The table of the trainer's keys has the options of TensorBoard, because they were
            # keys of the trainer in early versions.
            _, _, new_option = TRAINER_KEYS.get(option, "").partition(".")
            if new_option:
                replace_by_items(callback, option, {new_option: value})
    return callback


def port_trainer(porting: Porting) -> None:
    """Ports the trainer's type and devices. AllenNLP 2 uses a GPU by default if there is one."""
    trainer = porting.get("trainer")
    if trainer.get("type") in ("default", "callback"):
        old_type = trainer.pop("type")
        text = f"{old_type!r} is removed: `gradient_descent` is the default"
        porting.note("trainer.type", text)
    devices = trainer.get("cuda_device")
    if isinstance(devices, list) and len(devices) > 1:
        del trainer["cuda_device"]
        porting.config["distributed"] = {"cuda_devices": devices}
        porting.note("trainer.cuda_device", "now `distributed.cuda_devices`, at the top")
    elif isinstance(devices, list):
        trainer["cuda_device"] = -1
        if devices:
            trainer["cuda_device"] = devices[0]
        porting.note("trainer.cuda_device", "now a number")
    # Without the key, the configuration also runs on a machine that has only a CPU.
    if trainer.get("cuda_device") in (0, "0"):
        del trainer["cuda_device"]
        porting.note(
            "trainer.cuda_device", "removed: AllenNLP now uses a GPU by default", kind="advice"
        )
