"""BiDAF with self-attention (Clark and Gardner, 2018), as Peters et al. (2018) use it; and its
predictor.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import torch
from allennlp.common import JsonDict, Lazy
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance, TextFieldTensors, Vocabulary
from allennlp.data.tokenizers import Token
from allennlp.models import Model
from allennlp.modules import FeedForward, InputVariationalDropout, Seq2SeqEncoder
from allennlp.predictors import Predictor
from overrides import overrides
from torch import BoolTensor, LongTensor, Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from elmo_plugin.common.errors import check_at_least, check_choice
from elmo_plugin.encoders import ContextualEncoder, construct_encoder, take_rows
from elmo_plugin.tasks.predictor import TaskPredictor
from elmo_plugin.tasks.squad.articles import Question
from elmo_plugin.tasks.squad.attention import TrilinearBiattention, TrilinearSelfAttention
from elmo_plugin.tasks.squad.dataset_reader import SquadExample, SquadReader, TokenizedParagraph
from elmo_plugin.tasks.squad.metrics import SquadEmAndF1
from elmo_plugin.tasks.squad.spans import (
    AnswerSpan,
    BoundaryLogits,
    average_boundary_logits,
    best_answers,
    span_loss,
)
from elmo_plugin.tasks.task_model import TaskModel

if TYPE_CHECKING:
    from nltk.stem import PorterStemmer


_NUM_PREDICTED = 5  # answers for each question: the best one, and the next best


@lru_cache(100_000)
def _stem(word: str) -> str:
    """Returns a word without its ending, by Porter's rules."""
    return _stemmer().stem(word)


@cache
def _stemmer() -> "PorterStemmer":
    """Returns NLTK's stemmer. Only models that need it wait for its import."""
    from nltk.stem import PorterStemmer

    return PorterStemmer()


