"""Show the predictions of a trained model for a text, or for each line of a file. A terminal shows
them in colour; --json writes JSON lines, or a list to FILE.json; --output writes .jsonl, .json,
.html, .csv with a row for each entity, role, mention, answer or label, or .conll with each word of
a sentence and its tag. --squad answers all questions of a file, and --output then writes
{"id": "answer", …} for `elmo score squad`; it reports and skips questions without a text or an
answer, or too long for the model. If a run that writes a file of predictions for a file of texts is
stopped, start the same command again: it continues, and writes the same file.

    elmo predict ner 'Ada moved to Lisbon.'
    elmo predict sentiment reviews.txt -o sentiment.csv
    elmo predict run/model.tar.gz --squad dev.json -o answers.json
"""

import argparse
import os
import re
import sys
from collections.abc import Iterable, Iterator
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmo_plugin.commands.options import (
    STANDARD_OUTPUT,
    ArchivePath,
    OutputPath,
    TextPath,
    add_shared,
    output_paths,
)
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import is_special, write_json
from elmo_plugin.common.process import torch_threads
from elmo_plugin.common.progress import progress_bar
from elmo_plugin.common.streams import show
from elmo_plugin.common.unfinished import unfinished_path
from elmo_plugin.predictions import FORMATS, check_suffix

if TYPE_CHECKING:
    from allennlp.data import Instance
    from allennlp.predictors import Predictor

    from elmo_plugin.predictions.inputs import Input
    from elmo_plugin.predictions.prediction import Prediction
    from elmo_plugin.predictions.predictor import TextPredictor
    from elmo_plugin.predictions.resumable import PredictorSettings
    from elmo_plugin.tasks.squad import SquadPredictor

NEEDS = "allennlp"
# A TEXT that is meant as the name of a file, whether or not there is such a file.
_LOOKS_LIKE_FILE = re.compile(
    r"\S+\.(txt|md|tsv|csv|jsonl?|ndjson|conllu?|html?|pdf|docx?)(\.gz|\.zst)?|\.*/\S+", re.I
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "archive")
    parser.add_argument(
        "texts",
        metavar="TEXT",
        nargs="*",
        help="the input of the task, in its order: a sentence or a document; a passage and a "
        "question; a premise and a hypothesis; or a JSON object. Or a file, or - for standard "
        "input: each line is a text, two texts with a tab between them, or a JSON object; or a "
        "table with texts, as CSV, or columns with a word in each row. A file beside a question is "
        "its passage; after a passage, each line of a file is a question",
    )
    parser.add_argument(
        "--predicates",
        metavar="ARCHIVE",
        type=ArchivePath,
        help="for semantic roles: archive of the tagger that finds the predicates of sentences",
    )
    add_shared(parser, "--output", "--json", "--device", "--trust")
    add_shared(parser, "--batch-size", default=32)
    add_shared(
        parser,
        "--workers",
        default=1,
        help="number of processes that predict for a file of texts with -o FILE",
    )
    add_shared(parser, "--threads")
    group = parser.add_argument_group("all questions of a file")
    group.add_argument(
        "--squad",
        metavar="FILE",
        type=TextPath,
        help="answer the questions of this file, in SQuAD 1.1's JSON (plain, .gz or .zst)",
    )


def outputs(args: argparse.Namespace) -> list[OutputPath]:
    """
    Returns the files to write, without standard output: the command itself prints predictions
    there.
    """
    return [path for path in output_paths(args) if path != STANDARD_OUTPUT]


def check_arguments(args: argparse.Namespace) -> None:
    """Raises `BiLmError` if arguments do not go together, or a file does not exist."""
    _check_combination(args)
    is_file = args.output and not is_special(args.output)  # the name of a stream has no suffix
    if is_file and args.squad:
        _check_suffix_of_answers(args.output)
    elif is_file:
        check_suffix(args.output)
    for text in args.texts:
        _check_text_or_file(text, args.archive)


