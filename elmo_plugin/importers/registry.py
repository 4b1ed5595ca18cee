"""The importer of each task."""

from typing import Any

from elmo_plugin.importers.task_importer import TaskImporter

IMPORTERS: dict[str, TaskImporter[Any]] = {}
