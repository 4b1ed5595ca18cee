"""The heat map of the layers' weights."""

import sys

import numpy as np
import pytest

from elmo_plugin.analysis.layer_weights_figure import check_plot, draw_layer_weights
from elmo_plugin.bilm import BiLmError
from elmo_plugin.embedding import LayerWeights

MODELS = [
    ("ner", LayerWeights("input", [0, 1, 2], [0.2, 0.5, 0.3], 1.0)),
    ("ner", LayerWeights("output", [2], [1.0], 2.0)),
    ("snli", LayerWeights("input", [0, 2], [0.25, 0.75], 1.0)),
]


def test_each_model_and_placement_is_a_column_and_each_layer_a_row() -> None:
    pytest.importorskip("matplotlib")
    axes = draw_layer_weights(MODELS).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == [
        "ner, input",
        "ner, output",
        "snli, input",
    ]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["token", "LSTM 1", "LSTM 2"]
    nan = float("nan")
    weights = [[0.2, nan, 0.25], [0.5, nan, nan], [0.3, 1.0, 0.75]]
    np.testing.assert_allclose(np.ma.filled(axes.images[0].get_array(), nan), weights)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BiLmError, match=r"install it, or elmo_plugin\[figures\]") as found:
        check_plot("weights.png")
    assert isinstance(found.value.__context__, ImportError)  # so `elmo` ends with status 1
