"""One biLM in memory for all who load the same one shared, and nobody who changes it for another."""

import copy
import gc
import json
import os
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmError, bilm_with_weights, has_weights, load_bilm
from elmo_plugin.bilm.io.hdf5_weights import write_weights
from tests.bilm.conftest import BiLmMaker
from tests.small_bilm import write_pair


@pytest.fixture
def files(make_bilm: BiLmMaker, tmp_path: Path) -> dict[str, str]:
    return write_pair(make_bilm(), tmp_path)


def changed(bilm: BiLm) -> dict[str, Tensor]:
    return {name: 2 * tensor for name, tensor in bilm.state_dict().items()}


def test_the_same_files_are_the_same_object_while_it_is_held(files: dict[str, str]) -> None:
    bilm = load_bilm(files, shared=True)
    assert load_bilm(dict(files), shared=True) is bilm
    assert not bilm.training and not any(parameter.requires_grad for parameter in bilm.parameters())
    held = weakref.ref(bilm)
    del bilm
    gc.collect()
    assert held() is None


def test_who_does_not_share_has_an_own_object(files: dict[str, str]) -> None:
    shared = load_bilm(files, shared=True)
    assert load_bilm(files) is not shared
    assert load_bilm(files) is not load_bilm(files)


def test_a_name_and_other_paths_to_its_files_are_the_same(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elmo_plugin.bilm.io.sources.MODELS", {"it": (files["options"], files["weights"])})
    (tmp_path / "link.hdf5").symlink_to(files["weights"])
    monkeypatch.chdir(tmp_path)
    bilm = load_bilm("it", shared=True)
    assert load_bilm({"options": "./options.json", "weights": "link.hdf5"}, shared=True) is bilm


def test_a_serialization_directory_is_shared(make_bilm: BiLmMaker, tmp_path: Path) -> None:
    def save(bilm: BiLm) -> None:
        state = {f"bilm.{name}": tensor for name, tensor in bilm.state_dict().items()}
        torch.save(state, tmp_path / "best.th")

    bilm = make_bilm()
    config = {"model": {"type": "bilm", "options": bilm.options.to_dict()}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    save(bilm)
    before = load_bilm(str(tmp_path), shared=True)
    assert load_bilm(str(tmp_path), shared=True) is before
    bilm.load_state_dict(changed(bilm))
    save(bilm)
    after = load_bilm(str(tmp_path), shared=True)
    assert after is not before
    assert all(torch.equal(after.state_dict()[name], tensor) for name, tensor in bilm.state_dict().items())


def test_another_precision_is_another_object(files: dict[str, str]) -> None:
    bilm = load_bilm(files, shared=True)
    other = load_bilm(files, precision="bfloat16", shared=True)
    assert other is not bilm
    assert (bilm.precision, other.precision) == ("float32", "bfloat16")


def test_files_that_were_written_again_are_loaded_again(files: dict[str, str]) -> None:
    before = load_bilm(files, shared=True)
    times = os.stat(files["weights"])
    other = copy.deepcopy(before)
    other.load_state_dict(changed(before))
    write_weights(files["weights"], other.state_dict(), other.options)
    os.utime(files["weights"], ns=(times.st_atime_ns, times.st_mtime_ns))  # the size is the same, too
    after = load_bilm(files, shared=True)
    assert all(torch.equal(after.state_dict()[name], tensor) for name, tensor in other.state_dict().items())
    assert not any(
        torch.equal(after.state_dict()[name], tensor)
        for name, tensor in before.state_dict().items()
        if tensor.any()
    )


def change_a_weight(bilm: BiLm) -> None:
    next(bilm.parameters()).add_(1)


def change_the_type(bilm: BiLm) -> None:
    bilm.double()


def train(bilm: BiLm) -> None:
    bilm.requires_grad_(True)


def change_the_precision(bilm: BiLm) -> None:
    bilm.precision = "int8"


@pytest.mark.parametrize("change", [change_a_weight, change_the_type, train, change_the_precision])
def test_one_that_its_holder_changed_is_given_to_nobody_else(
    files: dict[str, str], make_bilm: BiLmMaker, change: Callable[[BiLm], None]
) -> None:
    bilm = load_bilm(files, shared=True)
    change(bilm)
    fresh = load_bilm(files, shared=True)
    assert fresh is not bilm and fresh.precision == "float32"
    original = make_bilm().state_dict()
    assert all(torch.equal(tensor, original[name]) for name, tensor in fresh.state_dict().items())


def test_threads_that_ask_together_get_one_object(
    files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[None] = []
    from_checkpoint = BiLm.from_checkpoint
    monkeypatch.setattr(BiLm, "from_checkpoint", lambda *args: loads.append(None) or from_checkpoint(*args))
    got: list[BiLm] = []
    threads = [threading.Thread(target=lambda: got.append(load_bilm(files, shared=True))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 8 and len({id(bilm) for bilm in got}) == 1 and len(loads) == 1


def test_after_a_file_that_cannot_be_loaded_others_can(files: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="absent"):
        load_bilm({**files, "weights": "absent.hdf5"}, shared=True)
    assert load_bilm(files, shared=True) is not None


def with_weights(bilm: BiLm, weights: dict[str, Tensor], **changes: Any) -> BiLm:
    """Returns a biLM with these weights that is otherwise like another one."""
    arguments: dict[str, Any] = {"precision": bilm.precision, "like": next(bilm.parameters())}
    return bilm_with_weights(bilm.options, weights, **{**arguments, **changes})


def test_weights_that_a_loaded_bilm_has_are_not_in_memory_twice(files: dict[str, str]) -> None:
    bilm = load_bilm(files, shared=True)
    weights = {name: tensor.clone() for name, tensor in bilm.state_dict().items()}
    assert has_weights(bilm, weights) and with_weights(bilm, weights) is bilm


def test_other_weights_go_to_one_bilm_for_all_who_load_them(files: dict[str, str]) -> None:
    bilm = load_bilm(files, shared=True)
    before = copy.deepcopy(bilm.state_dict())
    weights = changed(bilm)
    assert not has_weights(bilm, weights)
    other = with_weights(bilm, weights)
    assert other is not bilm and with_weights(bilm, weights) is other
    assert not other.training and not other.is_trained
    assert has_weights(other, weights) and has_weights(bilm, before)
    assert load_bilm(files, shared=True) is bilm


def test_a_bilm_with_weights_is_gone_with_its_last_holder(files: dict[str, str]) -> None:
    bilm = load_bilm(files, shared=True)
    held = weakref.ref(with_weights(bilm, changed(bilm)))
    gc.collect()
    assert held() is None


@pytest.mark.parametrize("change", [change_a_weight, change_the_type, train, change_the_precision])
def test_a_bilm_with_weights_that_was_changed_is_given_to_nobody_else(
    files: dict[str, str], change: Callable[[BiLm], None]
) -> None:
    bilm = load_bilm(files, shared=True)
    weights = changed(bilm)
    other = with_weights(bilm, weights)
    change(other)
    fresh = with_weights(bilm, weights)
    assert fresh is not other and has_weights(fresh, weights)


def test_a_bilm_of_another_precision_or_type_is_another(files: dict[str, str]) -> None:
    bilm = load_bilm(files, shared=True)
    weights = changed(bilm)
    other = with_weights(bilm, weights)
    assert with_weights(bilm, weights, precision="bfloat16").precision == "bfloat16"
    double = with_weights(bilm, weights, like=torch.zeros(1, dtype=torch.double))
    assert {parameter.dtype for parameter in double.parameters()} == {torch.double}
    assert other.precision == "float32" and next(other.parameters()).dtype == torch.float


def test_weights_that_do_not_fit_never_reach_a_shared_bilm(files: dict[str, str]) -> None:
    bilm = load_bilm(files, shared=True)
    before = copy.deepcopy(bilm.state_dict())
    weights = changed(bilm)
    name, _ = weights.popitem()
    for wrong in (weights, {**weights, name: torch.zeros(1)}, {**changed(bilm), "more": torch.zeros(1)}):
        assert not has_weights(bilm, wrong)
        with pytest.raises(BiLmError, match=r"missing, which the options ask for|do not fit the options"):
            with_weights(bilm, wrong)
    assert has_weights(bilm, before) and load_bilm(files, shared=True) is bilm
