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
