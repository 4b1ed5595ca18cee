"""The mixes that models have learned: the models' own vectors, and of no other biLM's layers."""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.models import load_archive

from elmo_plugin.analysis import layer_combinations
from elmo_plugin.bilm import BiLm, BiLmError, sentences_to_character_ids
from elmo_plugin.embedding import ElmoRepresentations
from tests.small_bilm import loud_bilm
from tests.trained_bilm import write_training
from tests.trained_tagger import tagger_config, train

WORDS = ["The", "play", "ended", "."]


def trained(folder: Path, seed: int = 0, **options: Any) -> tuple[str, str]:
    """Returns the archive of a biLM and that of a tagger with it."""
    bilm = str(write_training(folder / f"bilm_{seed}", loud_bilm(seed)))
    train(tagger_config(bilm, ["input"], **options), folder / f"run_{seed}")
    return bilm, str(folder / f"run_{seed}" / "model.tar.gz")


@pytest.mark.parametrize(
    "options", [{"layer_norm": True}, {"layer_norm": True, "layers": [2, 0]}, {"layers": "top"}], ids=str
)
def test_a_mix_gives_the_vectors_of_its_model(options: dict[str, Any], tmp_path: Path) -> None:
    source, archive = trained(tmp_path, **options)
    bilm = BiLm.from_pretrained(source)
    combinations = layer_combinations(bilm, [archive])
    assert combinations.names == ["token", "LSTM 1", "LSTM 2", "mean", f"{archive}, input"]
    layers = bilm.embed([WORDS])[0]
    *alone, mean, mixed = combinations.combine(layers)
    torch.testing.assert_close(torch.stack([*alone, mean]), torch.cat([layers, layers.mean(dim=0)[None]]))
    model = load_archive(archive).model.eval()
    (elmo,) = (module for module in model.modules() if isinstance(module, ElmoRepresentations))
    own = elmo(torch.from_numpy(sentences_to_character_ids([WORDS], 50))).representations[0][0]
    torch.testing.assert_close(mixed * elmo.mixes[0].scalar_mix.gamma, own, atol=1e-5, rtol=1e-5)


def test_a_mix_of_another_biLM_of_the_same_sizes_is_refused(tmp_path: Path) -> None:
    (source, archive), (_, other) = (trained(tmp_path, seed) for seed in (1, 2))
    with pytest.raises(BiLmError, match=r"run_2/model.tar.gz: its mix at input is of another biLM"):
        layer_combinations(BiLm.from_pretrained(source), [archive, other])


def test_a_mix_of_a_biLM_that_was_trained_with_the_model_is_refused(tmp_path: Path) -> None:
    source, archive = trained(tmp_path, requires_grad=True)
    with pytest.raises(BiLmError, match="or of one that was trained with the model"):
        layer_combinations(BiLm.from_pretrained(source), [archive])


def test_what_is_no_archive_of_a_model_with_elmo_is_named(tmp_path: Path) -> None:
    source = str(write_training(tmp_path / "bilm", loud_bilm()))
    with pytest.raises(BiLmError, match="its model has no ELMo"):
        layer_combinations(BiLm.from_pretrained(source), [source])
    with pytest.raises(BiLmError, match=r"nothing.tar.gz"):
        layer_combinations(BiLm.from_pretrained(source), [tmp_path / "nothing.tar.gz"])
