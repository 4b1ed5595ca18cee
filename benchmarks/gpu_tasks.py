"""A training step and a prediction of each task model, next to allennlp-models', and their waiting times."""

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from cards import products, profile
from peers import why_not


def measure(device: str, small: bool) -> Iterator[dict[str, Any]]:
    left_out = why_not("allennlp")
    if left_out:
        yield {"left_out": left_out}
        return
    import tasks  # here: it needs AllenNLP
    from task_material import TASKS

    left_out = why_not("allennlp_models")
    kind = "tf32" if device == "cuda" else "float32"
    size = "tiny" if small else "original"
    for task in ["ner"] if small else TASKS:
        options = ["--tasks", task, "--size", size, "--device", device, "--no-memory", "--states", "known"]
        args = tasks.read_arguments([*options, "--rounds", "1" if small else "3"])
        row: dict[str, Any] = {"task": task, "size": size, "products": kind}
        with tempfile.TemporaryDirectory() as folder, products(kind):
            row |= {"peer_left_out": left_out} if left_out else tasks.measure(task, args)
            subject = tasks.load("known", task, args, Path(folder))
            tasks.run(subject, "training")
            for work in ("training", "prediction"):
                row[f"{work}_profile"] = profile(partial(tasks.run, subject, work), device)
        yield row
