"""Words to vectors in context: the one place where ELMo enters a task model."""

from collections.abc import Callable, Sequence

import torch
from allennlp.common import Lazy, Registrable
from allennlp.common.checks import ConfigurationError
from allennlp.data import TextFieldTensors
from allennlp.modules import FeedForward, InputVariationalDropout, Seq2SeqEncoder, TextFieldEmbedder
from allennlp.nn.util import get_text_field_mask
from torch import BoolTensor, Tensor, nn

from elmo_plugin.bilm import Dropout
from elmo_plugin.embedding import ContextualElmo

MAX_LENGTH_RATIO = 4
ELMO = "elmo"  # the token indexer that the module `elmo` reads


def construct_encoder(encoder: Lazy[Seq2SeqEncoder], input_dim: int) -> Seq2SeqEncoder:
    """
    Constructs an encoder of vectors of size `input_dim`, by either name of AllenNLP's encoders.
    """
    return encoder.construct(input_size=input_dim, input_dim=input_dim)


class ContextualEncoder(nn.Module, Registrable):
    """
    Embeds the words of a text field, and encodes them in their context:

        [ELMo ;] words > dropout > feed-forward layers > [; features] > encoder > [; ELMo]

    Only the words must be embedded, by the text field embedder, by ELMo, or by both. All sizes that
    follow from other sizes are filled in.

    Registered as a `ContextualEncoder` with name "contextual_encoder", the default.

    # Parameters

    text_field_embedder : `TextFieldEmbedder`
        Embeds the words. It may be empty if ELMo is at the input.
    encoder : `Lazy[Seq2SeqEncoder]`, optional (default = `None`)
        Encodes the embedded words. Without it the embedding is the encoding.
    elmo : `ContextualElmo`, optional (default = `None`)
        ELMo, at the input, at the output, or at both. It reads the token indexer named "elmo".
    dropout : `float`, optional (default = `0.0`)
        The rate of dropout on the embedded words.
    variational_dropout : `bool`, optional (default = `True`)
        Use one dropout mask for all words of a sentence.
    feedforward : `Lazy[FeedForward]`, optional (default = `None`)
        Layers between the embedded words and the encoder.
    feature_dim : `int`, optional (default = `0`)
        The size of the features of each word that `forward` takes with the text. A model whose task
        has such features constructs its encoder with their size; a configuration does not name it.

    Raises `ConfigurationError` if nothing embeds the words.
    """

    default_implementation = "contextual_encoder"

    def __init__(
        self,
        text_field_embedder: TextFieldEmbedder,
        encoder: Lazy[Seq2SeqEncoder] = None,
        *,
        elmo: ContextualElmo = None,
        dropout: float = 0.0,
        variational_dropout: bool = True,
        feedforward: Lazy[FeedForward] = None,
        feature_dim: int = 0,
    ) -> None:
        super().__init__()
        self.elmo = elmo
        self.text_field_embedder = text_field_embedder
        self.dropout: nn.Module
        if variational_dropout:
            self.dropout = InputVariationalDropout(dropout)
        else:
            self.dropout = Dropout(dropout)
        dim = self.get_embedding_dim()
        if dim == 0:
            raise ConfigurationError(
                "contextual_encoder: nothing embeds the words: add word vectors, characters or "
                "ELMo as input"
            )
        self.feedforward = None
        if feedforward is not None:
            self.feedforward = feedforward.construct(input_dim=dim)
            dim = self.feedforward.get_output_dim()
        dim += feature_dim
        self.feature_dim = feature_dim
        self.encoder = None
        if encoder is not None:
            self.encoder = construct_encoder(encoder, dim)
            dim = self.encoder.get_output_dim()
        self._encoding_dim = dim

    def forward(
        self, tokens: TextFieldTensors, features: Tensor | None = None, num_wrapping_dims: int = 0
    ) -> tuple[Tensor, BoolTensor]:
        """
        Encodes each sentence of a text field separately. Returns vectors of shape (batch, ...,
        time, output_dim), and the mask of the words, shape (batch, ..., time).

        `features`, shape (batch, ..., time, feature_dim), are concatenated with the embedded words.
        `num_wrapping_dims` is the number of dimensions between batch and time: 1 for lists of text
        fields, such as the sentences of documents. Raises `ConfigurationError` if `features` have
        another shape, or ELMo's token indexer is missing.
        """
        encoded, _, mask = self.encode_and_embed(tokens, features, num_wrapping_dims)
        return encoded, mask

    def encode_and_embed(
        self, tokens: TextFieldTensors, features: Tensor | None = None, num_wrapping_dims: int = 0
    ) -> tuple[Tensor, Tensor, BoolTensor]:
        """
        Returns what `forward` does and, between the two, the embedded words after dropout, of shape
        (batch, ..., time, embedding_dim), for models that need the words themselves next to their
        context.
        """
        mask = get_text_field_mask(tokens, num_wrapping_dims)  # Shape: (batch, ..., time)
        if num_wrapping_dims:  # all from here on has the shape (sentences, time, ...)

            def flatten(tensor: Tensor) -> Tensor:
                return tensor.flatten(0, num_wrapping_dims)

            tokens = map_text_fields(flatten, tokens)
        parts = []
        if self.elmo is not None:
            layers, _ = self.elmo.run_bilm(_character_ids(tokens))
            if "input" in self.elmo.mixes:
                parts.append(self.elmo.mixes["input"](layers))
            tokens = {name: tensors for name, tensors in tokens.items() if name != ELMO}
        if self.text_field_embedder.get_output_dim():
            parts.append(self.text_field_embedder(tokens))
        embedded = self.dropout(torch.cat(parts, dim=-1))  # Shape: (sentences, time, embedding_dim)
        encoded = embedded
        if self.feedforward is not None:
            encoded = self.feedforward(embedded)
        if self.feature_dim or features is not None:
            features = self._checked(features, mask).flatten(0, num_wrapping_dims)
            encoded = torch.cat([encoded, features], dim=-1)
        if self.encoder is not None:
            encoded = self.encoder(encoded, mask.flatten(0, num_wrapping_dims))
        if self.elmo is not None and "output" in self.elmo.mixes:
            encoded = torch.cat([encoded, self.elmo.mixes["output"](layers)], dim=-1)
        # Shape: (batch, ..., time, output_dim)
        return encoded.unflatten(0, mask.shape[:-1]), embedded.unflatten(0, mask.shape[:-1]), mask

    def encode_together(self, texts: Sequence[TextFieldTensors]) -> list[tuple[Tensor, BoolTensor]]:
        """
        Returns what `forward` does for each of several text fields of the same batch, such as
        premises and hypotheses.

        Texts of similar length are encoded as one large batch, so that a biLM runs once for all of
        them. If one is more than `MAX_LENGTH_RATIO` times as long as another, like a paragraph and
        a question, each is encoded separately, without padding for the other. The biLM takes the
        same time in either case.
        """
        masks = [get_text_field_mask(text) for text in texts]
        lengths = [mask.size(1) for mask in masks]
        if max(lengths) > MAX_LENGTH_RATIO * min(lengths):
            return [self(text) for text in texts]
        encoded, _ = self(map_text_fields(_concatenate, *texts))  # padded to the longest of all
        parts = encoded.split([mask.size(0) for mask in masks])
        return [(part[:, : mask.size(1)], mask) for part, mask in zip(parts, masks, strict=True)]

    def get_output_dim(self) -> int:
        """Returns the size of the vectors that `forward` returns."""
        return self._encoding_dim + self._elmo_dim("output")

    def get_embedding_dim(self) -> int:
        """Returns the size of the embedded words that `encode_and_embed` returns."""
        return self._elmo_dim("input") + self.text_field_embedder.get_output_dim()

    def _elmo_dim(self, placement: str) -> int:
        if self.elmo is None or placement not in self.elmo.mixes:
            return 0
        return self.elmo.output_dim

    def _checked(self, features: Tensor | None, mask: BoolTensor) -> Tensor:
        expected = (*mask.shape, self.feature_dim)
        if features is None or features.shape != expected:
            actual = "none" if features is None else tuple(features.shape)
            raise ConfigurationError(
                f"contextual_encoder: expected features of shape {expected}, got {actual}"
            )
        return features


