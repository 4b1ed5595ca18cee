"""What AllenNLP's modules compute with their numbers, and ours with theirs rearranged, is the same."""

from collections.abc import Callable

import pytest
import torch
from allennlp.modules.highway import Highway as TheirHighway
from torch import Tensor

from elmo_plugin.bilm.io.layouts import (
    bias_from_allennlp,
    bias_to_allennlp,
    join_highway,
    split_highway,
    swap_gates,
)
from elmo_plugin.bilm.token_encoder import Highway

Gates = Callable[[Tensor], Tensor]


def test_a_split_highway_computes_what_it_did() -> None:
    theirs, ours = TheirHighway(3, activation=torch.relu), Highway(3)
    for part in ("weight", "bias"):
        joined = getattr(theirs._layers[0], part).detach()
        transform, carry = split_highway(joined)
        assert torch.equal(join_highway(transform, carry), joined)
        getattr(ours.transform, part).data = transform
        getattr(ours.carry, part).data = carry
    features = torch.randn(5, 3)
    torch.testing.assert_close(ours(features), theirs(features))


@pytest.mark.parametrize(
    ("there", "back"), [(swap_gates, swap_gates), (bias_from_allennlp, bias_to_allennlp)]
)
def test_gates_get_into_our_order_and_back(there: Gates, back: Gates) -> None:
    theirs = torch.tensor([1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0])  # input, forget, new, output
    forget = 1.0 if there is bias_from_allennlp else 2.0
    assert there(theirs).tolist() == [1.0, 1.0, 3.0, 3.0, forget, forget, 4.0, 4.0]
    assert torch.equal(back(there(theirs)), theirs)
