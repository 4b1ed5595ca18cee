"""The digest of a biLM goes with its content."""

import copy

from elmo_plugin.bilm.digest import bilm_digest

from tests.bilm.conftest import BiLmMaker


def test_a_copy_of_a_bilm_has_its_digest_and_a_changed_one_another(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm().requires_grad_(False)
    digest = bilm_digest(bilm)
    assert bilm_digest(copy.deepcopy(bilm)) == digest
    for parameter in bilm.parameters():
        before = parameter.clone()
        parameter.view(-1)[-1] += 1e-3
        assert bilm_digest(bilm) != digest
        parameter.copy_(before)
        assert bilm_digest(bilm) == digest
