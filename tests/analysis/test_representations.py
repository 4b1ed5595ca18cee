"""The controls that a biLM is compared with."""

import torch

from elmo_plugin.analysis import controls, layer_combinations
from elmo_plugin.analysis.representations import count_bytes, random_bilm
from elmo_plugin.bilm import BiLm

SENTENCES = [["They", "saw", "it", "."], ["no"], ["Öl", "ooo"]]


def test_a_bag_of_characters_counts_bytes() -> None:
    *_, last = count_bytes(SENTENCES)
    assert last.shape == (1, 2, 256)
    assert {byte: int(last[0, 0, byte]) for byte in last[0, 0].nonzero().flatten().tolist()} == {
        0xC3: 1, 0x96: 1, ord("l"): 1,
    }  # fmt: skip
    assert last[0, 1, ord("o")] == last[0, 1].sum() == 3


def test_a_random_bilm_has_the_sizes_and_its_seed_the_weights() -> None:
    bilm = BiLm.from_pretrained("tiny")
    state = torch.random.get_rng_state()
    one, same, other = (random_bilm(bilm, seed) for seed in (1, 1, 2))
    assert torch.random.get_rng_state().equal(state)
    assert one.options == bilm.options and not one.is_trainable and not one.training
    assert one.digest() == same.digest() != other.digest() != bilm.digest()


def test_the_controls_have_names_of_their_own() -> None:
    bilm = BiLm.from_pretrained("tiny")
    names = [name for each in controls(bilm, layer_combinations(bilm)) for name in each.combinations.names]
    assert names == [
        "random biLM, token",
        "random biLM, LSTM 1",
        "random biLM, LSTM 2",
        "random biLM, mean",
        "bag of characters",
    ]
