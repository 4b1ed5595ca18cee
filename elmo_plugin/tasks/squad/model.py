"""BiDAF with self-attention (Clark and Gardner, 2018), as Peters et al. (2018) use it."""

from collections.abc import Sequence
from typing import Any, cast

import torch
from allennlp.common import Lazy
from allennlp.common.checks import ConfigurationError
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import FeedForward, InputVariationalDropout, Seq2SeqEncoder
from allennlp.nn import InitializerApplicator
from overrides import overrides
from torch import BoolTensor, LongTensor, Tensor, nn

from elmo_plugin.encoders import ContextualEncoder, construct_encoder, take_rows
from elmo_plugin.tasks.squad.attention import TrilinearBiattention, TrilinearSelfAttention
from elmo_plugin.tasks.squad.scores import SquadEmAndF1
from elmo_plugin.tasks.squad.spans import (
    BoundaryLogits,
    average_boundary_logits,
    best_answers,
    span_loss,
)
from elmo_plugin.tasks.task_model import TaskModel


@Model.register("squad_bidaf_self_attention")
class SquadBidafSelfAttention(TaskModel):
    """
    Finds the answer to a question in a paragraph: one encoder reads both, trilinear attention goes from one
    to the other, a residual block attends from each word of the paragraph to all others, and two encoders, of
    which the second sees the first, give a logit for each word as the first and as the last of the answer.

    A paragraph that several questions of a batch are about is encoded once. Metrics are those of the official
    script. An ensemble averages the probabilities of the first and of the last word.

    Registered as a `Model` with name "squad_bidaf_self_attention".

    # Parameters

    vocab : `Vocabulary`
        That of the words.
    contextual_encoder : `ContextualEncoder`
        From the words of paragraph and question to vectors in context.
    attention_projection, self_attention_projection : `Lazy[FeedForward]`
        The layers after attention and self-attention, of the same size.
    self_attention_encoder : `Lazy[Seq2SeqEncoder]`
        Encodes the words in the residual block. Without it and `self_attention_projection` there is no
        self-attention, and no residual block.
    start_encoder, end_encoder : `Lazy[Seq2SeqEncoder]`
        Encode the words for the first and for the last word of the answer.
    dropout : `float`, optional (default = `0.2`)
        The rate of variational dropout on encoded words, and on the input of encoders.
    max_answer_words : `int`, optional (default = `17`)
        The most words of an answer in prediction; `null` for any number.
    train_on : `str`, optional (default = `"all"`)
        "all", the probability of all right answers together, or "first", that of the first one.
    other_answers : `int`, optional (default = `4`)
        How many answers a prediction has next to the best.
    initializer : `InitializerApplicator`, optional (default = `None`)
        Initial values of parameters, see `TaskModel.initialize`.

    Raises `ConfigurationError` where only one of `self_attention_encoder` and `self_attention_projection` is
    given.
    """

    default_predictor = "elmo_squad"
    average_logits = staticmethod(average_boundary_logits)

    def __init__(
        self,
        vocab: Vocabulary,
        *,
        contextual_encoder: ContextualEncoder,
        attention_projection: Lazy[FeedForward],
        start_encoder: Lazy[Seq2SeqEncoder],
        end_encoder: Lazy[Seq2SeqEncoder],
        self_attention_encoder: Lazy[Seq2SeqEncoder] = None,
        self_attention_projection: Lazy[FeedForward] = None,
        dropout: float = 0.2,
        max_answer_words: int | None = 17,
        train_on: str = "all",
        other_answers: int = 4,
        initializer: InitializerApplicator = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, **kwargs)
        if train_on not in ("all", "first"):
            raise ConfigurationError(f"train_on is all or first, not {train_on!r}")
        if (self_attention_encoder is None) != (self_attention_projection is None):
            raise ConfigurationError(
                "squad_bidaf_self_attention: give both self_attention_encoder and self_attention_projection, "
                "or neither for a model without self-attention"
            )
        self.contextual_encoder = contextual_encoder
        encoded_dim = contextual_encoder.get_output_dim()
        self.biattention = TrilinearBiattention(encoded_dim)
        self.attention_projection = attention_projection.construct(input_dim=4 * encoded_dim)
        dim = self.attention_projection.get_output_dim()
        self.residual_block = None
        if self_attention_encoder is not None and self_attention_projection is not None:
            self.residual_block = ResidualSelfAttention(
                construct_encoder(self_attention_encoder, dim), self_attention_projection, dropout
            )
        self.start_encoder = construct_encoder(start_encoder, dim)
        self.end_encoder = construct_encoder(end_encoder, dim + self.start_encoder.get_output_dim())
        self.start_logits = nn.Linear(self.start_encoder.get_output_dim(), 1, bias=False)
        self.end_logits = nn.Linear(self.end_encoder.get_output_dim(), 1, bias=False)
        self.dropout = InputVariationalDropout(dropout)
        if max_answer_words is not None and max_answer_words < 1:
            raise ConfigurationError(f"max_answer_words is null or 1 or more, not {max_answer_words}")
        self._max_answer_words = max_answer_words
        self._train_on = train_on
        self._num_answers = 1 + other_answers
        self._em_and_f1 = SquadEmAndF1()
        self.initialize(initializer)

    def compute_logits(
        self, paragraph: TextFieldTensors, question: TextFieldTensors, metadata: list[dict[str, Any]]
    ) -> BoundaryLogits:
        """Returns the logits of the first and of the last word, for text fields of shape (batch, time)."""
        distinct, row_of = _distinct([each["paragraph"].text for each in metadata])
        texts = [take_rows(paragraph, distinct), question]
        (p, p_mask), (q, q_mask) = self.contextual_encoder.encode_together(texts)
        p, p_mask = self.dropout(p)[row_of], cast(BoolTensor, p_mask[row_of])
        words = self.attention_projection(self.biattention(p, self.dropout(q), p_mask, q_mask))
        if self.residual_block is not None:
            words = words + self.residual_block(words, p_mask)
        words = self.dropout(words)
        for_start = self.start_encoder(words, p_mask)
        for_end = self.end_encoder(torch.cat([words, for_start], dim=-1), p_mask)
        start, end = self.start_logits(for_start).squeeze(-1), self.end_logits(for_end).squeeze(-1)
        return BoundaryLogits(start, end, p_mask)

    def decode(
        self,
        logits: BoundaryLogits,
        metadata: list[dict[str, Any]],
        answers: LongTensor | None = None,
    ) -> dict[str, Any]:
        """
        # Parameters

        logits : `BoundaryLogits`
            From `compute_logits`.
        metadata : `list[dict[str, Any]]`
            The `TokenizedParagraph` and the `Question` of each.
        answers : `LongTensor | None`, optional (default = `None`)
            The first and the last word of each right answer, shape (batch, answers, 2), padded with -1.

        # Returns

        `dict[str, Any]`
            The `id` and the `paragraph` of each question and, except in training, `spans`, the most probable
            first. Where the right answers are given, `loss`.
        """
        output: dict[str, Any] = {
            "id": [each["question"].id for each in metadata],
            "paragraph": [each["paragraph"] for each in metadata],
        }
        if not self.training:
            most = self._max_answer_words
            max_words = logits.mask.size(1) if most is None else most
            output["spans"] = best_answers(logits, max_words, self._num_answers)
        if answers is not None:
            output["loss"] = span_loss(logits, answers if self._train_on == "all" else answers[:, :1])
            if not self.training:
                for each, (best, *_) in zip(metadata, output["spans"], strict=True):
                    right = [answer.text for answer in each["question"].answers]
                    self._em_and_f1(_describe(each["paragraph"], *best)["text"], right)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        Returns the `id` of each question and its best `answer`, with the place of its `characters` in the
        paragraph and the `probability` that both of its ends are right; `others` are the next best, each with
        its `text`. In training nothing is predicted, and nothing is changed.
        """
        if "spans" not in output_dict:
            return output_dict
        answers = [
            [_describe(paragraph, *span) for span in row]
            for paragraph, row in zip(output_dict["paragraph"], output_dict["spans"], strict=True)
        ]
        return {
            "id": output_dict["id"],
            "answer": [best["text"] for best, *_ in answers],
            "characters": [best["characters"] for best, *_ in answers],
            "probability": [best["probability"] for best, *_ in answers],
            "others": [others for _, *others in answers],
        }

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Returns `em` and `f1`, from 0 to 1; none in training, where no answer is predicted."""
        return {} if self.training else self._em_and_f1.get_metric(reset)


