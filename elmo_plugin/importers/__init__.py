"""The world's files, turned into the one form of a task. It is the only place that guesses."""

from elmo_plugin.common.parts import find_parts
from elmo_plugin.importers.coref import read_scored_coref
from elmo_plugin.importers.import_data import ImportedData, read_data, write_data
from elmo_plugin.importers.languages import looks_english
from elmo_plugin.importers.options import ImportOptions, options_of
from elmo_plugin.importers.registry import IMPORTERS
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.squad import read_questions_to_answer, read_scored_squad
from elmo_plugin.importers.srl import read_scored_srl
from elmo_plugin.importers.tables import read_table
from elmo_plugin.importers.text_column import TEXT_NAMES, read_text_column
from elmo_plugin.importers.untagged import read_untagged

__all__ = [
    "IMPORTERS",
    "TEXT_NAMES",
    "ImportOptions",
    "ImportedData",
    "Report",
    "find_parts",
    "looks_english",
    "options_of",
    "read_data",
    "read_questions_to_answer",
    "read_scored_coref",
    "read_scored_squad",
    "read_scored_srl",
    "read_table",
    "read_text_column",
    "read_untagged",
    "write_data",
]
