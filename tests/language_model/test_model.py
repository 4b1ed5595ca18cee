import math
from typing import Any

import pytest
import torch
from allennlp.common.checks import ConfigurationError

from elmo_plugin.language_model import model as model_module
from tests.language_model.small_models import (
    evaluate,
    gradients_of,
    make_loader,
    make_model,
    part_of,
    random_batch,
)
from tests.small_bilm import small_options

PERPLEXITIES = {"forward_perplexity", "backward_perplexity", "perplexity"}


def test_the_loss_is_the_mean_of_both_directions_even_if_one_has_no_words_left(
    bilm_config: dict[str, Any],
) -> None:
    model, vocab = make_model(bilm_config)
    model.eval()
    batch = random_batch(vocab)
    loss = model(**batch)["loss"].item()
    metrics = model.get_metrics()
    forward, backward = (
        math.log(metrics[f"{name}_perplexity"]) for name in ("forward", "backward")
    )
    assert loss == pytest.approx((forward + backward) / 2, rel=1e-5)
    batch["backward_targets"][:] = 0
    assert model(**batch)["loss"].item() == pytest.approx(forward / 2, rel=1e-5)


def test_a_short_last_batch_weighs_as_much_as_half_a_batch(
    bilm_config: dict[str, Any],
) -> None:
    model, vocab = make_model(bilm_config, num_negatives=None, dropout=0.0)
    batch = random_batch(vocab)
    for direction in ("forward", "backward"):
        batch[f"{direction}_targets"][1:] = 0
        batch[f"{direction}_targets"][:, 2:] = 0
    for is_training, weight in ((True, 2 / 30), (False, 1)):  # a loss that is reported is a mean
        loss = model.train(is_training)(**batch)["loss"].item()
        nats = math.log(model.get_metrics(reset=True)["perplexity"])
        assert loss == pytest.approx(nats * weight, rel=1e-5)


def test_a_last_target_that_only_one_of_two_processes_has_counts_once(
    bilm_config: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, vocab = make_model(bilm_config, num_negatives=None, dropout=0.0)
    model.eval()
    batch = random_batch(vocab)
    for direction in ("forward", "backward"):
        batch[f"{direction}_targets"][1:] = 0
        batch[f"{direction}_targets"][:, 1:] = 0
    alone = model(**batch)["loss"].item()
    # The other process has no target, so the sums over both are this process's.
    monkeypatch.setattr(model_module, "is_distributed", lambda: True)
    monkeypatch.setattr(model_module, "dist_reduce_sum", lambda counts: counts)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
    of_this = model(**batch)["loss"].item()
    for direction in ("forward", "backward"):
        batch[f"{direction}_targets"][:] = 0
    of_the_other = model(**batch)["loss"].item()
    assert (of_this + of_the_other) / 2 == pytest.approx(alone)


def test_the_carried_state_has_no_gradient(bilm_config: dict[str, Any]) -> None:
    model, vocab = make_model(bilm_config, dropout=0.0)
    loader = make_loader(bilm_config, batch_size=2, unroll_steps=3)
    loader.index_with(vocab)
    first, second = list(loader)[:2]
    model(**first)["loss"].backward()
    model(**second)[
        "loss"
    ].backward()  # would fail if the graph of the first batch were asked for again


def test_the_state_is_zero_at_the_start_of_streams(bilm_config: dict[str, Any]) -> None:
    model, vocab = make_model(bilm_config)
    model.eval()
    batch = random_batch(vocab)
    first, carried, begun = (
        model(**{**batch, "stream_starts": starts})["loss"].item() for starts in (True, False, True)
    )
    assert first == begun != carried


def test_only_training_samples_and_a_sampled_loss_gives_no_perplexity(
    bilm_config: dict[str, Any],
) -> None:
    sampled, vocab = make_model(bilm_config)
    full, _ = make_model(bilm_config, num_negatives=None)
    for model in (sampled, full):
        model.train()
        model(**random_batch(vocab))
    assert set(sampled.get_metrics(reset=True)) == {"sampled_loss"}
    assert set(full.get_metrics()) == PERPLEXITIES
    assert set(evaluate(sampled, vocab, make_loader(bilm_config, batch_size=2))) == PERPLEXITIES
    batch = random_batch(vocab)
    assert sampled.eval()(**batch)["loss"].item() == full.eval()(**batch)["loss"].item()


@pytest.mark.parametrize("is_training", [False, True])
def test_padding_takes_a_share_of_the_probability_only_in_training(
    bilm_config: dict[str, Any], is_training: bool
) -> None:
    """Bias 100 makes it certain, so that no word has any probability."""
    model, vocab = make_model(bilm_config, num_negatives=None, dropout=0.0)
    model.train(is_training)
    batch = random_batch(vocab)
    before = model(**batch)["loss"].item()
    with torch.no_grad():
        model.softmax.bias[0] = 100.0
    after = model(**batch)["loss"].item()
    assert after > 50 if is_training else after == before


def test_an_empty_row_does_not_change_the_loss(bilm_config: dict[str, Any]) -> None:
    model, vocab = make_model(bilm_config, num_negatives=None, dropout=0.0)
    batch = random_batch(vocab)
    expected = gradients_of(model, part_of(batch, rows=slice(2)))
    metrics = model.get_metrics(reset=True)
    for direction in ("forward", "backward"):
        batch[f"{direction}_targets"][2] = 0
    for name, gradient in gradients_of(model, batch).items():
        torch.testing.assert_close(gradient, expected[name])
    assert model.get_metrics(reset=True) == pytest.approx(metrics)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"num_negatives": 1000},
            "num_negatives: expected 1 to 6, a third of the vocabulary.* null .*, got 1000",
        ),
        (
            {"options": {"lstm": small_options()["lstm"]}},
            "model.options: the key 'char_cnn' is missing",
        ),
        ({"initial": "tiny"}, "either options or initial"),
        ({"options": None, "initial": "absent"}, r"model\.initial: biLM not found: absent"),
        ({"precision": "float16"}, "precision: expected one of .* got 'float16'"),
    ],
)
def test_unusable_options_are_named(
    bilm_config: dict[str, Any], change: dict, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        make_model(bilm_config, **change)


def test_words_with_another_number_of_characters_are_refused(bilm_config: dict[str, Any]) -> None:
    model, vocab = make_model(bilm_config)
    with pytest.raises(
        ConfigurationError, match="gives 20 characters per word, but the model reads 50"
    ):
        evaluate(model, vocab, make_loader(bilm_config, max_characters_per_token=20))
