"""The importer of each task."""

from typing import Any

from elmo_plugin.importers.classify import ClassifyImporter
from elmo_plugin.importers.coref import CorefImporter
from elmo_plugin.importers.ner import NerImporter, TagImporter
from elmo_plugin.importers.pairs import PairImporter
from elmo_plugin.importers.squad import SquadImporter
from elmo_plugin.importers.srl import SrlImporter
from elmo_plugin.importers.task_importer import TaskImporter

IMPORTERS: dict[str, TaskImporter[Any]] = {
    "ner": NerImporter(),
    "tag": TagImporter(),
    "srl": SrlImporter(),
    "coref": CorefImporter(),
    "squad": SquadImporter(),
    "snli": PairImporter(),
    "sst": ClassifyImporter(),
    "classify": ClassifyImporter(),
}
