"""Natural language inference: the ESIM of Chen et al. (2017) on SNLI."""

from elmo_plugin.tasks.snli.dataset_reader import SnliReader
from elmo_plugin.tasks.snli.model import SnliEsim, SnliPredictor
