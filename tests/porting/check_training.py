"""Trains what `elmo port` wrote for an epoch, with stand-ins for data and weights."""

from pathlib import Path

from allennlp.commands.train import train_model
from allennlp.common import Params

from elmo_plugin.porting.dry_run import spacy_stand_in, with_stand_ins


def train_an_epoch(path: Path, data: Path) -> None:
    folder = path.parent / "stand_ins"
    folder.mkdir()
    config = with_stand_ins(Params.from_file(str(path)).as_dict(quiet=True), str(data), "tiny", folder, str)
    config["trainer"]["num_epochs"] = 1
    config["validation_data_path"] = config["train_data_path"]
    with spacy_stand_in(str):
        train_model(Params(config), str(path.parent / "run"), force=True)
    assert (path.parent / "run" / "model.tar.gz").exists()
