"""The digest of a biLM goes with its content."""

import copy

import pytest

from elmo_plugin.bilm import BiLm
from tests.bilm.conftest import BiLmMaker
from tests.fixtures.make_bilm_fixture import FOLDER


@pytest.mark.parametrize("frozen", [True, False])
def test_a_copy_has_the_same_digest_and_a_changed_bilm_another(make_bilm: BiLmMaker, frozen: bool) -> None:
    bilm = make_bilm().requires_grad_(not frozen)
    digest = bilm.digest()
    assert copy.deepcopy(bilm).digest() == digest
    for parameter in bilm.parameters():
        before = parameter.detach().clone()
        parameter.detach().view(-1)[-1] += 1e-3
        assert bilm.digest() != digest
        parameter.detach().copy_(before)
        assert bilm.digest() == digest


def test_the_digest_of_a_bilm_stays_the_same_so_that_caches_are_found() -> None:
    bilm = BiLm.from_files(FOLDER / "options.json", FOLDER / "weights.hdf5")
    assert bilm.digest().hex() == "5c914d08f34a975b01e517bdae0557674c22acb2003e58f0d13480679f997c96"
