"""A biLM with a cache gives what it gives without, and reads each sentence once."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
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


def test_float16_rounds_computed_vectors_like_cached_ones(
    bilm: BiLm, make_cache: MakeCache
) -> None:
    cache = make_cache(dtype="float16")
    rounded = bilm(ids(0, 3)).layers.half().float()
    for _ in range(2):
        assert torch.equal(run(cache, bilm, ids(0, 3)).layers, rounded)


def test_only_missing_sentences_are_computed_in_a_single_batch(
    bilm: BiLm, make_cache: MakeCache, read: list[list[int]]
) -> None:
    cache = make_cache()
    for numbers in ([0, 1], [3, 1, 0, 2], [2, 3, 0, 1]):
        run(cache, bilm, ids(*numbers))
    assert read == [[0, 1], [3, 2]]


def changed(bilm: BiLm, how: str) -> BiLm:
    """Another biLM, or the same one changed."""
    if how == "one weight":
        with torch.no_grad():
            bilm.backward_lm.get_parameter(list(dict(bilm.backward_lm.named_parameters()))[-1])[
                0
            ] += 1e-3
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
def test_a_changed_bilm_does_not_find_earlier_vectors(
    how: str, bilm: BiLm, make_cache: MakeCache, rough: str
) -> None:
    cache = make_cache()
    before = run(cache, bilm, ids(0, 1)).layers
    bilm = changed(bilm, how)
    assert_like_the_bilm(bilm, cache, [0, 1])
    assert not torch.equal(run(cache, bilm, ids(0, 1)).layers, before)


@pytest.mark.parametrize("options", [{"requires_grad": True}, {"stateful": True}], ids=str)
def test_only_a_frozen_stateless_bilm_may_use_a_cache(
    options: dict[str, bool], bilm: BiLm, bilm_files: dict[str, str]
) -> None:
    with pytest.raises(BiLmError, match="a cache requires a frozen"):
        ElmoRepresentations(bilm, cache=MemoryCache(), **options)
    with pytest.raises(ConfigurationError, match="a cache requires a frozen"):
        ElmoTokenEmbedder(bilm_files, cache=MemoryCache(), **options)


def test_values_beyond_float16_are_refused_and_not_cached(
    bilm: BiLm, make_cache: MakeCache
) -> None:
    with torch.no_grad():
        bilm.token_encoder.projection.weight.mul_(1e6)
    with pytest.raises(BiLmError, match=r'a cache in float16 cannot hold .*: set .* "float32"'):
        run(make_cache(dtype="float16"), bilm, ids(0))
    assert_like_the_bilm(bilm, make_cache(), [2])


@pytest.mark.parametrize("kind", KINDS)
def test_an_embedders_cache_is_made_from_the_configuration(
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
        (
            {"type": "memory", "dtype": "float64"},
            "dtype: expected one of float32, float16, got 'float64'",
        ),
        ({"type": "memory", "max_gb": 0}, "expected 0 < max_gb < 1000000, got 0"),
        ({"type": "memory", "max_gb": 1e6}, "expected 0 < max_gb < 1000000, got 1000000"),
        ({"type": "sqlite"}, "path"),
    ],
)
def test_a_wrong_cache_is_a_configuration_error(cache: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        RegisteredCache.from_params(Params(cache))


@pytest.mark.parametrize("max_gb", ["4", "cache", None, float("nan")])
def test_the_size_of_a_cache_is_a_number(max_gb: Any) -> None:
    with pytest.raises(BiLmError, match="expected 0 < max_gb < 1000000, got "):
        MemoryCache(max_gb)
