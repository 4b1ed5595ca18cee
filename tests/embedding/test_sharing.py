"""Several placements of one biLM: one copy, one run for each batch, the same vectors as without sharing."""

import copy
import threading
from typing import Any

import pytest
import torch
from torch import nn

from elmo_plugin.bilm import BiLm
from elmo_plugin.embedding import ElmoRepresentations, share_frozen_bilms
from elmo_plugin.embedding.token_embedder import ElmoTokenEmbedder
from tests.embedding.placements import (
    HYPOTHESIS,
    PREMISE,
    assert_same,
    bilms,
    count_runs,
    one_bilm,
    placements,
    separated,
    vectors,
)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("options", [{}, {"layer_norm": True}, {"layers": "top"}], ids=str)
def test_vectors_are_those_of_separate_bilms_and_each_text_field_is_run_once(
    bilm_files: dict[str, str], training: bool, options: dict[str, Any]
) -> None:
    model = placements(bilm_files, **options).train(training)
    batches = [(PREMISE, HYPOTHESIS), (PREMISE.flip(0), HYPOTHESIS.flip(0))]
    expected = [vectors(separated(model), *batch) for batch in batches]
    runs = count_runs(one_bilm(model))
    for number, batch in enumerate(batches):
        assert_same(vectors(model, *batch), expected[number])
        assert len(runs) == 2 * (number + 1)


def test_gradients_of_both_mixes_are_those_of_separate_bilms(bilm_files: dict[str, str]) -> None:
    model = placements(bilm_files)
    gradients = []
    for variant in (model, separated(model)):
        sum(vector.pow(2).sum() for vector in vectors(variant, PREMISE, HYPOTHESIS)).backward()
        gradients.append([p.grad for p in variant.parameters() if p.requires_grad])
    assert len(gradients[0]) == 4
    assert_same(*gradients)


def test_placements_of_different_layers_share_a_run(bilm_files: dict[str, str]) -> None:
    embedders = [ElmoTokenEmbedder(bilm_files, layers=layers).eval() for layers in ("all", "top", [2, 0])]
    share_frozen_bilms(nn.ModuleList(embedders))
    expected = [copy.deepcopy(embedder)(PREMISE) for embedder in embedders]
    runs = count_runs(embedders[0]._elmo.bilm)
    assert_same([embedder(PREMISE) for embedder in embedders], expected)
    assert len(runs) == 1


def test_a_run_in_inference_mode_serves_training(bilm_files: dict[str, str]) -> None:
    model = placements(bilm_files)
    runs = count_runs(one_bilm(model))
    with torch.inference_mode():
        model["input"](PREMISE)
    model["output"](PREMISE).sum().backward()
    assert len(runs) == 1


def test_a_mask_that_its_owner_changes_does_not_reach_the_others(bilm: BiLm) -> None:
    first, second = ElmoRepresentations(bilm), ElmoRepresentations(bilm)
    first(PREMISE).mask.fill_(False)
    assert second(PREMISE).mask.sum() == 6


def test_stateful_placements_go_on_each_for_itself(bilm_files: dict[str, str]) -> None:
    model = placements(bilm_files, stateful=True).eval()
    apart = separated(model)
    one_bilm(model)
    for _ in range(2):
        assert_same(vectors(model, PREMISE, PREMISE), vectors(apart, PREMISE, PREMISE))


def test_a_bilm_that_is_trained_is_the_placements_own(bilm_files: dict[str, str]) -> None:
    frozen, (first, second) = (
        one_bilm(placements(bilm_files)),
        bilms(placements(bilm_files, requires_grad=True)),
    )
    assert first is not second and frozen not in (first, second)


def test_training_one_model_leaves_the_other(bilm_files: dict[str, str]) -> None:
    frozen = placements(bilm_files).eval()
    before = vectors(frozen, PREMISE)
    trained = ElmoTokenEmbedder(bilm_files, requires_grad=True)
    trained(PREMISE).sum().backward()
    torch.optim.SGD(trained.parameters(), lr=1.0).step()
    assert_same(vectors(frozen, PREMISE), before)


def test_parameters_released_later_are_those_of_all_placements_and_of_no_model_made_after(
    bilm_files: dict[str, str],
) -> None:
    model = placements(bilm_files, dropout=0)
    before = vectors(model, PREMISE)
    model.requires_grad_(True)
    later = placements(bilm_files, dropout=0)
    assert one_bilm(later) is not one_bilm(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sum(vector.pow(2).sum() for vector in vectors(model, PREMISE)).backward()
    assert all(parameter.grad is not None for parameter in one_bilm(model).parameters())
    optimizer.step()
    assert_same(vectors(later, PREMISE), before)
    assert not torch.equal(vectors(model, PREMISE)[0], before[0])


@pytest.mark.parametrize("trained_first", [True, False])
def test_one_elmo_trains_a_copy_of_the_bilm_that_another_only_runs(bilm: BiLm, trained_first: bool) -> None:
    elmos = [
        ElmoRepresentations(bilm, requires_grad=trained, dropout=0)
        for trained in (trained_first, not trained_first)
    ]
    trained, frozen = elmos if trained_first else elmos[::-1]
    assert frozen.bilm is bilm and trained.bilm is not bilm
    expected = frozen(PREMISE).representations[0]
    torch.testing.assert_close(trained(PREMISE).representations[0], expected)
    for _ in range(2):
        trained(PREMISE).representations[0].sum().backward()
        assert all(parameter.grad is not None for parameter in trained.bilm.parameters())
        torch.optim.SGD(trained.bilm.parameters(), lr=0.1).step()
        assert torch.equal(frozen(PREMISE).representations[0], expected)
    assert not torch.allclose(trained(PREMISE).representations[0], expected, atol=1e-3)


def test_elmos_never_change_the_callers_bilm(bilm: BiLm) -> None:
    bilm.eval()
    bilm.max_batch_tokens = 7

    def settings() -> tuple[Any, ...]:
        released = [parameter.requires_grad for parameter in bilm.parameters()]
        return released, bilm.training, bilm.precision, bilm.recurrence, bilm.max_batch_tokens

    before, weights = settings(), copy.deepcopy(bilm.state_dict())
    for options in ({}, {"requires_grad": True}, {"requires_grad": False, "precision": "float32"}):
        ElmoRepresentations(bilm, max_batch_tokens=3, **options)(PREMISE)
        assert settings() == before
    bilm.requires_grad_(True)
    before = settings()
    for options in ({}, {"requires_grad": False}, {"requires_grad": False, "precision": "bfloat16"}):
        assert ElmoRepresentations(bilm, max_batch_tokens=3, **options).bilm.is_trainable == (not options)
        assert settings() == before
    assert_same(list(bilm.state_dict().values()), list(weights.values()))


def test_threads_may_run_the_placements_side_by_side(bilm_files: dict[str, str]) -> None:
    model = placements(bilm_files).eval()
    fields = {"premise": PREMISE, "hypothesis": HYPOTHESIS}
    expected = {name: separated(model)["input"](field).detach() for name, field in fields.items()}
    wrong: list[str] = []

    def work(place: str, name: str) -> None:
        with torch.no_grad():
            for _ in range(20):
                if not torch.allclose(model[place](fields[name]), expected[name], atol=1e-6):
                    wrong.append(name)

    threads = [threading.Thread(target=work, args=(place, name)) for place in model for name in fields]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
