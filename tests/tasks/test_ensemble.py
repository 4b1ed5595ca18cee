"""What an ensemble computes, against averages that are taken by other means."""

from itertools import pairwise, product
from typing import Any

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance, Vocabulary
from allennlp.models import Model
from torch import Tensor, nn

from elmo_plugin.tasks import Classifier, Ensemble
from elmo_plugin.tasks.ner import NerBiLstmCrf
from tests.tasks.ner.test_model import instances_in, tagger, tensors_of

VOCABULARY = Vocabulary({"labels": {"no": 2, "yes": 1}}, non_padded_namespaces=["labels"])


class LinearClassifier(Classifier):
    """Two labels by the probabilities of a linear layer."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(VOCABULARY)
        torch.manual_seed(seed)
        self.layer = nn.Linear(4, 2)

    def compute_logits(self, vectors: Tensor, **_: Any) -> Tensor:
        return self.layer(vectors)


def test_probabilities_are_averaged_over_the_members() -> None:
    members = [LinearClassifier(seed) for seed in range(3)]
    torch.manual_seed(9)
    vectors, label = 3 * torch.randn(5, 4), torch.tensor([0, 1, 1, 0, 1])
    ensemble = Ensemble(VOCABULARY, list(members)).eval()
    output = ensemble(vectors=vectors, label=label)
    expected = sum(member.layer(vectors).softmax(dim=-1) for member in members) / 3
    torch.testing.assert_close(output["probs"], expected)
    torch.testing.assert_close(output["loss"], -expected[range(5), label].log().mean())
    right = (expected.argmax(dim=-1) == label).float().mean().item()
    assert ensemble.get_metrics(reset=True) == {"accuracy": pytest.approx(right)}
    names = ensemble.make_output_human_readable(output)["label"]
    assert names == [
        VOCABULARY.get_token_from_index(int(row.argmax()), "labels") for row in expected
    ]
    assert "loss" not in ensemble(vectors=vectors)


def taggers(instances: list[Instance], number: int) -> list[NerBiLstmCrf]:
    """In float64, with different weights that are far from zero."""
    vocab = Vocabulary.from_instances(instances)
    members = []
    for seed in range(number):
        member = tagger(vocab, "BIO").double().eval()
        torch.manual_seed(seed)
        with torch.no_grad():
            for name, parameter in member.named_parameters():
                if "_constraint_mask" not in name:
                    parameter.normal_()
        members.append(member.requires_grad_(False))
    return members


def test_ensembles_of_taggers_decode_and_score_with_mean_potentials() -> None:
    instances = instances_in("BIO")[2:]
    members = taggers(instances, number=3)
    vocab = members[0].vocab
    tensors = tensors_of(instances, vocab)
    output = Ensemble(vocab, list(members))(**tensors)

    crfs = [member.crf for member in members]
    emissions = (
        sum(
            member.tag_projection(member.contextual_encoder(tensors["tokens"])[0])[0]
            for member in members
        )
        / 3
    )
    transitions, starts, ends = (
        sum(getattr(crf, name) for crf in crfs) / 3
        for name in ("transitions", "start_transitions", "end_transitions")
    )

    def score(path: tuple[int, ...]) -> float:
        steps = sum(transitions[pair] for pair in pairwise(path))
        return float(
            starts[path[0]] + steps + ends[path[-1]] + sum(emissions[range(len(path)), path])
        )

    def legal(path: tuple[int, ...]) -> bool:
        mask, number = crfs[0]._constraint_mask, crfs[0].num_tags
        return all(mask[pair] for pair in pairwise((number, *path, number + 1)))

    right = tuple(tensors["tags"][0].tolist())
    scores = {path: score(path) for path in product(range(crfs[0].num_tags), repeat=len(right))}
    best = max(filter(legal, scores), key=scores.__getitem__)
    assert output["tags"][0] == [vocab.get_token_from_index(index, "labels") for index in best]
    expected = torch.tensor(list(scores.values()), dtype=torch.float64).logsumexp(0) - scores[right]
    torch.testing.assert_close(output["loss"], expected)


@pytest.mark.parametrize(
    ("members", "names"),
    [
        ([], "none"),
        (
            [LinearClassifier(), taggers(instances_in("BIO"), 1)[0]],
            "LinearClassifier, NerBiLstmCrf",
        ),
        ([Ensemble(VOCABULARY, [LinearClassifier()])], "Ensemble"),
    ],
)
def test_models_that_cannot_be_members_are_refused(members: list[Model], names: str) -> None:
    with pytest.raises(
        ConfigurationError, match=f"members: expected task models of one class, got {names}"
    ):
        Ensemble(VOCABULARY, members)
