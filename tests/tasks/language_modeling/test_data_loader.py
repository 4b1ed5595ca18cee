import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary

from elmo_plugin.bilm.characters import word_to_character_ids
from elmo_plugin.tasks.language_modeling import BiLmStreamLoader, BiLmTextReader

TEXT = {"one.txt": "the cat sat\nthe dog sat down\n", "two.txt": "a cat ran away from the dog\nwhy ?\n"}


@pytest.fixture
def text(tmp_path: Path) -> Path:
    for name, content in TEXT.items():
        (tmp_path / name).write_text(content)
    return tmp_path / "*.txt"


def _loader(path: Path, **options) -> BiLmStreamLoader:
    loader = BiLmStreamLoader(BiLmTextReader(), str(path), **{"batch_size": 2, "unroll_steps": 3, **options})
    loader.index_with(Vocabulary.from_instances(loader.iter_instances(), max_vocab_size={"words": 5}))
    return loader


def _words(loader: BiLmStreamLoader, direction: str) -> list[tuple[str, int]]:
    """All pairs of an input, as the word that its characters spell, and the number of its target."""
    words = [word for content in TEXT.values() for word in content.split()] + ["<S>", "</S>"]
    spelled = {word_to_character_ids(word).tobytes(): word for word in words}
    pairs = []
    for batch in loader:
        inputs = batch["character_ids"][batch[f"{direction}_types"]]
        targets = batch[f"{direction}_targets"]
        for ids, target in zip(inputs.view(-1, 50), targets.view(-1).tolist(), strict=True):
            if target:
                pairs.append((spelled[ids.numpy().tobytes()], target))
            else:
                assert not ids.any(), "a place without a target has no input"
    return pairs


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize(("direction", "step"), [("forward", 1), ("backward", -1)])
def test_every_word_of_all_shards_is_a_target_of_its_neighbour_once(
    text: Path, shuffle: bool, direction: str, step: int
) -> None:
    loader = _loader(text, shuffle=shuffle)
    numbers = loader._types._numbers
    expected = Counter()
    for content in TEXT.values():
        for line in content.splitlines():
            words = ["<S>", *line.split(), "</S>"][::step]
            expected.update((word, numbers.get(after, 1)) for word, after in itertools.pairwise(words))
    assert Counter(_words(loader, direction)) == expected


def test_only_the_first_batch_of_a_pass_starts_the_streams(text: Path) -> None:
    loader = _loader(text)
    for _ in range(2):
        first, *others = [batch["stream_starts"] for batch in loader]
        assert first and not any(others)


def test_the_directions_read_the_sentences_in_different_orders(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("".join(f"w{number}\n" for number in range(50)))
    loader = _loader(path, batch_size=1)
    np.random.seed(0)
    forward = [word for word, _ in _words_of_rows(loader, "forward")]
    backward = [word for word, _ in _words_of_rows(loader, "backward")]
    assert sorted(forward) == sorted(backward) and forward != backward


def _words_of_rows(loader: BiLmStreamLoader, direction: str) -> list[tuple[bytes, int]]:
    pairs = []
    for batch in loader:
        inputs = batch["character_ids"][batch[f"{direction}_types"]].view(-1, 50)
        pairs += [(row.numpy().tobytes(), 0) for row in inputs if row.any() and row[1] not in (257, 258)]
    return pairs


def test_the_same_seed_gives_the_same_batches(text: Path) -> None:
    loader = _loader(text)
    passes = []
    for _ in range(2):
        np.random.seed(7)
        passes.append([batch["forward_targets"].tolist() for batch in loader])
    assert passes[0] == passes[1]


def test_the_length_is_that_of_full_batches(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("a b c d e\n" * 40)  # 240 targets in a direction
    assert len(_loader(path, batch_size=4, unroll_steps=6)) == 10
    assert len(list(_loader(path, batch_size=4, unroll_steps=6))) == 10


def test_batches_are_put_on_the_device(text: Path) -> None:
    loader = _loader(text)
    loader.set_target_device(torch.device("meta"))
    assert next(iter(loader))["character_ids"].device.type == "meta"


def test_options_and_data_that_cannot_work_are_named(text: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="bilm_stream: unroll_steps must be at least 1, not 0"):
        _loader(text, unroll_steps=0)
    with pytest.raises(ConfigurationError, match="no file matches the data path"):
        _loader(tmp_path / "absent" / "*.gz")
