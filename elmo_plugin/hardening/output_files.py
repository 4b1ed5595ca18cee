"""What AllenNLP writes next to its weights: each file is replaced only by a complete one.

`allennlp train` writes the configuration and the vocabulary of a run again each time it starts, and
`--recover` cannot read what a kill has left half-written.
"""

import os
import tempfile
from pathlib import Path
from typing import Any

from allennlp.commands import train
from allennlp.common import Params, util
from allennlp.data import Vocabulary
from allennlp.evaluation import evaluator
from allennlp.models import archival
from allennlp.training import util as training_util

from elmo_plugin.common.files import remove_leftovers, replace_when_written

PARAMS_TO_FILE = Params.to_file
VOCABULARY_TO_FILES = Vocabulary.save_to_files
ARCHIVE_MODEL = archival.archive_model
DUMP_METRICS = util.dump_metrics

StrPath = str | os.PathLike[str]


def params_to_file(self: Params, params_file: str, preference_orders: list[list[str]] | None = None) -> None:
    with replace_when_written(params_file) as temporary:
        PARAMS_TO_FILE(self, str(temporary), preference_orders)


def vocabulary_to_files(self: Vocabulary, directory: StrPath) -> None:
    path = Path(directory)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        temporary = Path(folder) / path.name
        VOCABULARY_TO_FILES(self, str(temporary))
        if not path.exists():
            temporary.rename(path)
            return
        for file in temporary.glob("*.txt"):
            file.replace(path / file.name)


def archive_model(
    serialization_dir: StrPath,
    weights: str = "best.th",
    archive_path: StrPath | None = None,
    include_in_archive: list[str] | None = None,
) -> str:
    path = Path(archive_path or serialization_dir)
    if path.is_dir():
        path /= "model.tar.gz"
    with replace_when_written(path) as temporary:
        ARCHIVE_MODEL(serialization_dir, weights, temporary, include_in_archive)
    return str(path)


def dump_metrics(file_path: str | None, metrics: dict[str, Any], log: bool = False) -> None:
    if file_path:
        remove_leftovers(Path(file_path).parent, Path(file_path).name)
        with replace_when_written(file_path) as temporary:
            DUMP_METRICS(str(temporary), metrics)
    DUMP_METRICS(None, metrics, log)


Params.to_file = params_to_file  # type: ignore[method-assign]
Vocabulary.save_to_files = vocabulary_to_files  # type: ignore[method-assign]
archival.archive_model = train.archive_model = archive_model
util.dump_metrics = training_util.dump_metrics = dump_metrics
evaluator.dump_metrics = dump_metrics
