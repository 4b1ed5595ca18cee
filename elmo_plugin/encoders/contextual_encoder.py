"""Words to vectors in context: the one place where ELMo enters a task model."""

from collections.abc import Sequence
from typing import Any

import torch
from allennlp.common import Lazy, Params, Registrable
from allennlp.common.checks import ConfigurationError
from allennlp.data import TextFieldTensors
from allennlp.modules import (
    FeedForward,
    InputVariationalDropout,
    Seq2SeqEncoder,
    TextFieldEmbedder,
    TokenEmbedder,
)
from allennlp.nn.util import get_text_field_mask
from overrides import overrides
from torch import BoolTensor, Tensor, nn

from elmo_plugin.bilm import Dropout
from elmo_plugin.embedding import share_frozen_bilms
from elmo_plugin.encoders.text_fields import concatenate_text_fields, flatten_wrapping_dims

MAX_LENGTH_RATIO = 4


def construct_encoder(encoder: Lazy[Seq2SeqEncoder], input_dim: int) -> Seq2SeqEncoder:
    """Constructs an encoder of vectors of size `input_dim`, which AllenNLP's encoders call by either name."""
    return encoder.construct(input_size=input_dim, input_dim=input_dim)


class ContextualEncoder(nn.Module, Registrable):
    """
    Embeds the words of a text field, and encodes them in their context:

        words > embedder > dropout > feed-forward layers > [; features] > encoder > [; ELMo]

    where only the embedder must be there. It fills in all sizes that follow from others.

    ELMo may be a part of the embedding (`[x ; ELMo]`, the input placement of Peters et al., 2018,
    section 3.3), may be concatenated with the encoder's output (`[h ; ELMo]`, the output placement), or both.

    Registered as a `ContextualEncoder` with name "contextual_encoder", which is the default.

    # Parameters

    text_field_embedder : `TextFieldEmbedder`
        Embeds the words. An embedder named "elmo" in it is the input placement.
    encoder : `Lazy[Seq2SeqEncoder]`, optional (default = `None`)
        Encodes the embedded words. Without it the embedding is the encoding.
    output_elmo : `TokenEmbedder`, optional (default = `None`)
        The output placement: embeds the words a second time, with mixing weights of its own.
    output_elmo_indexer : `str`, optional (default = `"elmo"`)
        The name of the token indexer that `output_elmo` takes its tensors from.
    dropout : `float`, optional (default = `0.0`)
        The rate of dropout on the embedded words.
    variational_dropout : `bool`, optional (default = `True`)
        Whether it drops the same values of all words of a sentence.
    feedforward : `Lazy[FeedForward]`, optional (default = `None`)
        Layers between the embedded words and the encoder.
    feature_dim : `int`, optional (default = `0`)
        The size of the features of each word that `forward` is given with the text. A model whose task has
        such features constructs its encoder with their size; a configuration does not name it.

    Raises `ConfigurationError` if the text field embedder has no token embedder.
    """

    default_implementation = "contextual_encoder"

    def __init__(
        self,
        text_field_embedder: TextFieldEmbedder,
        encoder: Lazy[Seq2SeqEncoder] = None,
        *,
        output_elmo: TokenEmbedder = None,
        output_elmo_indexer: str = "elmo",
        dropout: float = 0.0,
        variational_dropout: bool = True,
        feedforward: Lazy[FeedForward] = None,
        feature_dim: int = 0,
    ) -> None:
        super().__init__()
        self.text_field_embedder = text_field_embedder
        self.dropout = (InputVariationalDropout if variational_dropout else Dropout)(dropout)
        dim = text_field_embedder.get_output_dim()
        if dim == 0:
            raise ConfigurationError(
                "contextual_encoder: nothing embeds the words: add word vectors, characters or ELMo as input"
            )
        self.feedforward = feedforward.construct(input_dim=dim) if feedforward else None
        if self.feedforward is not None:
            dim = self.feedforward.get_output_dim()
        dim += feature_dim
        self.encoder = construct_encoder(encoder, dim) if encoder else None
        self.output_elmo = output_elmo
        self.feature_dim = feature_dim
        self._encoding_dim = dim if self.encoder is None else self.encoder.get_output_dim()
        self._output_elmo_indexer = output_elmo_indexer
        share_frozen_bilms(self)

    @classmethod
    @overrides
    def from_params(cls, params: Params, *args: Any, **extras: Any) -> "ContextualEncoder":
        """Constructs an encoder whose placements of ELMo read an equal frozen biLM once."""
        return super().from_params(params, *args, **{"loaded_bilms": {}, **extras})

    def forward(
        self, tokens: TextFieldTensors, features: Tensor | None = None, num_wrapping_dims: int = 0
    ) -> tuple[Tensor, BoolTensor]:
        """
        # Parameters

        tokens : `TextFieldTensors`
            The tensors of a text field of shape (batch, time), or (batch, ..., time) with wrapping dims.
        features : `Tensor | None`, optional (default = `None`)
            Concatenated with the embedded words. Shape (batch, ..., time, feature_dim).
        num_wrapping_dims : `int`, optional (default = `0`)
            The number of dimensions between batch and time: 1 for lists of text fields, such as the sentences
            of documents. Each sentence is encoded by itself.

        # Returns

        `Tensor`
            Shape (batch, ..., time, output_dim).
        `BoolTensor`
            Shape (batch, ..., time), true at the words.

        Raises `ConfigurationError` where `features` have another shape, or the indexer of `output_elmo` is
        missing.
        """
        encoded, _, mask = self.encode_and_embed(tokens, features, num_wrapping_dims)
        return encoded, mask

    def encode_and_embed(
        self, tokens: TextFieldTensors, features: Tensor | None = None, num_wrapping_dims: int = 0
    ) -> tuple[Tensor, Tensor, BoolTensor]:
        """
        Returns what `forward` does and, between the two, the embedded words after dropout, of shape
        (batch, ..., time, embedding_dim), for models that need the words themselves next to their context.
        """
        mask = get_text_field_mask(tokens, num_wrapping_dims)  # Shape: (batch, ..., time)
        flat_mask = mask.flatten(0, num_wrapping_dims)  # Shape: (sentences, time), as all from here on
        tokens = flatten_wrapping_dims(tokens, num_wrapping_dims)
        embedded = self.dropout(self.text_field_embedder(self._tokens_to_embed(tokens)))
        encoded = embedded
        if self.feedforward is not None:
            encoded = self.feedforward(encoded)
        if self.feature_dim or features is not None:
            features = self._checked(features, mask).flatten(0, num_wrapping_dims)
            encoded = torch.cat([encoded, features], dim=-1)
        if self.encoder is not None:
            encoded = self.encoder(encoded, flat_mask)
        if self.output_elmo is not None:
            encoded = torch.cat([encoded, self.output_elmo(**self._tokens_of_output_elmo(tokens))], dim=-1)
        return encoded.unflatten(0, mask.shape[:-1]), embedded.unflatten(0, mask.shape[:-1]), mask

    def encode_together(self, texts: Sequence[TextFieldTensors]) -> list[tuple[Tensor, BoolTensor]]:
        """
        Returns what `forward` does for each of several text fields of the same batch, such as premises and
        hypotheses.

        Texts of similar length are encoded as one large batch, so that a biLM runs once for all of them.
        Where one is more than `MAX_LENGTH_RATIO` times as long as another, as paragraphs are for questions,
        each is encoded by itself, without padding for the other. The biLM's time is that of the words in
        either case.
        """
        masks = [get_text_field_mask(text) for text in texts]
        lengths = [mask.size(1) for mask in masks]
        if max(lengths) > MAX_LENGTH_RATIO * min(lengths):
            return [self(text) for text in texts]
        encoded, _ = self(concatenate_text_fields(texts))
        parts = encoded.split([mask.size(0) for mask in masks])
        return [(part[:, : mask.size(1)], mask) for part, mask in zip(parts, masks, strict=True)]

    def get_output_dim(self) -> int:
        """Returns the size of the vectors that `forward` returns."""
        return self._encoding_dim + (self.output_elmo.get_output_dim() if self.output_elmo else 0)

    def get_embedding_dim(self) -> int:
        """Returns the size of the embedded words that `encode_and_embed` returns."""
        return self.text_field_embedder.get_output_dim()

    def _checked(self, features: Tensor | None, mask: BoolTensor) -> Tensor:
        expected = (*mask.shape, self.feature_dim)
        if features is None or features.shape != expected:
            found = "there are none" if features is None else f"they have {tuple(features.shape)}"
            raise ConfigurationError(
                f"contextual_encoder: features must have the shape {expected}, but {found}"
            )
        return features

    def _tokens_to_embed(self, tokens: TextFieldTensors) -> TextFieldTensors:
        """Leaves out what only the output placement reads: the text field embedder would reject it."""
        if self.output_elmo is None or hasattr(
            self.text_field_embedder, f"token_embedder_{self._output_elmo_indexer}"
        ):
            return tokens
        return {name: tensors for name, tensors in tokens.items() if name != self._output_elmo_indexer}

    def _tokens_of_output_elmo(self, tokens: TextFieldTensors) -> dict[str, Tensor]:
        if self._output_elmo_indexer not in tokens:
            raise ConfigurationError(
                f"output_elmo needs a token indexer named {self._output_elmo_indexer!r}, but the dataset "
                f"reader has {', '.join(tokens)}"
            )
        return tokens[self._output_elmo_indexer]


ContextualEncoder.register(ContextualEncoder.default_implementation)(ContextualEncoder)
