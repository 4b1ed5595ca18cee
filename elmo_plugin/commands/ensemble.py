"""Put several trained models of a task into one archive. It predicts their average, also by
`allennlp predict`. The models need the same vocabularies and dataset readers: train them with
different seeds.

    elmo ensemble runs/ner/*/model.tar.gz -o ensemble.tar.gz
    elmo ensemble one.tar.gz two.tar.gz --output both.tar.gz
"""

import argparse
from typing import TYPE_CHECKING

from elmo_plugin.commands.options import add_shared
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.streams import show

if TYPE_CHECKING:
    from allennlp.data import Vocabulary
    from allennlp.models import Archive

NEEDS = "allennlp"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "archives", nargs="+")
    add_shared(parser, "--output", required=True)
    add_shared(parser, "--trust")


def check_arguments(args: argparse.Namespace) -> None:
    """Raises `BiLmError` if there is only one archive."""
    if len(args.archives) < 2:
        raise BiLmError(f"ARCHIVE: expected two or more, got {args.archives[0]}")


def run(args: argparse.Namespace) -> None:
    from allennlp.common.params import remove_keys_from_params

    from elmo_plugin.archives import load_archive, write_archive
    from elmo_plugin.tasks import Ensemble

    archives = [load_archive(path, trust=args.trust) for path in args.archives]
    first_path = args.archives[0]
    first = archives[0]
    for path, archive in zip(args.archives[1:], archives[1:], strict=True):
        _check_fits_first(path, archive, first_path, first)
    members = []
    for archive in archives:
        model_config = archive.config["model"]
        # When AllenNLP loads a model, it removes options that only a training needs, such as
        # pretrained_file. It does not find such options in a list, and `members` is a list.
        remove_keys_from_params(model_config)
        members.append(model_config.as_dict(quiet=True))
    config = first.config.as_dict(quiet=True)
    config["model"] = {"type": "ensemble", "members": members}
    ensemble = Ensemble(first.model.vocab, [archive.model for archive in archives])
    write_archive(ensemble, config, args.output)
    show(f"wrote {args.output}, an ensemble of {len(archives)} models")


def _check_fits_first(path: str, archive: "Archive", first_path: str, first: "Archive") -> None:
    """
    Raises `BiLmError`, naming `path`, unless an archive has the same type of model, the same
    dataset readers and the same vocabulary as the first archive.
    """
    first_config = first.config.as_dict(quiet=True)
    config = archive.config.as_dict(quiet=True)
    first_type = first_config["model"]["type"]
    model_type = config["model"]["type"]
    if model_type != first_type:
        raise BiLmError(
            f"archive {path}: its model is a {model_type}, but {first_path} has a {first_type}"
        )
    for reader in ("dataset_reader", "validation_dataset_reader"):
        if config.get(reader) != first_config.get(reader):
            raise BiLmError(f"archive {path}: its {reader} differs from {first_path}")
    first_words = _words(first.model.vocab)
    words = _words(archive.model.vocab)
    for namespace in sorted(first_words.keys() | words.keys()):
        if words.get(namespace) != first_words.get(namespace):
            raise BiLmError(
                f"archive {path}: its vocabulary has other {namespace} than {first_path}"
            )


def _words(vocab: "Vocabulary") -> dict[str, dict[int, str]]:
    """Returns the words of each namespace of a vocabulary, by their numbers."""
    return {name: vocab.get_index_to_token_vocabulary(name) for name in vocab.get_namespaces()}
