"""`elmo predict`: shows predictions in a terminal, or answers the questions of a file of SQuAD."""

import argparse
import sys
from typing import cast

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance
from allennlp.predictors import Predictor

from elmo_plugin.archives import load_predictor
from elmo_plugin.bilm import BiLmError
from elmo_plugin.commands.command import Command, OutputPath, add_trust, positive_int
from elmo_plugin.common.files import write_json
from elmo_plugin.common.progress import progress_bar
from elmo_plugin.common.streams import show
from elmo_plugin.demo.terminal import show_predictions
from elmo_plugin.tasks.squad import SquadPredictor, SquadReader, read_squad


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("archive", metavar="ARCHIVE", help="model.tar.gz, or the directory, of a trained model")
    about = (
        "the input of the task, in its order: a sentence or a document; a passage and a question; a premise "
        "and a hypothesis; or a JSON object. - reads standard input, one text or JSON object per line"
    )
    add("texts", metavar="TEXT", nargs="+", help=about)
    about = "the archive of the tagger that finds the predicates of sentences, for semantic roles"
    add("--predicates", metavar="ARCHIVE", help=about)
    add("--json", action="store_true", help="print what allennlp predict writes")
    add_trust(parser)

    add = parser.add_argument_group("all questions of a file").add_argument
    about = "TEXT is a file of questions, in SQuAD 1.1's JSON (plain, .gz or .zst)"
    add("--squad", action="store_true", help=about)
    about = 'for --squad: gets {"id": "answer", ...}, as the official script and elmo score squad read it'
    add("-o", "--output", type=OutputPath, metavar="FILE", help=about)
    add("--batch-size", type=positive_int, default=32, metavar="N", help="questions in a batch (default: 32)")
    add("--cuda-device", type=int, default=-1, metavar="N", help="number of a GPU (default: the CPU)")


def run(args: argparse.Namespace) -> None:
    if args.squad != bool(args.output) or (args.squad and len(args.texts) > 1):
        raise BiLmError("--squad needs one file as TEXT, and -o FILE; other predictions are printed")
    if args.squad:
        predictor = load_predictor(args.archive, cuda_device=args.cuda_device, trust=args.trust)
        answer_file(predictor, args.texts[0], args.output, args.batch_size)
    else:
        show_predictions(args.archive, args.texts, args.predicates, args.json, args.trust)


def answer_file(predictor: Predictor, data: str, output: str, batch_size: int) -> None:
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
    show(f"{output}: {len(answers):,} answers, {len(skipped):,} questions skipped")


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


COMMAND = Command(
    description="Show a trained model's predictions for a text, in colour on a terminal. The task is found "
    "from the archive. With --squad, answer all questions of a file of SQuAD 1.1, with or without answers; "
    "questions that are too long for the model are reported and skipped.",
    add_arguments=add_arguments,
    run=run,
)
