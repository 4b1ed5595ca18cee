"""`allennlp elmo-probe`: what a linear classifier finds in each layer of a biLM."""

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError
from overrides import overrides

from elmo_plugin.analysis import CachedVectors, Subject, controls, layer_mixes
from elmo_plugin.analysis.probes import GuessedTags, ProbeScore, TaggedSentence, probe_layers, read_tagged
from elmo_plugin.bilm import load_bilm
from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.files import write_json
from elmo_plugin.embedding.cache import SqliteCache


@Subcommand.register("elmo-probe")
class ElmoProbe(Subcommand):
    """Prints the accuracy of each layer."""

    @overrides
    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = parser.add_parser(
            self.name,
            description="Train a linear classifier of tags on the frozen vectors of each layer of a biLM "
            "and on their mean. Prints its accuracy on other data, that of a control task with random tags "
            "for each word (Hewitt and Liang, 2019), and how far one comes without vectors.",
            help="What a linear classifier finds in each layer of a biLM.",
        )
        add = subparser.add_argument
        add("bilm", metavar="BILM", help="tiny, original, …, the archive of a trained biLM, or a folder")
        about = "a word and its tag a line, blank lines between sentences (plain, .gz or .zst)"
        add("train", metavar="TRAIN", help=f"what is trained on: {about}")
        add("test", metavar="TEST", help="what is scored, in the same format")
        add("--seeds", type=int, default=3, metavar="N", help="train with the seeds 1 to N (default: 3)")
        add("--epochs", type=int, default=10, metavar="N", help="of each training (default: 10)")
        add("--mix", metavar="ARCHIVE", nargs="+", default=[], help="models whose mixes are probed, too")
        about = "probe a random biLM of the same sizes, and the counts of a word's characters, too"
        add("--controls", action="store_true", help=about)
        about = "where the biLM's vectors are kept for the next time (see docs/cache.md)"
        add("--cache", metavar="DIR", help=about)
        add("--json", metavar="FILE", help="what is printed, as JSON")
        subparser.set_defaults(func=_command)
        return subparser


def _command(args: argparse.Namespace) -> None:
    show_probes(
        args.bilm,
        args.train,
        args.test,
        args.seeds,
        args.epochs,
        args.mix,
        args.json,
        args.controls,
        args.cache,
    )


def show_probes(
    bilm: str,
    train: str,
    test: str,
    seeds: int = 3,
    epochs: int = 10,
    archives: Sequence[str] = (),
    json: str | None = None,
    with_controls: bool = False,
    cache: str | None = None,
) -> None:
    """
    Prints, and writes, what a linear classifier finds in each layer of a biLM.

    # Parameters

    bilm : `str`
        A name, an archive or a folder, see `load_bilm`.
    train, test : `str`
        See `read_tagged`.
    seeds : `int`, optional (default = `3`)
        Trains with the seeds from 1 to this number.
    epochs : `int`, optional (default = `10`)
        Of each training.
    archives : `Sequence[str]`, optional (default = `()`)
        Models whose mixes are probed, too, see `layer_mixes`.
    json : `str | None`, optional (default = `None`)
        A file that gets `majority` and `word`, the accuracies without vectors, and for each layer the
        `accuracies` and those of the `control` task, from 0 to 1, one for each seed.
    with_controls : `bool`, optional (default = `False`)
        Whether `controls` are probed, too.
    cache : `str | None`, optional (default = `None`)
        The folder of an `SqliteCache` for the biLM's vectors.

    Raises `ConfigurationError` where something cannot be read, or the training data have one tag alone.
    """
    for option, value in (("seeds", seeds), ("epochs", epochs)):
        if value < 1:
            raise ConfigurationError(f"--{option} must be at least 1, not {value}")
    if json and Path(json).is_dir():
        raise ConfigurationError(f"{json} is a directory; name a file to be written")
    of_train, of_test = _read(train), _read(test)
    if len({tag for sentence in of_train for tag in sentence.tags}) == 1:
        raise ConfigurationError(f"{train}: all words have the same tag; there is nothing to be learned")
    with as_configuration_error("BILM"):
        loaded = load_bilm(bilm)
    with as_configuration_error():
        mixes = layer_mixes(loaded, archives)
    subjects = [Subject(CachedVectors(loaded, SqliteCache(cache)) if cache else loaded, mixes)]
    subjects += controls(loaded, mixes) if with_controls else []
    scores = [
        score
        for subject in subjects
        for score in probe_layers(subject, of_train, of_test, seeds=range(1, seeds + 1), epochs=epochs)
    ]
    guessed = GuessedTags(of_train)
    without = {
        "majority": guessed.accuracy_of_majority(of_test),
        "word": guessed.accuracy_of_words(of_test),
    }
    print(table(without, scores))
    if json:
        write_json(json, figures(without, scores))


def _read(path: str) -> list[TaggedSentence]:
    sentences = list(read_tagged(path))
    if not sentences:
        raise ConfigurationError(f"{path}: there is no word in this file")
    return sentences


def table(without: dict[str, float], scores: Sequence[ProbeScore]) -> str:
    """Returns lines with accuracies in percent, and their spread over seeds."""
    width = max(len(score.name) for score in scores) + 2
    lines = [f"{name:{width}}{100 * accuracy:6.2f}" for name, accuracy in without.items()]
    lines.append(f"{'':{width}}accuracy         control  selectivity")
    for score in scores:
        mean = f"{100 * statistics.mean(score.accuracies):6.2f}"
        spread = f" ± {100 * statistics.stdev(score.accuracies):.2f}" if len(score.accuracies) > 1 else ""
        control = 100 * statistics.mean(score.control)
        lines.append(
            f"{score.name:{width}}{mean + spread:16} {control:7.2f}  {100 * score.selectivity:11.2f}"
        )
    return "\n".join(lines)


def figures(without: dict[str, float], scores: Sequence[ProbeScore]) -> dict[str, Any]:
    """Returns all accuracies, those of layers by their names."""
    layers = {score.name: {"accuracies": score.accuracies, "control": score.control} for score in scores}
    return {**without, "layers": layers}
