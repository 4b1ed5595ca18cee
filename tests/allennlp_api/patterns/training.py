"""Trained, saved, copied and overwritten: what public code does to the parameters of `Elmo`."""

from typing import Any

import torch
from torch import nn

from tests.allennlp_api.patterns import IDS, Library, Place


def step(elmo: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Lowers the sum of squares of all vectors, which depends on all parameters."""
    optimizer.zero_grad()
    sum(vectors.square().sum() for vectors in elmo(IDS)["elmo_representations"]).backward()
    optimizer.step()


def trained(elmo: nn.Module, learning_rate: float = 0.01) -> dict[str, torch.Tensor]:
    """One step of SGD with all that asks for gradients."""
    parameters = [parameter for parameter in elmo.parameters() if parameter.requires_grad]
    step(elmo, torch.optim.SGD(parameters, lr=learning_rate))
    return elmo.state_dict()


def vectors(elmo: nn.Module) -> Any:
    return elmo.eval()(IDS)["elmo_representations"]


def unfrozen_after_a_batch(library: Library, place: Place) -> Any:
    elmo = library.Elmo(*place.files, 1, dropout=0)
    elmo(IDS)
    elmo._elmo_lstm._elmo_lstm.reset_states()
    elmo._elmo_lstm.requires_grad_(True)
    return trained(elmo, 1e-4)


def one_layer_unfrozen_by_name(library: Library, place: Place) -> Any:
    elmo = library.Elmo(*place.files, 1, dropout=0)
    for name, parameter in elmo.named_parameters():
        parameter.requires_grad = "layer_1" in name
    state = trained(elmo, 1e-4)
    return state, sum(parameter.grad is not None for parameter in elmo.parameters())


def all_frozen(library: Library, place: Place) -> Any:
    elmo = library.Elmo(*place.files, 1, requires_grad=True, dropout=0)
    for parameter in elmo.parameters():
        parameter.requires_grad = False
    return [each.requires_grad for each in vectors(elmo)], vectors(elmo)[0].shape


def a_part_is_loaded(library: Library, place: Place) -> Any:
    elmo = library.Elmo(*place.files, 1, dropout=0)
    state = {name: 0.5 * tensor for name, tensor in elmo.state_dict().items() if "backward" in name}
    missing, unexpected = elmo.load_state_dict(state, strict=False)
    return sorted(missing), unexpected, vectors(elmo)


def a_moving_average(library: Library, place: Place) -> Any:
    elmo = library.Elmo(*place.files, 1, requires_grad=True, dropout=0)
    shadow = {name: parameter.data.clone() for name, parameter in elmo.named_parameters()}
    trained(elmo, 1e-4)
    for name, parameter in elmo.named_parameters():
        parameter.data = 0.9 * shadow[name] + 0.1 * parameter.data
    elmo._elmo_lstm._elmo_lstm.reset_states()
    return vectors(elmo)
