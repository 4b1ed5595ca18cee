"""Several placements of one biLM: each has its own precision and batches."""

import copy
from typing import Any

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from torch import Tensor, nn

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.embedding import ElmoRepresentations, share_frozen_bilms
from elmo_plugin.embedding.token_embedder import ElmoTokenEmbedder
from tests.embedding.placements import (
    HYPOTHESIS,
    PREMISE,
    assert_same,
)


def test_each_embedder_has_its_own_max_batch_tokens(
    bilm_files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks: list[int] = []
    run_packed = BiLm.run_packed

    def note(self: BiLm, character_ids: Tensor, *args: Any, **kwargs: Any) -> Any:
        chunks.append(len(character_ids))
        return run_packed(self, character_ids, *args, **kwargs)

    whole = ElmoTokenEmbedder(bilm_files).eval()
    halved = ElmoTokenEmbedder(bilm_files, max_batch_tokens=2).eval()
    share_frozen_bilms(nn.ModuleList([whole, halved]))
    bilm = whole._elmo.bilm
    bilm.state_after_boundary(bilm.inference_weights())
    monkeypatch.setattr(BiLm, "run_packed", note)
    whole(PREMISE)
    assert chunks == [6]
    halved(HYPOTHESIS)
    assert chunks == [6, 2, 2]
    whole(torch.cat([PREMISE, PREMISE.flip(0)], dim=1)[:1])
    assert chunks[3:] == [6]


def test_each_elmo_has_its_own_precision(bilm: BiLm, rough: str) -> None:
    expected = ElmoRepresentations(copy.deepcopy(bilm), dropout=0)(PREMISE).representations
    plain = ElmoRepresentations(bilm, dropout=0)
    rounded = ElmoRepresentations(bilm, dropout=0, precision=rough)
    other = rounded(PREMISE).representations
    assert_same(plain(PREMISE).representations, expected)
    assert not torch.allclose(other[0], expected[0], atol=1e-2)
    assert_same(rounded(PREMISE).representations, other)
    assert bilm.precision == "float32"


def test_precisions_of_different_placements_are_different_bilms(bilm_files: dict[str, str]) -> None:
    exact, rough = (ElmoTokenEmbedder(bilm_files, precision=name) for name in ("float32", "int8"))
    assert exact._elmo.bilm is not rough._elmo.bilm
    assert (exact._elmo.bilm.precision, rough._elmo.bilm.precision) == ("float32", "int8")


def test_the_precision_of_elmo_is_that_of_its_bilm_unless_it_is_given(bilm: BiLm, rough: str) -> None:
    expected = ElmoRepresentations(bilm, dropout=0, precision=rough)(PREMISE).representations
    bilm.precision = rough
    assert_same(ElmoRepresentations(bilm, dropout=0)(PREMISE).representations, expected)
    exact = ElmoRepresentations(bilm, dropout=0, precision="float32")(PREMISE).representations
    assert not torch.allclose(exact[0], expected[0], atol=1e-2)


def test_precisions_that_cannot_be_are_refused(bilm: BiLm, bilm_files: dict[str, str]) -> None:
    with pytest.raises(BiLmError, match="one of float32, bfloat16, int8, not 'float16'"):
        ElmoRepresentations(bilm, precision="float16")
    with pytest.raises(BiLmError, match="a biLM is fine-tuned in float32, not in int8"):
        ElmoRepresentations(bilm, precision="int8", requires_grad=True)
    with pytest.raises(ConfigurationError, match="one of float32, bfloat16, int8, not 'float16'"):
        ElmoTokenEmbedder(bilm_files, precision="float16")
    with pytest.raises(ConfigurationError, match="a biLM is fine-tuned in float32, not in int8"):
        ElmoTokenEmbedder(bilm_files, precision="int8", requires_grad=True)
