"""The arguments of the commands for trained models of tasks."""

import argparse
import os
import re

from elmo_plugin.commands.command import Command, output_paths
from elmo_plugin.commands.options import (
    ARCHIVE,
    STANDARD_OUTPUT,
    ArchivePath,
    InputPath,
    OutputPath,
    TextPath,
    add_number,
    add_options,
)
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.outputs import is_special
from elmo_plugin.predictions import FORMATS

MAX_CHARACTERS = 10_000
_FILE = re.compile(r"\S+\.(txt|tsv|csv|jsonl?|ndjson)(\.gz|\.zst)?", re.IGNORECASE)
SCORED = {
    "coref": ("KEY", "RESPONSE"),
    "squad": ("DATA", "PREDICTIONS"),
    "srl": ("GOLD", "SYSTEM"),
    "ner": ("TAGGED",),
}
"""The files that each scorer reads."""


def _add_predict(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("archive", **ARCHIVE)
    about = (
        "the input of the task, in its order: a sentence or a document; a passage and a question; a premise "
        "and a hypothesis; or a JSON object. Or a file, or - for standard input: each line is a text, two "
        "texts with a tab between them, or a JSON object"
    )
    add("texts", metavar="TEXT", nargs="*", help=about)
    about = "archive of the tagger that finds the predicates of sentences, for semantic roles"
    add("--predicates", type=ArchivePath, metavar="ARCHIVE", help=about)
    add_options(parser, "-o/--output", "--json", "--device", "--trust")
    add_options(parser, "--batch-size", default=32)
    group = parser.add_argument_group("all questions of a file")
    about = "answer the questions of this file, in SQuAD 1.1's JSON (plain, .gz or .zst)"
    group.add_argument("--squad", type=TextPath, metavar="FILE", help=about)


def _predict_outputs(args: argparse.Namespace) -> list[OutputPath]:
    """Returns the files. The command prints predictions to standard output itself."""
    return [path for path in output_paths(args) if path != STANDARD_OUTPUT]


def _check_predict(args: argparse.Namespace) -> None:
    if bool(args.squad) == bool(args.texts):
        raise BiLmError("expected TEXT, or --squad FILE")
    if args.squad:
        return
    if args.output and args.json:
        raise BiLmError("expected --output or --json, got both")
    is_known = not args.output or args.output.lower().endswith(FORMATS) or is_special(args.output)
    if not is_known:
        raise BiLmError(f"--output: expected a file in {', '.join(FORMATS)}, got {args.output}")
    for text in args.texts:
        if os.path.isdir(text):
            raise BiLmError(f"TEXT: {text} is a directory; name a file of texts")
        if os.path.isfile(text) and len(args.texts) > 1:
            raise BiLmError(f"TEXT: {text} is a file; its lines are read if it is the only TEXT")
        if _FILE.fullmatch(text) and not os.path.exists(text):
            raise BiLmError(f"TEXT: file not found: {text}")


def _add_demo(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("archives", nargs="*", **ARCHIVE)
    add_options(parser, "--bilm", "--trust")
    about = "address to serve at (default: %(default)s, this machine)"
    add("--host", default="127.0.0.1", metavar="ADDRESS", help=about)
    about = "port to serve at; 0 for any that is free (default: %(default)s)"
    add("--port", type=int, default=8000, metavar="N", help=about)
    add("--open", action="store_true", help="open the page in a browser")
    add_number(parser, "--max-characters", MAX_CHARACTERS, "maximum length of a text")


def _add_score(parser: argparse.ArgumentParser) -> None:
    about = "; ".join(f"{task} {' '.join(names)}" for task, names in SCORED.items())
    parser.add_argument("task", choices=SCORED, metavar="TASK", help=f"and its files: {about}")
    about = "the gold data and the output of the system, for ner in one file (plain, .gz or .zst)"
    parser.add_argument("files", type=TextPath, nargs="+", metavar="FILE", help=about)
    add_options(parser, "--json")


def _add_ensemble(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("archives", nargs="+", **ARCHIVE)
    add_options(parser, "-o/--output", required=True)
    add_options(parser, "--trust")


def _add_port(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    about = "configuration (Jsonnet, or JSON with comments; - for standard input) or model.tar.gz"
    add("source", type=InputPath, metavar="OLD", help=about)
    add_options(parser, "-o/--output", default="-")
    about = "value of std.extVar(NAME); others stay"
    add("--ext-var", action="append", default=[], metavar="NAME=VALUE", help=about)
    add("--native", action="store_true", help="make elmo_token_embedder this package's elmo")
    about = "also make reader, vocabulary, model and trainer, and run one batch"
    add("--dry-run", action="store_true", help=about)


COMMANDS = (
    Command(
        "predict",
        "Show the predictions of a trained model for a text or for each line of a file. They are in colour "
        "on a terminal; --output gets .jsonl, .html, .csv with a row for each entity, role, mention, answer "
        "or label, or .conll, which has entities, roles or mentions as `elmo score` reads them. With "
        '--squad, all questions of a file are answered, and --output gets {"id": "answer", …}, as `elmo '
        "score squad` reads it; questions that are too long for the model are reported and skipped.",
        "elmo predict ner 'Ada moved to Lisbon.'\n"
        "elmo predict sentiment reviews.txt -o sentiment.csv\n"
        "elmo predict run/model.tar.gz --squad dev.json -o answers.json",
        _add_predict,
        needs_allennlp=True,
        outputs=_predict_outputs,
        check_arguments=_check_predict,
    ),
    Command(
        "demo",
        "Show what trained models and a biLM do, on a page of this machine; without either, "
        "everything in this package. Models of one task are side by side in its tab; a biLM has its own.",
        "elmo demo\nelmo demo runs/*/model.tar.gz --bilm base --port 0",
        _add_demo,
    ),
    Command(
        "score",
        "Score the output of a system like the official scorer of its task. coref: columns of CoNLL-2012 or "
        "JSON lines, like the reference scorer (v8.01). squad: SQuAD 1.1's JSON, and an object with the "
        "answer to each question, like the official script. srl: props, CoNLL-2012 or JSON lines, like "
        "srl-eval.pl of CoNLL-2005. ner: one word per line, its gold tag and the system's in the last two "
        "columns, like conlleval.pl.",
        "elmo score squad dev.json answers.json\nelmo score ner tagged.txt --json scores.json",
        _add_score,
        needs_allennlp=True,
    ),
    Command(
        "ensemble",
        "Put several trained models of a task into one archive. It predicts their average, also by `allennlp "
        "predict`. They need the same vocabularies and dataset readers: train them with different seeds.",
        "elmo ensemble runs/ner/*/model.tar.gz -o ensemble.tar.gz\n"
        "elmo ensemble one.tar.gz two.tar.gz --output both.tar.gz",
        _add_ensemble,
        needs_allennlp=True,
    ),
    Command(
        "port",
        "Change a configuration or archive of AllenNLP 0.x or 1.x for AllenNLP 2.10.1. Each change, and each "
        "part that is left to do, is printed; the output is standard output by default.",
        "elmo port old.jsonnet -o new.json\nelmo port model.tar.gz -o new.tar.gz",
        _add_port,
        needs_allennlp=True,
    ),
)
