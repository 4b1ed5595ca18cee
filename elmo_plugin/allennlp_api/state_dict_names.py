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

from collections.abc import Iterator, Mapping

from torch import Tensor

from elmo_plugin.bilm import BiLmOptions, CharCnnOptions, LstmOptions
from elmo_plugin.bilm.io import Entry, highway_entries, lstm_entries

CHARACTERS = "_token_embedder._char_embedding_weights"
CONVOLUTION = "_token_embedder.char_conv_{}.weight"
HIGHWAY = "_token_embedder._highways._layers.{}.weight"
LSTM_PROJECTION = "_elmo_lstm.forward_layer_{}.state_projection.weight"


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
            ours |= entry.converted(weights.pop(entry.theirs))
    return ours


def published_options(weights: Mapping[str, Tensor]) -> BiLmOptions:
    """Returns the options that weights show, with the activation and the clips of all published models."""
    convolutions = [weights[name] for name in _present(weights, CONVOLUTION)]
    projections = [weights[name] for name in _present(weights, LSTM_PROJECTION)]
    projection_dim, dim = projections[0].shape
    filters = tuple((weight.size(2), weight.size(0)) for weight in convolutions)
    return BiLmOptions(
        CharCnnOptions(filters, weights[CHARACTERS].size(1), n_highway=len(_present(weights, HIGHWAY))),
        LstmOptions(projection_dim, dim, len(projections), cell_clip=3, proj_clip=3),
    )


def _present(weights: Mapping[str, Tensor], name: str) -> list[str]:
    """Returns the names with a number, from 0 on, that are there."""
    numbered = (name.format(number) for number in range(len(weights)))
    return [name for name in numbered if name in weights]


def _entries(options: BiLmOptions) -> Iterator[Entry]:
    """Yields all tensors of a biLM of these sizes."""
    char_cnn, encoder = options.char_cnn, "token_encoder"
    yield Entry(CHARACTERS, (f"{encoder}.character_embedding.weight",))
    for kind in ("weight", "bias"):
        for i in range(len(char_cnn.filters)):
            yield Entry(f"_token_embedder.char_conv_{i}.{kind}", (f"{encoder}.convolutions.{i}.{kind}",))
        yield Entry(f"_token_embedder._projection.{kind}", (f"{encoder}.projection.{kind}",))
    yield from highway_entries("_token_embedder._highways._layers", char_cnn.n_highway, char_cnn.n_filters)
    yield from lstm_entries("_elmo_lstm.", options.lstm)
