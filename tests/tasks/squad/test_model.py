"""The question answering model: what it encodes, attends to, trains on, predicts and measures."""

import copy
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.data.tokenizers import Token
from allennlp.models import Model
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from elmo_plugin.tasks.squad import SquadReader
from elmo_plugin.tasks.squad.attention import TrilinearBiattention, TrilinearSelfAttention
from elmo_plugin.tasks.squad.model import words_in_question
from elmo_plugin.tasks.squad.spans import (
    BoundaryLogits,
    average_boundary_logits,
    best_answers,
    span_loss,
)
from tests.tasks.small_models import tensors_of
from tests.tasks.squad.test_dataset_reader import FIXTURE

GRU = {"type": "gru", "hidden_size": 3, "bidirectional": True}
LAYER = {"num_layers": 1, "hidden_dims": 6, "activations": "relu"}
CONFIG = {
    "type": "squad_bidaf_self_attention",
    "contextual_encoder": {
        "text_field_embedder": {
            "token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 4}}
        },
        "encoder": GRU,
    },
    "attention_projection": LAYER,
    "self_attention_encoder": GRU,
    "self_attention_projection": LAYER,
    "start_encoder": GRU,
    "end_encoder": GRU,
}


@pytest.fixture
def instances() -> list[Instance]:
    return list(SquadReader({"tokens": SingleIdTokenIndexer()}).read(FIXTURE))


def model_of(instances: list[Instance], **options: Any) -> Any:
    torch.manual_seed(0)
    params = Params(copy.deepcopy({**CONFIG, **options}))
    return Model.from_params(params, vocab=Vocabulary.from_instances(instances))


def test_a_paragraph_is_encoded_once_for_all_of_its_questions(instances: list[Instance]) -> None:
    model = model_of(instances).eval()
    rows: list[int] = []
    model.contextual_encoder.encoder.register_forward_pre_hook(
        lambda _, inputs: rows.append(len(inputs[0]))
    )
    model(**tensors_of(instances, model.vocab))
    assert rows in (
        [2, 4],
        [2 + 4],
    )  # two paragraphs, of four questions: one run for each text, or one


def test_every_answer_contains_a_word(instances: list[Instance]) -> None:
    with pytest.raises(ConfigurationError, match="max_answer_words: expected at least 1, got 0"):
        model_of(instances, max_answer_words=0)


def test_answers_are_substrings_at_their_character_offsets(instances: list[Instance]) -> None:
    model = model_of(instances).eval()
    for instance in instances:
        output = model.forward_on_instance(instance)
        text = instance["metadata"].metadata.paragraph.text
        answers = [{**output, "text": output["answer"]}, *output["others"]]
        probabilities = [answer["probability"] for answer in answers]
        assert len(probabilities) == 5 and probabilities == sorted(probabilities, reverse=True)
        assert all(text[slice(*answer["characters"])] == answer["text"] for answer in answers)


def test_words_that_share_a_form_or_stem_with_the_question_are_marked() -> None:
    paragraph = ["The", "council", "voted", "to", "close", "the", "pools", ",", "it", "vote", "d"]
    question = ["when", "did", "THE", "councils", "vote", "on", "closing", "it"]
    marks = words_in_question(list(map(Token, paragraph)), list(map(Token, question)))
    marked = [
        [word for word, mark in zip(paragraph, column, strict=True) if mark] for column in marks.T
    ]
    assert marked == [
        ["The", "the", "it", "vote"],
        ["The", "council", "voted", "close", "the", "it", "vote"],
    ]


def test_marks_of_words_in_the_question_change_logits_if_the_model_reads_them(
    instances: list[Instance],
) -> None:
    for reads in (False, True):
        model = model_of(instances, word_in_question=reads).eval()
        tensors = tensors_of(instances, model.vocab)
        with_marks = model.compute_logits(**tensors).start
        unasked = [example._replace(words=[Token("absent")]) for example in tensors["metadata"]]
        without = model.compute_logits(**{**tensors, "metadata": unasked})
        assert torch.equal(with_marks, without.start) is not reads


