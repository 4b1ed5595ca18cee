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
    Returns the table of a biLM in AllenNLP's order. Raises `BiLmError` if it does not read bytes.
    """
    char_cnn = options.char_cnn
    if not isinstance(char_cnn, CharCnnOptions):
        raise BiLmError(
            "AllenNLP's Elmo needs a biLM that reads bytes: use ElmoRepresentations for this one"
        )
    encoder, token_embedder = "token_encoder", "_token_embedder"
    lstms = lstm_mappings("_elmo_lstm.", options.lstm)
    return [
        TensorMapping(CHARACTERS, (f"{encoder}.character_embedding.weight",)),
        *(
            mapping
            for i in range(len(char_cnn.filters))
            for mapping in _linear(f"{token_embedder}.char_conv_{i}", f"{encoder}.convolutions.{i}")
        ),
        *highway_mappings(
            f"{token_embedder}._highways._layers", char_cnn.n_highway, char_cnn.n_filters
        ),
        *_linear(f"{token_embedder}._projection", f"{encoder}.projection"),
        *sorted(lstms, key=lambda mapping: int(mapping.theirs.split(".")[1].rpartition("_")[2])),
    ]


def to_allennlp(weights: Mapping[str, Tensor], options: BiLmOptions) -> dict[str, Tensor]:
    """Converts all weights of a biLM."""
    return {
        mapping.theirs: mapping.to_theirs(*(weights[name] for name in mapping.ours))
        for mapping in mappings(options)
    }


def from_allennlp(weights: Mapping[str, Tensor], options: BiLmOptions) -> dict[str, Tensor]:
    """
    Converts AllenNLP's weights; missing ones stay missing. Raises `BiLmError` for another shape.
    """
    converted: dict[str, Tensor] = {}
    for mapping in mappings(options):
        if (values := weights.get(mapping.theirs)) is None:
            continue
        if mapping.shape and mapping.shape != values.shape:
            raise BiLmError(
                f"{mapping.theirs}: expected shape {mapping.shape}, got {tuple(values.shape)}"
            )
        converted |= mapping.converted(values)
    return converted


def parameter_names(options: BiLmOptions) -> dict[str, str]:
    """
    Returns the names by which `named_parameters` shows our parameters: AllenNLP's, followed by a
    number if the values are arranged differently, so that nobody copies them by name.
    """
    names = {}
    for mapping in mappings(options):
        is_same = mapping.to_ours is TensorMapping._field_defaults["to_ours"]
        for number, name in enumerate(mapping.ours):
            names[name] = mapping.theirs if is_same else f"{mapping.theirs}.{number}"
    return names


def with_parameters(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """
    Adds to the weights of a model with AllenNLP's names its biLMs' weights by `parameter_names`.
    """
    added: dict[str, Tensor] = {}
    for path, weights in find_bilms(state, CHARACTERS, ""):
        options = published_options(weights)
        names = parameter_names(options)
        added |= {
            path + names[name]: weight for name, weight in from_allennlp(weights, options).items()
        }
    return {**state, **added}


def published_options(weights: Mapping[str, Tensor]) -> BiLmOptions:
    """
    Infers the options from the shapes of AllenNLP's weights, with the clips of all published
    models.
    """
    convolutions = [weights[name] for name in _present(weights, CONVOLUTION)]
    projections = [weights[name] for name in _present(weights, LSTM_PROJECTION)]
    projection_dim, dim = projections[0].shape
    filters = tuple((weight.size(2), weight.size(0)) for weight in convolutions)
    return BiLmOptions(
        CharCnnOptions(
            filters, weights[CHARACTERS].size(1), n_highway=len(_present(weights, HIGHWAY))
        ),
        LstmOptions(projection_dim, dim, len(projections), cell_clip=3, proj_clip=3),
    )


def _linear(theirs: str, ours: str) -> Iterator[TensorMapping]:
    for kind in ("weight", "bias"):
        yield TensorMapping(f"{theirs}.{kind}", (f"{ours}.{kind}",))


def _present(weights: Mapping[str, Tensor], name: str) -> list[str]:
    """Returns the numbered names, from 0 on, that exist."""
    return [numbered for numbered in map(name.format, range(len(weights))) if numbered in weights]
