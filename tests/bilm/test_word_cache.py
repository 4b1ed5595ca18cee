import threading

import pytest
import torch
from torch import Tensor

from elmo_plugin.bilm.word_cache import WordCache

CHARACTERS = 3


class _Encoder:
    """Makes a word's vector from its number, and remembers which words it was asked for."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def __call__(self, types: Tensor) -> Tensor:
        self.asked.append(types[:, 0].tolist())
        return _vectors(types)


def _types(*numbers: int, dtype: torch.dtype = torch.int64) -> Tensor:
    return torch.tensor([[number, 7, number % 5] for number in numbers], dtype=dtype).view(
        -1, CHARACTERS
    )


def _vectors(types: Tensor) -> Tensor:
    return types[:, :1].float() * torch.tensor([1.0, -0.5])


def _look_up(cache: WordCache, encode: _Encoder, *numbers: int) -> None:
    """Looks the words up and checks their vectors."""
    types = _types(*numbers)
    assert torch.equal(cache.look_up(types, encode), _vectors(types))


def test_only_words_missing_from_the_cache_are_encoded() -> None:
    cache, encode = WordCache(10), _Encoder()
    for numbers in ([5, 2, 9], [9, 4, 5, 1], [1, 2, 4, 5, 9]):
        _look_up(cache, encode, *numbers)
    assert encode.asked == [[5, 2, 9], [4, 1]]
    assert len(cache) == 5


@pytest.mark.parametrize("capacity", [0, 1, 3, 4, 7])
def test_a_full_cache_keeps_to_its_capacity_and_returns_right_vectors(capacity: int) -> None:
    cache, encode = WordCache(capacity), _Encoder()
    generator = torch.Generator().manual_seed(1)
    for _ in range(30):
        _look_up(cache, encode, *torch.randperm(9, generator=generator)[:4].tolist())
        assert len(cache) <= capacity


@pytest.mark.parametrize("inference_first", [True, False])
def test_the_cache_works_inside_and_outside_inference_mode(inference_first: bool) -> None:
    cache, encode = WordCache(6), _Encoder()
    for step, number in enumerate(range(1, 9)):
        with torch.inference_mode(inference_first == (step % 2 == 0)):
            _look_up(cache, encode, number, number + 1)
    assert not cache.look_up(_types(1), encode).is_inference()


def test_a_failure_to_encode_does_not_change_the_cache() -> None:
    cache, encode = WordCache(9), _Encoder()
    _look_up(cache, encode, 1, 2)

    def fail(types: Tensor) -> Tensor:
        raise RuntimeError("no memory")

    with pytest.raises(RuntimeError, match="no memory"):
        cache.look_up(_types(2, 3), fail)
    _look_up(cache, encode, 1, 2, 3)


def test_threads_sharing_a_cache_get_right_vectors_and_encode_each_word_once() -> None:
    cache, encode, wrong = WordCache(1000), _Encoder(), []

    def work(seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        for _ in range(50):
            types = _types(*torch.randperm(300, generator=generator)[:20].tolist())
            if not torch.equal(cache.look_up(types, encode), _vectors(types)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asked = [number for numbers in encode.asked for number in numbers]
    assert wrong == []
    assert len(asked) == len(set(asked)) == len(cache)
