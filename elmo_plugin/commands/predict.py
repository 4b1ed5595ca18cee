"""`elmo predict`: shows or writes predictions, or answers the questions of a file of SQuAD."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO, cast

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance
from allennlp.predictors import Predictor as AllenNlpPredictor

from elmo_plugin.bilm import BiLmError
from elmo_plugin.commands.options import STANDARD_OUTPUT
from elmo_plugin.common.files import atomic_write, write_json
from elmo_plugin.common.outputs import is_special
from elmo_plugin.common.process import cuda_number
from elmo_plugin.common.progress import progress_bar
from elmo_plugin.common.streams import show
from elmo_plugin.predictions.files import Input, check_format, inputs_of, write_predictions
from elmo_plugin.predictions.loaded import load_one
from elmo_plugin.predictions.prediction import Prediction
from elmo_plugin.predictions.predictor import Predictor, load_predictor
from elmo_plugin.predictions.terminal import show_predictions
from elmo_plugin.tasks.squad import SquadPredictor, SquadReader, read_squad


def run(args: argparse.Namespace) -> None:
    number = cuda_number(args.device)
    if args.squad:
        predictor = load_predictor(args.archive, cuda_device=number, trust=args.trust)
        return answer_file(predictor.allennlp, args.squad, args.output or STANDARD_OUTPUT, args.batch_size)
    archive = load_one(args.archive, args.predicates, args.trust, number)
    inputs = archive.checked(inputs_of(args.texts, archive.task))
    if args.output:
        return _write(archive.predictor, inputs, args)
    with _json_lines(args.json) as file:  # each line of a terminal has its answer at once
        show_predictions(archive, inputs, file, 1 if args.texts == ["-"] else args.batch_size)


def _write(predictor: Predictor, inputs: Iterable[Input], args: argparse.Namespace) -> None:
    """Writes the predictions to --output."""
    check_format(args.output, predictor.task)
    if args.texts != ["-"]:
        inputs = list(inputs)  # a mistake in a file is found before the first prediction
    total = len(inputs) if isinstance(inputs, list) else None
    with progress_bar(total=total, unit="text") as bar:

        def counted() -> Iterator[Prediction]:
            for prediction in predictor.predict_each(inputs, args.batch_size):
                yield prediction
                bar.update()

        number = write_predictions(counted(), args.output, predictor.allennlp)
    if not is_special(args.output):
        show(f"{args.output}: {number:,} prediction{'s' * (number != 1)}", file=sys.stderr)


@contextmanager
def _json_lines(path: str | None) -> Iterator[TextIO | None]:
    """Opens the file of `--json`."""
    if path is None:
        yield None
    elif path == STANDARD_OUTPUT:
        yield sys.stdout
    else:
        with atomic_write(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
            yield file


def answer_file(predictor: AllenNlpPredictor, data: str, output: str, batch_size: int) -> None:
    """Writes the answer to each question by its id. Reports and skips questions that cannot be read."""
    if not isinstance(predictor, SquadPredictor):
        raise BiLmError("--squad: expected a model of SQuAD, got one of another task")
    instances, skipped = _read_questions(data, predictor)
    for reason in skipped:
        show(f"skipped: {reason}", file=sys.stderr)
    answers: dict[str, str] = {}
    with torch.inference_mode(), progress_bar(total=len(instances), unit="question") as bar:
        for start in range(0, len(instances), batch_size):
            batch = instances[start : start + batch_size]
            answers |= {each["id"]: each["answer"] for each in predictor.predict_batch_instance(batch)}
            bar.update(len(batch))
    write_json(output, answers)
    show(f"{output}: {len(answers):,} answers, {len(skipped):,} questions skipped", file=sys.stderr)


def _read_questions(path: str, predictor: SquadPredictor) -> tuple[list[Instance], list[str]]:
    """Returns an instance of each question without its answers, and why others cannot be read."""
    reader = cast(SquadReader, predictor._dataset_reader)
    instances, skipped = [], []
    for paragraph in read_squad(path, **reader.options._asdict()):
        for question in paragraph.questions:
            try:
                tokenized = reader.tokenize(paragraph.text)
                instance = reader.text_to_instance(tokenized, question._replace(answers=[]))
                predictor.check_length(instance)
                instances.append(instance)
            except ConfigurationError as error:
                skipped.append(f"{paragraph.location}, question {question.id}: {error}")
    if not instances:
        raise ConfigurationError(skipped[0] if skipped else f"{path}: no questions in this file")
    return instances, skipped
