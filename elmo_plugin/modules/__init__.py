"""What several task models share."""

from elmo_plugin.modules.contextual_encoder import ContextualEncoder
from elmo_plugin.modules.variational_bilstm import VariationalBiLstm

__all__ = ["ContextualEncoder", "VariationalBiLstm"]
