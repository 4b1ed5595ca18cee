"""
Compares a configuration with the registered classes, without making any of them. One walk pairs
each value with the type that it is for; three judges take the pairs: `mistakes` is for trainings,
`refused_in_archive` for archives, because an archive must be data, and `refused_in_dry_run` for
configurations from elsewhere. Only `try_training` makes the objects of a configuration, for a dry
run of it.
"""

from elmo_plugin.config_check.archive_judge import refused_in_archive, refused_predictor
from elmo_plugin.config_check.classes import PASSED_BY_ALLENNLP, VARIABLE
from elmo_plugin.config_check.dry_run import try_training
from elmo_plugin.config_check.training_judge import (
    NO_SPACY_MODEL,
    Mistake,
    NumberInText,
    mistakes,
    raise_for_mistakes,
)
