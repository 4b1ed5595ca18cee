"""Joins the tensors of several text fields, and flattens lists of text fields."""

from collections.abc import Sequence

import torch
from allennlp.data import TextFieldTensors
from torch import Tensor


def concatenate_text_fields(texts: Sequence[TextFieldTensors]) -> TextFieldTensors:
    """
    Returns the sentences of all text fields, one field after the other, padded with zeros to the longest of
    all. The fields have the same token indexers, and tensors of shape (batch, time, ...).
    """
    return {
        indexer: {name: _concatenate([text[indexer][name] for text in texts]) for name in tensors}
        for indexer, tensors in texts[0].items()
    }


def flatten_wrapping_dims(text: TextFieldTensors, num_wrapping_dims: int) -> TextFieldTensors:
    """
    Flattens tensors of shape (batch, ..., time, ...) to (batch * ..., time, ...). `num_wrapping_dims` is the
    number of dimensions between batch and time.
    """
    return {
        indexer: {name: tensor.flatten(0, num_wrapping_dims) for name, tensor in tensors.items()}
        for indexer, tensors in text.items()
    }


def slice_wrapping_dim(text: TextFieldTensors, starts: Sequence[int], length: int) -> TextFieldTensors:
    """
    Takes a window of each list of text fields, such as the sentences of each document: `length` texts, or all
    that there are, beginning at the text in `starts`. From shape (batch, texts, time, ...) to (batch, length,
    time, ...).
    """
    return {
        indexer: {
            name: torch.stack(
                [row[start : start + length] for row, start in zip(tensor, starts, strict=True)]
            )
            for name, tensor in tensors.items()
        }
        for indexer, tensors in text.items()
    }


def take_rows(text: TextFieldTensors, rows: Sequence[int]) -> TextFieldTensors:
    """Returns the tensors of some rows of a batch, in the order of `rows`."""
    return {
        indexer: {name: tensor[list(rows)] for name, tensor in tensors.items()}
        for indexer, tensors in text.items()
    }


def _concatenate(tensors: Sequence[Tensor]) -> Tensor:
    """Concatenates along the first dimension, after padding all others with zeros at their end."""
    shape = [max(sizes) for sizes in zip(*(tensor.shape[1:] for tensor in tensors), strict=True)]
    result = tensors[0].new_zeros(sum(tensor.size(0) for tensor in tensors), *shape)
    for tensor, rows in zip(tensors, result.split([tensor.size(0) for tensor in tensors]), strict=True):
        rows[tuple(slice(size) for size in tensor.shape)] = tensor
    return result