def test_training_uses_all_answers_or_the_first(instances: list[Instance]) -> None:
    losses = {}
    for train_on in ("all", "first"):
        model = model_of(instances, train_on=train_on).eval()
        losses[train_on] = model(**tensors_of(instances, model.vocab))["loss"].item()
    assert losses["all"] < losses["first"]
    with pytest.raises(ConfigurationError, match="train_on: expected one of all, first, got 'one'"):
        model_of(instances, train_on="one")


def test_metrics_are_those_of_the_best_answers(instances: list[Instance]) -> None:
    model = model_of(instances).eval()
    tensors = tensors_of(instances, model.vocab)
    length = tensors["paragraph"]["tokens"]["tokens"].size(1)
    first, last = tensors["answers"][:, 0].unbind(dim=1)
    right = [20.0 * torch.nn.functional.one_hot(each, length) for each in (first, last)]
    mask = tensors["paragraph"]["tokens"]["tokens"] > 0
    output = model.decode(BoundaryLogits(*right, mask), tensors["metadata"], tensors["answers"])
    assert model.make_output_human_readable(output)["answer"][1] == "Mira Koll"
    assert model.get_metrics(reset=True) == {"em": 1.0, "f1": 1.0}
    model.train()(**tensors)
    assert model.get_metrics() == {}


def test_without_self_attention_there_is_no_residual_block(instances: list[Instance]) -> None:
    model = model_of(instances, self_attention_encoder=None, self_attention_projection=None)
    assert model.residual_block is None
    model(**tensors_of(instances, model.vocab))["loss"].backward()


@pytest.mark.parametrize("missing", ["self_attention_encoder", "self_attention_projection"])
def test_half_of_a_self_attention_is_refused(instances: list[Instance], missing: str) -> None:
    both = "give both self_attention_encoder and self_attention_projection, or neither"
    with pytest.raises(ConfigurationError, match=both):
        model_of(instances, **{missing: None})


DIM = 3
BIAS = 0.7  # that of the original's biattention, which changes nothing


def softmax(values: list[Tensor]) -> Tensor:
    exponentials = torch.stack(values).exp()
    return exponentials / exponentials.sum()


def similarity_of(model: nn.Module) -> Callable[[Tensor, Tensor], Tensor]:
    """Seo et al. (2017), section 2, for two vectors."""
    first, second = (
        model.similarity.first_projection.weight[0],
        model.similarity.second_projection.weight[0],
    )
    return lambda x, y: first @ x + second @ y + model.similarity.product_weight @ (x * y)


@pytest.fixture
def texts() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    paragraph = torch.randn(2, 5, DIM, dtype=torch.float64)
    question = torch.randn(2, 4, DIM, dtype=torch.float64)
    p_mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    q_mask = torch.tensor([[True] * 2 + [False] * 2, [True] * 4])
    return paragraph, question, p_mask, q_mask


def test_biattention_equals_a_loop_over_words(texts: tuple[Tensor, ...]) -> None:
    paragraph, question, p_mask, q_mask = texts
    model = TrilinearBiattention(DIM).double()
    similarity = similarity_of(model)
    found = model(*texts)
    for row in range(2):
        p, q = paragraph[row][p_mask[row]], question[row][q_mask[row]]
        scores = [[similarity(x, y) + BIAS for y in q] for x in p]
        back = softmax([max(each) for each in scores]) @ p
        for place, x in enumerate(p):
            attended = softmax(scores[place]) @ q
            expected = torch.cat([x, attended, x * attended, x * back])
            torch.testing.assert_close(found[row, place], expected, atol=1e-10, rtol=0)


