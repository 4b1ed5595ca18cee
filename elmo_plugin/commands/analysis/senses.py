"""`allennlp elmo-senses`: how well a biLM's layers tell the senses of words."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError
from overrides import overrides

from elmo_plugin.analysis import Subject, controls, layer_mixes
from elmo_plugin.analysis.senses import (
    TIES,
    NearestSense,
    SenseScore,
    WordNetFirstSenses,
    read_first_senses,
    read_senses,
    score_senses,
)
from elmo_plugin.bilm import load_bilm
from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.files import write_json


@Subcommand.register("elmo-senses")
class ElmoSenses(Subcommand):
    """Prints the F1 of each layer."""

    @overrides
    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = parser.add_parser(
            self.name,
            description="Give each word the sense, among those of its lemma, whose mean vector over a "
            "training corpus is the nearest, by each layer of a biLM; lemmas that the training corpus does "
            "not have get their first sense. Prints the F1 of each layer, of their mean, and of the first "
            "sense of all words.",
            help="How well a biLM's layers tell the senses of words.",
        )
        add = subparser.add_argument
        about = "with senses: JSON lines (plain, .gz or .zst), or .data.xml with its .gold.key.txt next to it"
        add("bilm", metavar="BILM", help="tiny, original, …, the archive of a trained biLM, or a folder")
        add("train", metavar="TRAIN", help=f"the training corpus, {about}")
        add("test", metavar="TEST", nargs="+", help="corpora that are scored, of the same formats")
        about = "a sense a line: lemma, part of speech, rank and key, with tabs (default: nltk's WordNet)"
        add("--first-senses", metavar="FILE", help=about)
        about = "models whose mixes of the layers are scored, too (see elmo-weights)"
        add("--mix", metavar="ARCHIVE", nargs="+", default=[], help=about)
        about = "score a random biLM of the same sizes, and the counts of a word's characters, too"
        add("--controls", action="store_true", help=about)
        about = "which of equally near senses is given, by the training corpus (default: frequent)"
        add("--ties", choices=TIES, default="frequent", help=about)
        add("--json", metavar="FILE", help="what is printed, as JSON")
        subparser.set_defaults(func=_command)
        return subparser


def _command(args: argparse.Namespace) -> None:
    show_senses(
        args.bilm,
        args.train,
        args.test,
        args.first_senses,
        args.mix,
        args.json,
        args.controls,
        args.ties,
    )


def show_senses(
    bilm: str,
    train: str,
    tests: Sequence[str],
    first_senses: str | None = None,
    archives: Sequence[str] = (),
    json: str | None = None,
    with_controls: bool = False,
    ties: str = "frequent",
) -> None:
    """
    Prints, and writes, how well the layers of a biLM tell the senses of words.

    # Parameters

    bilm : `str`
        A name, an archive or a folder, see `load_bilm`.
    train : `str`
        The corpus whose senses have mean vectors, see `read_senses`.
    tests : `Sequence[str]`
        The corpora that are scored.
    first_senses : `str | None`, optional (default = `None`)
        See `read_first_senses`; without it, those of nltk's WordNet.
    archives : `Sequence[str]`, optional (default = `()`)
        Models whose mixes are scored, too, see `layer_mixes`.
    json : `str | None`, optional (default = `None`)
        A file that gets an object for each corpus, with `f1`, from 0 to 1, `correct`, `answered` and `total`
        of each layer.
    with_controls : `bool`, optional (default = `False`)
        Whether `controls` are scored, too.
    ties : `str`, optional (default = `"frequent"`)
        Which of equally near senses is given, see `NearestSense`.

    Raises `ConfigurationError` where something cannot be read.
    """
    if json and Path(json).is_dir():
        raise ConfigurationError(f"{json} is a directory; name a file to be written")
    first = read_first_senses(first_senses) if first_senses else WordNetFirstSenses()
    with as_configuration_error("BILM"):
        loaded = load_bilm(bilm)
    with as_configuration_error():
        mixes = layer_mixes(loaded, archives)
    scores: dict[str, list[SenseScore]] = {test: [] for test in tests}
    for subject in [Subject(loaded, mixes), *(controls(loaded, mixes) if with_controls else [])]:
        model = NearestSense(*subject, ties)
        if not model.fit(read_senses(train)):
            raise ConfigurationError(f"{train}: there is no word with a sense in this file")
        for test, of_test in scores.items():
            of_first, *of_layers = score_senses(model, subject.mixes.names, read_senses(test), first)
            of_test += of_layers if of_test else [of_first, *of_layers]
    for test, of_test in scores.items():
        if not of_test[0].total:
            raise ConfigurationError(f"{test}: there is no word with a sense in this file")
        print(f"{test}: {of_test[0].total:,} words\n{table(of_test)}\n")
    if json:
        write_json(json, {test: figures(of_test) for test, of_test in scores.items()})


def table(scores: Sequence[SenseScore]) -> str:
    """Returns a line for each score, with its F1 in percent."""
    width = max(len(score.name) for score in scores)
    return "\n".join(f"{score.name:{width}}  {100 * score.f1:6.2f}" for score in scores)


def figures(scores: Sequence[SenseScore]) -> dict[str, dict[str, float]]:
    """Returns the counts and the F1 of each, by its name."""
    return {
        score.name: {
            "f1": score.f1,
            "correct": score.correct,
            "answered": score.answered,
            "total": score.total,
        }
        for score in scores
    }
