"""Converts the tensors of a biLM to and from the names and the layout of AllenNLP's `_ElmoBiLm`.

    _token_embedder._char_embedding_weights         token_encoder.character_embedding.weight
    _token_embedder.char_conv_{i}.*                 token_encoder.convolutions.{i}.*
    _token_embedder._highways._layers.{k}.*         token_encoder.highways.{k}.transform.*, .carry.*
    _token_embedder._projection.*                   token_encoder.projection.*
    _elmo_lstm.{forward,backward}_layer_{l}.        {forward,backward}_lm.layers.{l}.
        input_linearity.weight                          input_weight
        state_linearity.weight, .bias                   recurrent_weight, bias
        state_projection.weight                         projection_weight

`elmo_plugin.bilm.io.allennlp_layout` tells how highway layers and gates differ.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from torch import Tensor

from elmo_plugin.bilm import BiLmOptions
from elmo_plugin.bilm.io import bias_from_allennlp, bias_to_allennlp, join_highway, split_highway, swap_gates

CHARACTERS = "_token_embedder._char_embedding_weights"
CONVOLUTION = "_token_embedder.char_conv_{}.weight"
HIGHWAY = "_token_embedder._highways._layers.{}.weight"
LSTM_PROJECTION = "_elmo_lstm.forward_layer_{}.state_projection.weight"


class _Entry(NamedTuple):
    """Maps a tensor of AllenNLP's to ours: its name, the names of ours, and how to convert it and back."""

    theirs: str
    ours: tuple[str, ...]
    to_ours: Callable[[Tensor], tuple[Tensor, ...]]
    to_theirs: Callable[..., Tensor]


def to_allennlp(weights: Mapping[str, Tensor], options: BiLmOptions) -> dict[str, Tensor]:
    """Converts what `BiLm.state_dict()` gives to what `_ElmoBiLm.load_state_dict` takes."""
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
    """Returns the options that weights show, with the activation and the clips of all published models."""
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
    """Returns the names with a number, from 0 on, that are there."""
    numbered = (name.format(number) for number in range(len(weights)))
    return [name for name in numbered if name in weights]


def _entries(options: BiLmOptions) -> Iterator[_Entry]:
    """Yields all tensors of a biLM of these sizes."""
    char_cnn, encoder = options.char_cnn, "token_encoder"
    yield _one(CHARACTERS, f"{encoder}.character_embedding.weight")
    for part in ("weight", "bias"):
        for i in range(len(char_cnn.filters)):
            yield _one(f"_token_embedder.char_conv_{i}.{part}", f"{encoder}.convolutions.{i}.{part}")
        for k in range(char_cnn.n_highway):
            layer = f"{encoder}.highways.{k}"
            names = (f"{layer}.transform.{part}", f"{layer}.carry.{part}")
            yield _Entry(f"_token_embedder._highways._layers.{k}.{part}", names, split_highway, join_highway)
        yield _one(f"_token_embedder._projection.{part}", f"{encoder}.projection.{part}")
    for direction in ("forward", "backward"):
        for number in range(options.lstm.n_layers):
            there = f"_elmo_lstm.{direction}_layer_{number}"
            here = f"{direction}_lm.layers.{number}"
            for theirs, ours in (("input", "input"), ("state", "recurrent")):
                name = f"{there}.{theirs}_linearity.weight"
                yield _one(name, f"{here}.{ours}_weight", swap_gates, swap_gates)
            yield _one(f"{there}.state_linearity.bias", f"{here}.bias", bias_from_allennlp, bias_to_allennlp)
            yield _one(f"{there}.state_projection.weight", f"{here}.projection_weight")


def _one(
    theirs: str,
    ours: str,
    to_ours: Callable[[Tensor], Tensor] = lambda tensor: tensor,
    to_theirs: Callable[[Tensor], Tensor] = lambda tensor: tensor,
) -> _Entry:
    """Returns the entry of a tensor that is one here, too."""
    return _Entry(theirs, (ours,), lambda tensor: (to_ours(tensor),), to_theirs)
