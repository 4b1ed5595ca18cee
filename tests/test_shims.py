"""Each shim is needed on a current torch, works, and reaches no further than it must."""

import argparse
import io
import os
import subprocess
import sys
import warnings
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pytest
import torch
from allennlp.commands import test_install
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.data.tokenizers import PretrainedTransformerTokenizer
from allennlp.training import gradient_descent_trainer
from allennlp.training.learning_rate_schedulers import LearningRateScheduler

from elmo_plugin import shims
from tests.conftest import REPOSITORY

TORCH_DEPRECATES_CUDA_AMP = hasattr(torch.amp, "GradScaler")


@pytest.fixture(autouse=True)
def applied_shims() -> None:
    shims.apply()


def sgd() -> torch.optim.Optimizer:
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)


def saved(value: Any) -> io.BytesIO:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    buffer.seek(0)
    return buffer


def train(folder: Path, num_epochs: int, recover: bool = False) -> None:
    """Trains a tagger of a handful of weights with a scheduler whose state holds numpy numbers."""
    (folder / "tags.txt").write_text(
        "the###D dog###N runs###V\na###D cat###N sleeps###V\n", encoding="utf-8"
    )
    params = {
        "dataset_reader": {"type": "sequence_tagging"},
        "train_data_path": str(folder / "tags.txt"),
        "model": {
            "type": "simple_tagger",
            "text_field_embedder": {
                "token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 2}}
            },
            "encoder": {"type": "pass_through", "input_dim": 2},
        },
        "data_loader": {"batch_size": 2},
        "trainer": {
            "num_epochs": num_epochs,
            "cuda_device": -1,
            "optimizer": "adam",
            "learning_rate_scheduler": {"type": "cosine", "t_initial": 4},
        },
    }
    train_model(Params(params), folder / "run", recover=recover)


def test_reduce_on_plateau_lowers_the_learning_rate_as_torch_does() -> None:
    config = {
        "type": "reduce_on_plateau",
        "mode": "max",
        "factor": 0.25,
        "patience": 1,
        "min_lr": 0.1,
    }
    optimizer, torch_optimizer = sgd(), sgd()
    scheduler = LearningRateScheduler.from_params(Params(config), optimizer=optimizer)
    torch_scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(
        torch_optimizer, mode="max", factor=0.25, patience=1, min_lr=0.1
    )
    learning_rates = []
    for metric in [0.5, 0.5, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6]:
        scheduler.step(metric)
        torch_scheduler.step(metric)
        learning_rates.append(optimizer.param_groups[0]["lr"])
        assert learning_rates[-1] == torch_optimizer.param_groups[0]["lr"]
    assert (max(learning_rates), min(learning_rates)) == (1.0, 0.1)


@pytest.mark.parametrize("number", [np.float64(0.1), np.float32(0.1), np.int64(-3), np.bool_(True)])
def test_a_numpy_number_survives_a_checkpoint(number: np.generic) -> None:
    loaded = torch.load(saved({"number": number}), weights_only=True)["number"]
    assert loaded == number and loaded.dtype == number.dtype


def gradients(sparse: bool) -> list[torch.nn.Parameter]:
    """
    The parameters of an embedding, of which a row is read twice, and of a linear layer, with
    gradients.
    """
    torch.manual_seed(0)
    embedding, linear = torch.nn.Embedding(5, 3, sparse=sparse), torch.nn.Linear(3, 2)
    linear(embedding(torch.tensor([1, 3, 1]))).pow(2).sum().backward()
    return [*embedding.parameters(), *linear.parameters()]


@pytest.mark.parametrize("max_norm", [0.1, 100.0])
def test_sparse_gradients_are_clipped_as_dense_ones(max_norm: float) -> None:
    sparse, dense = gradients(sparse=True), gradients(sparse=False)
    expected = torch.nn.utils.clip_grad_norm_(dense, max_norm)
    torch.testing.assert_close(gradient_descent_trainer.clip_grad_norm_(sparse, max_norm), expected)
    assert sparse[0].grad.is_sparse
    for one, other in zip(sparse, dense, strict=True):
        torch.testing.assert_close(one.grad.to_dense(), other.grad)