def _character_ids(tokens: TextFieldTensors) -> Tensor:
    if "elmo_tokens" not in tokens.get(ELMO, {}):
        raise ConfigurationError(
            f"contextual_encoder: elmo needs a token indexer {ELMO!r} of type 'elmo', but the "
            f"dataset reader has {', '.join(tokens)}"
        )
    return tokens[ELMO]["elmo_tokens"]


def map_text_fields(
    function: Callable[..., Tensor], first: TextFieldTensors, *others: TextFieldTensors
) -> TextFieldTensors:
    """
    Applies `function` to each tensor of a text field, together with the tensors of the same name of
    the others. All have the same token indexers.
    """
    result: TextFieldTensors = {}
    for indexer, tensors in first.items():
        result[indexer] = {}
        for name, tensor in tensors.items():
            same = [text[indexer][name] for text in others]
            result[indexer][name] = function(tensor, *same)
    return result


def slice_wrapping_dim(
    text: TextFieldTensors, starts: Sequence[int], length: int
) -> TextFieldTensors:
    """
    Takes a window of each list of text fields, such as the sentences of each document: `length`
    texts, or all that there are, beginning at the text in `starts`. From shape (batch, texts, time,
    ...) to (batch, length, time, ...).
    """

    def windows(tensor: Tensor) -> Tensor:
        rows = zip(tensor, starts, strict=True)
        return torch.stack([row[start : start + length] for row, start in rows])

    return map_text_fields(windows, text)


def take_rows(text: TextFieldTensors, rows: Sequence[int]) -> TextFieldTensors:
    """Returns the tensors of some rows of a batch, in the order of `rows`."""

    def take(tensor: Tensor) -> Tensor:
        return tensor[list(rows)]

    return map_text_fields(take, text)


def _concatenate(*tensors: Tensor) -> Tensor:
    """Concatenates along the first dimension, after padding all others with zeros at their end."""
    sizes = [tensor.size(0) for tensor in tensors]
    shapes = [tensor.shape[1:] for tensor in tensors]
    largest = [max(dims) for dims in zip(*shapes, strict=True)]
    result = tensors[0].new_zeros(sum(sizes), *largest)
    for tensor, rows in zip(tensors, result.split(sizes), strict=True):
        rows[tuple(slice(size) for size in tensor.shape)] = tensor
    return result


ContextualEncoder.register(ContextualEncoder.default_implementation)(ContextualEncoder)
