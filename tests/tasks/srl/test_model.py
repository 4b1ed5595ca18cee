"""The role labeller: its loss, its predictions, and what it measures."""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Lazy
from allennlp.data import Instance, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.nn.util import sequence_cross_entropy_with_logits

from elmo_plugin.encoders import ContextualEncoder, HighwayLstm
from elmo_plugin.tasks.labels import UNKNOWN_LABEL
from elmo_plugin.tasks.spans import spans_to_tags, tags_to_spans
from elmo_plugin.tasks.srl import SrlHighwayLstm, SrlReader
from elmo_plugin.tasks.srl.model import mark_arguments
from tests.tasks.small_models import tensors_of, word_embedder

FIXTURE = Path(__file__).parents[2] / "fixtures" / "srl" / "sentences.gold_conll"


@pytest.fixture
def instances() -> list[Instance]:
    return list(SrlReader({"tokens": SingleIdTokenIndexer()}).read(FIXTURE))


def labeller(vocab: Vocabulary) -> SrlHighwayLstm:
    torch.manual_seed(0)
    encoder = Lazy(HighwayLstm, hidden_size=6, num_layers=2)
    contextual = Lazy(ContextualEncoder, text_field_embedder=word_embedder(vocab), encoder=encoder)
    return SrlHighwayLstm(vocab, contextual_encoder=contextual, predicate_dim=5)


def predict_right_tags(model: SrlHighwayLstm, tensors: dict[str, Any]) -> None:
    """Lets the model give each word its right tag, from an encoder that says what that is."""
    tags = tensors["tags"].clamp(min=0)
    one_hot = torch.nn.functional.one_hot(tags, model.vocab.get_vocab_size("labels")).float()
    model.tag_projection.forward = lambda _: one_hot


def test_the_indicator_marks_only_the_predicate(instances: list[Instance]) -> None:
    vocab = Vocabulary.from_instances(instances)
    model = labeller(vocab)
    seen: list[torch.Tensor] = []
    model.contextual_encoder.encoder.register_forward_pre_hook(
        lambda _, inputs: seen.append(inputs[0])
    )
    model(**tensors_of(instances, vocab))
    marked = (seen[0][..., 8:] == model.predicate_embedding.weight[1]).all(dim=-1)
    positions = [instance["predicate"].sequence_index for instance in instances]
    assert marked.nonzero().tolist() == [[row, position] for row, position in enumerate(positions)]


def test_the_loss_equals_allennlps(instances: list[Instance]) -> None:
    vocab = Vocabulary.from_instances(instances)
    model, tensors = labeller(vocab), tensors_of(instances, vocab)
    logits, mask = model.compute_logits(tensors["tokens"], tensors["predicate"])
    expected = sequence_cross_entropy_with_logits(logits, tensors["tags"], mask)
    torch.testing.assert_close(model(**tensors)["loss"], expected)


def test_words_with_unknown_tags_do_not_count_in_the_loss(instances: list[Instance]) -> None:
    vocab = Vocabulary.from_instances(instances[:3])
    model, tensors = labeller(vocab).eval(), tensors_of(instances[3:4], vocab)
    known = tensors["tags"] != UNKNOWN_LABEL
    assert known.tolist() == [[True] * 6 + [False] * 3]
    logits, _ = model.compute_logits(tensors["tokens"], tensors["predicate"])
    expected = torch.nn.functional.cross_entropy(logits[0, :6], tensors["tags"][0, :6])
    torch.testing.assert_close(model(**tensors)["loss"], expected)


def test_predictions_are_legal_tags_with_their_roles(instances: list[Instance]) -> None:
    model = labeller(Vocabulary.from_instances(instances)).eval()
    for seed in range(5):
        torch.manual_seed(seed)
        torch.nn.init.normal_(model.tag_projection.weight, std=20)
        for instance, output in zip(instances, model.forward_on_instances(instances), strict=True):
            words, tags, roles = output["words"], output["tags"], output["roles"]
            assert words == instance["words"].metadata and len(tags) == len(words)
            arguments = tags_to_spans(tags)
            assert spans_to_tags(arguments, len(words)) == tags  # no I- without its B-
            assert [
                (role["start_word"], role["end_word"], role["role"]) for role in roles
            ] == arguments
            assert all(
                role["text"] == " ".join(words[role["start_word"] : role["end_word"]])
                for role in roles
            )
            assert output["predicate"] == instance["predicate"].sequence_index


def test_metrics_count_whole_arguments_in_evaluation_only(
    instances: list[Instance],
) -> None:
    vocab = Vocabulary.from_instances(instances[:3])
    model, tensors = labeller(vocab), tensors_of(instances, vocab)
    predict_right_tags(model, tensors)
    assert model.get_metrics(reset=True) == {}
    model.eval()
    model(**tensors)
    metrics = model.get_metrics(reset=True)
    # Of the nine arguments, the one in two parts has a part whose tag is unknown.
    assert metrics["recall-overall"] == pytest.approx(8 / 9)
    assert metrics["precision-overall"] < 1
    assert metrics["_f1-measure-ARGM-TMP"] == 1 and metrics["_recall-ARG1"] == pytest.approx(2 / 3)
    assert not any(model.get_metrics().values())


def test_a_description_shows_the_arguments_in_brackets() -> None:
    words = ["Yes", ",", "the", "judge", "ordered", "a", "trial", "."]
    tags = ["O", "O", "B-ARG0", "I-ARG0", "B-V", "B-ARG1", "I-ARG1", "O"]
    assert mark_arguments(words, tags) == "Yes , [ARG0: the judge] [V: ordered] [ARG1: a trial] ."
    assert mark_arguments(words, ["O"] * 8) == "Yes , the judge ordered a trial ."
