"""Which vectors of words are kept between calls, and when they are dropped."""

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.bilm.char_cnn import TokenEncoder
from tests.bilm.char_cnn.token_encoders import (
    bilm_with_encoder,
    check_vectors,
    encode,
    ids_of,
    skip_where_missing,
    small_encoder,
)
from tests.close import assert_near


def _count_encoded(encoder: TokenEncoder, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Returns a list that gets the number of words of each call of the encoder's `encode_words`."""
    encoded: list[int] = []

    def encode_words(ids: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if len(ids) > 0:
            encoded.append(len(ids))
        return TokenEncoder.encode_words(encoder, ids, *args, **kwargs)

    monkeypatch.setattr(encoder, "encode_words", encode_words)
    return encoded


def test_each_distinct_word_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for frozen in (True, False):
        encoder = small_encoder().requires_grad_(not frozen)
        encoded = _count_encoded(encoder, monkeypatch)
        encoder(ids_of(["to", "be", "or", "not", "to", "be"]))
        assert encoded == [4]


def test_a_frozen_encoder_encodes_only_new_words(monkeypatch: pytest.MonkeyPatch) -> None:
    bilm = bilm_with_encoder()
    encoded = _count_encoded(bilm.token_encoder, monkeypatch)
    for words in (["to", "be"], ["be", "or", "not", "to"], ["not", "to", "be"]):
        check_vectors(bilm, words)
    assert encoded == [2, 2]


def test_an_encoder_in_training_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    bilm = bilm_with_encoder()
    bilm.token_encoder.projection.bias.requires_grad_(True)
    encoded = _count_encoded(bilm.token_encoder, monkeypatch)
    for _ in range(2):
        assert encode(bilm, ["to", "be"]).requires_grad
        with torch.no_grad():
            encode(bilm, ["to", "be"])
    assert encoded == [2] * 4


def test_parameters_made_in_inference_mode_have_no_vectors_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    with torch.inference_mode():
        bilm = bilm_with_encoder()
        encoded = _count_encoded(bilm.token_encoder, monkeypatch)
        for _ in range(2):
            check_vectors(bilm, ["to", "be"])
    assert encoded == [2, 2]


def _double_a_weight(bilm: BiLm) -> None:
    with torch.no_grad():
        bilm.token_encoder.projection.weight.mul_(2)


def _double_a_weight_in_inference_mode(bilm: BiLm) -> None:
    with torch.inference_mode():
        bilm.token_encoder.convolutions[0].weight.mul_(2)


def _load(bilm: BiLm) -> None:
    bilm.load_state_dict({name: tensor * 1.5 for name, tensor in bilm.state_dict().items()})


def _replace_a_parameter(bilm: BiLm) -> None:
    bilm.token_encoder.highways[0].carry.bias = nn.Parameter(torch.ones(12), requires_grad=False)


def _train(bilm: BiLm) -> None:
    bilm.requires_grad_(True)
    optimizer = torch.optim.Adam(bilm.token_encoder.parameters(), lr=0.1)
    encode(bilm, ["to", "be"]).square().sum().backward()
    optimizer.step()
    bilm.requires_grad_(False)


def _move_through_another_type(bilm: BiLm) -> None:
    for parameter in bilm.parameters():
        parameter.data.mul_(2)  # Not counted by torch.
    bilm.token_encoder.half().float()


@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize(
    "change",
    [
        _double_a_weight,
        _double_a_weight_in_inference_mode,
        _load,
        _replace_a_parameter,
        _train,
        _move_through_another_type,
        lambda bilm: bilm.double(),
    ],
)
def test_changed_weights_are_noticed(change: Callable[[BiLm], None], precision: str) -> None:
    skip_where_missing(precision)
    bilm = bilm_with_encoder(precision)
    bilm.precompute(["to", "be"])
    before = encode(bilm, ["be", "or"])
    change(bilm)
    check_vectors(bilm, ["be", "or"], precision)
    after = encode(bilm, ["be", "or"])
    assert before.dtype != after.dtype or not torch.equal(before, after)


def test_another_precision_has_other_vectors() -> None:
    skip_where_missing("int8")
    bilm = bilm_with_encoder()
    exact = encode(bilm, ["to", "be"])
    bilm.precision = "int8"
    assert not torch.equal(encode(bilm, ["to", "be"]), exact)
    bilm.precision = "float32"
    assert torch.equal(encode(bilm, ["to", "be"]), exact)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda bilm: pickle.loads(pickle.dumps(bilm))])
