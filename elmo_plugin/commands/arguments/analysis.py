"""The arguments of the commands that look into models, and into the installation."""

import argparse

from elmo_plugin.commands.command import Command
from elmo_plugin.commands.options import ARCHIVE, BILM, InputPath, TextPath, add_number, add_options

TIES = ("frequent", "first", "rare")


def _add_weights(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("archives", nargs="+", **ARCHIVE)
    add_options(parser, "--plot", "--json")


def _add_probe(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("bilm", **BILM)
    about = "the training data: a word and its tag per line, blank lines between sentences (or .gz, .zst)"
    add("train", type=TextPath, metavar="TRAIN", help=about)
    add("test", type=TextPath, metavar="TEST", help="the test data, in the same format")
    add_number(parser, "--epochs", 10, "number of epochs of each training")
    add_options(parser, "--mix", action="append", default=[])
    add_options(parser, "--seeds", "--controls", "--json", "--device", "--precision", "--cache", "--trust")


def _add_senses(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("bilm", **BILM)
    about = "the training corpus, with senses: JSON lines (or .gz, .zst), or .data.xml with its .gold.key.txt"
    add("train", type=TextPath, metavar="TRAIN", help=about)
    about = "corpora that are scored, in the same formats"
    add("tests", type=TextPath, metavar="TEST", nargs="+", help=about)
    about = "one sense per line: lemma, part of speech, rank and key, with tabs (default: nltk's WordNet)"
    add("--first-senses", type=InputPath, metavar="FILE", help=about)
    about = "which of equally near senses is taken, by the training corpus (default: %(default)s)"
    add("--ties", choices=TIES, default=TIES[0], help=about)
    add_options(parser, "--mix", action="append", default=[])
    add_options(parser, "--controls", "--json", "--device", "--precision", "--cache", "--trust")


COMMANDS = (
    Command(
        "weights",
        "Show how much each layer of the biLM counts in trained models. Prints gamma and the normalized "
        "weights for each placement of ELMo; models without ELMo are skipped.",
        "elmo weights run/model.tar.gz\nelmo weights runs/*/model.tar.gz --plot weights.png",
        _add_weights,
    ),
    Command(
        "probe",
        "Probe each layer of a biLM with a linear classifier of tags. It prints the accuracies on other "
        "data and on a control task with random tags for each word (Hewitt and Liang, 2019), and the "
        "accuracies of guesses without vectors. Give --mix once for each model whose mix is also probed.",
        "elmo probe base train.txt test.txt\n"
        "elmo probe base train.txt test.txt --mix run/model.tar.gz --seeds 3,7 --json",
        _add_probe,
        needs_allennlp=True,
    ),
    Command(
        "senses",
        "Measure how well a biLM's layers tell the senses of words. Each word gets the sense of its lemma "
        "with the nearest mean vector over a training corpus, or its first sense if the lemma is not there. "
        "Prints the F1 of each layer, of their mean, and of the first sense of all words.",
        "elmo senses base train.jsonl test.jsonl --first-senses senses.txt\n"
        "elmo senses base train.data.xml test.data.xml --controls --json scores.json",
        _add_senses,
        needs_allennlp=True,
    ),
    Command(
        "doctor",
        "Print the versions of packages, and those that each command lacks. Ends with status 1 if a command "
        "cannot run.",
        "elmo doctor\nelmo doctor > report.txt",
    ),
)
