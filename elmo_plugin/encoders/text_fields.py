"""AllenNLP's text fields: rows taken, sliced, flattened and concatenated."""

from collections.abc import Callable, Sequence

import torch
from allennlp.data import TextFieldTensors
from torch import Tensor


def map_text_fields(
    function: Callable[..., Tensor], first: TextFieldTensors, *others: TextFieldTensors
) -> TextFieldTensors:
    """
    Calls `function` for each tensor of a text field, with the tensors of the same name of the
    other text fields as further arguments. Returns a text field of the results. All text fields
    have the same token indexers.
    """
    result: TextFieldTensors = {}
    for indexer, tensors in first.items():
        result[indexer] = {}
        for name, tensor in tensors.items():
            tensors_of_others = [text[indexer][name] for text in others]
            result[indexer][name] = function(tensor, *tensors_of_others)
    return result


def flatten_wrapping_dims(text: TextFieldTensors, num_wrapping_dims: int) -> TextFieldTensors:
    """
    Returns a text field whose tensors have one dimension of sentences, shape (sentences, time,
    ...), instead of a batch and further wrapping dimensions, shape (batch, ..., time, ...).
    """

    def flatten(tensor: Tensor) -> Tensor:
        return tensor.flatten(0, num_wrapping_dims)

    return map_text_fields(flatten, text)


def slice_wrapping_dim(
    text: TextFieldTensors, starts: Sequence[int], length: int
) -> TextFieldTensors:
    """
    Takes some consecutive texts of each list of text fields, such as some sentences of each
    document. `starts` has the number of the first text to take from each list. `length` texts
    follow from there, or fewer if the tensors end before. The tensors have the shape (batch, texts,
    time, ...), and the result (batch, length, time, ...).
    """

    def slice_lists(tensor: Tensor) -> Tensor:
        """Returns the part of a tensor that has the texts to take."""
        parts = []
        for texts, start in zip(tensor, starts, strict=True):
            parts.append(texts[start : start + length])
        return torch.stack(parts)

    return map_text_fields(slice_lists, text)


def take_rows(text: TextFieldTensors, rows: Sequence[int]) -> TextFieldTensors:
    """Returns a text field with only these rows of the batch, in this order."""

    def take(tensor: Tensor) -> Tensor:
        return tensor[list(rows)]

    return map_text_fields(take, text)


def concatenate(texts: Sequence[TextFieldTensors]) -> TextFieldTensors:
    """
    Returns one text field with the rows of several, all padded to the size of the largest.
    """
    return map_text_fields(_pad_and_concatenate, *texts)


def _pad_and_concatenate(*tensors: Tensor) -> Tensor:
    """
    Concatenates tensors along the first dimension. In the other dimensions, all are padded with
    zeros at the end to the size of the largest.
    """
    batch_sizes = [tensor.size(0) for tensor in tensors]
    largest_sizes = []
    for dim in range(1, tensors[0].dim()):
        largest_sizes.append(max(tensor.size(dim) for tensor in tensors))
    result = tensors[0].new_zeros(sum(batch_sizes), *largest_sizes)
    views = result.split(batch_sizes)  # the rows of each tensor
    for tensor, view in zip(tensors, views, strict=True):
        without_padding = tuple(slice(0, size) for size in tensor.shape)
        view[without_padding] = tensor
    return result
