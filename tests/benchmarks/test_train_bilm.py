"""The benchmark's peer is the same network as ours, it learns, and the commands write their figures."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from allennlp.data import Vocabulary
from torch import nn

from elmo_plugin.bilm import BiLmOptions
from elmo_plugin.bilm.io.hdf5_weights import write_weights
from elmo_plugin.language_model import BiLmLanguageModel
from tests.benchmarks.programs import benchmark_module, figures_of
from tests.small_bilm import small_options

OPTIONS = small_options()
WORDS = 40


@pytest.fixture
def peer_bilm(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of the benchmarks, which are programs and no package."""
    return benchmark_module("peer_bilm", monkeypatch)


@pytest.fixture
def ours() -> BiLmLanguageModel:
    vocab = Vocabulary(non_padded_namespaces=["words"])
    vocab.add_tokens_to_namespace(map(str, range(WORDS)), "words")
    return BiLmLanguageModel(vocab, OPTIONS, dropout=0.0, num_negatives=10)


def stream_batch(stream_starts: bool) -> dict[str, Any]:
    """A batch of `bilm_stream`, drawn at random: three rows, one of which ends early."""
    character_ids = torch.full((7, 50), 261, dtype=torch.int16)
    character_ids[:, :6] = torch.randint(1, 260, (7, 6))
    batch: dict[str, Any] = {"character_ids": character_ids, "stream_starts": stream_starts}
    for direction in ("forward", "backward"):
        batch[f"{direction}_types"] = torch.randint(7, (3, 5))
        batch[f"{direction}_targets"] = torch.randint(1, WORDS, (3, 5))
        batch[f"{direction}_targets"][2, 3:] = 0
    return batch


def give_weights(peer: nn.Module, ours: BiLmLanguageModel, path: Path) -> None:
    """Copies ours to the peer; those of the LSTMs by the published file, as AllenNLP reads it."""
    write_weights(path, ours.bilm.state_dict(), ours.bilm.options)
    peer.lstm.load_weights(str(path))
    encoder = ours.bilm.token_encoder
    embedding, cnn = (part._module for part in (peer.token_encoder._embedding, peer.token_encoder._encoder))
    pairs = list(zip(cnn._convolutions, encoder.convolutions, strict=True))
    for to, source in [
        (embedding, encoder.character_embedding),
        (cnn._projection, encoder.projection),
        *pairs,
    ]:
        to.load_state_dict(source.state_dict())
    with torch.no_grad():
        for to, source in zip(cnn._highways._layers, encoder.highways, strict=True):
            to.weight.copy_(torch.cat([source.transform.weight, -source.carry.weight]))
            to.bias.copy_(torch.cat([source.transform.bias, -source.carry.bias]))
        peer.softmax.softmax_w.copy_(ours.softmax.weight)
        peer.softmax.softmax_b.copy_(ours.softmax.bias)


def test_both_networks_have_as_many_parameters(peer_bilm: ModuleType, ours: BiLmLanguageModel) -> None:
    peer = peer_bilm.PeerBiLm(BiLmOptions.from_dict(OPTIONS), WORDS, 10)
    assert number_of_parameters(peer) == number_of_parameters(ours)


