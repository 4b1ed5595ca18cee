"""Words to vectors in context: the one place where ELMo enters a task model."""

import torch
from allennlp.common import Lazy, Registrable
from allennlp.common.checks import ConfigurationError
from allennlp.data import TextFieldTensors
from allennlp.modules import InputVariationalDropout, Seq2SeqEncoder, TextFieldEmbedder, TokenEmbedder
from allennlp.nn.util import get_text_field_mask
from torch import BoolTensor, Tensor, nn


class ContextualEncoder(nn.Module, Registrable):
    """
    Embeds the words of a text field, and encodes them in their context.

    ELMo may be a part of the embedding (`[x ; ELMo]`, the input placement of Peters et al., 2018,
    section 3.3), may be put beside the encoder's output (`[h ; ELMo]`, the output placement), or both.

    Registered as a `ContextualEncoder` with name "contextual_encoder", which is the default.

    # Parameters

    text_field_embedder : `TextFieldEmbedder`
        Embeds the words. An embedder named "elmo" in it is the input placement.
    encoder : `Lazy[Seq2SeqEncoder]`, optional (default = `None`)
        Encodes the embedded words. Its input size is filled in. Without it the embedding is the encoding.
    output_elmo : `TokenEmbedder`, optional (default = `None`)
        The output placement: embeds the words a second time, with mixing weights of its own.
    output_elmo_indexer : `str`, optional (default = `"elmo"`)
        The name of the token indexer that `output_elmo` takes its tensors from.
    dropout : `float`, optional (default = `0.0`)
        The rate of dropout between embedder and encoder, one mask for all words of a sentence.
    """

    default_implementation = "contextual_encoder"

    def __init__(
        self,
        text_field_embedder: TextFieldEmbedder,
        encoder: Lazy[Seq2SeqEncoder] = None,
        output_elmo: TokenEmbedder = None,
        output_elmo_indexer: str = "elmo",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.text_field_embedder = text_field_embedder
        self.dropout = InputVariationalDropout(dropout)
        dim = text_field_embedder.get_output_dim()
        # AllenNLP's encoders call the size of their input by one of these two names.
        self.encoder = encoder.construct(input_size=dim, input_dim=dim) if encoder else None
        self.output_elmo = output_elmo
        self._output_elmo_indexer = output_elmo_indexer

    def forward(self, tokens: TextFieldTensors) -> tuple[Tensor, BoolTensor]:
        """
        # Parameters

        tokens : `TextFieldTensors`
            The tensors of a text field of shape (batch, time).

        # Returns

        `Tensor`
            Shape (batch, time, output_dim).
        `BoolTensor`
            Shape (batch, time), true at the words.
        """
        mask = get_text_field_mask(tokens)
        encoded = self.dropout(self.text_field_embedder(self._tokens_to_embed(tokens)))
        if self.encoder is not None:
            encoded = self.encoder(encoded, mask)
        if self.output_elmo is not None:
            encoded = torch.cat([encoded, self.output_elmo(**self._tokens_of_output_elmo(tokens))], dim=-1)
        return encoded, mask

    def get_output_dim(self) -> int:
        """The size of the vectors that `forward` returns."""
        parts = (self.encoder or self.text_field_embedder, self.output_elmo)
        return sum(part.get_output_dim() for part in parts if part is not None)

    def _tokens_to_embed(self, tokens: TextFieldTensors) -> TextFieldTensors:
        """Without the tensors that only the output placement reads: the text field embedder rejects them."""
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
