"""Rules for the trainer."""

from typing import Any

from elmo_plugin.migration.porting.config import TABLES, Config, Porting, merge, replace, type_of

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
    trainer, new = porting.get("trainer"), TRAINER_KEYS[key]
    first, _, last = new.partition(".")
    for place, part in (
        ("trainer.checkpointer", trainer.get("checkpointer")),
        ("trainer", trainer),
    ):
        if not isinstance(part, dict) or key not in part:
            continue
        value = _value(key, part[key], porting)
        if not new or first == "data_loader":
            content: Config = {}
        elif first == "tensorboard":
            content = {"callbacks": [{"type": first, last: value}]}
        else:
            content = (
                {first: {last: value} if last else value} if part is trainer else {last: value}
            )
        replace(part, key, content)
        porting.note(f"{place}.{key}", f"now `{new}`" if new else "removed")


def _value(key: str, value: Any, porting: Porting) -> Any:
    """Returns the value of the new key."""
    loader = porting.get("data_loader")
    loader = loader.get("batch_sampler", loader)
    if key == "shuffle" and value is False:
        merge(loader, key, value)
    if key == "num_serialized_models_to_keep" and isinstance(value, int) and value < 0:
        return None
    if key == "gradient_accumulation_batch_size":
        return max(1, -(-int(value) // int(loader.get("batch_size", value))))
    return value not in (None, False, "O0") if TRAINER_KEYS[key] == "use_amp" else value


def port_callbacks(porting: Porting) -> None:
    """Joins the callbacks of 1.x; makes those of 0.9's trainer `callback` keys of the trainer."""
    trainer = porting.get("trainer")
    for key in [key for key in _CALLBACK_KEYS if key in trainer]:
        is_writer, old = key == "tensorboard_writer", trainer[key] or ()
        joined = [{"type": "tensorboard", **dict(old)}] if is_writer else list(old)
        replace(trainer, key, {"callbacks": joined})
        porting.note(f"trainer.{key}", f"now `{'tensorboard' if is_writer else 'callbacks'}`")
    callbacks, kept = trainer.get("callbacks"), []
    for number, each in enumerate(callbacks if isinstance(callbacks, list) else ()):
        kind, place = type_of(each), f"trainer.callbacks.{number}"
        options = (
            {key: each[key] for key in each if key != "type"} if isinstance(each, dict) else {}
        )
        if kind in TABLES["built_in_callbacks"]:
            if kind.endswith("moving_average") and "moving_average" not in options:
                options = {"moving_average": options}
            trainer.update(options)
            porting.note(place, f"the options of {kind!r} are keys of the trainer")
            continue
        if kind in _CALLBACKS:
            each = {"type": _CALLBACKS[kind], **options}
            porting.note(place, f"{kind!r} is now {_CALLBACKS[kind]!r}")
        for old in options if type_of(each) == "tensorboard" else ():
            if new := TRAINER_KEYS.get(old, "").partition(".")[2]:
                replace(each, old, {new: options[old]})
        kept.append(each)
    if kept != callbacks and isinstance(callbacks, list):
        trainer.update(callbacks=kept) if kept else trainer.pop("callbacks")


def port_trainer(porting: Porting) -> None:
    """Ports the type and the devices. AllenNLP takes a GPU by itself if there is one."""
    trainer = porting.get("trainer")
    if trainer.get("type") in ("default", "callback"):
        porting.note(
            "trainer.type", f"{trainer.pop('type')!r} is removed: `gradient_descent` is the default"
        )
    devices = trainer.get("cuda_device")
    if isinstance(devices, list) and len(devices) > 1:
        porting.config["distributed"] = {"cuda_devices": trainer.pop("cuda_device")}
        porting.note("trainer.cuda_device", "now `distributed.cuda_devices`, at the top")
    elif isinstance(devices, list):
        trainer["cuda_device"] = devices[0] if devices else -1
        porting.note("trainer.cuda_device", "now a number")
    if trainer.get("cuda_device") in (0, "0"):
        del trainer["cuda_device"]
        porting.note("trainer.cuda_device", "removed: AllenNLP now uses a GPU by default", "advice")
