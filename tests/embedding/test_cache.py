"""A biLM with a cache gives what it gives without, and reads each sentence once."""

import copy
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from elmo_plugin.bilm import BiLm, BiLmError, BiLmOptions, BiLmOutput
from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.embedding.cache import ActivationCache, MemoryCache, SqliteCache
from elmo_plugin.embedding.contextual_elmo import RegisteredCache
from elmo_plugin.embedding.representations import ElmoRepresentations
from elmo_plugin.embedding.token_embedder import ElmoTokenEmbedder
from tests.close import assert_near
from tests.embedding.conftest import OPTIONS

SENTENCES = [
    ["The", "play", "ended", "."],
    ["Play", "!"],
    ["Play"],
    ["A", "long", "play", "by", "a", "child", "about", "a", "long", "life"],
    ["The", "play", "ended", "!"],
    [],
]
SMALL = 10_000 / 1e9  # gigabytes: room for about two sentences
KINDS = ["memory", "sqlite"]
MakeCache = Callable[..., ActivationCache]


def run(cache: ActivationCache, bilm: BiLm, character_ids: Tensor) -> BiLmOutput:
    digest = bilm.digest()
    return cache.run(bilm, digest, character_ids, bilm.num_layers, bilm.output_dim)


def ids(*numbers: int) -> Tensor:
    return torch.from_numpy(sentences_to_character_ids([SENTENCES[number] for number in numbers]))


@pytest.fixture(autouse=True)
def frozen(bilm: BiLm) -> BiLm:
    return bilm.eval().requires_grad_(False)


@pytest.fixture(params=KINDS)
def make_cache(request: pytest.FixtureRequest, tmp_path: Path) -> MakeCache:
    if request.param == "memory":
        return MemoryCache
    return lambda **options: SqliteCache(str(tmp_path / "cache"), **options)


@pytest.fixture
def read(bilm: BiLm) -> list[list[int]]:
    """Of each run of the biLM, the numbers of the sentences that it reads."""
    runs: list[list[int]] = []
    known = {ids(number).numpy().tobytes(): number for number in range(len(SENTENCES))}

    def note(_module: nn.Module, inputs: tuple[Tensor], _output: Any) -> None:
        runs.append([known[row.numpy().tobytes().rstrip(b"\0")] for row in inputs[0]])

    bilm.register_forward_hook(note)
    return runs


def assert_like_the_bilm(bilm: BiLm, cache: ActivationCache, numbers: list[int]) -> None:
    """Equal up to what the rounding of sums makes of another batch."""
    actual, expected = run(cache, bilm, ids(*numbers)), bilm(ids(*numbers))
    assert_near(actual.layers, expected.layers)
    assert torch.equal(actual.mask, expected.mask)


batches = st.lists(st.lists(st.integers(0, len(SENTENCES) - 1), min_size=1, max_size=6), max_size=8)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, "small memory"])
@given(batches)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_batches_get_the_very_numbers_that_the_bilm_gave(
    kind: str, bilm: BiLm, batches: list[list[int]]
) -> None:
    given_last: dict[bytes, Tensor] = {}

    def note(_module: nn.Module, inputs: tuple[Tensor], output: Any) -> None:
        for row, ids_of_row in enumerate(inputs[0]):
            words = int(output.mask[row].sum())
            given_last[ids_of_row.numpy().tobytes().rstrip(b"\0")] = output.layers[:, row, :words]

    handle = bilm.register_forward_hook(note)
    with tempfile.TemporaryDirectory() as folder:
        caches = {"memory": MemoryCache, "small memory": lambda: MemoryCache(SMALL)}
        cache = caches.get(kind, lambda: SqliteCache(folder))()
        outputs = []
        for numbers in batches:
            outputs.append(run(cache, bilm, ids(*numbers)))
            for row, number in enumerate(numbers):
                words = len(SENTENCES[number])
                expected = given_last[ids(number).numpy().tobytes()]
                assert torch.equal(outputs[-1].layers[:, row, :words], expected)
                assert not outputs[-1].layers[:, row, words:].any()
    handle.remove()
    for numbers, output in zip(batches, outputs, strict=True):
        expected = bilm(ids(*numbers))
        assert_near(output.layers, expected.layers)
        assert torch.equal(output.mask, expected.mask)


def test_float16_rounds_what_is_computed_as_what_is_kept(bilm: BiLm, make_cache: MakeCache) -> None:
    cache = make_cache(dtype="float16")
    rounded = bilm(ids(0, 3)).layers.half().float()
    for _ in range(2):
        assert torch.equal(run(cache, bilm, ids(0, 3)).layers, rounded)


def test_only_the_sentences_that_are_missing_are_read_as_one_batch(
    bilm: BiLm, make_cache: MakeCache, read: list[list[int]]
) -> None:
    cache = make_cache()
    for numbers in ([0, 1], [3, 1, 0, 2], [2, 3, 0, 1]):
        run(cache, bilm, ids(*numbers))
    assert read == [[0, 1], [3, 2]]


def test_a_sentence_is_found_whatever_the_padding_and_the_type_of_its_ids(
    bilm: BiLm, make_cache: MakeCache, read: list[list[int]]
) -> None:
    cache = make_cache()
    expected = run(cache, bilm, ids(1)).layers
    for dtype in (torch.int16, torch.int32, torch.int64):
        padded = nn.functional.pad(ids(1), (0, 0, 0, 3)).to(dtype)
        assert torch.equal(run(cache, bilm, padded).layers[:, :, :2], expected)
    assert read == [[1]]


