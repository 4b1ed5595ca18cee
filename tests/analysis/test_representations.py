"""Combinations of layers: a model's mix gives the model's own vectors; and the controls."""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.models import load_archive

from elmo_plugin.analysis.representations import (
    controls,
    count_bytes,
    layer_representations,
    random_bilm,
)
from elmo_plugin.bilm import BiLm, BiLmError, sentences_to_character_ids
from elmo_plugin.embedding import ElmoRepresentations
from tests.small_bilm import loud_bilm
from tests.trained_bilm import write_training
from tests.trained_tagger import tagger_config, train

WORDS = ["The", "play", "ended", "."]


def trained(folder: Path, seed: int = 0, **options: Any) -> tuple[str, str]:
    """Returns the archive of a biLM, and the archive of a tagger with it."""
    bilm = str(write_training(folder / f"bilm_{seed}", loud_bilm(seed)))
    train(tagger_config(bilm, ["input"], **options), folder / f"run_{seed}")
    return bilm, str(folder / f"run_{seed}" / "model.tar.gz")


@pytest.mark.parametrize(
    "options", [{"layer_norm": True, "layers": [2, 0]}, {"layers": "top"}], ids=str
)
def test_a_mix_computes_the_vectors_of_the_model_it_was_read_from(
    options: dict[str, Any], tmp_path: Path
) -> None:
    source, archive = trained(tmp_path, **options)
    bilm = BiLm.from_pretrained(source)
    representations = layer_representations(bilm, [archive])
    assert list(representations.combinations) == [
        "token",
        "LSTM 1",
        "LSTM 2",
        "mean",
        f"{archive}, input",
    ]
    layers = bilm.embed([WORDS])[0]
    *alone, mean, mixed = representations.combine(layers)
    torch.testing.assert_close(
        torch.stack([*alone, mean]), torch.cat([layers, layers.mean(dim=0)[None]])
    )
    model = load_archive(archive).model.eval()
    (elmo,) = (module for module in model.modules() if isinstance(module, ElmoRepresentations))
    own = elmo(torch.from_numpy(sentences_to_character_ids([WORDS], 50))).representations[0][0]
    torch.testing.assert_close(
        mixed * elmo.mixes["input"].scalar_mix.gamma, own, atol=1e-5, rtol=1e-5
    )


@pytest.mark.slow
def test_a_mix_for_a_different_bilm_is_refused(tmp_path: Path) -> None:
    (source, archive), (_, other) = (trained(tmp_path, seed) for seed in (1, 2))
    with pytest.raises(BiLmError, match=r"run_2/model.tar.gz: its ELMo at input has another biLM"):
        layer_representations(BiLm.from_pretrained(source), [archive, other])
    with pytest.raises(BiLmError, match="expected a model with ELMo"):
        layer_representations(BiLm.from_pretrained(source), [source])


def test_a_bag_of_characters_counts_the_bytes_of_words_and_an_empty_word_has_none() -> None:
    (counts,) = count_bytes([["", "aä"]])
    assert counts.shape == (1, 2, 256)
    assert not counts[0, 0].any()
    assert {byte: int(counts[0, 1, byte]) for byte in "aä".encode()} == {97: 1, 195: 1, 164: 1}
    assert counts[0, 1].sum() == 3


@pytest.mark.slow
def test_controls_are_a_random_bilm_of_the_same_sizes_and_a_bag_of_characters() -> None:
    bilm = BiLm.from_pretrained("tiny")
    state = torch.random.get_rng_state()
    one = random_bilm(bilm)
    same = random_bilm(bilm)
    assert torch.random.get_rng_state().equal(state)
    assert one.options == bilm.options and not one.is_trainable and not one.training
    assert one.digest() == same.digest() != bilm.digest()
    names = [
        name for each in controls(bilm, layer_representations(bilm)) for name in each.combinations
    ]
    expected = [f"random biLM, {name}" for name in ("token", "LSTM 1", "LSTM 2", "mean")]
    assert names == [*expected, "bag of characters"]
