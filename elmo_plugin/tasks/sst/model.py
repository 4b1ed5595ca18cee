"""The biattentive classification network of McCann et al. (2017)."""

from typing import Any

import torch
from allennlp.common import Lazy
from allennlp.common.checks import ConfigurationError
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import FeedForward, Maxout, Seq2SeqEncoder
from allennlp.nn.util import masked_softmax
from allennlp.training.metrics import CategoricalAccuracy
from overrides import overrides
from torch import BoolTensor, LongTensor, Tensor, nn
from torch.nn import functional

from elmo_plugin.encoders import ContextualEncoder
from elmo_plugin.tasks.ensemble import average_probabilities
from elmo_plugin.tasks.label_names import add_label_names


@Model.register("sst_bcn")
class SstBcn(Model):
    """
    The sentiment of a sentence, by the network of McCann et al. (2017), section 5, whose two sequences are
    here one and the same:

        words > contextual encoder > each word beside the like words of the same sentence > integrator
              > maximum, mean, minimum and weighted mean over the words > classifier > label

    It fills in all sizes that follow from others.

    Registered as a `Model` with name "sst_bcn".

    # Parameters

    vocab : `Vocabulary`
        With the labels in the namespace "labels".
    contextual_encoder : `ContextualEncoder`
        From the words to vectors in context.
    integrator : `Lazy[Seq2SeqEncoder]`
        Composes what was found at single words.
    classifier : `Lazy[FeedForward]`, optional (default = `None`)
        Hidden layers between the sentence as one vector and the scores of the labels, as in Peters et al.
        (2018).
    maxout : `Lazy[Maxout]`, optional (default = `None`)
        Maxout layers in their place, as in McCann et al. (2017). One of the two must be given.
    dropout : `float`, optional (default = `0.0`)
        The rate of dropout on the sentence as one vector.

    Raises `ConfigurationError` where `classifier` and `maxout` are both given, or neither.
    """

    default_predictor = "elmo_sst"
    average_scores = staticmethod(average_probabilities)

    def __init__(
        self,
        vocab: Vocabulary,
        contextual_encoder: ContextualEncoder,
        integrator: Lazy[Seq2SeqEncoder],
        classifier: Lazy[FeedForward] = None,
        maxout: Lazy[Maxout] = None,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, **kwargs)
        layers = [part for part in (classifier, maxout) if part is not None]
        if len(layers) != 1:
            raise ConfigurationError("sst_bcn: give either classifier or maxout")
        self.contextual_encoder = contextual_encoder
        dim = 3 * contextual_encoder.get_output_dim()
        # AllenNLP's encoders call the size of their input by one of these two names.
        self.integrator = integrator.construct(input_size=dim, input_dim=dim)
        # A bias would be for nothing: softmax is the same with it and without.
        self.pooling_scores = nn.Linear(self.integrator.get_output_dim(), 1, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.classifier = layers[0].construct(input_dim=4 * self.integrator.get_output_dim())
        self.label_scores = nn.Linear(self.classifier.get_output_dim(), vocab.get_vocab_size("labels"))
        self._accuracy = CategoricalAccuracy()

    def forward(
        self, tokens: TextFieldTensors, words: list[list[str]], label: LongTensor | None = None
    ) -> dict[str, Any]:
        """
        # Parameters

        tokens : `TextFieldTensors`
            The sentences, of shape (batch, time).
        words : `list[list[str]]`
            Their words.
        label : `LongTensor | None`, optional (default = `None`)
            The number of the right label, shape (batch,).

        # Returns

        `dict[str, Any]`
            `words`, `logits` and `probs` of the labels, shape (batch, labels), and, where the right labels
            are given, `loss` (the cross entropy, on average).
        """
        return self.decode(self.scores(tokens), words, label)

    def scores(self, tokens: TextFieldTensors) -> Tensor:
        """The logits of the labels, shape (batch, labels)."""
        encoded, mask = self.contextual_encoder(tokens)
        integrated = self.integrator(self_biattention(encoded, mask), mask)
        pooled = pool(integrated, self.pooling_scores(integrated).squeeze(-1), mask)
        return self.label_scores(self.classifier(self.dropout(pooled)))

    def decode(
        self, scores: Tensor, words: list[list[str]], label: LongTensor | None = None
    ) -> dict[str, Any]:
        """What `forward` returns, from scores. It also measures."""
        output = {"words": words, "logits": scores, "probs": scores.softmax(dim=-1)}
        if label is not None:
            output["loss"] = functional.cross_entropy(scores, label)
            self._accuracy(scores, label)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Adds `label`, the most probable one, and `probabilities`, by the names of the labels."""
        return add_label_names(output_dict, self.vocab)

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        return {"accuracy": self._accuracy.get_metric(reset)}


def self_biattention(encoded: Tensor, mask: BoolTensor) -> Tensor:
    """
    Biattention of a sequence X with itself: with C = softmax(X Xᵀ) X it is [X ; X - C ; X * C]
    (McCann et al., 2017, section 5).

    # Parameters

    encoded : `Tensor`
        X, shape (batch, time, dim).
    mask : `BoolTensor`
        Where its words are, shape (batch, time).

    # Returns

    `Tensor`
        Shape (batch, time, 3 * dim).
    """
    # "Memory efficient" is exact, too: the other way, padding takes part where all scores are far below zero.
    attention = masked_softmax(encoded @ encoded.transpose(1, 2), mask, memory_efficient=True)
    like = attention @ encoded
    return torch.cat([encoded, encoded - like, encoded * like], dim=-1)


def pool(vectors: Tensor, scores: Tensor, mask: BoolTensor) -> Tensor:
    """
    The maximum, the mean and the minimum over the words, and their mean weighted by the softmax of `scores`
    (McCann et al., 2017, section 5).

    # Parameters

    vectors : `Tensor`
        Shape (batch, time, dim).
    scores : `Tensor`
        Shape (batch, time).
    mask : `BoolTensor`
        Where the words are, one at least in each row, shape (batch, time).

    # Returns

    `Tensor`
        Shape (batch, 4 * dim).
    """
    padding = ~mask.unsqueeze(-1)
    weights = masked_softmax(scores, mask, memory_efficient=True)
    pooled = [
        vectors.masked_fill(padding, -torch.inf).amax(dim=1),
        vectors.masked_fill(padding, 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True),
        vectors.masked_fill(padding, torch.inf).amin(dim=1),
        (weights.unsqueeze(-1) * vectors).sum(dim=1),
    ]
    return torch.cat(pooled, dim=-1)
