"""Converts the weights of a biLM to the names and the layout of AllenNLP's `_ElmoBiLm`.

    _token_embedder._char_embedding_weights         token_encoder.character_embedding.weight
    _token_embedder.char_conv_{i}.*                 token_encoder.convolutions.{i}.*
    _token_embedder._highways._layers.{k}.*         token_encoder.highways.{k}.transform.*, .carry.*
    _token_embedder._projection.*                   token_encoder.projection.*
    _elmo_lstm.{forward,backward}_layer_{l}.        {forward,backward}_lm.layers.{l}.
        input_linearity.weight                          input_weight
        state_linearity.weight, .bias                   recurrent_weight, bias
        state_projection.weight                         projection_weight

`elmo_plugin.bilm.io.allennlp_layout` describes how highway layers and gates differ.
"""

from collections.abc import Iterable, Iterator, Mapping

from torch import Tensor

from elmo_plugin.bilm import BiLmOptions, CharCnnOptions, LstmOptions
from elmo_plugin.bilm.io import TensorMapping, highway_mappings, lstm_mappings

CHARACTERS = "_token_embedder._char_embedding_weights"
CONVOLUTION = "_token_embedder.char_conv_{}.weight"
HIGHWAY = "_token_embedder._highways._layers.{}.weight"
LSTM_PROJECTION = "_elmo_lstm.forward_layer_{}.state_projection.weight"


def to_allennlp(weights: Iterable[tuple[str, Tensor]], options: BiLmOptions) -> Iterator[tuple[str, Tensor]]:
    """
    Converts the weights of a `BiLm` to AllenNLP's, each as soon as all of its parts have been read.

    # Parameters

    weights : `Iterable[tuple[str, Tensor]]`
        The items of `BiLm.state_dict()`, in any order. Others are left as they are.
    options : `BiLmOptions`
        The sizes.

    # Returns

    `Iterator[tuple[str, Tensor]]`
        The items of AllenNLP's `_ElmoBiLm.state_dict()`.
    """
    entries = {name: entry for entry in _entries(options) for name in entry.ours}
    waiting: dict[str, Tensor] = {}
    for name, tensor in weights:
        if name not in entries:
            yield name, tensor
            continue
        entry = entries[name]
        waiting[name] = tensor
        if all(part in waiting for part in entry.ours):
            yield entry.theirs, entry.to_theirs(*(waiting.pop(part) for part in entry.ours))


def published_options(weights: Mapping[str, Tensor]) -> BiLmOptions:
    """
    Infers the options from the shapes of weights, with the activation and the clips of all published models.
    """
    convolutions = [weights[name] for name in _present(weights, CONVOLUTION)]
    projections = [weights[name] for name in _present(weights, LSTM_PROJECTION)]
    projection_dim, dim = projections[0].shape
    filters = tuple((weight.size(2), weight.size(0)) for weight in convolutions)
    return BiLmOptions(
        CharCnnOptions(filters, weights[CHARACTERS].size(1), n_highway=len(_present(weights, HIGHWAY))),
        LstmOptions(projection_dim, dim, len(projections), cell_clip=3, proj_clip=3),
    )


def _present(weights: Mapping[str, Tensor], name: str) -> list[str]:
    """Returns those of the numbered names, from 0 on, that exist."""
    numbered = (name.format(number) for number in range(len(weights)))
    return [name for name in numbered if name in weights]


def _entries(options: BiLmOptions) -> Iterator[TensorMapping]:
    """Yields all tensors of a biLM of these sizes."""
    char_cnn, encoder = options.char_cnn, "token_encoder"
    yield TensorMapping(CHARACTERS, (f"{encoder}.character_embedding.weight",))
    for kind in ("weight", "bias"):
        for i in range(len(char_cnn.filters)):
            ours = f"{encoder}.convolutions.{i}.{kind}"
            yield TensorMapping(f"_token_embedder.char_conv_{i}.{kind}", (ours,))
        yield TensorMapping(f"_token_embedder._projection.{kind}", (f"{encoder}.projection.{kind}",))
    yield from highway_mappings("_token_embedder._highways._layers", char_cnn.n_highway, char_cnn.n_filters)
    yield from lstm_mappings("_elmo_lstm.", options.lstm)
