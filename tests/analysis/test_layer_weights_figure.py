"""The heat map of the layers' weights."""

import sys

import numpy as np
import pytest

from elmo_plugin.analysis.layer_weights_figure import draw_layer_weights
from elmo_plugin.bilm import BiLmError
from elmo_plugin.embedding import LayerWeights

MODELS = [
    ("ner", LayerWeights("input", [0, 1, 2], [0.2, 0.5, 0.3], 1.0)),
    ("ner", LayerWeights("output", [2], [1.0], 2.0)),
    ("snli", LayerWeights("input", [0, 2], [0.25, 0.75], 1.0)),
]


def test_each_placement_is_a_panel_of_models_and_layers() -> None:
    pytest.importorskip("matplotlib")
    into, out = draw_layer_weights(MODELS).axes[:2]
    assert (into.get_title(), out.get_title()) == ("input", "output")
    assert [label.get_text() for label in into.get_xticklabels()] == ["ner", "snli"]
    assert [label.get_text() for label in out.get_xticklabels()] == ["ner"]
    assert [label.get_text() for label in into.get_yticklabels()] == ["token", "LSTM 1", "LSTM 2"]
    nan = float("nan")
    for panel, weights in ((into, [[0.2, 0.25], [0.5, nan], [0.3, 0.75]]), (out, [[nan], [nan], [1.0]])):
        np.testing.assert_allclose(np.ma.filled(panel.images[0].get_array(), nan), weights)
    assert [text.get_text() for text in into.texts] == ["0.20", "0.50", "0.30", "0.25", "0.75"]


def test_without_matplotlib_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(BiLmError, match=r"install elmo_plugin\[figures\]"):
        draw_layer_weights(MODELS)