@pytest.mark.skipif(
    not TORCH_DEPRECATES_CUDA_AMP, reason="this torch does not deprecate torch.cuda.amp"
)
@pytest.mark.parametrize("filtered", [True, False])
def test_warnings_about_cuda_amp_are_hidden_only_by_our_filter(
    tmp_path: Path, filtered: bool
) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        if filtered:
            shims.silence_warnings_about_the_trainer()
        train(tmp_path, num_epochs=1)
    assert any("torch.cuda.amp" in str(warning.message) for warning in caught) is not filtered


@pytest.mark.slow
@pytest.mark.parametrize("command", ["predict", "vocab", "weights"])
def test_folders_named_like_plugins_of_allennlp_are_not_imported(
    command: str, tmp_path: Path
) -> None:
    import allennlp

    names = {name.split(".")[-1] for _, name, _ in walk_packages(allennlp.__path__, "allennlp.")}
    names |= {"allennlp_models", "allennlp_semparse", "allennlp_server", "en_core_web_sm"}
    for name in names - {"__main__"}:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(
            "open('ran', 'w').close()\nraise SystemExit(3)\n"
        )
        (tmp_path / name / "sub.py").write_text("open('ran', 'w').close()\n")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "elmo_plugin", command, "absent.tar.gz", "text"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
    )
    assert len(names) > 100 and done.returncode in (1, 2), done.stderr
    assert not (tmp_path / "ran").exists()


def test_testing_the_installation_runs_no_folders_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("fields", "samplers", "callbacks", "token_embedders"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("open('ran', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    test_install._run_test(argparse.Namespace())
    assert not (tmp_path / "ran").exists()


def test_only_named_plugins_are_imported_and_sys_path_is_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("allennlp_models", "allennlp_server", "named_plugin", "unnamed_plugin", "torch"):
        (tmp_path / f"{name}.py").write_text(
            "import os\nopen(os.path.splitext(__file__)[0], 'w').close()\n"
        )
    (tmp_path / ".allennlp_plugins").write_text("named_plugin\ntorch\nabsent_plugin\n")
    monkeypatch.chdir(tmp_path)
    for path in ([str(tmp_path), *sys.path], ["", *sys.path], sys.path[:]):
        monkeypatch.setattr(sys, "path", path[:])
        monkeypatch.delitem(sys.modules, "named_plugin", raising=False)
        shims.import_plugins.__wrapped__(str(tmp_path))
        assert sys.path == path
    assert [
        each.name for each in tmp_path.iterdir() if not each.suffix and each.name[0] != "."
    ] == ["named_plugin"]
    assert "absent_plugin could not be loaded" in caplog.text


def test_tokenizers_of_transformers_load_and_split_as_before(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="needs elmo_plugin[transformers]")
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = ["the", "play", "##ed", "end", ".", "a", "b"]
    (tmp_path / "vocab.txt").write_text("\n".join(special + words) + "\n")
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    tokenizer = PretrainedTransformerTokenizer(str(tmp_path))
    tokens = tokenizer.tokenize("The played end.")
    assert [token.text for token in tokens] == [
        "[CLS]", "the", "play", "##ed", "end", ".", "[SEP]"
    ]  # fmt: skip
    spans = [(token.idx, token.idx_end) for token in tokens[1:-1]]
    assert spans == [(0, 3), (4, 8), (8, 10), (11, 14), (14, 15)]
    pair = tokenizer.add_special_tokens(tokens[1:2], tokens[2:3])
    assert [token.text for token in pair] == ["[CLS]", "the", "[SEP]", "play", "[SEP]"]
