"""Words to vectors in context: the one place where ELMo enters a task model."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from allennlp.common import Lazy, Registrable
from allennlp.common.checks import ConfigurationError
from allennlp.data import TextFieldTensors
from allennlp.modules import FeedForward, InputVariationalDropout, Seq2SeqEncoder, TextFieldEmbedder
from allennlp.nn.util import get_text_field_mask
from torch import BoolTensor, Tensor, nn

from elmo_plugin.bilm import Dropout
from elmo_plugin.embedding import ContextualElmo
from elmo_plugin.encoders.text_fields import concatenate, flatten_wrapping_dims

MAX_LENGTH_RATIO = 4
ELMO = "elmo"  # the token indexer that the module `elmo` reads


def construct_encoder(encoder: Lazy[Seq2SeqEncoder], input_dim: int) -> Seq2SeqEncoder:
    """
    Constructs an encoder of vectors of size `input_dim`. Some of AllenNLP's encoders call this
    argument `input_size`. So both names are given, and `construct` passes on the one that the
    encoder has.
    """
    return encoder.construct(input_size=input_dim, input_dim=input_dim)


class EncodedWords(NamedTuple):
    """
    The words of a text field.

    encoded: (batch, ..., time, output_dim)
    embedded: the words without their context, after dropout, (batch, ..., time, embedding_dim)
    mask: (batch, ..., time), true at the words
    """

    encoded: Tensor
    embedded: Tensor
    mask: BoolTensor


class ContextualEncoder(nn.Module, Registrable):
    """
    Embeds the words of a text field, and encodes them in their context:

        [ELMo ;] words > dropout > feed-forward layers > [; features] > encoder > [; ELMo]

    The words must be embedded by the text field embedder, by ELMo, or by both. Everything else is
    optional. A size that follows from other sizes is filled in.

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
        The size of the features of each word that `forward` takes with the text. A model with such
        features gives their size when it constructs its encoder, so configurations do not give it.

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
        dim = self.get_embedding_dim()  # every layer below replaces it with the size of its output
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
        text = self.encode_and_embed(tokens, features, num_wrapping_dims)
        return text.encoded, text.mask

    def encode_and_embed(
        self, tokens: TextFieldTensors, features: Tensor | None = None, num_wrapping_dims: int = 0
    ) -> EncodedWords:
        """
        Encodes each sentence of a text field separately, for models that also need the words
        without their context. Takes the arguments of `forward`.
        """
        mask = get_text_field_mask(tokens, num_wrapping_dims)  # Shape: (batch, ..., time)
        # Within the encoder, all sentences are in one dimension: (sentences, time, ...).
        flat_mask = mask.flatten(0, num_wrapping_dims)
        tokens = flatten_wrapping_dims(tokens, num_wrapping_dims)
        bilm_layers = None
        if self.elmo is not None:
            # Shape: (num_layers, sentences, time, dim)
            bilm_layers, _ = self.elmo.run_bilm(_character_ids(tokens))
        embedded = self._embed(tokens, bilm_layers)
        encoded = embedded
        if self.feedforward is not None:
            encoded = self.feedforward(embedded)
        if self.feature_dim > 0 or features is not None:
            checked = self._checked_features(features, mask)
            encoded = torch.cat([encoded, checked.flatten(0, num_wrapping_dims)], dim=-1)
        if self.encoder is not None:
            encoded = self.encoder(encoded, flat_mask)
        if self.elmo is not None and "output" in self.elmo.mixes:
            elmo_vectors = self.elmo.mixes["output"](bilm_layers)
            encoded = torch.cat([encoded, elmo_vectors], dim=-1)
        wrapping_dims = mask.shape[:-1]  # (batch, ...)
        return EncodedWords(
            encoded=encoded.unflatten(0, wrapping_dims),
            embedded=embedded.unflatten(0, wrapping_dims),
            mask=mask,
        )

    def _embed(self, tokens: TextFieldTensors, bilm_layers: Tensor | None) -> Tensor:
        """
        Returns the embedded words after dropout, shape (sentences, time, embedding_dim).
        `bilm_layers` are all layers of the biLM, shape (num_layers, sentences, time, dim), or
        `None` without ELMo.
        """
        vectors = []
        if self.elmo is not None:
            if "input" in self.elmo.mixes:
                vectors.append(self.elmo.mixes["input"](bilm_layers))
            # AllenNLP's embedder refuses the tensors of an indexer that it does not embed.
            tokens = {name: tensors for name, tensors in tokens.items() if name != ELMO}
        has_word_embedders = self.text_field_embedder.get_output_dim() > 0
        if has_word_embedders:
            vectors.append(self.text_field_embedder(tokens))
        concatenated = torch.cat(vectors, dim=-1)
        return self.dropout(concatenated)

    def encode_together(self, texts: Sequence[TextFieldTensors]) -> list[tuple[Tensor, BoolTensor]]:
        """
        Encodes several text fields of the same batch, such as premises and hypotheses. Returns for
        each of them the vectors, shape (batch, time, output_dim), and the mask of the words.

        Text fields of similar length are encoded as one large batch, for speed. If one is more than
        `MAX_LENGTH_RATIO` times as long as another, like paragraphs and questions, each is encoded
        separately, because most of the large batch would be padding.
        """
        masks = [get_text_field_mask(text) for text in texts]
        lengths = [mask.size(1) for mask in masks]
        if max(lengths) > MAX_LENGTH_RATIO * min(lengths):
            return [self(text) for text in texts]
        large_batch = concatenate(texts)
        encoded, _ = self(large_batch)  # Shape: (all texts, longest time, output_dim)
        batch_sizes = [mask.size(0) for mask in masks]
        results = []
        for part, mask in zip(encoded.split(batch_sizes), masks, strict=True):
            without_padding = part[:, : mask.size(1)]
            results.append((without_padding, mask))
        return results

    def get_output_dim(self) -> int:
        """Returns the size of the vectors that `forward` returns."""
        return self._encoding_dim + self._elmo_dim("output")

    def get_embedding_dim(self) -> int:
        """Returns the size of the embedded words that `encode_and_embed` returns."""
        return self._elmo_dim("input") + self.text_field_embedder.get_output_dim()

    def _elmo_dim(self, placement: str) -> int:
        """Returns the size that ELMo adds at a placement; 0 if it is not there."""
        if self.elmo is None or placement not in self.elmo.mixes:
            return 0
        return self.elmo.output_dim

    def _checked_features(self, features: Tensor | None, mask: BoolTensor) -> Tensor:
        """
        Returns the features. Raises `ConfigurationError` unless they have the shape (batch, ...,
        time, feature_dim). All dimensions but the last one are taken from `mask`.
        """
        expected = (*mask.shape, self.feature_dim)
        if features is None or features.shape != expected:
            actual = "none"
            if features is not None:
                actual = str(tuple(features.shape))
            raise ConfigurationError(
                f"contextual_encoder: expected features of shape {expected}, got {actual}"
            )
        return features


def _character_ids(tokens: TextFieldTensors) -> Tensor:
    """
    Returns the character ids that ELMo reads. Raises `ConfigurationError` if the text field was not
    indexed by ELMo's token indexer.
    """
    if "elmo_tokens" not in tokens.get(ELMO, {}):
        raise ConfigurationError(
            f"contextual_encoder: elmo needs a token indexer {ELMO!r} of type 'elmo', but the "
            f"dataset reader has {', '.join(tokens)}"
        )
    return tokens[ELMO]["elmo_tokens"]


ContextualEncoder.register(ContextualEncoder.default_implementation)(ContextualEncoder)
