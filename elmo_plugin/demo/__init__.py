"""A local page, a report and a terminal's view of what trained models and a biLM do. The extra `demo`."""

from elmo_plugin.demo.archives import LoadedArchive, load_archives
from elmo_plugin.demo.bilm_view import LoadedBiLm
from elmo_plugin.demo.run import show_page, show_predictions, write_report
from elmo_plugin.demo.tabs import TaskTab, make_tabs
from elmo_plugin.demo.tasks import MAX_CHARACTERS, MAX_WORDS, Limits

__all__ = [
    "MAX_CHARACTERS",
    "MAX_WORDS",
    "Limits",
    "LoadedArchive",
    "LoadedBiLm",
    "TaskTab",
    "load_archives",
    "make_tabs",
    "show_page",
    "show_predictions",
    "write_report",
]
