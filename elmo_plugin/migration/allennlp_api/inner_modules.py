"""What public code finds inside AllenNLP's `_ElmoBiLm`, for our biLM.

`ElmoLstm` and `TokenEmbedder` stand for its two modules, and `ParameterNames` for all modules that
contain parameters. The biLM runs as a whole without them, so a change of one would have no effect:
whatever they do not support ends in an error that says what to use instead. They support the idioms
of `tests/dropin`.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from elmo_plugin.bilm import BiLm, BiLmError, LstmState
from elmo_plugin.embedding import ElmoRepresentations
from elmo_plugin.migration.allennlp_api.names import parameter_names


def not_supported(what: str) -> AttributeError:
    """
    Returns the error for code that changes an inner module, or that expects an inner module to
    compute something. It is an `AttributeError`, as Python expects for a missing attribute.
    """
    return AttributeError(
        f"{what} is not supported, because the biLM runs as a whole: to change its inner modules, "
        "give Elmo the `module` allennlp.modules.elmo._ElmoBiLm(options_file, weight_file)"
    )


def _refuse_hook(
    module: nn.Module, hook: Callable[..., Any], *_: Any, **_options: Any
) -> RemovableHandle:
    """
    Refuses a hook on a module that never runs. AllenNLP's own hooks are ignored instead: at the
    start of a training, its confidence checks put a hook on each module of a model.
    """
    if not getattr(hook, "__module__", "").startswith("allennlp."):
        raise not_supported("a hook on a module inside the biLM")
    return RemovableHandle(OrderedDict())  # its `remove` has nothing to remove


class ParameterNames(nn.Module):
    """
    Contains parameters of our biLM under the names that they have in one of AllenNLP's modules.

    torch takes the names in `named_parameters` from the modules in `named_modules`. With these
    modules, regular expressions of initializers, regularizers and parameter groups match, and
    scripts can freeze or scale a weight by its name. A module of this class computes nothing:
    hooks, new parameters, modules and another `forward` would have no effect, and are refused.
    """

    def add_parameter(self, name: str, parameter: nn.Parameter) -> None:
        """Adds a parameter of the biLM."""
        super().register_parameter(name, parameter)

    def register_parameter(self, name: str, param: nn.Parameter | None) -> NoReturn:
        """Refuses a new parameter, and the replacement of one by assignment."""
        raise not_supported(f"replacing {name}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "forward" or isinstance(value, nn.Module):
            raise not_supported(f"replacing {name}")
        super().__setattr__(name, value)

    # Each way to add a hook to a module is refused.
    register_forward_pre_hook = _refuse_hook
    register_forward_hook = _refuse_hook
    register_backward_hook = _refuse_hook
    register_full_backward_pre_hook = _refuse_hook
    register_full_backward_hook = _refuse_hook


def modules_of_parameters(bilm: BiLm) -> dict[str, ParameterNames]:
    """
    Returns the modules of AllenNLP that contain parameters, by name. Do not keep the result: the
    biLM's parameters may be replaced later, as by `load_state_dict(…, assign=True)`.
    """
    parameters = dict(bilm.named_parameters())
    modules: defaultdict[str, ParameterNames] = defaultdict(ParameterNames)
    for our_name, their_name in parameter_names(bilm.options).items():
        module_name, _, parameter_name = their_name.rpartition(".")
        modules[module_name].add_parameter(parameter_name, parameters[our_name])
    return dict(modules)


class InnerModule:
    """
    Shows the parameters of one of the two modules in AllenNLP's `_ElmoBiLm`. Scripts count, freeze
    and save them.

    It is no `nn.Module`, because hooks on it would not run. Getting an attribute that is not
    declared, or setting one that is not in `SETTABLE`, raises `not_supported`.
    """

    NAME: str
    SETTABLE: tuple[str, ...]

    def __init__(self, elmo_bilm: nn.Module) -> None:
        self.elmo_bilm = elmo_bilm

    def __getattr__(self, name: str) -> NoReturn:
        raise not_supported(f"{self.NAME}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.SETTABLE:
            raise not_supported(f"{self.NAME}.{name}")
        super().__setattr__(name, value)

    @property
    def requires_grad(self) -> bool:
        return any(parameter.requires_grad for parameter in self.parameters())

    def requires_grad_(self, requires_grad: bool = True) -> "InnerModule":
        for parameter in self.parameters():
            parameter.requires_grad = requires_grad
        return self

    def parameters(self) -> Iterator[nn.Parameter]:
        for _, parameter in self.named_parameters():
            yield parameter

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        prefix = f"{self.NAME}."
        for name, parameter in self.elmo_bilm.named_parameters():
            if name.startswith(prefix):
                yield name.removeprefix(prefix), parameter

    def state_dict(self) -> dict[str, Tensor]:
        """
        Returns the weights with AllenNLP's names and values. Changing them does not change the
        biLM, because `state_dict` of `_ElmoBiLm` returns copies here.
        """
        prefix = f"{self.NAME}."
        weights = {}
        for name, weight in self.elmo_bilm.state_dict().items():
            if name.startswith(prefix):
                weights[name.removeprefix(prefix)] = weight
        return weights


class ElmoLstm(InnerModule):
    """Gives scripts the state and the sizes of AllenNLP's `_elmo_lstm`."""

    NAME = "_elmo_lstm"
    SETTABLE = ("elmo_bilm", "elmo", "stateful", "_states")

    def __init__(self, elmo_bilm: nn.Module, elmo: ElmoRepresentations) -> None:
        super().__init__(elmo_bilm)
        self.elmo = elmo

    @property
    def stateful(self) -> bool:
        return self.elmo.stateful

    @stateful.setter
    def stateful(self, stateful: bool) -> None:
        self.elmo.stateful = stateful

    @property
    def _states(self) -> tuple[Tensor, Tensor] | None:
        """
        The hidden state and the cell, each of shape (layers, batch, 2 * dim), with the forward
        direction first; `None` if no state is carried to the next batch.
        """
        state = self.elmo._state
        if state is None:
            return None
        return _join_directions(state.hidden), _join_directions(state.cell)

    @_states.setter
    def _states(self, states: tuple[Tensor, Tensor] | None) -> None:
        if states is None:
            self.elmo._state = None
            return
        if not self.stateful:
            raise BiLmError(
                "_elmo_lstm._states cannot be set, because stateful is false: set it first"
            )
        hidden, cell = states
        self.elmo._state = LstmState(_split_directions(hidden), _split_directions(cell))

    def __call__(self, *_: Any, **_options: Any) -> NoReturn:
        raise not_supported(f"calling {self.NAME}")

    def reset_states(self, mask: Tensor | None = None) -> None:
        """
        Resets the state, so that the next batch starts from zero. If a mask of shape (batch,) is
        given, only the sentences at which it is true start from zero.
        """
        state = self.elmo._state
        if mask is None or state is None:
            self.elmo._state = None
            return
        is_kept = ~mask.view(1, 1, -1, 1)  # Shape: (1, 1, batch, 1)
        self.elmo._state = LstmState(state.hidden * is_kept, state.cell * is_kept)

    @property
    def input_size(self) -> int:
        return self.elmo.bilm.options.lstm.projection_dim

    @property
    def hidden_size(self) -> int:
        """The size of a hidden state. It equals `input_size`, because the LSTMs project theirs."""
        return self.elmo.bilm.options.lstm.projection_dim

    @property
    def cell_size(self) -> int:
        return self.elmo.bilm.options.lstm.dim

    @property
    def num_layers(self) -> int:
        return self.elmo.bilm.options.lstm.n_layers


