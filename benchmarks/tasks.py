"""Training and prediction of the six tasks, here and in allennlp-models: equal sizes, the same
batches.

    pip install allennlp-models==2.10.1
    python benchmarks/tasks.py --size tiny --json tasks.json

Ours and `crf_tagger`, `esim`, `bcn`, `srl`, `bidaf` and `coref` of allennlp-models, with AllenNLP's
ELMo from the same files, take turns; ours in four states: the biLM's words known, unknown, its
cache filled, and that with training in bfloat16. The median round counts. benchmarks/README.md
tells how each figure is measured.
"""

import argparse
import datetime
import json
import statistics
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from allennlp.common import Params
from allennlp.data import Batch
from allennlp.models import Model
from allennlp.nn.util import get_text_field_mask, move_to_device
from allennlp.training.optimizers import Optimizer
from machine import MEGABYTE, in_fresh_process, peak_memory, profile
from material import model_files, write_model
from run import conditions, make_parser, passed_on, report, take_turns
from task_material import DATA, TASKS, elmo_of, read_config, read_material
from task_peers import PEERS, peer_config, peer_instance

from elmo_plugin.common.files import write_json
from elmo_plugin.common.provenance import commit, processor
from elmo_plugin.embedding import ElmoRepresentations
from elmo_plugin.training import BFloat16Training

WORK = ("training", "prediction")
# Ours, by the biLM's knowledge of a batch before it comes: its words, nothing, or its sentences;
# "bfloat16" is "cached" with the trainer's callback of that name, which predictions do without.
STATES = ("known", "unknown", "cached", "bfloat16")
FEWEST_BATCHES = 3  # a biLM keeps its output for the last two
Tensors = dict[str, Any]


class Subject(NamedTuple):
    """
    model: with its optimizer, and the trainer's clipping of gradients
    batches: the tensors of training and of prediction
    forget: called before each batch
    """

    model: Model
    optimizer: torch.optim.Optimizer
    clipping: dict[str, float | None]
    batches: dict[str, list[Tensors]]
    forget: Callable[[], None]


def main() -> None:
    args = read_arguments()
    torch.set_num_threads(args.threads)
    if args.alone:
        with tempfile.TemporaryDirectory() as folder:
            subject = load(args.alone, args.tasks[0], args, Path(folder))
            run(subject, args.work)
        print(json.dumps(peak_memory(args.device)))
        return
    for task in args.tasks:
        figures = measure(task, args)
        report({"task": task} | figures, None)
        if args.json:
            add_figures(args, task, figures)


