"""The tensors that a biLM of given sizes has, known before one is made."""

from collections.abc import Iterator, Mapping
from typing import Any

from torch import Tensor

from elmo_plugin.bilm.char_cnn.lexicon import number_of_rows
from elmo_plugin.bilm.characters import NUM_CHARACTERS
from elmo_plugin.bilm.options import BiLmOptions, LexiconCnnOptions
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.torch_files import check_all_finite


def weight_shapes(options: BiLmOptions) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yields the name and the shape of each tensor of `BiLm.state_dict()`, in no certain order."""
    cnn, lstm = options.char_cnn, options.lstm
    encoder = "token_encoder"
    if isinstance(cnn, LexiconCnnOptions):
        character_dim, n_features = cnn.character_dim, cnn.n_features
        if cnn.words:
            yield f"{encoder}.word_embedding.weight", (number_of_rows(cnn.words), cnn.word_dim)
        rows = number_of_rows(cnn.characters) if cnn.characters else 0
    else:
        character_dim, n_features, rows = cnn.embedding_dim, cnn.n_filters, NUM_CHARACTERS
    if rows:
        yield f"{encoder}.character_embedding.weight", (rows, character_dim)
        for i, (width, number) in enumerate(cnn.filters):
            yield f"{encoder}.convolutions.{i}.weight", (number, character_dim, width)
            yield f"{encoder}.convolutions.{i}.bias", (number,)
        for k in range(cnn.n_highway):
            for part in ("transform", "carry"):
                yield f"{encoder}.highways.{k}.{part}.weight", (cnn.n_filters, cnn.n_filters)
                yield f"{encoder}.highways.{k}.{part}.bias", (cnn.n_filters,)
    yield f"{encoder}.projection.weight", (lstm.projection_dim, n_features)
    yield f"{encoder}.projection.bias", (lstm.projection_dim,)
    for direction in ("forward_lm", "backward_lm"):
        for number in range(lstm.n_layers):
            layer = f"{direction}.layers.{number}"
            yield f"{layer}.input_weight", (4 * lstm.dim, lstm.projection_dim)
            yield f"{layer}.recurrent_weight", (4 * lstm.dim, lstm.projection_dim)
            yield f"{layer}.bias", (4 * lstm.dim,)
            yield f"{layer}.projection_weight", (lstm.projection_dim, lstm.dim)


def check_weights(weights: Mapping[str, Any], options: BiLmOptions, name: str) -> None:
    """
    Raises `BiLmError`, beginning with `name`, where these are not all the weights of a biLM of these sizes,
    or where a number in them is infinite or none.
    """
    expected = dict(weight_shapes(options))
    for tensor, shape in expected.items():
        if not isinstance(weights.get(tensor), Tensor):
            raise BiLmError(f"{name}: the tensor {tensor} is missing, which the options ask for")
        found = tuple(weights[tensor].shape)
        if found != shape:
            raise BiLmError(
                f"{name}: the tensor {tensor} has the shape {found}, but the options ask for {shape}"
            )
    for tensor in weights:
        if tensor not in expected:
            raise BiLmError(f"{name}: has {tensor}, which the options do not ask for")
    check_all_finite(weights.items(), name)