@Model.register("squad_bidaf_self_attention")
class SquadBidafSelfAttention(TaskModel):
    """
    Finds the answer to a question in a paragraph:

    1. One encoder reads both texts.
    2. Trilinear attention goes from the paragraph to the question and back.
    3. A residual block attends from each word of the paragraph to all others.
    4. An encoder computes the logit of each word as the first of the answer. A second encoder on
       top of it computes the logit as the last word.

    A paragraph with several questions in a batch is encoded once. The metric counts like the
    official script. An ensemble averages the probabilities of the first and of the last word.

    Registered as a `Model` with name "squad_bidaf_self_attention".

    # Parameters

    vocab : `Vocabulary`
        The vocabulary of the words.
    contextual_encoder : `ContextualEncoder`
        From the words of paragraph and question to vectors in context.
    attention_projection, self_attention_projection : `Lazy[FeedForward]`
        The layers after attention and self-attention, of the same size.
    self_attention_encoder : `Lazy[Seq2SeqEncoder]`
        Encodes the words in the residual block. Without it and `self_attention_projection` the
        residual block is left out. Giving only one of the two is an error.
    start_encoder, end_encoder : `Lazy[Seq2SeqEncoder]`
        Encode the words for the first and for the last word of the answer.
    dropout : `float`, optional (default = `0.2`)
        The rate of variational dropout on encoded words, and on the input of encoders.
    max_answer_words : `int`, optional (default = `17`)
        The most words of an answer in prediction; `null` for any number.
    word_in_question : `bool`, optional (default = `False`)
        Tell the layers after attention which words of the paragraph the question has (Weissenborn,
        Wiese and Seiffe, 2017). The paper's model does not; with little data it learns much faster.
    train_on : `str`, optional (default = `"all"`)
        "all", the probability of all correct answers together, or "first", of the first one.
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
        word_in_question: bool = False,
        train_on: str = "all",
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, **kwargs)
        check_choice("train_on", train_on, ("all", "first"), ConfigurationError)
        if (self_attention_encoder is None) != (self_attention_projection is None):
            raise ConfigurationError(
                "squad_bidaf_self_attention: give both self_attention_encoder and "
                "self_attention_projection, or neither for a model without self-attention"
            )
        self.contextual_encoder = contextual_encoder
        encoded_dim = contextual_encoder.get_output_dim()
        self.biattention = TrilinearBiattention(encoded_dim)
        attended_dim = 4 * encoded_dim
        if word_in_question:
            attended_dim += 2  # the two marks of `words_in_question`
        self.attention_projection = attention_projection.construct(input_dim=attended_dim)
        dim = self.attention_projection.get_output_dim()
        self.residual_block = None
        # Either both are given or neither, see above. mypy needs both conditions.
        if self_attention_encoder is not None and self_attention_projection is not None:
            encoder = construct_encoder(self_attention_encoder, dim)
            self.residual_block = ResidualSelfAttention(encoder, self_attention_projection, dropout)
        self.start_encoder = construct_encoder(start_encoder, dim)
        self.end_encoder = construct_encoder(end_encoder, dim + self.start_encoder.get_output_dim())
        self.start_logits = nn.Linear(self.start_encoder.get_output_dim(), 1, bias=False)
        self.end_logits = nn.Linear(self.end_encoder.get_output_dim(), 1, bias=False)
        self.dropout = InputVariationalDropout(dropout)
        if max_answer_words is not None:
            check_at_least("max_answer_words", max_answer_words, least=1, error=ConfigurationError)
        self._max_answer_words = max_answer_words
        self._word_in_question = word_in_question
        self._train_on = train_on
        self.metric = SquadEmAndF1()
        self.initialize()

    def compute_logits(
        self,
        paragraph: TextFieldTensors,
        question: TextFieldTensors,
        metadata: list[SquadExample],
        **_: Any,
    ) -> BoundaryLogits:
        """
        Returns the logits of the first and of the last word, for text fields of shape (batch,
        time).
        """
        # A paragraph with several questions in the batch is encoded once.
        distinct = _distinct([example.paragraph.text for example in metadata])
        paragraphs = take_rows(paragraph, distinct.first_rows)
        # `p` is for the words of the paragraph, and `q` for the words of the question.
        (p, p_mask), (q, q_mask) = self.contextual_encoder.encode_together([paragraphs, question])
        p = self.dropout(p)[distinct.indices]  # Shape: (batch, time, dim)
        p_mask = cast(BoolTensor, p_mask[distinct.indices])  # Shape: (batch, time)
        q = self.dropout(q)  # Shape: (batch, question, dim)
        words = self.biattention(p, q, p_mask, q_mask)  # Shape: (batch, time, 4 * dim)
        if self._word_in_question:
            marks = _marks_of_batch(metadata).to(words)  # Shape: (batch, time, 2)
            words = torch.cat([words, marks], dim=-1)
        words = self.attention_projection(words)  # Shape: (batch, time, projected_dim)
        if self.residual_block is not None:
            words = words + self.residual_block(words, p_mask)
        words = self.dropout(words)
        start = self.start_encoder(words, p_mask)  # Shape: (batch, time, start_dim)
        words_and_start = torch.cat([words, start], dim=-1)
        end = self.end_encoder(words_and_start, p_mask)  # Shape: (batch, time, end_dim)
        start_logits = self.start_logits(start).squeeze(-1)  # Shape: (batch, time)
        end_logits = self.end_logits(end).squeeze(-1)  # Shape: (batch, time)
        return BoundaryLogits(start_logits, end_logits, p_mask)

    def decode(
        self,
        logits: BoundaryLogits,
        metadata: list[SquadExample],
        answers: LongTensor | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """
        Returns the `id` and the `paragraph` of each question and, except in training, its best
        `spans`. If the batch has `answers`, it also returns the `loss` and, except in training,
        counts the best spans in the metric.

        `answers`, of shape (batch, answers, 2), has the first and the last word of each correct
        answer, padded by -1.
        """
        output: dict[str, Any] = {
            "id": [example.question.id for example in metadata],
            "paragraph": [example.paragraph for example in metadata],
        }
        if not self.training:
            max_words = self._max_answer_words
            if max_words is None:
                max_words = logits.mask.size(1)  # the words of the longest paragraph
            output["spans"] = best_answers(logits, max_words, count=_NUM_PREDICTED)
        if answers is not None:
            trained_on: Tensor = answers
            if self._train_on == "first":
                trained_on = answers[:, :1]
            output["loss"] = span_loss(logits, trained_on)
            if not self.training:
                self._count_best_spans(metadata, output["spans"])
        return output

    def _count_best_spans(
        self, metadata: list[SquadExample], spans: list[list[AnswerSpan]]
    ) -> None:
        """Adds the best span of each question, and the texts of its answers, to the metric."""
        for example, spans_of_question in zip(metadata, spans, strict=True):
            predicted = _describe(example.paragraph, spans_of_question[0])["text"]
            correct = [answer.text for answer in example.question.answers]
            self.metric(predicted, correct)

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        Returns the `id` of each question and its best `answer`, with the start and the end of its
        `characters` in the paragraph, and the `probability` that both ends are correct. `others`
        are the next best answers, each with its `text` in place of `answer`. The output of a
        training step is not changed, because nothing is predicted there.
        """
        is_training = "spans" not in output_dict
        if is_training:
            return output_dict
        best = []
        others = []
        for paragraph, spans in zip(output_dict["paragraph"], output_dict["spans"], strict=True):
            answers = [_describe(paragraph, span) for span in spans]
            best.append(answers[0])
            others.append(answers[1:])
        return {
            "id": output_dict["id"],
            "answer": [answer["text"] for answer in best],
            "characters": [answer["characters"] for answer in best],
            "probability": [answer["probability"] for answer in best],
            "others": others,
        }


