"""AllenNLP's own biLM on random weights: over a grid of options, and with a state from batch to
batch.
"""

import itertools
from pathlib import Path

import pytest
import torch
from allennlp.modules.elmo import Elmo, batch_to_ids
from allennlp.nn.util import remove_sentence_boundaries

from elmo_plugin.bilm import BiLm
from tests.bilm.conftest import BiLmMaker
from tests.close import assert_near
from tests.small_bilm import write_pair

SENTENCES = [["The", "play", "was", "over", "."], ["Hello"], ["Ein", "Wörterbuch", "x" * 70]]
# All layers with all highway layers and both activations; the pairs of clips go round, so that each
# of them meets every other option.
CLIPS = itertools.cycle([(None, None), (0.3, None), (None, 0.3), (0.3, 0.3), (None, 0.3)])
GRID = [
    (*sizes, *next(CLIPS)) for sizes in itertools.product([1, 2, 3], ["relu", "tanh"], [0, 1, 2])
]


# A row may be empty, or absent from some batches, at any time; in the last batch all come again.
TEXT = [
    [["The", "play"], [], ["Hello"], ["one", "two", "three"]],
    [[], ["was"], ["again", "."], []],
    [["over"], []],
    [[], ["x" * 70, "."], [], ["four"]],
    [["."], ["five"], ["six", "seven"], ["eight"]],
]


def _peer(bilm: BiLm, folder: Path) -> torch.nn.Module:
    """Returns AllenNLP's biLM with the same weights; it is stateful."""
    files = write_pair(bilm, folder)
    return Elmo(files["options"], files["weights"], num_output_representations=1).eval()._elmo_lstm


@pytest.mark.parametrize("frozen", [True, False])
@pytest.mark.parametrize("max_batch_tokens", [None, 3])
def test_the_state_after_empty_sentences_equals_allennlps(
    make_bilm: BiLmMaker, tmp_path: Path, frozen: bool, max_batch_tokens: int | None
) -> None:
    bilm = make_bilm().requires_grad_(not frozen)
    peer = _peer(bilm, tmp_path).double()
    bilm.double()  # so that differences are errors, and no rounding that adds up over the batches
    state = None
    for sentences in TEXT:
        ids = batch_to_ids(sentences)
        with torch.no_grad():
            output = bilm(ids, state, keep_state=True, max_batch_tokens=max_batch_tokens)
            expected = peer(ids)
        state = output.state
        for layer, activations in zip(output.layers, expected["activations"], strict=True):
            wanted, mask = remove_sentence_boundaries(activations, expected["mask"])
            assert torch.equal(mask, output.mask)
            torch.testing.assert_close(layer, wanted, atol=1e-6, rtol=0)
        for own, part in zip(state, peer._elmo_lstm._states, strict=True):
            ours = torch.cat(own.unbind(dim=1), dim=-1)  # both directions, one after the other
            torch.testing.assert_close(ours, part, atol=1e-6, rtol=0)


@pytest.mark.parametrize(("n_layers", "activation", "n_highway", "cell_clip", "proj_clip"), GRID)
def test_every_layer_equals_allennlps(
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
    peer = _peer(bilm, tmp_path)
    ids = batch_to_ids(SENTENCES)
    with torch.no_grad():
        output = peer(ids)
        activations = [
            remove_sentence_boundaries(layer, output["mask"])[0] for layer in output["activations"]
        ]
        layers = bilm(ids).layers
    assert len(activations) == n_layers + 1
    assert_near(layers, torch.stack(activations))
