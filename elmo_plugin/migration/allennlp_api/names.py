"""The table between the weights of `BiLm` and AllenNLP's `_ElmoBiLm`, read in both directions.

    token_encoder.character_embedding.weight        _token_embedder._char_embedding_weights
    token_encoder.convolutions.{i}.*                _token_embedder.char_conv_{i}.*
    token_encoder.highways.{k}.transform, .carry    _token_embedder._highways._layers.{k}.*
    token_encoder.projection.*                      _token_embedder._projection.*
    {forward,backward}_lm.layers.{l}.               _elmo_lstm.{forward,backward}_layer_{l}.
        input_weight                                    input_linearity.weight
        recurrent_weight, bias                          state_linearity.weight, .bias
        projection_weight                               state_projection.weight

`elmo_plugin.bilm.io.layouts` describes how the values of highway layers and LSTMs differ.
"""

import itertools
from collections.abc import Iterator, Mapping

from torch import Tensor

from elmo_plugin.bilm import BiLmError, BiLmOptions, CharCnnOptions, LstmOptions
from elmo_plugin.bilm.io import TensorMapping, highway_mappings, lstm_mappings
from elmo_plugin.embedding import find_bilms

CHARACTERS = "_token_embedder._char_embedding_weights"
CONVOLUTION = "_token_embedder.char_conv_{}.weight"
HIGHWAY = "_token_embedder._highways._layers.{}.weight"
LSTM_PROJECTION = "_elmo_lstm.forward_layer_{}.state_projection.weight"


def mappings(options: BiLmOptions) -> list[TensorMapping]:
    """
    Returns which of AllenNLP's weights corresponds to which of a biLM's, in AllenNLP's order.
    Raises `BiLmError` if the biLM does not have the character CNN of ELMo, which reads bytes.
    """
    char_cnn = options.char_cnn
    if not isinstance(char_cnn, CharCnnOptions):
        raise BiLmError(
            "AllenNLP's Elmo needs a biLM that reads bytes: use ElmoRepresentations for this one"
        )
    table = [TensorMapping(CHARACTERS, ("token_encoder.character_embedding.weight",))]
    for number in range(len(char_cnn.filters)):
        theirs = f"_token_embedder.char_conv_{number}"
        table.extend(_linear(theirs, f"token_encoder.convolutions.{number}"))
    table.extend(
        highway_mappings(
            "_token_embedder._highways._layers", char_cnn.n_highway, char_cnn.n_filters
        )
    )
    table.extend(_linear("_token_embedder._projection", "token_encoder.projection"))
    # Our table has one direction after the other; AllenNLP's order is layer by layer.
    table.extend(sorted(lstm_mappings("_elmo_lstm.", options.lstm), key=_layer_number))
    return table


def _layer_number(mapping: TensorMapping) -> int:
    """
    Returns the number of the layer to which an LSTM's weight belongs, such as 1 if AllenNLP calls
    it `_elmo_lstm.forward_layer_1.…`.
    """
    _, layer, _ = mapping.theirs.split(".", maxsplit=2)
    _, _, number = layer.rpartition("_")
    return int(number)


def to_allennlp(weights: Mapping[str, Tensor], options: BiLmOptions) -> dict[str, Tensor]:
    """Returns all weights of a biLM with AllenNLP's names and values."""
    converted = {}
    for mapping in mappings(options):
        ours = [weights[name] for name in mapping.ours]
        converted[mapping.theirs] = mapping.to_theirs(*ours)
    return converted


def from_allennlp(weights: Mapping[str, Tensor], options: BiLmOptions) -> dict[str, Tensor]:
    """
    Returns AllenNLP's weights with our names and values. A weight that is not in `weights` is not
    in the result either. Raises `BiLmError` if a weight cannot be converted, because its shape is
    wrong.
    """
    converted: dict[str, Tensor] = {}
    for mapping in mappings(options):
        if mapping.theirs in weights:
            values = weights[mapping.theirs]
            # A mapping without a shape does not change the weight, and `BiLm` checks it later.
            if mapping.shape and mapping.shape != values.shape:
                raise BiLmError(
                    f"{mapping.theirs}: expected shape {mapping.shape}, got {tuple(values.shape)}"
                )
            converted |= mapping.converted(values)
    return converted


def parameter_names(options: BiLmOptions) -> dict[str, str]:
    """
    Returns AllenNLP's name for each of our parameters: its users see these in `named_parameters`.
    If AllenNLP arranges the values differently, a number follows the name, such as `.0`, so that
    nobody copies the values by name.
    """
    names = {}
    for mapping in mappings(options):
        for number, name in enumerate(mapping.ours):
            if mapping.is_same_tensor:
                names[name] = mapping.theirs
            else:
                names[name] = f"{mapping.theirs}.{number}"
    return names


def with_parameter_names(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """
    Returns the weights of a model that AllenNLP saved. The weights of each biLM are added a second
    time, under the names and with the values that our `named_parameters` gives them.
    """
    extended = dict(state)
    for prefix, weights in find_bilms(state, marker=CHARACTERS, bilm_path=""):
        if LSTM_PROJECTION.format(0) not in weights:
            continue  # AllenNLP's character encoder without the LSTMs of a biLM
        options = published_options(weights)
        names = parameter_names(options)
        for our_name, weight in from_allennlp(weights, options).items():
            extended[prefix + names[our_name]] = weight
    return extended


def published_options(weights: Mapping[str, Tensor]) -> BiLmOptions:
    """
    Infers the options from the shapes of AllenNLP's weights. The shapes do not tell at which value
    the LSTM clips its cells and projections: all published models clip them at 3.
    """
    filters = []
    for convolution in _weights_of_layers(weights, CONVOLUTION):
        n_filters, _, width = convolution.shape
        filters.append((width, n_filters))
    char_cnn = CharCnnOptions(
        filters=tuple(filters),
        embedding_dim=weights[CHARACTERS].size(1),
        n_highway=len(_weights_of_layers(weights, HIGHWAY)),
    )
    # The weights of the forward direction; the backward one has the same shapes.
    projections = _weights_of_layers(weights, LSTM_PROJECTION)
    projection_dim, dim = projections[0].shape
    lstm = LstmOptions(projection_dim, dim, n_layers=len(projections), cell_clip=3, proj_clip=3)
    return BiLmOptions(char_cnn, lstm)


def _linear(theirs: str, ours: str) -> Iterator[TensorMapping]:
    """Yields the weight and the bias of a module whose values are the same in both."""
    for kind in ("weight", "bias"):
        yield TensorMapping(f"{theirs}.{kind}", (f"{ours}.{kind}",))


def _weights_of_layers(weights: Mapping[str, Tensor], name_format: str) -> list[Tensor]:
    """Returns the weights of layers 0, 1 and so on. `name_format` has a place for the number."""
    found = []
    for number in itertools.count():
        name = name_format.format(number)
        if name not in weights:
            break
        found.append(weights[name])
    return found