class ResidualSelfAttention(nn.Module):
    """
    Encodes words, attends from each to all others, and projects to the size of the words.

    # Parameters

    encoder : `Seq2SeqEncoder`
        Encodes the words.
    projection : `Lazy[FeedForward]`
        From what the self-attention gives to the size of the words.
    dropout : `float`
        The rate of variational dropout before and after the encoder.
    """

    def __init__(self, encoder: Seq2SeqEncoder, projection: Lazy[FeedForward], dropout: float) -> None:
        super().__init__()
        self.encoder = encoder
        self.attention = TrilinearSelfAttention(encoder.get_output_dim())
        self.projection = projection.construct(input_dim=3 * encoder.get_output_dim())
        self.dropout = InputVariationalDropout(dropout)

    def forward(self, words: Tensor, mask: BoolTensor) -> Tensor:
        """Returns what is added to the words, of their shape (batch, time, dim)."""
        encoded = self.dropout(self.encoder(self.dropout(words), mask))
        return self.projection(self.attention(encoded, mask))


def _distinct(texts: Sequence[str]) -> tuple[list[int], list[int]]:
    """Returns the rows that have each text first, and for each row the number of its text among them."""
    numbers: dict[str, int] = {}
    row_of = [numbers.setdefault(text, len(numbers)) for text in texts]
    return [row_of.index(number) for number in range(len(numbers))], row_of


def _describe(paragraph: Any, first: int, last: int, probability: float) -> dict[str, Any]:
    start, end = paragraph.characters(first, last)
    return {"text": paragraph.text[start:end], "characters": [start, end], "probability": probability}
