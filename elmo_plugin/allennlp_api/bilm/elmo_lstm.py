"""The LSTMs of a biLM under the names of AllenNLP's `ElmoLstm`, and the state that they carry."""

from typing import cast

from torch import nn

from elmo_plugin.allennlp_api.bilm.layers import LstmCell
from elmo_plugin.bilm import LstmOptions
from elmo_plugin.embedding import BiLmSession


class ElmoLstm(nn.Module):
    """
    Has the layers of both directions: what `ElmoBiLm` has as `_elmo_lstm`. The biLM as a whole runs them.

    # Parameters

    layers : `nn.ModuleDict`
        By AllenNLP's names: `forward_layer_0`, `backward_layer_0`, `forward_layer_1`, ...
    options : `LstmOptions`
        The sizes.
    session : `BiLmSession`
        Has the state.
    """

    def __init__(self, layers: nn.ModuleDict, options: LstmOptions, session: BiLmSession) -> None:
        super().__init__()
        for name, layer in layers.items():
            self.add_module(name, layer)
        self.input_size = self.hidden_size = options.projection_dim
        self.cell_size = options.dim
        self.num_layers = options.n_layers
        self._session = session

    @property
    def forward_layers(self) -> list[LstmCell]:
        return self._layers("forward")

    @property
    def backward_layers(self) -> list[LstmCell]:
        return self._layers("backward")

    @property
    def stateful(self) -> bool:
        """Whether the state is carried from batch to batch; AllenNLP's users switch it off here."""
        return self._session.stateful

    @stateful.setter
    def stateful(self, stateful: bool) -> None:
        self._session.stateful = stateful

    def reset_states(self) -> None:
        """Lets the next batch start from zero."""
        self._session.reset_state()

    def _layers(self, direction: str) -> list[LstmCell]:
        return [cast(LstmCell, getattr(self, f"{direction}_layer_{n}")) for n in range(self.num_layers)]
