"""AllenNLP's own biLM on random weights, over a grid of options."""

import itertools
from pathlib import Path

import pytest
import torch
from allennlp.modules.elmo import Elmo, batch_to_ids
from allennlp.nn.util import remove_sentence_boundaries

from elmo_plugin.bilm.io.hdf5_weights import write_weights
from tests.bilm.conftest import BiLmMaker

SENTENCES = [["The", "play", "was", "over", "."], ["Hello"], ["Ein", "Wörterbuch", "x" * 70]]
GRID = list(itertools.product([1, 2, 3], ["relu", "tanh"], [0, 1, 2], [None, 0.3], [None, 0.3]))


@pytest.mark.parametrize(("n_layers", "activation", "n_highway", "cell_clip", "proj_clip"), GRID)
def test_every_layer_is_the_one_that_allennlp_computes(
    make_bilm: BiLmMaker,
    tmp_path: Path,
    n_layers: int,
    activation: str,
    n_highway: int,
    cell_clip: float | None,
    proj_clip: float | None,
) -> None:
    bilm = make_bilm(
        char_cnn={"activation": activation, "n_highway": n_highway},
        lstm={"n_layers": n_layers, "cell_clip": cell_clip, "proj_clip": proj_clip},
    )
    bilm.options.to_file(tmp_path / "options.json")
    write_weights(tmp_path / "weights.hdf5", bilm.state_dict(), bilm.options)
    peer = Elmo(tmp_path / "options.json", tmp_path / "weights.hdf5", num_output_representations=1).eval()
    ids = batch_to_ids(SENTENCES)
    with torch.no_grad():
        output = peer._elmo_lstm(ids)
        activations = [
            remove_sentence_boundaries(layer, output["mask"])[0] for layer in output["activations"]
        ]
        layers = bilm(ids).layers
    assert len(activations) == len(layers) == n_layers + 1
    for layer, expected in zip(layers, activations, strict=True):
        torch.testing.assert_close(layer, expected, atol=1e-5, rtol=0)
