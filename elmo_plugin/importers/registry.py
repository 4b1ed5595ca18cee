"""The importer of each task."""

from typing import Any

from elmo_plugin.importers.classify import ClassifyImporter
from elmo_plugin.importers.ner import NerImporter, TagImporter
from elmo_plugin.importers.pairs import PairImporter
from elmo_plugin.importers.task_importer import TaskImporter

IMPORTERS: dict[str, TaskImporter[Any]] = {
    "ner": NerImporter(),
    "tag": TagImporter(),
    "snli": PairImporter(),
    "sst": ClassifyImporter(),
    "classify": ClassifyImporter(),
}
