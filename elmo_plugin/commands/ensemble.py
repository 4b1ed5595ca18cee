"""`elmo ensemble`: makes one archive from several trained models of a task."""

import argparse
from collections.abc import Sequence
from typing import Any

from allennlp.common.params import remove_keys_from_params
from allennlp.models import Archive

from elmo_plugin.archives import load_archive, write_archive
from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.streams import show
from elmo_plugin.tasks import Ensemble


def run(args: argparse.Namespace) -> None:
    archives = args.archives
    if len(archives) < 2:
        raise BiLmError(f"ARCHIVE: expected two or more, got {archives[0]}")
    loaded = [load_archive(archive, trust=args.trust) for archive in archives]
    for path, archive in zip(archives[1:], loaded[1:], strict=True):
        _check_same(archives[0], loaded[0], path, archive)
    ensemble = Ensemble(loaded[0].model.vocab, [archive.model for archive in loaded])
    write_archive(ensemble, _config(loaded), args.output)
    show(f"wrote {args.output}, an ensemble of {len(archives)} models")


def _config(archives: Sequence[Archive]) -> dict[str, Any]:
    members = [archive.config["model"] for archive in archives]
    for member in members:
        remove_keys_from_params(member)  # files for training alone; AllenNLP does not find them in lists
    model = {"type": "ensemble", "members": [member.as_dict(quiet=True) for member in members]}
    return {**archives[0].config.as_dict(quiet=True), "model": model}


def _check_same(first_path: str, first: Archive, path: str, archive: Archive) -> None:
    """Raises `BiLmError` if a model cannot be in one ensemble with the first."""
    configs = [each.config.as_dict(quiet=True) for each in (first, archive)]
    types = [config["model"]["type"] for config in configs]
    if types[0] != types[1]:
        raise BiLmError(f"archive {path}: its model is a {types[1]}, but {first_path} has a {types[0]}")
    for reader in ("dataset_reader", "validation_dataset_reader"):
        if configs[0].get(reader) != configs[1].get(reader):
            raise BiLmError(f"archive {path}: its {reader} differs from {first_path}")
    words = [
        {name: vocab.get_index_to_token_vocabulary(name) for name in vocab.get_namespaces()}
        for vocab in (first.model.vocab, archive.model.vocab)
    ]
    for namespace in sorted(words[0].keys() | words[1].keys()):
        if words[0].get(namespace) != words[1].get(namespace):
            raise BiLmError(f"archive {path}: its vocabulary has other {namespace} than {first_path}")