def _join_directions(state: Tensor) -> Tensor:
    """
    Converts a hidden state or cell of our biLM, shape (layers, directions, batch, dim), to
    AllenNLP's shape. The forward direction comes first in both.
    """
    state = state.transpose(1, 2)  # Shape: (layers, batch, directions, dim)
    return state.flatten(2)  # Shape: (layers, batch, directions * dim)


def _split_directions(state: Tensor) -> Tensor:
    """
    Converts a hidden state or cell of AllenNLP, shape (layers, batch, directions * dim), to our
    biLM's shape.
    """
    state = state.unflatten(2, (2, -1))  # Shape: (layers, batch, directions, dim)
    return state.transpose(1, 2)  # Shape: (layers, directions, batch, dim)


class TokenEmbedder(InnerModule):
    """
    Gives scripts the size and the vectors of AllenNLP's `_token_embedder`. It also has the weight
    file and the options, because the spaCy component of camphr copies them from here.
    """

    NAME = "_token_embedder"
    SETTABLE = ("elmo_bilm", "bilm", "_weight_file")

    def __init__(self, elmo_bilm: nn.Module, bilm: BiLm, weight_file: str | None) -> None:
        super().__init__(elmo_bilm)
        self.bilm = bilm
        self._weight_file = weight_file

    @property
    def _options(self) -> dict[str, Any]:
        return self.bilm.options.to_dict()

    @property
    def output_dim(self) -> int:
        return self.bilm.options.lstm.projection_dim

    def get_output_dim(self) -> int:
        return self.output_dim

    def __call__(self, inputs: Tensor) -> dict[str, Tensor]:
        """
        Returns `token_embedding`, (batch, time + 2, output_dim), and `mask`, (batch, time + 2).
        """
        layers, mask, _ = self.bilm(inputs, boundaries=True)
        # Both halves of the token layer are the same vector, one for each direction.
        token_layer = layers[0]  # Shape: (batch, time + 2, 2 * output_dim)
        return {"token_embedding": token_layer[..., : self.output_dim], "mask": mask}
