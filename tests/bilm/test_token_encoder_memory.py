"""What a token encoder remembers between calls, and when it forgets it."""

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor, nn

from elmo_plugin.bilm import BiLmError
from elmo_plugin.bilm.char_cnn.token_encoder import TokenEncoder
from tests.bilm.token_encoders import (
    check_vectors,
    frozen_encoder,
    ids_of,
    skip_where_missing,
    small_encoder,
)


def _count_encoded(encoder: TokenEncoder, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that gets the number of words of each call of the encoder's `encode_types`."""
    encoded: list[int] = []

    def encode_types(ids: Tensor) -> Tensor:
        if len(ids) > 0:
            encoded.append(len(ids))
        return TokenEncoder.encode_types(encoder, ids)

    monkeypatch.setattr(encoder, "encode_types", encode_types)
    return encoded


def test_each_distinct_word_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for frozen in (True, False):
        encoder = small_encoder().requires_grad_(not frozen)
        encoded = _count_encoded(encoder, monkeypatch)
        encoder(ids_of(["to", "be", "or", "not", "to", "be"]))
        assert encoded == [4]


def test_a_frozen_encoder_encodes_only_new_words(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = frozen_encoder()
    encoded = _count_encoded(encoder, monkeypatch)
    for words in (["to", "be"], ["be", "or", "not", "to"], ["not", "to", "be"]):
        check_vectors(encoder, words)
    assert encoded == [2, 2]


def test_an_encoder_in_training_remembers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = frozen_encoder()
    encoder.projection.bias.requires_grad_(True)
    encoded = _count_encoded(encoder, monkeypatch)
    for _ in range(2):
        assert encoder(ids_of(["to", "be"])).requires_grad
        with torch.no_grad():
            encoder(ids_of(["to", "be"]))
    assert encoded == [2] * 4


def test_parameters_made_in_inference_mode_are_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    with torch.inference_mode():
        encoder = frozen_encoder()
        encoded = _count_encoded(encoder, monkeypatch)
        for _ in range(2):
            check_vectors(encoder, ["to", "be"])
    assert encoded == [2, 2]


def _double_a_weight(encoder: TokenEncoder) -> None:
    with torch.no_grad():
        encoder.projection.weight.mul_(2)


def _double_a_weight_in_inference_mode(encoder: TokenEncoder) -> None:
    with torch.inference_mode():
        encoder.convolutions[0].weight.mul_(2)


def _load(encoder: TokenEncoder) -> None:
    encoder.load_state_dict({name: tensor * 1.5 for name, tensor in encoder.state_dict().items()})


def _replace_a_parameter(encoder: TokenEncoder) -> None:
    encoder.highways[0].carry.bias = nn.Parameter(torch.ones(12), requires_grad=False)


def _train(encoder: TokenEncoder) -> None:
    encoder.requires_grad_(True)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=0.1)
    encoder(ids_of(["to", "be"])).square().sum().backward()
    optimizer.step()
    encoder.requires_grad_(False)


def _move_through_other_types(encoder: TokenEncoder) -> None:
    for parameter in encoder.parameters():
        parameter.data.mul_(2)  # Not counted by torch.
    encoder.half().float()


@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize(
    "change",
    [
        _double_a_weight,
        _double_a_weight_in_inference_mode,
        _load,
        _replace_a_parameter,
        _train,
        _move_through_other_types,
        lambda encoder: encoder.double(),
    ],
)
def test_changed_weights_are_noticed(change: Callable[[TokenEncoder], None], precision: str) -> None:
    skip_where_missing(precision)
    encoder = frozen_encoder(precision)
    encoder.precompute_types(ids_of(["to", "be"]))
    before = encoder(ids_of(["be", "or"]))
    change(encoder)
    check_vectors(encoder, ["be", "or"], atol=1e-5 if precision == "float32" else 0.2)
    after = encoder(ids_of(["be", "or"]))
    assert before.dtype != after.dtype or not torch.equal(before, after)


def test_another_precision_has_other_vectors() -> None:
    skip_where_missing("int8")
    encoder = frozen_encoder()
    exact = encoder(ids_of(["to", "be"]))
    encoder.precision = "int8"
    assert not torch.equal(encoder(ids_of(["to", "be"])), exact)
    encoder.precision = "float32"
    assert torch.equal(encoder(ids_of(["to", "be"])), exact)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda encoder: pickle.loads(pickle.dumps(encoder))])
