import itertools
import os
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary

from elmo_plugin.bilm.characters import word_to_character_ids
from elmo_plugin.language_model import loader as loader_module
from elmo_plugin.language_model.loader import BiLmStreamLoader

TEXT = {
    "one.txt": "the cat sat\nthe dog sat down\n",
    "two.txt": "a cat ran away from the dog\nwhy ?\n",
}


@pytest.fixture
def text(tmp_path: Path) -> Path:
    for name, content in TEXT.items():
        (tmp_path / name).write_text(content)
    return tmp_path / "*.txt"


@pytest.fixture
def long_text(tmp_path: Path) -> Path:
    for shard in range(3):
        lines = (
            " ".join(f"w{shard}.{line}.{word}" for word in range(line % 7 + 1))
            for line in range(20)
        )
        (tmp_path / f"long-{shard}.txt").write_text("\n".join(lines) + "\n")
    return tmp_path / "long-*.txt"


def _loader(path: Path, **options) -> BiLmStreamLoader:
    loader = BiLmStreamLoader(str(path), **{"batch_size": 2, "unroll_steps": 3, **options})
    loader.index_with(Vocabulary.from_instances(loader.iter_instances()))
    return loader


def _plain(batch: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, bool) else value.tolist() for name, value in batch.items()
    }


def _batches(loader: BiLmStreamLoader) -> list[dict[str, Any]]:
    """Those of one pass."""
    return [_plain(batch) for batch in loader]


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize(("direction", "step"), [("forward", 1), ("backward", -1)])
def test_every_word_is_predicted_once_from_each_side(
    text: Path, shuffle: bool, direction: str, step: int
) -> None:
    loader = _loader(text, shuffle=shuffle)
    sentences = [line.split() for content in TEXT.values() for line in content.splitlines()]
    vocabulary = loader._vocab.get_token_to_index_vocabulary("words")
    words = [*itertools.chain(*sentences), "<S>", "</S>"]
    spelled = {word_to_character_ids(word).tobytes(): word for word in words}
    pairs = Counter()
    for batch in loader:
        inputs = batch["character_ids"][batch[f"{direction}_types"]].view(-1, 50)
        for ids, target in zip(
            inputs, batch[f"{direction}_targets"].view(-1).tolist(), strict=True
        ):
            if target:
                pairs[spelled[ids.numpy().tobytes()], target] += 1
            else:
                assert not ids.any(), "a place without a target has no input"
    expected = Counter()
    for sentence in sentences:
        bounded = ["<S>", *sentence, "</S>"][::step]
        expected.update((word, vocabulary[after]) for word, after in itertools.pairwise(bounded))
    assert pairs == expected


@pytest.mark.parametrize(("block_words", "batches"), [(1000, 10**6), (20, 4), (1, 1)])
def test_streams_restart_with_each_pass_and_each_block(
    long_text: Path, block_words: int, batches: int
) -> None:
    loader = _loader(long_text, unroll_steps=5, block_words=block_words)
    for _ in range(2):
        starts = [batch["stream_starts"] for batch in loader]
        assert starts == [number % batches == 0 for number in range(len(starts))]


@pytest.mark.slow
def test_each_pass_has_a_different_order_determined_by_the_seed(long_text: Path) -> None:
    loader, same, other = (_loader(long_text, seed=seed) for seed in (1, 1, 2))
    passes = [_batches(loader) for _ in range(3)]
    assert [_batches(same) for _ in range(3)] == passes
    assert all(
        one != another for one, another in itertools.combinations([*passes, _batches(other)], 2)
    )


@pytest.mark.slow
@pytest.mark.parametrize("shuffle", [True, False])
def test_batches_are_the_same_for_any_number_of_workers(long_text: Path, shuffle: bool) -> None:
    alone = _batches(_loader(long_text, shuffle=shuffle, block_words=20))
    for num_workers in (1, 2):
        loader = _loader(long_text, shuffle=shuffle, block_words=20, num_workers=num_workers)
        assert _batches(loader) == alone


