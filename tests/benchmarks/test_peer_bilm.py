"""The benchmark's peer is the same network as ours."""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from allennlp.data import Vocabulary
from torch import nn

from elmo_plugin.bilm import BiLmOptions
from elmo_plugin.bilm.io.hdf5_weights import write_weights
from elmo_plugin.language_model import BiLmLanguageModel
from tests.benchmarks.programs import benchmark_module
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
