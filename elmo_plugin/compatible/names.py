"""The tensors of a biLM as AllenNLP's `_ElmoBiLm` names and arranges them in a `state_dict`.

    _token_embedder._char_embedding_weights         token_encoder.character_embedding.weight
    _token_embedder.char_conv_{i}.*                 token_encoder.convolutions.{i}.*
    _token_embedder._highways._layers.{k}.*         token_encoder.highways.{k}.transform.*, .carry.*
    _token_embedder._projection.*                   token_encoder.projection.*
    _elmo_lstm.{forward,backward}_layer_{l}.        {forward,backward}_lm.layers.{l}.
        input_linearity.weight                          input_weight
        state_linearity.weight, .bias                   recurrent_weight, bias
        state_projection.weight                         projection_weight

There carry has the other sign, the gates lie in the order input, forget, new, output, and the forget gate's
bias has the 1 in it that is added here at run time.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm import BiLmOptions
from elmo_plugin.bilm.recurrence.layers import FORGET_BIAS

CHARACTERS = "_token_embedder._char_embedding_weights"
CONVOLUTION = "_token_embedder.char_conv_{}.weight"
HIGHWAY = "_token_embedder._highways._layers.{}.weight"
LSTM_PROJECTION = "_elmo_lstm.forward_layer_{}.state_projection.weight"


class _Entry(NamedTuple):
    """A tensor there: its name, the names of the tensors here, and the way to them and back."""

    theirs: str
    ours: tuple[str, ...]
    to_ours: Callable[[Tensor], tuple[Tensor, ...]]
    to_theirs: Callable[..., Tensor]


def to_allennlp(weights: Mapping[str, Tensor], options: BiLmOptions) -> dict[str, Tensor]:
    """From what `BiLm.state_dict()` gives to what `_ElmoBiLm.load_state_dict` takes."""
    return {
        entry.theirs: entry.to_theirs(*(weights[name] for name in entry.ours)) for entry in _entries(options)
    }


def take_from_allennlp(weights: dict[str, Tensor], options: BiLmOptions) -> dict[str, Tensor]:
    """Takes out of what `_ElmoBiLm.state_dict()` gives, and returns, what `BiLm.load_state_dict` takes."""
    ours: dict[str, Tensor] = {}
    for entry in _entries(options):
        if entry.theirs in weights:
            ours.update(zip(entry.ours, entry.to_ours(weights.pop(entry.theirs)), strict=True))
    return ours


def published_options(weights: Mapping[str, Tensor]) -> BiLmOptions:
    """The options of a biLM with the activation and the clips of all published models; weights lack these."""
    convolutions = [weights[name] for name in _present(weights, CONVOLUTION)]
    projections = [weights[name] for name in _present(weights, LSTM_PROJECTION)]
    projection_dim, dim = projections[0].shape
    return BiLmOptions.from_dict(
        {
            "char_cnn": {
                "filters": [[weight.size(2), weight.size(0)] for weight in convolutions],
                "embedding": {"dim": weights[CHARACTERS].size(1)},
                "n_highway": len(_present(weights, HIGHWAY)),
                "activation": "relu",
            },
            "lstm": {
                "projection_dim": projection_dim,
                "dim": dim,
                "n_layers": len(projections),
                "use_skip_connections": True,
                "cell_clip": 3,
                "proj_clip": 3,
            },
        }
    )


def _present(weights: Mapping[str, Tensor], name: str) -> list[str]:
    """The names with a number from 0 on that are there."""
    numbered = (name.format(number) for number in range(len(weights)))
    return [name for name in numbered if name in weights]


def _entries(options: BiLmOptions) -> Iterator[_Entry]:
    """All tensors of a biLM of these sizes."""
    char_cnn, encoder = options.char_cnn, "token_encoder"
    yield _same(CHARACTERS, f"{encoder}.character_embedding.weight")
    for part in ("weight", "bias"):
        for i in range(len(char_cnn.filters)):
            yield _same(f"_token_embedder.char_conv_{i}.{part}", f"{encoder}.convolutions.{i}.{part}")
        for k in range(char_cnn.n_highway):
            layer = f"{encoder}.highways.{k}"
            names = (f"{layer}.transform.{part}", f"{layer}.carry.{part}")
            yield _Entry(f"_token_embedder._highways._layers.{k}.{part}", names, _to_highway, _from_highway)
        yield _same(f"_token_embedder._projection.{part}", f"{encoder}.projection.{part}")
    for direction in ("forward", "backward"):
        for number in range(options.lstm.n_layers):
            there = f"_elmo_lstm.{direction}_layer_{number}"
            here = f"{direction}_lm.layers.{number}"
            for theirs, ours in (("input", "input"), ("state", "recurrent")):
                name = f"{there}.{theirs}_linearity.weight"
                yield _Entry(name, (f"{here}.{ours}_weight",), lambda gates: (_swap(gates),), _swap)
            yield _Entry(f"{there}.state_linearity.bias", (f"{here}.bias",), _to_bias, _from_bias)
            yield _same(f"{there}.state_projection.weight", f"{here}.projection_weight")


def _same(theirs: str, ours: str) -> _Entry:
    return _Entry(theirs, (ours,), lambda tensor: (tensor,), lambda tensor: tensor)


def _to_highway(joined: Tensor) -> tuple[Tensor, ...]:
    transform, carry = joined.chunk(2)
    return transform, -carry


def _from_highway(transform: Tensor, carry: Tensor) -> Tensor:
    return torch.cat([transform, -carry])


def _swap(gates: Tensor) -> Tensor:
    """Puts the second and the third of four gates in each other's place."""
    first, second, third, last = gates.chunk(4)
    return torch.cat([first, third, second, last])


def _to_bias(bias: Tensor) -> tuple[Tensor, ...]:
    first, forget, new, last = bias.chunk(4)
    return (torch.cat([first, new, forget - FORGET_BIAS, last]),)


def _from_bias(bias: Tensor) -> Tensor:
    first, new, forget, last = bias.chunk(4)
    return torch.cat([first, forget + FORGET_BIAS, new, last])
