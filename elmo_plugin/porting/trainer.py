"""Rules for the trainer."""

from typing import Any

from elmo_plugin.porting.config import Config, Porting, merge, replace

TRAINER_KEYS = {
    "type": "`gradient_descent`, the default",
    "num_serialized_models_to_keep": "`checkpointer.keep_most_recent_by_count`",
    "keep_serialized_model_every_num_seconds": "removed; see `checkpointer.keep_most_recent_by_age`",
    "model_save_interval": "`checkpointer.save_every_num_seconds`",
    "summary_interval": "`summary_interval` of the callback `tensorboard`",
    "histogram_interval": "`distribution_interval` of the callback `tensorboard`",
    "log_batch_size_period": "`batch_size_interval` of the callback `tensorboard`",
    "should_log_parameter_statistics": "the same key of the callback `tensorboard`",
    "should_log_learning_rate": "the same key of the callback `tensorboard`",
    "tensorboard_writer": "the callback `tensorboard`",
    "shuffle": "`data_loader.shuffle`",
    "gradient_accumulation_batch_size": "`num_gradient_accumulation_steps`",
    "opt_level": "`use_amp`",
    "use_mixed_precision": "`use_amp`",
    "batch_callbacks": "`callbacks`",
    "epoch_callbacks": "`callbacks`",
    "end_callbacks": "`callbacks`",
    "no_tqdm": "removed",
}
"""Keys of trainers before AllenNLP 2, and the keys or callbacks that replace them."""

_WRITER = {
    "summary_interval": "summary_interval",
    "histogram_interval": "distribution_interval",
    "log_batch_size_period": "batch_size_interval",
    "batch_size_interval": "batch_size_interval",
    "should_log_parameter_statistics": "should_log_parameter_statistics",
    "should_log_learning_rate": "should_log_learning_rate",
}
_CHECKPOINTS = {
    "num_serialized_models_to_keep": "keep_most_recent_by_count",
    "model_save_interval": "save_every_num_seconds",
}
_CALLBACKS = {
    "log_to_tensorboard": "tensorboard",
    "log_metrics_to_wandb": "wandb",
    "track_epoch": "track_epoch_callback",
}
_HOISTED = ("checkpoint", "track_metrics", "validate", "update_learning_rate", "update_momentum",
            "gradient_norm_and_clip", "moving_average", "update_moving_average")  # fmt: skip


def port_trainer_key(key: str, porting: Porting) -> None:
    """Replaces one key of the trainer."""
    trainer = porting.get("trainer")
    checkpointer = trainer.get("checkpointer")
    if (
        isinstance(checkpointer, dict)
        and key in checkpointer
        and key.endswith(("_keep", "_seconds", "_interval"))
    ):
        replace(checkpointer, key, _checkpointer(key, checkpointer[key]))
        porting.note(f"trainer.checkpointer.{key}", _now(key))
    if key not in trainer or (key == "type" and trainer[key] not in ("default", "callback")):
        return
    value = trainer[key]
    new: Config = {}
    if key in _CHECKPOINTS:
        new = {"checkpointer": _checkpointer(key, value)}
    elif key in _WRITER:
        new = {"callbacks": [{"type": "tensorboard", _WRITER[key]: value}]}
    elif key == "tensorboard_writer":
        options = value if isinstance(value, dict) else {}
        new = {"callbacks": [_tensorboard(options)]}
    elif key == "shuffle" and value is False:
        loader = porting.get("data_loader")
        merge(loader.get("batch_sampler", loader), "shuffle", False)
    elif key == "gradient_accumulation_batch_size":
        loader = porting.get("data_loader")
        batch_size = loader.get("batch_sampler", loader).get("batch_size", value)
        new = {"num_gradient_accumulation_steps": max(1, -(-int(value) // int(batch_size)))}
    elif key in ("opt_level", "use_mixed_precision"):
        new = {"use_amp": value not in (None, False, "O0")}
    elif key.endswith("_callbacks"):
        new = {"callbacks": [_callback(each) for each in value]}
    replace(trainer, key, new)
    porting.note(f"trainer.{key}", _now(key))


def _now(key: str) -> str:
    return TRAINER_KEYS[key] if TRAINER_KEYS[key].startswith("removed") else f"now {TRAINER_KEYS[key]}"


def _checkpointer(key: str, value: Any) -> Config:
    if key not in _CHECKPOINTS:
        return {}
    is_all = key == "num_serialized_models_to_keep" and isinstance(value, int) and value < 0
    return {_CHECKPOINTS[key]: None if is_all else value}


def _tensorboard(options: Config) -> Config:
    return {"type": "tensorboard", **{_WRITER[key]: options[key] for key in options if key in _WRITER}}


def _callback(callback: Any) -> Config:
    options = {"type": callback} if isinstance(callback, str) else dict(callback)
    options["type"] = _CALLBACKS.get(options.get("type", ""), options.get("type"))
    return _tensorboard(options) if options["type"] == "tensorboard" else options


def port_callbacks(porting: Porting) -> None:
    """Moves the options of the callbacks of 0.9's trainer `callback` into the trainer."""
    trainer = porting.get("trainer")
    callbacks = trainer.get("callbacks")
    if not isinstance(callbacks, list):
        return
    kept = []
    for number, each in enumerate(callbacks):
        kind = each if isinstance(each, str) else each.get("type") if isinstance(each, dict) else None
        options = (
            {key: value for key, value in each.items() if key != "type"} if isinstance(each, dict) else {}
        )
        if kind in _HOISTED:
            if kind.endswith("moving_average") and "moving_average" not in options:
                options = {"moving_average": options}
            trainer.update(options)
            porting.note(f"trainer.callbacks.{number}", f"the options of {kind!r} are keys of the trainer")
        elif kind in _CALLBACKS:
            kept.append(_callback(each))
            porting.note(f"trainer.callbacks.{number}", f"{kind!r} is now {_CALLBACKS[kind]!r}")
        else:
            kept.append(each)
    trainer["callbacks"] = kept
    if not kept:
        del trainer["callbacks"]
    if any(isinstance(each, dict) and each.get("type") == "wandb" for each in kept):
        porting.note("trainer.callbacks", WANDB, "advice")


def port_devices(porting: Porting) -> None:
    """Moves a list of devices to `distributed`. AllenNLP takes a GPU by itself if there is one."""
    config, trainer = porting.config, porting.get("trainer")
    devices = trainer.get("cuda_device")
    if isinstance(devices, list) and len(devices) > 1:
        del trainer["cuda_device"]
        config["distributed"] = {"cuda_devices": devices}
        porting.note("trainer.cuda_device", "now `distributed.cuda_devices`, at the top")
    elif isinstance(devices, list):
        trainer["cuda_device"] = devices[0] if devices else -1
        porting.note("trainer.cuda_device", "now a number")
    if trainer.get("cuda_device") in (0, "0"):
        del trainer["cuda_device"]
        porting.note("trainer.cuda_device", "removed: a GPU is taken if there is one", "advice")
    for old, new in {"master_address": "primary_address", "master_port": "primary_port"}.items():
        if old in porting.get("distributed"):
            replace(config["distributed"], old, {new: config["distributed"][old]})
            porting.note(f"distributed.{old}", f"now `{new}`")


WANDB = "AllenNLP passes an argument that wandb removed: install an older wandb"
