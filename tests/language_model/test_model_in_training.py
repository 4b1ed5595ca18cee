"""What only training asks of the model: where it starts, what learns, in which numbers, and its
state.
"""

import io
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.diff import Keep, checkpoint_diff
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import Model

from elmo_plugin.bilm import precision_on
from elmo_plugin.bilm.io import options_from_state
from elmo_plugin.commands.export import export
from tests.language_model.small_models import gradients_of, make_model, random_batch
from tests.trained_bilm import COUNTS, random_bilm, random_softmax, words_of, write_training


def test_the_loss_is_scaled_and_the_metrics_are_not(bilm_config: dict[str, Any]) -> None:
    plain, vocab = make_model(bilm_config, num_negatives=None, dropout=0.0)
    scaled, _ = make_model(bilm_config, num_negatives=None, dropout=0.0, loss_scale=20.0)
    gradients, expected = (gradients_of(model, random_batch(vocab)) for model in (scaled, plain))
    for name, gradient in gradients.items():
        torch.testing.assert_close(gradient, 20 * expected[name])
    assert scaled.get_metrics() == plain.get_metrics()


@pytest.mark.slow
def test_only_the_softmax_learns_during_warm_up(
    bilm_config: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    model, vocab = make_model(bilm_config, warm_up_batches=2, dropout=0.0)
    never_warmed_up, _ = make_model(bilm_config, dropout=0.0)
    of_softmax = {"softmax.weight", "softmax.bias"}
    batch = random_batch(vocab, steps=5)
    for number in range(3):
        torch.manual_seed(number)
        gradients = gradients_of(model, {**batch, "stream_starts": number == 0})
        torch.manual_seed(number)
        expected = gradients_of(never_warmed_up, {**batch, "stream_starts": number == 0})
        assert set(gradients) == (of_softmax if number < 2 else set(dict(model.named_parameters())))
        for name, gradient in gradients.items():
            torch.testing.assert_close(gradient, expected[name], rtol=1e-4, atol=1e-6)
        caplog.clear()
        model.get_metrics(reset=True)
        assert ("only the softmax has learned: warm_up_batches is 2" in caplog.text) is (number < 2)
    model.eval()(**batch)
    assert model.stream_state()["trained_batches"] == 3, "evaluation does not count"


@pytest.mark.slow
@pytest.mark.parametrize("num_negatives", [None, 5])
def test_training_in_bfloat16_follows_training_in_float32(
    bilm_config: dict[str, Any], num_negatives: int | None
) -> None:
    losses: dict[str, list[float]] = {"float32": [], "bfloat16": []}
    for precision in losses:
        model, vocab = make_model(
            bilm_config, precision=precision, num_negatives=num_negatives, dropout=0.0
        )
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for _ in range(8):
            loss = model(**random_batch(vocab, steps=8))["loss"]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses[precision].append(loss.item())
        assert all(parameter.dtype == torch.float for parameter in (*model.parameters(), loss))
    assert losses["float32"][-1] < 0.9 * losses["float32"][0]
    assert losses["bfloat16"] == pytest.approx(losses["float32"], rel=0.02)
    is_rounded = precision_on(torch.device("cpu"), torch.bfloat16).name != "float32"
    assert (losses["bfloat16"] != losses["float32"]) is is_rounded


@pytest.mark.parametrize("at_start", [True, False])
def test_another_process_continues_from_the_saved_stream_state(
    bilm_config: dict[str, Any], at_start: bool
) -> None:
    model, vocab = make_model(bilm_config, warm_up_batches=3)
    other, _ = make_model(bilm_config, warm_up_batches=3)
    batch = random_batch(vocab)
    if not at_start:
        for number in range(2):
            model(**{**batch, "stream_starts": number == 0})
    file = io.BytesIO()
    torch.save(model.stream_state(), file)
    file.seek(0)
    other.load_stream_state(torch.load(file, weights_only=True))
    results = []
    for one in (model, other):
        torch.manual_seed(0)
        losses = [one(**{**batch, "stream_starts": False})["loss"].item() for _ in range(3)]
        results.append((losses, one.get_metrics(), one.stream_state()["trained_batches"]))
    assert results[0] == results[1]


def test_negatives_are_drawn_from_the_seed_again_after_a_move_to_another_kind_of_device(
    bilm_config: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    model, vocab = make_model(bilm_config)
    batch = random_batch(vocab)
    model(**batch)
    state = model.stream_state()
    state["sampler"] = torch.zeros(16, dtype=torch.uint8)  # as a GPU's generator has it
    other, _ = make_model(bilm_config)
    other.load_stream_state(state)
    assert "another kind of device" in caplog.text
    assert other.stream_state()["trained_batches"] == 1
    assert torch.isfinite(other(**batch)["loss"])


@pytest.mark.parametrize("source", ["archive", "exported"])
def test_training_starts_from_another_bilm_and_its_softmax(source: str, tmp_path: Path) -> None:
    initial = str(write_training(tmp_path / "run", random_bilm()))
    known = words_of(Vocabulary({"words": dict(COUNTS)}))
    if source == "exported":
        export(initial, tmp_path / "exported")
        initial = str(tmp_path / "exported")
    vocab = Vocabulary({"words": {"new": 20, **COUNTS}})
    model = Model.from_params(Params({"type": "bilm", "initial": initial}), vocab=vocab)
    for name, tensor in random_bilm().state_dict().items():
        assert torch.equal(model.bilm.state_dict()[name], tensor)
    assert all(parameter.requires_grad for parameter in model.parameters())
    expected = random_softmax(known)
    for number, word in enumerate(words_of(vocab)):
        from_word = known.index("@@UNKNOWN@@" if word == "new" else word)
        assert torch.equal(model.softmax.weight[number], expected.weight[from_word])


def test_the_softmax_of_a_bilm_without_one_is_new(tmp_path: Path) -> None:
    archive = write_training(tmp_path / "run", random_bilm())
    export(str(archive), tmp_path / "exported", with_softmax=False)
    params = Params({"type": "bilm", "initial": str(tmp_path / "exported")})
    vocab = Vocabulary({"words": {"new": 20, **COUNTS}})
    model = Model.from_params(params, vocab=vocab)
    assert model.softmax.weight.shape == (len(words_of(vocab)), 6)
    assert not model.softmax.bias.any()


def test_the_sizes_of_a_bilm_are_inferred_from_its_weights(bilm_config: dict[str, Any]) -> None:
    model, _ = make_model(bilm_config)
    state = model.state_dict()
    assert options_from_state(state, "weights") == model.bilm.options.to_dict()
    assert {type(step) for step in checkpoint_diff(state, state, 1.0, 1e-5)} == {Keep}
    other, _ = make_model(bilm_config)
    other.load_state_dict(state)
    for name, parameter in other.named_parameters():
        assert torch.equal(parameter, state[name])