@pytest.mark.parametrize("shuffle", [True, False])
def test_two_processes_get_the_batches_of_one_with_twice_the_rows(
    long_text: Path, shuffle: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"shuffle": shuffle, "block_words": 10}
    alone = _batches(_loader(long_text, batch_size=4, **options))
    monkeypatch.setattr(loader_module, "is_distributed", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
    of_processes = []
    for process in range(2):
        monkeypatch.setattr(torch.distributed, "get_rank", lambda process=process: process)
        of_processes.append(_batches(_loader(long_text, **options)))
    for together, *apart in zip(alone, *of_processes, strict=True):
        for name in ("forward_targets", "backward_targets"):
            assert [*apart[0][name], *apart[1][name]] == together[name]


@pytest.mark.slow
@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize(
    ("finished", "batches", "num_workers"),
    [(0, 0, 0), (0, 7, 0), (2, 7, 0), (1, 7, 2), (0, None, 0)],
)
def test_a_resumed_loader_yields_the_remaining_batches(
    long_text: Path, shuffle: bool, finished: int, batches: int | None, num_workers: int
) -> None:
    options = {"shuffle": shuffle, "block_words": 9}
    loader = _loader(long_text, **options)
    passes = [_batches(loader) for _ in range(finished + 2)]
    resumed = _loader(long_text, num_workers=num_workers, **options)
    progress = loader.progress()
    batches = progress[finished] if batches is None else batches  # all of the pass
    resumed.resume(progress[:finished], batches)
    found = [_plain(batch) for _ in passes for batch in resumed]
    done = sum(progress[:finished]) + batches
    assert found == [{}] * done + list(itertools.chain(*passes))[done:]
    assert resumed.progress() == progress == list(map(len, passes))


def test_passes_may_be_counted_without_their_batches(long_text: Path) -> None:
    expected = [_batches(loader) for loader in [_loader(long_text)] for _ in range(3)]
    resumed = _loader(long_text)
    resumed.resume([0, 0], 0)
    assert [_batches(resumed) for _ in range(3)] == [[], [], expected[2]]


@pytest.mark.slow
def test_the_fingerprint_depends_only_on_what_changes_the_streams(
    text: Path, long_text: Path
) -> None:
    known = _loader(long_text).fingerprint
    assert _loader(long_text, num_workers=2).fingerprint == known
    others = [{"seed": 1}, {"batch_size": 3}, {"unroll_steps": 4}]
    assert known not in [_loader(long_text, **options).fingerprint for options in others]
    assert _loader(text).fingerprint != known
    assert _loader(long_text, block_words=9).fingerprint == known
    blocks = [
        _loader(long_text, shuffle=False, block_words=block_words).fingerprint
        for block_words in (9, 10)
    ]
    assert known not in blocks and blocks[0] != blocks[1]
    loader = _loader(long_text)
    words = reversed(loader._vocab.get_token_to_index_vocabulary("words"))
    loader.index_with(Vocabulary(tokens_to_add={"words": list(words)}))
    assert loader.fingerprint["vocabulary"] != known["vocabulary"]


@pytest.mark.slow
@pytest.mark.parametrize("num_workers", [0, 2])
def test_global_random_states_are_not_changed(text: Path, num_workers: int) -> None:
    loader = _loader(text, num_workers=num_workers)
    states = []
    for seed in (0, 1):
        random.seed(seed), np.random.seed(seed), torch.manual_seed(seed)
        before = random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist()
        states.append(_batches(loader))
        assert (
            random.getstate(),
            str(np.random.get_state()),
            torch.get_rng_state().tolist(),
        ) == before
        loader = _loader(text, num_workers=num_workers)
    assert states[0] == states[1]


@pytest.mark.parametrize("shuffle", [True, False])
def test_the_length_is_the_number_of_batches(long_text: Path, shuffle: bool) -> None:
    loader = _loader(long_text, shuffle=shuffle, unroll_steps=2, batch_size=7)
    announced = len(loader)
    loader.set_target_device(torch.device("cpu"))
    for _ in range(2):
        expected = len(loader)
        assert sum(1 for _ in loader) == expected
    targets = 3 * sum(line % 7 + 2 for line in range(20))
    assert announced == (-(-targets // 14) if shuffle else expected), (
        "a schedule counts full batches"
    )


def test_unusable_options_and_data_are_named(text: Path, tmp_path: Path) -> None:
    least = {"batch_size": 1, "unroll_steps": 1, "seed": 0, "block_words": 1, "num_workers": 0}
    for option, minimum in {**least, "max_characters_per_token": 3}.items():
        message = f"bilm_stream: {option}: expected at least {minimum}, got {minimum - 1}"
        with pytest.raises(ConfigurationError, match=message):
            _loader(text, **{option: minimum - 1})
    with pytest.raises(ConfigurationError, match="expected text files, or a pattern of some"):
        _loader(tmp_path / "absent" / "*.gz")
    with pytest.raises(
        ConfigurationError, match=r"\*.txt has 4 sentences, fewer than the 5 streams"
    ):
        next(iter(_loader(text, batch_size=5)))
    assert len(list(_loader(text, batch_size=5, shuffle=False))) > 0
    loader = BiLmStreamLoader(str(text))
    with pytest.raises(
        ConfigurationError, match=r"index_with\(vocab\) must come before the first batch"
    ):
        next(iter(loader))


@pytest.mark.slow
def test_errors_read_the_same_with_and_without_workers(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ELMO_PLUGIN_CACHE", str(tmp_path / "cache"))
    loaders = [_loader(text, num_workers=num_workers) for num_workers in (0, 2)]
    shutil.rmtree(os.environ["ELMO_PLUGIN_CACHE"])
    messages = []
    for loader in loaders:
        with pytest.raises(ConfigurationError, match="gone or damaged") as error:
            list(loader)
        messages.append(str(error.value).replace("\n", " "))
    assert messages[0] == messages[1]