def number_of_parameters(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


def test_the_peer_with_our_weights_has_our_perplexities_in_streams(
    peer_bilm: ModuleType, ours: BiLmLanguageModel, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    peer = peer_bilm.StreamPeerBiLm(BiLmOptions.from_dict(OPTIONS), WORDS, 10)
    give_weights(peer, ours, tmp_path / "weights.hdf5")
    batches = [stream_batch(stream_starts) for stream_starts in (True, False, False, True)]
    with torch.no_grad():
        for model in (ours.eval(), peer.eval()):
            for batch in batches:
                model(**batch)
    expected, found = ours.get_metrics(), peer.get_metrics(reset=True)
    for name in ("forward_perplexity", "backward_perplexity", "perplexity"):
        assert found[name] == pytest.approx(expected[name], rel=1e-5)


def test_the_peers_two_ways_of_reading_agree_on_one_window(peer_bilm: ModuleType) -> None:
    torch.manual_seed(0)
    options = BiLmOptions.from_dict(OPTIONS)
    peer = peer_bilm.PeerBiLm(options, WORDS, 10).eval()
    streams = peer_bilm.StreamPeerBiLm(options, WORDS, 10).eval()
    streams.load_state_dict(peer.state_dict())
    batch = stream_batch(stream_starts=True)
    forward, types = batch["forward_targets"].clamp(min=1), batch["forward_types"]
    batch |= {
        "forward_targets": forward,
        "backward_types": types.flip(1),
        "backward_targets": forward.flip(1),
    }
    together = peer(batch["character_ids"].long()[types], forward, forward)["loss"]
    assert streams(**batch)["loss"].item() == pytest.approx(together.item(), rel=1e-5)


def test_every_place_of_the_peers_batches_has_its_neighbours_as_targets(peer_bilm: ModuleType) -> None:
    numbers = range(2 * (1 + 2 * 3 + 1))  # two streams: two windows of three, one word before and one after
    first, second = peer_bilm.peer_batches([str(n) for n in numbers], numbers, 2, 3, 50)
    assert first["character_ids"].shape == (2, 3, 50)
    assert first["forward_targets"].tolist() == [[2, 3, 4], [10, 11, 12]]
    assert first["backward_targets"].tolist() == [[0, 1, 2], [8, 9, 10]]
    assert second["forward_targets"].tolist() == [[5, 6, 7], [13, 14, 15]]
    assert first["character_ids"][0, 0, 1] == ord("1") + 1


@pytest.mark.slow
def test_the_peers_loss_goes_down(peer_bilm: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    train_step = benchmark_module("training", monkeypatch).train_step
    torch.manual_seed(0)
    np.random.seed(0)
    peer = peer_bilm.PeerBiLm(BiLmOptions.from_dict(OPTIONS), WORDS, 10)
    numbers = [1 + number % 7 for number in range(2 * 12)]
    (batch,) = peer_bilm.peer_batches([str(n) for n in numbers], numbers, 2, 10, 50)
    optimizer = torch.optim.Adam(peer.parameters(), lr=0.03)
    losses = [train_step(peer, optimizer, batch, 10.0).item() for _ in range(25)]
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.slow
def test_the_speed_command_writes_its_figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat .\na dog ran\n" * 40)
    options = ["--size", "tiny", "--batch-size", "4", "--unroll-steps", "5", "--negatives", "20"]
    options += ["--vocabulary", "100", "--steps", "2", "--rounds", "1", "--loader-seconds", "0.2"]
    figures = figures_of("train_bilm", [*options, "--no-memory", "--text", str(text)], monkeypatch, tmp_path)
    assert figures["size"] == "tiny"
    assert figures["precision"] == "float32"
    assert (figures["batch_size"], figures["unroll_steps"]) == (4, 5)
    assert (figures["negatives"], figures["vocabulary"]) == (20, 100)
    assert figures["distinct_words_per_batch"] <= 12  # ten words and the boundaries
    assert figures["loader_tokens_per_second"] > 0
    assert figures["ratio"] == pytest.approx(figures["ratios"][0], abs=1e-3)
    assert figures["tokens_per_second"] / figures["peer_tokens_per_second"] == pytest.approx(figures["ratio"])
    done = figures["operations_per_token"] * figures["tokens_per_second"]
    assert 0 < figures["share_of_peak"] == pytest.approx(done / figures["peak_operations_per_second"])
    for prefix in ("", "peer_"):
        assert figures[f"{prefix}first_loss"] > 0
        assert figures[f"{prefix}peak_memory_mb"] is None


@pytest.mark.slow
def test_the_perplexity_command_trains_both_networks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, bilm_config: dict[str, Any]
) -> None:
    bilm_config["validation_data_loader"] = {**bilm_config["data_loader"], "shuffle": False}
    bilm_config["model"]["dropout"] = 0.0
    schedule = {"type": "polynomial_decay", "warmup_steps": 2}
    bilm_config["trainer"] |= {"grad_norm": 1.0, "learning_rate_scheduler": schedule}
    config = tmp_path / "config.json"
    config.write_text(json.dumps(bilm_config))
    text = bilm_config["train_data_path"]
    options = ["--data", text, "--validation", text, "--tokens", str(40 * 12), "--config", str(config)]
    figures = figures_of("train_peer", options, monkeypatch, tmp_path)
    assert figures["tokens"] == 40 * 12
    assert figures["steps"] == 40
    for prefix in ("", "peer_"):
        for metric in ("forward_perplexity", "backward_perplexity", "perplexity"):
            assert 1 < figures[prefix + metric] < figures["words"]