def _check_combination(args: argparse.Namespace) -> None:
    """Raises `BiLmError` for arguments that do not go together, or that need another one."""
    if args.squad and args.texts:
        raise BiLmError("expected TEXT or --squad FILE, got both")
    if not args.squad and not args.texts:
        raise BiLmError("expected TEXT (- for standard input), or --squad FILE")
    if args.output and args.json:
        raise BiLmError("expected --output or --json, got both")
    if args.squad and args.predicates:
        raise BiLmError("--predicates is for TEXT, not for --squad")
    # Each process writes parts of the predictions to the folder of an unfinished run. Only a run
    # that can be resumed has such a folder.
    if args.workers > 1 and not _is_resumable(args):
        raise BiLmError("--workers: expected a file of texts, no pipe, and -o FILE")


def _check_text_or_file(text: str, archive: str | Path) -> None:
    """
    Raises `BiLmError` if a TEXT is a directory, or looks like the name of a file but does not
    exist.
    """
    if os.path.isdir(text):
        raise BiLmError(f"TEXT: {text} is a directory; name a file of texts")
    if not _LOOKS_LIKE_FILE.fullmatch(text) or os.path.exists(text):
        return
    hint = ""
    is_quoted_pattern = bool(glob(text))  # the shell replaces other patterns
    if is_quoted_pattern:
        hint = f"; `cat {text} | elmo predict {archive} -` reads several"
    raise BiLmError(f"TEXT: file not found: {text}{hint}")


def _check_suffix_of_answers(output: str) -> None:
    """
    Raises `BiLmError` if the suffix promises a format of predictions other than JSON, such as .csv:
    the answers to --squad are always one object of JSON. All other names are accepted.
    """
    suffix = Path(output).suffix.lower()
    if suffix in FORMATS and suffix != ".json":
        raise BiLmError(f"expected .json, got {output}")


def _output_or_json(args: argparse.Namespace) -> str | None:
    """Returns the file of --output or of --json, or `None` without these options."""
    if args.output:
        return str(args.output)
    if args.json:
        return str(args.json)
    return None


def _is_resumable(args: argparse.Namespace) -> bool:
    """
    Returns whether these arguments allow a stopped run to be resumed: it must read a file of texts,
    no stream, and write predictions to another file.
    """
    output = _output_or_json(args)
    if args.squad or output is None or is_special(output):
        return False
    if any(text == "-" or is_special(text) for text in args.texts):
        return False  # a stream cannot be read again
    return any(os.path.isfile(text) for text in args.texts)


def resume_path(args: argparse.Namespace) -> Path | None:
    """Returns the folder that a stopped run leaves; `None` if it writes no file."""
    output = _output_or_json(args)
    if output is None:
        return None
    return unfinished_path(output)


def run(args: argparse.Namespace) -> None:
    from elmo_plugin.predictions.resumable import PredictorSettings

    settings = PredictorSettings(
        archive=str(args.archive),
        predicates=args.predicates,
        device=args.device,
        trust=args.trust,
        batch_size=args.batch_size,
        threads=args.threads,
    )
    with torch_threads(args.threads):
        predictor = settings.load()
        if args.squad:
            _answer_file(args, predictor.allennlp)
        else:
            _predict_texts(args, predictor, settings)


def _predict_texts(
    args: argparse.Namespace, predictor: "TextPredictor", settings: "PredictorSettings"
) -> None:
    """Shows the predictions for the TEXTs of the command line, or writes them to a file."""
    from elmo_plugin.predictions.files import check_format
    from elmo_plugin.predictions.input_files import count_inputs, inputs_of
    from elmo_plugin.predictions.terminal import show_predictions

    if args.output:
        check_format(args.output, predictor.task)
    if predictor.is_stateful and args.workers > 1:
        raise BiLmError("--workers: this model's ELMo carries a state from batch to batch")
    total = count_inputs(args.texts, predictor.task)
    # An iterator, because millions of inputs would not fit in memory.
    inputs = inputs_of(args.texts, predictor.task)
    batch_size = args.batch_size
    if args.texts == ["-"]:
        batch_size = 1  # if somebody types the lines, each gets its prediction at once
    output = _output_or_json(args)
    # A process that resumes a run begins without the state of the one that was stopped.
    can_be_resumed = _is_resumable(args) and not predictor.is_stateful
    if output is None:
        show_predictions(predictor.predict_each(inputs, batch_size), predictor.dump_line)
    elif can_be_resumed:
        _write_resumable(inputs, total, output, predictor, settings, args.workers)
    else:
        _write_stream(predictor.predict_each(inputs, batch_size), total, output, predictor)


