"""Lines, vectors and numbers that an embedding does not take."""

from dataclasses import replace
from pathlib import Path

import pytest

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.bilm.io import Checkpoint, write_files
from elmo_plugin.embed_files import EmbedSettings, embed_file


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_line_that_is_too_long_is_named(settings: EmbedSettings, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("a b\nc d e f\n")
    with pytest.raises(BiLmError, match=r"text\.txt, line 2: the sentence has 4 words, .*--max-words 3"):
        embed_file(tmp_path / "text.txt", tmp_path / "out.hdf5", replace(settings, max_words=3))
    (tmp_path / "text.txt").write_text("a b\n" + 40_000 * "/ ")
    with pytest.raises(BiLmError, match=r"text\.txt, line 2: .* leave out --use-sentence-keys"):
        embed_file(tmp_path / "text.txt", tmp_path / "out.hdf5", replace(settings, keys="sentence"))
    assert names(tmp_path) == ["bilm", "text.txt"]


def test_vectors_that_float16_cannot_hold_are_refused_by_their_line(
    bilm: BiLm, settings: EmbedSettings, text: Path, tmp_path: Path
) -> None:
    large = BiLm(bilm.options).requires_grad_(False)
    large.load_state_dict(bilm.state_dict())
    large.token_encoder.projection.weight *= 1e6
    write_files(tmp_path / "large", Checkpoint(large.options, large.state_dict().items()))
    of_large = replace(settings, bilm=str(tmp_path / "large"))
    assert embed_file(text, tmp_path / "out.hdf5", of_large)
    with pytest.raises(BiLmError, match=r"text\.txt, line \d+: the biLM gives .*float16 cannot hold"):
        embed_file(text, tmp_path / "half.hdf5", replace(of_large, dtype="float16"))


@pytest.mark.parametrize(
    ("change", "message"),
    [({"threads": 100_000}, "threads are at most"), ({"max_words": 0}, "max words is at least 1, not 0")],
)
def test_numbers_that_would_end_in_a_crash_are_refused(
    change: dict[str, int], message: str, settings: EmbedSettings, text: Path, tmp_path: Path
) -> None:
    with pytest.raises(BiLmError, match=message):
        embed_file(text, tmp_path / "out.hdf5", replace(settings, **change))
    for workers_ in (0, 100_000):
        with pytest.raises(BiLmError, match=f"the number of workers is from 1 to .*, not {workers_}"):
            embed_file(text, tmp_path / "out.hdf5", settings, workers=workers_)