def test_self_attention_equals_a_loop_over_pairs_of_words(
    texts: tuple[Tensor, ...],
) -> None:
    """Nothing is one more vector, of zeros, whose score is a parameter, as in the original."""
    words, _, mask, _ = texts
    model = TrilinearSelfAttention(DIM).double()
    assert model.nothing == -1
    nn.init.constant_(model.nothing, 0.4)
    similarity = similarity_of(model)
    found = model(words, mask)
    for row in range(2):
        text = words[row][mask[row]]
        for place, x in enumerate(text):
            others = [y for other, y in enumerate(text) if other != place]
            scores = [similarity(x, y) for y in others]
            attended = softmax([*scores, model.nothing]) @ torch.stack(
                [*others, torch.zeros_like(x)]
            )
            expected = torch.cat([x, attended, x * attended])
            torch.testing.assert_close(found[row, place], expected, atol=1e-10, rtol=0)


def test_a_single_word_attends_to_nothing() -> None:
    word = torch.randn(1, 2, DIM)
    found = TrilinearSelfAttention(DIM)(word, torch.tensor([[True, False]]))[0, 0]
    assert found.equal(torch.cat([word[0, 0], torch.zeros(2 * DIM)]))


def logits_of(seed: int, lengths: list[int]) -> BoundaryLogits:
    torch.manual_seed(seed)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)
    start, end = torch.randn(2, *mask.shape, dtype=torch.float64)
    return BoundaryLogits(start, end, mask)


def probabilities(logits: BoundaryLogits, row: int) -> tuple[Tensor, Tensor]:
    there = logits.mask[row]
    return logits.start[row][there].softmax(dim=0), logits.end[row][there].softmax(dim=0)


@given(
    st.integers(0, 1000),
    st.lists(st.integers(1, 9), min_size=1, max_size=3),
    st.integers(1, 12),
    st.integers(1, 6),
)
def test_the_best_spans_equal_an_exhaustive_search(
    seed: int, lengths: list[int], max_words: int, count: int
) -> None:
    logits = logits_of(seed, lengths)
    for row, found in enumerate(best_answers(logits, max_words, count)):
        start, end = probabilities(logits, row)
        spans = [
            ((start[first] * end[last]).item(), first, last)
            for first in range(lengths[row])
            for last in range(first, min(first + max_words, lengths[row]))
        ]
        expected = sorted(spans, reverse=True)[:count]
        assert [span[:2] for span in found] == [each[1:] for each in expected]
        assert [span[2] for span in found] == pytest.approx([each[0] for each in expected])


def test_the_loss_sums_the_probability_of_all_right_spans() -> None:
    logits = logits_of(0, [6, 4])
    answers = torch.tensor([[[1, 2], [1, 3]], [[0, 0], [-1, -1]]])
    (start, end), (other_start, other_end) = (probabilities(logits, row) for row in (0, 1))
    expected = -math.log(start[1] * end[2] + start[1] * end[3]) - math.log(
        other_start[0] * other_end[0]
    )
    assert span_loss(logits, answers).item() == pytest.approx(expected / 2)


def test_an_ensemble_averages_probabilities() -> None:
    one, other = logits_of(0, [5, 3]), logits_of(1, [5, 3])
    average = average_boundary_logits([one, other])
    for row in range(2):
        for found, first, second in zip(
            *(probabilities(each, row) for each in (average, one, other)), strict=True
        ):
            torch.testing.assert_close(found, (first + second) / 2)
        length = int(average.mask[row].sum())
        best = best_answers(average, max_words=5, count=20)[row]
        assert len(best) == length * (length + 1) / 2, "no answer ends in padding"


def test_the_loss_of_an_ensemble_has_no_gradient_at_padding() -> None:
    members = [logits_of(seed, [5, 3, 1]) for seed in (0, 1)]
    for member in members:
        member.start.requires_grad_()
        member.end.requires_grad_()
    average = average_boundary_logits(members)
    assert average.start.isfinite().all() and average.end.isfinite().all()
    span_loss(average, torch.tensor([[[1, 2]], [[0, 2]], [[0, 0]]])).backward()
    for member in members:
        for gradient in (member.start.grad, member.end.grad):
            assert gradient is not None and gradient.isfinite().all()
            assert gradient[~member.mask].count_nonzero() == 0
            assert gradient[:2].count_nonzero() == 8, "words of texts with several words"
