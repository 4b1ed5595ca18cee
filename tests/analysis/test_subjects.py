"""A biLM through a cache, and what a biLM is compared with."""

import torch

from elmo_plugin.analysis import CachedVectors, controls, layer_mixes
from elmo_plugin.analysis.subjects import BagOfCharacters, random_bilm
from elmo_plugin.bilm import load_bilm
from elmo_plugin.embedding.cache import MemoryCache

SENTENCES = [["They", "saw", "it", "."], ["no"], ["Öl", "ooo"]]


def test_a_cache_changes_no_vector() -> None:
    bilm = load_bilm("tiny")
    cached = CachedVectors(bilm, MemoryCache())
    for _ in range(2):
        torch.testing.assert_close(cached.embed(SENTENCES), bilm.embed(SENTENCES))


def test_a_bag_of_characters_counts_bytes() -> None:
    *_, last = BagOfCharacters().embed(SENTENCES)
    assert last.shape == (1, 2, 256)
    assert {byte: int(last[0, 0, byte]) for byte in last[0, 0].nonzero().flatten().tolist()} == {
        0xC3: 1, 0x96: 1, ord("l"): 1,
    }  # fmt: skip
    assert last[0, 1, ord("o")] == last[0, 1].sum() == 3


def test_a_random_bilm_has_the_sizes_and_its_seed_the_weights() -> None:
    bilm = load_bilm("tiny")
    state = torch.random.get_rng_state()
    one, same, other = (random_bilm(bilm, seed) for seed in (1, 1, 2))
    assert torch.random.get_rng_state().equal(state)
    assert one.options == bilm.options and not one.is_trained and not one.training
    assert one.digest() == same.digest() != other.digest() != bilm.digest()


def test_the_controls_have_names_of_their_own() -> None:
    bilm = load_bilm("tiny")
    names = [name for subject in controls(bilm, layer_mixes(bilm)) for name in subject.mixes.names]
    assert names == [
        "random biLM, token",
        "random biLM, LSTM 1",
        "random biLM, LSTM 2",
        "random biLM, mean",
        "bag of characters",
    ]
