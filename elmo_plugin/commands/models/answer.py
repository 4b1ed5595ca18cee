"""`allennlp elmo-answer`: the answers to all questions of a file of SQuAD."""

import argparse
from pathlib import Path

import torch
from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError
from allennlp.models import load_archive
from allennlp.predictors import Predictor
from overrides import overrides
from tqdm import tqdm

from elmo_plugin.common.files import write_json
from elmo_plugin.tasks.squad import SquadPredictor


@Subcommand.register("elmo-answer")
class ElmoAnswer(Subcommand):
    """Writes a file of answers."""

    @overrides
    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = parser.add_parser(
            self.name,
            description="Answer all questions of a file of SQuAD 1.1, and write the answers by the ids of "
            "the questions, as its official script and `allennlp elmo-score squad` read them.",
            help="Answer the questions of a file of SQuAD.",
        )
        add = subparser.add_argument
        add(
            "archive",
            metavar="ARCHIVE",
            help="the model.tar.gz of a model of SQuAD, or an ensemble",
        )
        add("data", metavar="DATA", help="the questions, in SQuAD 1.1's JSON (plain, .gz or .zst)")
        add("-o", "--output", required=True, metavar="FILE", help='gets {"id": "answer", ...}')
        add("--batch-size", type=int, default=32, help="questions in a batch (default: %(default)s)")
        add("--cuda-device", type=int, default=-1, help="the number of a GPU, or -1 (default) for the CPU")
        subparser.set_defaults(func=_command)
        return subparser


def _command(args: argparse.Namespace) -> None:
    answer(args.archive, args.data, args.output, args.batch_size, args.cuda_device)


def answer(archive: str, data: str, output: str, batch_size: int = 32, cuda_device: int = -1) -> None:
    """
    Answers all questions of a file, and writes the answers, whole or not at all.

    # Parameters

    archive : `str`
        An archive, or the directory of a training, of a model of SQuAD.
    data : `str`
        The JSON of SQuAD 1.1; it need not have answers.
    output : `str`
        The file that is written: a JSON object with the answer to each question, by its id.
    batch_size : `int`, optional (default = `32`)
        The number of questions that are answered together.
    cuda_device : `int`, optional (default = `-1`)
        The number of a GPU; -1 is the CPU.

    Raises `ConfigurationError` where the archive is of another task, or the data are not as they should be.
    """
    if batch_size < 1:
        raise ConfigurationError(f"--batch-size must be at least 1, not {batch_size}")
    if Path(output).is_dir():
        raise ConfigurationError(f"{output} is a directory; name a file to be written")
    predictor = Predictor.from_archive(load_archive(archive, cuda_device=cuda_device))
    if not isinstance(predictor, SquadPredictor):
        raise ConfigurationError(f"{archive}: the model is of another task than SQuAD")
    instances = list(predictor._dataset_reader.read(data))
    answers: dict[str, str] = {}
    with torch.inference_mode():
        for start in tqdm(range(0, len(instances), batch_size), unit="batch"):
            batch = instances[start : start + batch_size]
            answers |= {each["id"]: each["answer"] for each in predictor.predict_batch_instance(batch)}
    write_json(output, answers)
    print(f"{output}: {len(answers):,} answers")
