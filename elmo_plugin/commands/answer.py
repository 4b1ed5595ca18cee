"""`elmo answer`: answers all questions of a file of SQuAD."""

import argparse
import sys
from typing import cast

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance
from allennlp.models import load_archive
from allennlp.predictors import Predictor

from elmo_plugin.bilm import BiLmError
from elmo_plugin.commands.command import Command, JsonFile, check_at_least_one
from elmo_plugin.common.files import write_json
from elmo_plugin.common.progress import progress_bar
from elmo_plugin.tasks.squad import SquadPredictor, SquadReader, read_squad


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("archive", metavar="ARCHIVE", help="the model.tar.gz of a model of SQuAD, or an ensemble")
    add("data", metavar="DATA", help="the questions, in SQuAD 1.1's JSON (plain, .gz or .zst)")
    about = 'gets {"id": "answer", ...}'
    add("-o", "--output", action=JsonFile, required=True, metavar="FILE", help=about)
    add("--batch-size", type=int, default=32, help="questions in a batch (default: %(default)s)")
    add("--cuda-device", type=int, default=-1, help="the number of a GPU, or -1 (default) for the CPU")


def run(args: argparse.Namespace) -> None:
    check_at_least_one(args, "--batch-size")
    predictor = Predictor.from_archive(load_archive(args.archive, cuda_device=args.cuda_device))
    if not isinstance(predictor, SquadPredictor):
        raise BiLmError(f"{args.archive}: the model is of another task than SQuAD")
    instances, refused = _questions(args.data, predictor)
    for reason in refused:
        print(f"left out: {reason}", file=sys.stderr)
    answers: dict[str, str] = {}
    with torch.inference_mode(), progress_bar(total=len(instances), unit="question") as bar:
        for start in range(0, len(instances), args.batch_size):
            batch = instances[start : start + args.batch_size]
            answers |= {each["id"]: each["answer"] for each in predictor.predict_batch_instance(batch)}
            bar.update(len(batch))
    write_json(args.output, answers)
    left_out = f"; {len(refused):,} questions could not be read" if refused else ""
    print(f"{args.output}: {len(answers):,} answers{left_out}")


def _questions(path: str, predictor: SquadPredictor) -> tuple[list[Instance], list[str]]:
    """
    Returns an instance of each question, without its answers, and a sentence for each that is too long or
    cannot be split into words. Raises `ConfigurationError` where there is none.
    """
    reader = cast(SquadReader, predictor._dataset_reader)
    instances, refused = [], []
    for paragraph in read_squad(path, **reader.options):
        for question in paragraph.questions:
            try:
                tokenized = reader.tokenize(paragraph.text)
                instance = reader.text_to_instance(tokenized, question._replace(answers=[]))
                predictor.check_length(instance)
                instances.append(instance)
            except ConfigurationError as error:
                refused.append(f"{paragraph.location}, question {question.id}: {error}")
    if not instances:
        raise ConfigurationError(refused[0] if refused else f"{path}: this file has no questions")
    return instances, refused


COMMAND = Command(
    description="Answer all questions of a file of SQuAD 1.1, and write the answers by the ids of the "
    "questions, as its official script and `elmo score squad` read them. DATA needs no answers. Questions "
    "that are too long for the model are named and left out.",
    add_arguments=add_arguments,
    run=run,
)