def test_copies_share_nothing_that_is_kept(duplicate: Callable[[BiLm], BiLm]) -> None:
    bilm = bilm_with_encoder()
    vectors = encode(bilm, ["to", "be"])
    other = duplicate(bilm)
    _double_a_weight(other)
    check_vectors(other, ["to", "be"])
    assert torch.equal(encode(bilm, ["to", "be"]), vectors)


def test_what_is_kept_is_no_part_of_the_weights() -> None:
    bilm = bilm_with_encoder()
    names = set(bilm.state_dict())
    bilm.precompute(["to", "be"])
    assert set(bilm.state_dict()) == names


def test_words_encoded_ahead_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    bilm = bilm_with_encoder(word_cache_size=1)
    encoded = _count_encoded(bilm.token_encoder, monkeypatch)
    bilm.precompute(["to", "be", "or", "not", "to", "be"])
    for word in ("that", "is", "the", "question"):
        check_vectors(bilm, [word, "to", "be", "or", "not"])
    assert encoded == [4, 1, 1, 1, 1]


def test_kept_vectors_can_be_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    bilm = bilm_with_encoder()
    encoded = _count_encoded(bilm.token_encoder, monkeypatch)
    bilm.precompute(["to", "be"])
    bilm.clear_word_cache()
    check_vectors(bilm, ["be"])
    assert encoded == [2, 1]


def test_words_cannot_be_encoded_ahead_in_training() -> None:
    with pytest.raises(BiLmError, match="requires_grad_"):
        bilm_with_encoder().requires_grad_(True).precompute(["to"])


def test_without_a_cache_each_call_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    bilm = bilm_with_encoder(word_cache_size=0)
    encoded = _count_encoded(bilm.token_encoder, monkeypatch)
    for _ in range(2):
        check_vectors(bilm, ["to", "be"])
    assert encoded == [2, 2]


def test_inference_mode_and_its_absence_may_follow_each_other() -> None:
    bilm = bilm_with_encoder()
    for words, inference in ((["to"], True), (["to", "be"], False), (["to", "be", "or"], True)):
        with torch.inference_mode(inference):
            check_vectors(bilm, words)
    head = nn.Linear(6, 1)
    head(encode(bilm, ["to", "not"])).sum().backward()


def test_autocast_does_not_reach_what_is_kept() -> None:
    bilm = bilm_with_encoder()
    with torch.autocast("cpu", torch.bfloat16):
        check_vectors(bilm, ["to", "be"])
        assert small_encoder()(ids_of(["to"])).dtype == torch.float32
    check_vectors(bilm, ["to", "be"])


def test_threads_get_the_same_vectors() -> None:
    bilm, words = bilm_with_encoder(), [f"word{i}" for i in range(60)]
    expected = encode(bilm_with_encoder(word_cache_size=0), words)
    with ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda start: (start, encode(bilm, words[start : start + 9])), range(50))
        for start, vectors in results:
            assert_near(vectors, expected[start : start + 9])


class _Vectors(torch.utils.data.Dataset[Tensor]):
    """Encodes words in the process that reads them."""

    def __init__(self, bilm: BiLm, words: list[str]) -> None:
        self._bilm, self._words = bilm, words

    def __len__(self) -> int:
        return len(self._words)

    def __getitem__(self, index: int) -> Tensor:
        return encode(self._bilm, [self._words[index]])[0]


# To start a process anew ("spawn") takes long: it imports torch again.
@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_worker_processes_get_the_same_vectors(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no start method {method} here")
    bilm, words = bilm_with_encoder(), ["to", "be", "or", "not"]
    expected = encode(bilm, words)
    loader = torch.utils.data.DataLoader(
        _Vectors(bilm, [*words, "new"]), batch_size=4, num_workers=1, multiprocessing_context=method
    )
    assert_near(next(iter(loader)), expected)
