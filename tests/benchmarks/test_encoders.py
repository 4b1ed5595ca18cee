"""The benchmark's encoders compute what their peers do, and the command writes its figures."""

from argparse import Namespace
from pathlib import Path

import pytest
import torch

from tests.benchmarks.programs import benchmark_module, figures_of


@pytest.mark.parametrize("encoder", ["highway_lstm", "bidirectional_gru", "variational_bilstm"])
def test_the_command_writes_its_figures(
    encoder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("a dog ran\nthe cat sat on the mat .\nyes\nleft out\n")
    options = ["--layers", "2", "--input-size", "5", "--hidden-size", "4", "--sentences", "3"]
    figures = figures_of(
        "encoders", [encoder, *options, "--rounds", "1", "--text", str(text)], monkeypatch, tmp_path
    )
    assert (figures["encoder"], figures["input_size"], figures["hidden_size"]) == (encoder, 5, 4)
    assert (figures["sentences"], figures["words"], figures["longest"]) == (3, 11, 7)
    assert figures["max_difference"] < 1e-6
    for name in ("", "forward_"):
        ours, peer = figures[f"{name}tokens_per_second"], figures[f"peer_{name}tokens_per_second"]
        assert figures[f"{name}ratios"] == [pytest.approx(ours / peer, abs=1e-3)]
        assert figures[f"{name}ratio"] == pytest.approx(ours / peer)


@pytest.mark.parametrize("encoder", ["highway_lstm", "bidirectional_gru", "variational_bilstm"])
def test_both_compute_the_same_gradients(encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = benchmark_module("encoders", monkeypatch)
    torch.manual_seed(0)
    sizes = Namespace(layers=3, input_size=5, hidden_size=4, dropout=0.0)
    peer, ours = program.ENCODERS[encoder](sizes).values()
    inputs, mask = torch.randn(2, 3, 5), torch.tensor([[True, True, False], [True, True, True]])
    for encoder in (peer, ours):
        encoder(inputs, mask).square().sum().backward()
    gradients = ([parameter.grad for parameter in encoder.parameters()] for encoder in (ours, peer))
    torch.testing.assert_close(*gradients)


def test_dropout_is_that_asked_for_and_in_training_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    program = benchmark_module("encoders", monkeypatch)
    encoders = program.load_highway_lstms(Namespace(layers=2, input_size=5, hidden_size=4, dropout=0.5))
    inputs, mask = torch.randn(2, 3, 5), torch.ones(2, 3, dtype=torch.bool)
    for encoder in encoders.values():
        evaluated = program.evaluate(encoder, inputs, mask)
        assert torch.equal(program.evaluate(encoder, inputs, mask), evaluated)
        assert not torch.equal(encoder.train()(inputs, mask), evaluated)
