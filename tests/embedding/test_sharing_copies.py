"""Models that share a biLM when they are saved, loaded, copied, moved or get another type."""

import copy
import io
import pickle
import zipfile
from collections.abc import Callable

import pytest
import torch
from torch import nn

from elmo_plugin.bilm import BiLm
from elmo_plugin.bilm.io import write_weights
from elmo_plugin.embedding import ElmoRepresentations
from tests.embedding.placements import (
    PREMISE,
    assert_same,
    bilms,
    count_runs,
    one_bilm,
    placements,
    vectors,
)


def test_loading_what_was_saved_keeps_one_bilm(bilm_files: dict[str, str]) -> None:
    model = placements(bilm_files)
    bilm = one_bilm(model)
    model.load_state_dict(copy.deepcopy(model.state_dict()))  # each tensor twice, as if never shared
    assert one_bilm(model) is bilm


def test_saving_writes_a_shared_bilm_once(bilm_files: dict[str, str]) -> None:
    def tensors_written(module: nn.Module) -> int:
        buffer = io.BytesIO()
        torch.save(module.state_dict(), buffer)
        return sum("/data/" in name for name in zipfile.ZipFile(buffer).namelist())

    model = placements(bilm_files)
    bilm_names = {name for name in model.state_dict() if "_elmo.bilm." in name}
    assert len(bilm_names) == 2 * len(one_bilm(model).state_dict())
    assert tensors_written(model) == tensors_written(model["input"]) + 3  # a mix has two, and the description


def test_an_archive_with_other_weights_leaves_other_models_as_they_are(
    bilm_files: dict[str, str], bilm: BiLm
) -> None:
    archived = placements(bilm_files).eval()
    saved, expected = copy.deepcopy(archived.state_dict()), vectors(archived, PREMISE)
    other = BiLm(bilm.options)
    write_weights(bilm_files["weights"], other.state_dict(), other.options)
    holder, loaded = placements(bilm_files).eval(), placements(bilm_files).eval()
    before = vectors(holder, PREMISE)

    loaded.load_state_dict(saved)
    assert one_bilm(loaded) is not one_bilm(holder)
    runs = count_runs(one_bilm(loaded))
    assert_same(vectors(loaded, PREMISE), expected)
    assert len(runs) == 1
    assert_same(vectors(holder, PREMISE), before)
    assert not torch.equal(before[0], expected[0])


def test_an_archive_that_does_not_fit_is_refused_and_changes_nothing(bilm_files: dict[str, str]) -> None:
    model, holder = placements(bilm_files).eval(), placements(bilm_files).eval()
    before = vectors(holder, PREMISE)
    saved = {name: 2 * tensor for name, tensor in model.state_dict().items()}
    saved.pop(next(name for name in saved if "output._elmo.bilm." in name))
    with pytest.raises(RuntimeError, match="Missing key"):
        model.load_state_dict(saved)
    assert_same(vectors(holder, PREMISE), before)


def test_another_type_of_one_model_leaves_the_other(bilm_files: dict[str, str]) -> None:
    model, holder = placements(bilm_files).eval(), placements(bilm_files).eval()
    before = vectors(holder, PREMISE)
    doubled = vectors(model.double(), PREMISE)
    assert doubled[0].dtype == torch.float64
    assert one_bilm(holder).boundaries is not bilms(model)[0].boundaries
    assert all(parameter.dtype == torch.float32 for parameter in one_bilm(holder).parameters())
    assert_same(vectors(holder, PREMISE), before)


def test_a_bilm_of_another_type_than_the_mix_is_understood(bilm: BiLm) -> None:
    elmo = ElmoRepresentations(bilm).eval()
    expected = elmo(PREMISE).representations[0]
    bilm.double()
    torch.testing.assert_close(elmo(PREMISE).representations[0], expected)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_of_a_model_shares_within_itself_and_not_with_the_original(
    bilm_files: dict[str, str], duplicate: Callable[[nn.Module], nn.Module]
) -> None:
    model = placements(bilm_files).eval()
    expected = vectors(model, PREMISE)
    made = duplicate(model)
    bilm = one_bilm(made)
    assert bilm is not one_bilm(model)
    assert not {p.data_ptr() for p in bilm.parameters()} & {
        p.data_ptr() for p in one_bilm(model).parameters()
    }
    runs = count_runs(bilm)
    assert_same(vectors(made, PREMISE), expected)
    assert len(runs) == 1


def test_a_copy_of_one_placement_has_none_of_the_outputs_of_the_original(bilm_files: dict[str, str]) -> None:
    model = placements(bilm_files).eval()
    expected = vectors(model, PREMISE)[0]
    made = copy.deepcopy(model["input"])
    runs = count_runs(made._elmo.bilm)
    for _ in range(2):
        assert torch.equal(made(PREMISE), expected)
    assert len(runs) == 1