def read_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, "text")
    parser.set_defaults(rounds=3)
    add = parser.add_argument
    add("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    add(
        "--data",
        type=Path,
        default=DATA,
        help="a folder with the folders and files of experiments/data",
    )
    add(
        "--batches", type=int, default=FEWEST_BATCHES, help=f"of a round, at least {FEWEST_BATCHES}"
    )
    add("--states", nargs="+", choices=STATES, default=list(STATES), help="of ours")
    add(
        "--no-memory",
        dest="memory",
        action="store_false",
        help="leave out the runs for peak memory",
    )
    add("--no-speed", dest="speed", action="store_false", help="measure memory alone")
    add(
        "--profile",
        action="store_true",
        help="of training in the first state: the longest operations",
    )
    add("--alone", choices=("peer", *STATES), help=argparse.SUPPRESS)
    add("--work", choices=WORK, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.batches < FEWEST_BATCHES:
        parser.error(
            f"--batches must be at least {FEWEST_BATCHES}: the biLM keeps its last two outputs"
        )
    return args


def measure(task: str, args: argparse.Namespace) -> dict[str, Any]:
    figures = conditions(args, "batches")
    if args.speed:
        with tempfile.TemporaryDirectory() as folder:
            sides = ("peer", *args.states) if find_spec("allennlp_models") else tuple(args.states)
            subjects = {name: load(name, task, args, Path(folder)) for name in sides}
            figures |= {"rounds": args.rounds, "differences": PEERS[task].differences}
            figures |= {prefix + name: count for prefix, name, count in counts(subjects)}
            figures |= {work: speed(subjects, work, args) for work in WORK}
            if args.profile:
                figures["profile"] = profile(
                    partial(run, subjects[args.states[0]], "training"), args.device
                )
    if args.memory:
        figures["peak_memory_mb"] = memory(task, args)
    return figures


def load(name: str, task: str, args: argparse.Namespace, folder: Path) -> Subject:
    """A model of random weights, and the tensors of the batches."""
    options, weights = model_files(folder)
    if not options.exists():
        write_model(args.size, folder)
    config = read_config(task, {"options": str(options), "weights": str(weights)})
    material = read_material(task, config, args.data, args.batches)
    if name in ("cached", "bfloat16"):
        elmo_of(config)["cache"] = {"type": "memory"}
    torch.manual_seed(0)
    model_config = peer_config(task, config) if name == "peer" else config["model"]
    model = Model.from_params(Params(model_config), vocab=material.vocab).to(args.device)
    if name == "bfloat16":
        BFloat16Training("").on_start(SimpleNamespace(model=model))  # type: ignore[arg-type]
    trainer = config["trainer"]
    trained = [(key, weight) for key, weight in model.named_parameters() if weight.requires_grad]
    bilms = [part.bilm for part in model.modules() if isinstance(part, ElmoRepresentations)]

    def tensors(instances: list[Any]) -> Tensors:
        chosen = (
            [peer_instance(task, config, each) for each in instances]
            if name == "peer"
            else instances
        )
        batch = Batch(chosen)
        batch.index_instances(material.vocab)
        return move_to_device(batch.as_tensor_dict(), torch.device(args.device))

    def forget() -> None:
        for bilm in bilms if name == "unknown" else ():
            bilm.clear_word_cache()

    return Subject(
        model,
        Optimizer.from_params(params=Params(trainer["optimizer"]), model_parameters=trained),
        {key: trainer.get(key) for key in ("grad_norm", "grad_clipping")},
        {work: [tensors(batch) for batch in getattr(material, work)] for work in WORK},
        forget,
    )


def run(subject: Subject, work: str) -> None:
    """A round of it."""
    subject.model.train(work == "training")
    for batch in subject.batches[work]:
        subject.forget()
        # `bcn` takes ELMo's characters out of the batch.
        copied = {
            name: dict(field) if isinstance(field, dict) else field for name, field in batch.items()
        }
        (train if work == "training" else predict)(subject, copied)


def train(subject: Subject, batch: Tensors) -> None:
    """A step, as the trainer takes it."""
    subject.optimizer.zero_grad()
    subject.model(**batch)["loss"].backward()
    trained = [weight for weight in subject.model.parameters() if weight.requires_grad]
    if subject.clipping["grad_norm"]:
        torch.nn.utils.clip_grad_norm_(trained, subject.clipping["grad_norm"])
    if subject.clipping["grad_clipping"]:
        torch.nn.utils.clip_grad_value_(trained, subject.clipping["grad_clipping"])
    subject.optimizer.step()


@torch.no_grad()
def predict(subject: Subject, batch: Tensors) -> None:
    subject.model.make_output_human_readable(subject.model(**batch))


def counts(subjects: dict[str, Subject]) -> Iterator[tuple[str, str, int]]:
    """
    The parameters of both sides, and the words of their batches, with the padding that they compute
    on.
    """
    for prefix, subject in zip(
        ("peer_", "") if "peer" in subjects else ("",), subjects.values(), strict=False
    ):
        weights = list(subject.model.parameters())
        yield prefix, "parameters", sum(weight.numel() for weight in weights)
        yield (
            prefix,
            "trained_parameters",
            sum(each.numel() for each in weights if each.requires_grad),
        )
        for work in WORK:
            masks = [mask for batch in subject.batches[work] for mask in masks_of(batch)]
            yield prefix, f"{work}_words", sum(int(mask.sum()) for mask in masks)
            yield prefix, f"{work}_words_with_padding", sum(mask.numel() for mask in masks)


def masks_of(batch: Tensors) -> Iterator[torch.Tensor]:
    for field in batch.values():
        if isinstance(field, dict):  # a text, or the sentences of a document
            ids = next(iter(field["tokens"].values()))
            yield get_text_field_mask(field, num_wrapping_dims=ids.dim() - 2)


def speed(subjects: dict[str, Subject], work: str, args: argparse.Namespace) -> dict[str, float]:
    """Seconds of a batch in the median round, and the peer's beside them."""
    if work == "prediction":
        subjects = {name: subject for name, subject in subjects.items() if name != "bfloat16"}
    works = {name: partial(run, subject, work) for name, subject in subjects.items()}
    times = take_turns(works, args.rounds, args.device)
    figures = {f"{name}_seconds": statistics.median(times[name]) / args.batches for name in times}
    for state in times.keys() - {"peer"} if "peer" in times else ():
        ratios = [peer / ours for peer, ours in zip(times["peer"], times[state], strict=True)]
        figures[f"{state}_ratio"] = statistics.median(ratios)
    return figures


def memory(task: str, args: argparse.Namespace) -> dict[str, float]:
    """The peak of a process that trains, or predicts, each batch once."""
    options = passed_on(args, "size", "data", "batches", "threads", "device")
    sides = {"peer_": "peer", "": "known"} if find_spec("allennlp_models") else {"": "known"}
    return {
        prefix + work: in_fresh_process(
            __file__, *options, "--tasks", task, "--alone", name, "--work", work
        )
        / MEGABYTE
        for work in WORK
        for prefix, name in sides.items()
    }


def add_figures(args: argparse.Namespace, task: str, figures: dict[str, Any]) -> None:
    known = json.loads(args.json.read_text()) if args.json.exists() else {}
    of_size = known.get(args.size, {})
    made = {"date": datetime.date.today().isoformat(), "commit": commit(), "processor": processor()}
    of_task = of_size.get(task, {}) | made | figures
    write_json(args.json, known | {args.size: of_size | {task: of_task}})


if __name__ == "__main__":
    main()