class ResidualSelfAttention(nn.Module):
    """Encodes words, attends from each to all others, and projects to the size of the words."""

    def __init__(
        self, encoder: Seq2SeqEncoder, projection: Lazy[FeedForward], dropout: float
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.attention = TrilinearSelfAttention(encoder.get_output_dim())
        self.projection = projection.construct(input_dim=3 * encoder.get_output_dim())
        self.dropout = InputVariationalDropout(dropout)

    def forward(self, words: Tensor, mask: BoolTensor) -> Tensor:
        """Returns vectors to add to the words, of their shape (batch, time, dim)."""
        encoded = self.encoder(self.dropout(words), mask)
        encoded = self.dropout(encoded)  # Shape: (batch, time, encoded_dim)
        attended = self.attention(encoded, mask)  # Shape: (batch, time, 3 * encoded_dim)
        return self.projection(attended)


def _marks_of_batch(metadata: list[SquadExample]) -> Tensor:
    """
    Marks each word of each paragraph by the two numbers of `words_in_question`, shape (batch, time,
    2).
    """
    marks = []
    for example in metadata:
        marks.append(words_in_question(example.paragraph.tokens, example.words))
    return pad_sequence(marks, batch_first=True)


def words_in_question(paragraph: list[Token], question: list[Token]) -> Tensor:
    """
    Marks each word of a paragraph by two numbers, of shape (time, 2). The first is 1 if the
    question has this word, in upper or lower case. The second is 1 if it has a word with the same
    stem, as for "closed" and "closing". Otherwise they are 0.
    """
    question_words = {token.ensure_text().lower() for token in question}
    question_stems = {_stem(word) for word in question_words}
    marks = []
    for token in paragraph:
        word = token.ensure_text().lower()
        marks.append([word in question_words, _stem(word) in question_stems])
    return torch.tensor(marks).float()


class DistinctTexts(NamedTuple):
    """Where the distinct texts of a batch are, so that each is encoded once."""

    first_rows: list[int]  # for each distinct text, the first row of the batch that has it
    indices: list[int]  # for each row of the batch, the index of its text in `first_rows`


def _distinct(texts: Sequence[str]) -> DistinctTexts:
    """Finds the distinct texts of a batch; `texts` has the text of each row."""
    distinct = list(dict.fromkeys(texts))
    return DistinctTexts(
        first_rows=[texts.index(text) for text in distinct],
        indices=[distinct.index(text) for text in texts],
    )


def _describe(paragraph: TokenizedParagraph, span: AnswerSpan) -> dict[str, Any]:
    """Returns an answer as in a prediction: its text, its start and end, and its probability."""
    start, end = paragraph.locate(span.first, span.last)
    return {
        "text": paragraph.text[start:end],
        "characters": [start, end],
        "probability": span.probability,
    }


@Predictor.register("elmo_squad")
class SquadPredictor(TaskPredictor):
    """
    Answers the question of `{"passage": "Ansel was founded in 1887.", "question": "When was it
    founded?"}` by words of the passage (its key may also be `"paragraph"` or `"context"`). The
    dataset reader tokenizes both. A prediction has the best answer and the next best ones:

        {"answer": "1887", "characters": [21, 25], "probability": 0.87,
         "others": [{"text": "in 1887", "characters": [18, 25], "probability": 0.06}, …]}

    with start and end in the passage and the probability that both are correct. The `id` is the
    input's, if it has one. `elmo predict --squad` answers a whole file.

    Registered as a `Predictor` with name "elmo_squad".
    """

    name = "elmo_squad"

    def predict(self, passage: str, question: str) -> JsonDict:
        """Returns the prediction for one question."""
        return self.predict_json({"passage": passage, "question": question})

    @overrides
    def to_instance(self, json_dict: JsonDict) -> Instance:
        reader = cast(SquadReader, self._dataset_reader)
        passage = self.text_in(json_dict, ["passage", "paragraph", "context"])
        question = self.text_in(json_dict, ["question"])
        paragraph = reader.tokenize(passage)
        return reader.text_to_instance(
            paragraph, Question(id=json_dict.get("id", ""), text=question, answers=[])
        )