def _write_resumable(
    inputs: "Iterator[Input]",
    total: int | None,
    output: str,
    predictor: "TextPredictor",
    settings: "PredictorSettings",
    workers: int,
) -> None:
    """Writes predictions to a file, and continues a run that was stopped."""
    from elmo_plugin.predictions.resumable import write_resumable

    with progress_bar(total=total, unit="text") as bar:
        count = write_resumable(inputs, output, predictor, settings, workers, bar)
    message = f"{output}: {_count(count.written, 'prediction')}"
    if count.kept:
        message += f", {count.kept:,} of them by an earlier run"
    show(message, file=sys.stderr)


def _write_stream(
    predictions: "Iterable[Prediction]", total: int | None, output: str, predictor: "TextPredictor"
) -> None:
    """Writes predictions as they come, to a file or to standard output."""
    from elmo_plugin.predictions.files import write_predictions

    # Standard output may be the terminal, on which a bar would come between the predictions.
    is_silent = is_special(output)
    with progress_bar(
        iterable=predictions, total=total, unit="text", disable=is_silent
    ) as predictions_with_bar:
        number = write_predictions(predictions_with_bar, output, predictor.allennlp)
    if not is_silent:
        show(f"{output}: {_count(number, 'prediction')}", file=sys.stderr)


def _count(number: int, noun: str) -> str:
    """Returns a number and a noun, in the plural if necessary."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun}s"


def _answer_file(args: argparse.Namespace, predictor: "Predictor") -> None:
    """Writes the answers to all questions of --squad, as an object with an answer for each id."""
    import torch

    from elmo_plugin.tasks.squad import SquadPredictor

    if not isinstance(predictor, SquadPredictor):
        raise BiLmError("--squad: expected a model of SQuAD, got one of another task")
    instances = _read_questions(args.squad, predictor)
    answers: dict[str, str] = {}
    with torch.inference_mode(), progress_bar(total=len(instances), unit="question") as bar:
        for start in range(0, len(instances), args.batch_size):
            batch = instances[start : start + args.batch_size]
            for prediction in predictor.predict_batch_instance(batch):
                answers[prediction["id"]] = prediction["answer"]
            bar.update(len(batch))
    output = _output_or_json(args) or STANDARD_OUTPUT
    write_json(output, answers)
    show(f"{output}: {_count(len(answers), 'answer')}", file=sys.stderr)


def _read_questions(path: str, predictor: "SquadPredictor") -> "list[Instance]":
    """
    Returns an instance for each question of a file, without its gold answers. Prints which
    questions it skips, and why. Raises `ConfigurationError` if none are left, with the first
    reason.
    """
    from allennlp.common.checks import ConfigurationError

    from elmo_plugin.importers import Report, read_questions_to_answer

    reader: Any = predictor._dataset_reader
    report = Report(path)
    instances = []
    skipped = []  # messages that name a question and say why it is skipped
    for example in read_questions_to_answer(path, report):
        try:
            passage = reader.tokenize(example.passage)
            instance = reader.text_to_instance(passage, example.question)
            predictor.check_length(instance)
            instances.append(instance)
        except ConfigurationError as error:
            skipped.append(f"skipped: {path}, {example.place}: {error}")
    # The importer itself leaves out some questions, such as those without a text.
    messages = skipped + list(report.lines(examples="questions"))
    if not instances:
        if messages:
            raise ConfigurationError(messages[0])
        raise ConfigurationError(f"{path}: no questions in this file")
    for message in messages:
        show(message, file=sys.stderr)
    return instances