def test_copies_share_nothing_that_is_remembered(duplicate: Callable[[TokenEncoder], TokenEncoder]) -> None:
    encoder = frozen_encoder()
    vectors = encoder(ids_of(["to", "be"]))
    other = duplicate(encoder)
    _double_a_weight(other)
    check_vectors(other, ["to", "be"])
    assert torch.equal(encoder(ids_of(["to", "be"])), vectors)


def test_what_is_remembered_is_no_part_of_the_weights() -> None:
    encoder = frozen_encoder()
    names = set(encoder.state_dict())
    encoder.precompute_types(ids_of(["to", "be"]))
    assert set(encoder.state_dict()) == names


def test_words_encoded_ahead_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = frozen_encoder(type_cache_size=1)
    encoded = _count_encoded(encoder, monkeypatch)
    encoder.precompute_types(ids_of(["to", "be", "or", "not", "to", "be"]).view(2, 3, 50))
    for word in ("that", "is", "the", "question"):
        check_vectors(encoder, [word, "to", "be", "or", "not"])
    assert encoded == [4, 1, 1, 1, 1]


def test_words_can_be_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = frozen_encoder()
    encoded = _count_encoded(encoder, monkeypatch)
    encoder.precompute_types(ids_of(["to", "be"]))
    encoder.clear_type_cache()
    check_vectors(encoder, ["be"])
    assert encoded == [2, 1]


def test_words_cannot_be_encoded_ahead_in_training() -> None:
    with pytest.raises(BiLmError, match="requires_grad_"):
        small_encoder().precompute_types(ids_of(["to"]))


def test_without_a_cache_each_call_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = frozen_encoder(type_cache_size=0)
    encoded = _count_encoded(encoder, monkeypatch)
    for _ in range(2):
        check_vectors(encoder, ["to", "be"])
    assert encoded == [2, 2]


def test_inference_mode_and_its_absence_may_follow_each_other() -> None:
    encoder = frozen_encoder()
    for words, inference in ((["to"], True), (["to", "be"], False), (["to", "be", "or"], True)):
        with torch.inference_mode(inference):
            check_vectors(encoder, words)
    head = nn.Linear(6, 1)
    head(encoder(ids_of(["to", "not"]))).sum().backward()


def test_autocast_does_not_reach_what_is_remembered() -> None:
    encoder = frozen_encoder()
    with torch.autocast("cpu", torch.bfloat16):
        check_vectors(encoder, ["to", "be"])
        assert small_encoder()(ids_of(["to"])).dtype == torch.float32
    check_vectors(encoder, ["to", "be"])


def test_threads_get_the_same_vectors() -> None:
    encoder, words = frozen_encoder(), [f"word{i}" for i in range(60)]
    expected = frozen_encoder(type_cache_size=0)(ids_of(words))
    with ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda start: (start, encoder(ids_of(words[start : start + 9]))), range(50))
        for start, vectors in results:
            torch.testing.assert_close(vectors, expected[start : start + 9], atol=1e-5, rtol=1e-5)


class _Vectors(torch.utils.data.Dataset[Tensor]):
    """Encodes words in the process that reads them."""

    def __init__(self, encoder: TokenEncoder, words: list[str]) -> None:
        self._encoder, self._words = encoder, words

    def __len__(self) -> int:
        return len(self._words)

    def __getitem__(self, index: int) -> Tensor:
        return self._encoder(ids_of([self._words[index]]))[0]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes_get_the_same_vectors(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no start method {method} here")
    encoder, words = frozen_encoder(), ["to", "be", "or", "not"]
    expected = encoder(ids_of(words))
    loader = torch.utils.data.DataLoader(
        _Vectors(encoder, [*words, "new"]), batch_size=4, num_workers=1, multiprocessing_context=method
    )
    torch.testing.assert_close(next(iter(loader)), expected, atol=1e-5, rtol=1e-5)
