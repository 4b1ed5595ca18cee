"""The enhanced sequential inference model (ESIM) of Chen et al. (2017)."""

from typing import Any, cast

import torch
from allennlp.common import Lazy
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import FeedForward, Seq2SeqEncoder
from allennlp.nn.util import masked_max, masked_mean, masked_softmax
from allennlp.training.metrics import CategoricalAccuracy
from overrides import overrides
from torch import BoolTensor, LongTensor, Tensor, nn
from torch.nn import functional

from elmo_plugin.encoders import ContextualEncoder
from elmo_plugin.tasks.ensemble import average_probabilities
from elmo_plugin.tasks.label_names import add_label_names


@Model.register("snli_esim")
class SnliEsim(Model):
    """
    Whether a premise entails or contradicts a hypothesis, by the sequential model of Chen et al. (2017):

        words > contextual encoder > each word beside the like words of the other sentence > projection
              > inference encoder > mean and maximum over the words > classifier > label

    All layers are the same for premise and hypothesis. It fills in all sizes that follow from others.

    Registered as a `Model` with name "snli_esim".

    # Parameters

    vocab : `Vocabulary`
        With the labels in the namespace "labels".
    contextual_encoder : `ContextualEncoder`
        From the words to vectors in context.
    projection : `Lazy[FeedForward]`
        From a word and what it was compared with to the input of `inference_encoder`.
    inference_encoder : `Lazy[Seq2SeqEncoder]`
        Composes what was found at single words.
    classifier : `Lazy[FeedForward]`
        Hidden layers between the two sentences as one vector and the scores of the labels.
    dropout : `float`, optional (default = `0.0`)
        The rate of dropout behind the attention, and on the input of the last two fully connected layers:
        `classifier` and the scores.
    """

    default_predictor = "elmo_snli"
    average_scores = staticmethod(average_probabilities)

    def __init__(
        self,
        vocab: Vocabulary,
        contextual_encoder: ContextualEncoder,
        projection: Lazy[FeedForward],
        inference_encoder: Lazy[Seq2SeqEncoder],
        classifier: Lazy[FeedForward],
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, **kwargs)
        self.contextual_encoder = contextual_encoder
        self.projection = projection.construct(input_dim=4 * contextual_encoder.get_output_dim())
        dim = self.projection.get_output_dim()
        # AllenNLP's encoders call the size of their input by one of these two names.
        self.inference_encoder = inference_encoder.construct(input_size=dim, input_dim=dim)
        self.classifier = classifier.construct(input_dim=4 * self.inference_encoder.get_output_dim())
        self.label_scores = nn.Linear(self.classifier.get_output_dim(), vocab.get_vocab_size("labels"))
        self.dropout = nn.Dropout(dropout)
        self._accuracy = CategoricalAccuracy()

    def forward(
        self, premise: TextFieldTensors, hypothesis: TextFieldTensors, label: LongTensor | None = None
    ) -> dict[str, Any]:
        """
        # Parameters

        premise, hypothesis : `TextFieldTensors`
            The sentences, of shape (batch, time).
        label : `LongTensor | None`, optional (default = `None`)
            The number of the right label, shape (batch,).

        # Returns

        `dict[str, Any]`
            `logits` and `probs` of the labels, shape (batch, labels), and, where the right labels are given,
            `loss` (the cross entropy, on average).
        """
        return self.decode(self.scores(premise, hypothesis), label)

    def scores(self, premise: TextFieldTensors, hypothesis: TextFieldTensors) -> Tensor:
        """The logits of the labels, shape (batch, labels)."""
        (a, a_mask), (b, b_mask) = self.contextual_encoder.encode_together([premise, hypothesis])
        similarity = a @ b.transpose(1, 2)  # Shape: (batch, premise, hypothesis)
        b_for_a = attend(similarity, b, b_mask)
        a_for_b = attend(similarity.transpose(1, 2), a, a_mask)
        pair = torch.cat([self._infer(a, b_for_a, a_mask), self._infer(b, a_for_b, b_mask)], dim=-1)
        return self.label_scores(self.dropout(self.classifier(self.dropout(pair))))

    def decode(self, scores: Tensor, label: LongTensor | None = None) -> dict[str, Any]:
        """What `forward` returns, from scores. It also measures."""
        output = {"logits": scores, "probs": scores.softmax(dim=-1)}
        if label is not None:
            output["loss"] = functional.cross_entropy(scores, label)
            self._accuracy(scores, label)
        return output

    def _infer(self, words: Tensor, others: Tensor, mask: BoolTensor) -> Tensor:
        """One vector for a sentence, from its words and what each was compared with."""
        compared = torch.cat([words, others, words - others, words * others], dim=-1)
        composed = self.inference_encoder(self.projection(self.dropout(compared)), mask)
        mask = cast(BoolTensor, mask.unsqueeze(-1))
        return torch.cat([masked_mean(composed, mask, dim=1), masked_max(composed, mask, dim=1)], dim=-1)

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Adds `label`, the most probable one, and `probabilities`, by the names of the labels."""
        return add_label_names(output_dict, self.vocab)

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        return {"accuracy": self._accuracy.get_metric(reset)}


def attend(similarity: Tensor, others: Tensor, mask: BoolTensor) -> Tensor:
    """
    Equations 12 and 13 of Chen et al. (2017).

    # Parameters

    similarity : `Tensor`
        Of each word to each word of the other sentence, shape (batch, words, others).
    others : `Tensor`
        The words of the other sentence, shape (batch, others, dim).
    mask : `BoolTensor`
        Where they are, shape (batch, others).

    # Returns

    `Tensor`
        For each word the mean of the others, weighted by the softmax of their similarity to it. Shape
        (batch, words, dim).
    """
    # Without `memory_efficient`, all weights are lost where every similarity is far below zero.
    return masked_softmax(similarity, mask, memory_efficient=True) @ others