def changed(bilm: BiLm, how: str) -> BiLm:
    """Another biLM, or the same one changed."""
    if how == "one weight":
        with torch.no_grad():
            bilm.backward_lm.get_parameter(list(dict(bilm.backward_lm.named_parameters()))[-1])[0] += 1e-3
        bilm.refresh()
    elif how == "loaded weights":
        bilm.load_state_dict({name: 2 * tensor for name, tensor in bilm.state_dict().items()})
    elif how == "precision":
        bilm.precision = "rough"
    else:
        options = copy.deepcopy(OPTIONS)
        options["lstm"]["use_skip_connections"] = False
        other = BiLm(BiLmOptions.from_dict(options)).eval().requires_grad_(False)
        other.load_state_dict(bilm.state_dict())
        return other
    return bilm


@pytest.mark.parametrize("how", ["one weight", "loaded weights", "precision", "options"])
def test_a_bilm_that_was_changed_finds_nothing_of_what_it_was(
    how: str, bilm: BiLm, make_cache: MakeCache, rough: str
) -> None:
    cache = make_cache()
    before = run(cache, bilm, ids(0, 1)).layers
    bilm = changed(bilm, how)
    assert_like_the_bilm(bilm, cache, [0, 1])
    assert not torch.equal(run(cache, bilm, ids(0, 1)).layers, before)


def test_the_mix_learns_from_a_cache_as_from_the_bilm(bilm: BiLm, make_cache: MakeCache) -> None:
    cached = ElmoRepresentations(bilm, dropout=0, cache=make_cache())
    plain = ElmoRepresentations(copy.deepcopy(bilm), dropout=0)
    with torch.inference_mode():
        cached(ids(0, 1))
    for elmo in (cached, plain):
        elmo(ids(0, 1)).representations[0].pow(2).sum().backward()
    for actual, expected in zip(cached.mixes.parameters(), plain.mixes.parameters(), strict=True):
        torch.testing.assert_close(actual.grad, expected.grad)


def test_a_bilm_that_is_released_later_is_run_each_time(
    bilm: BiLm, make_cache: MakeCache, read: list[list[int]]
) -> None:
    elmo = ElmoRepresentations(bilm, cache=make_cache())
    bilm.requires_grad_(True)
    for _ in range(2):
        elmo(ids(0))
    assert read == [[0], [0]]


@pytest.mark.parametrize("options", [{"requires_grad": True}, {"stateful": True}], ids=str)
def test_only_a_frozen_and_stateless_bilm_may_have_a_cache(
    options: dict[str, bool], bilm: BiLm, bilm_files: dict[str, str]
) -> None:
    with pytest.raises(BiLmError, match="a cache requires a frozen"):
        ElmoRepresentations(bilm, cache=MemoryCache(), **options)
    with pytest.raises(ConfigurationError, match="a cache requires a frozen"):
        ElmoTokenEmbedder(bilm_files, cache=MemoryCache(), **options)


def test_numbers_beyond_float16_are_refused_and_not_kept(bilm: BiLm, make_cache: MakeCache) -> None:
    with torch.no_grad():
        bilm.token_encoder.projection.weight.mul_(1e6)
    with pytest.raises(BiLmError, match=r'a cache in float16 cannot hold .*: set .* "float32"'):
        run(make_cache(dtype="float16"), bilm, ids(0))
    assert_like_the_bilm(bilm, make_cache(), [2])


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda cache: pickle.loads(pickle.dumps(cache))])
def test_a_copy_of_a_cache_is_equal_to_it_and_starts_empty_in_memory(
    duplicate: Callable[[ActivationCache], ActivationCache], bilm: BiLm, make_cache: MakeCache, read: Any
) -> None:
    cache = make_cache()
    run(cache, bilm, ids(0))
    made = duplicate(cache)
    assert made == cache == make_cache() != make_cache(dtype="float16")
    run(made, bilm, ids(0))
    assert read == ([[0]] if isinstance(cache, SqliteCache) else [[0], [0]])
    run(cache, bilm, ids(0))
    assert len(read) <= 2, "the first one is as it was"


@pytest.mark.parametrize("kind", KINDS)
def test_a_configuration_names_the_cache_of_an_embedder(
    kind: str, bilm_files: dict[str, str], tmp_path: Path
) -> None:
    cache = {"type": kind, "max_gb": 0.5, "dtype": "float16"}
    if kind == "sqlite":
        cache["path"] = str(tmp_path / "cache")
    embedder = ElmoTokenEmbedder.from_params(Params({"bilm": bilm_files, "cache": cache}))
    assert isinstance(embedder._elmo.cache, RegisteredCache.by_name(kind))
    before = embedder.eval()(ids(0, 1))
    assert torch.equal(embedder(ids(1, 0)), before[[1, 0]])


@pytest.mark.parametrize(
    ("cache", "message"),
    [
        ({"type": "redis"}, "redis"),
        ({"type": "memory", "dtype": "float64"}, "dtype: expected one of float32, float16, got 'float64'"),
        ({"type": "memory", "max_gb": 0}, "must be positive and finite, not 0"),
        ({"type": "sqlite"}, "path"),
    ],
)
def test_a_wrong_cache_is_a_configuration_error(cache: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        RegisteredCache.from_params(Params(cache))
