"""The importer of each task."""

from typing import Any

from elmo_plugin.importers.coref import CorefImporter
from elmo_plugin.importers.squad import SquadImporter
from elmo_plugin.importers.srl import SrlImporter
from elmo_plugin.importers.task_importer import TaskImporter

IMPORTERS: dict[str, TaskImporter[Any]] = {
    "coref": CorefImporter(),
    "squad": SquadImporter(),
    "srl": SrlImporter(),
}
