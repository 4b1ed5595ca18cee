"""Put several trained models of a task into one archive. It predicts their average, also by
`allennlp predict`. They need the same vocabularies and dataset readers: train them with different
seeds.

    elmo ensemble runs/ner/*/model.tar.gz -o ensemble.tar.gz
    elmo ensemble one.tar.gz two.tar.gz --output both.tar.gz
"""

import argparse
from typing import Any

from elmo_plugin.commands.options import add_shared
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.streams import show

NEEDS = "allennlp"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "archives", nargs="+")
    add_shared(parser, "--output", required=True)
    add_shared(parser, "--trust")


def run(args: argparse.Namespace) -> None:
    from allennlp.common.params import remove_keys_from_params

    from elmo_plugin.archives import load_archive, write_archive
    from elmo_plugin.tasks import Ensemble

    if len(args.archives) < 2:
        raise BiLmError(f"ARCHIVE: expected two or more, got {args.archives[0]}")
    loaded = [load_archive(archive, trust=args.trust) for archive in args.archives]
    for path, archive in zip(args.archives[1:], loaded[1:], strict=True):
        _check_same(args.archives[0], loaded[0], path, archive)
    members = [archive.config["model"] for archive in loaded]
    for member in members:
        remove_keys_from_params(
            member
        )  # files for training alone; AllenNLP does not find them in lists
    model = {"type": "ensemble", "members": [member.as_dict(quiet=True) for member in members]}
    config = {**loaded[0].config.as_dict(quiet=True), "model": model}
    write_archive(
        Ensemble(loaded[0].model.vocab, [each.model for each in loaded]), config, args.output
    )
    show(f"wrote {args.output}, an ensemble of {len(loaded)} models")


def _check_same(first_path: str, first: Any, path: str, archive: Any) -> None:
    """Raises `BiLmError` if a model cannot be in one ensemble with the first."""
    configs = [each.config.as_dict(quiet=True) for each in (first, archive)]
    types = [config["model"]["type"] for config in configs]
    if types[0] != types[1]:
        raise BiLmError(
            f"archive {path}: its model is a {types[1]}, but {first_path} has a {types[0]}"
        )
    for reader in ("dataset_reader", "validation_dataset_reader"):
        if configs[0].get(reader) != configs[1].get(reader):
            raise BiLmError(f"archive {path}: its {reader} differs from {first_path}")
    words = [
        {name: vocab.get_index_to_token_vocabulary(name) for name in vocab.get_namespaces()}
        for vocab in (first.model.vocab, archive.model.vocab)
    ]
    for namespace in sorted(words[0].keys() | words[1].keys()):
        if words[0].get(namespace) != words[1].get(namespace):
            raise BiLmError(
                f"archive {path}: its vocabulary has other {namespace} than {first_path}"
            )
