"""
Compares a configuration with the registered classes, without making any of them. One walk pairs
each value with the type that it is for; two judges take the pairs: `mistakes` is for trainings,
`refused` for archives, because an archive must be data.
"""

from elmo_plugin.config_check.archive_judge import is_data, refused, refused_predictor
from elmo_plugin.config_check.classes import PASSED, VARIABLE, options_of
from elmo_plugin.config_check.training_judge import (
    NO_SPACY_MODEL,
    Mistake,
    NumberInText,
    check,
    mistakes,
)
