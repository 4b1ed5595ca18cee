from pathlib import Path

import numpy as np
import pytest

from elmo_plugin.allennlp_api.embedder import write_embedded_file
from elmo_plugin.bilm import BiLmError

VECTORS = [np.ones((3, 2, 4)), np.ones((3, 1, 4))]


@pytest.mark.parametrize(
    ("sentences", "options", "message"),
    [
        (["a b", "c"], {"output_format": "last"}, "one of all, top, average, not 'last'"),
        (["a b", ""], {}, r"empty lines.* \[1\]"),
        (["a b", "a b"], {"use_sentence_keys": True}, "comes twice"),
    ],
)
def test_what_cannot_be_written_is_refused(
    tmp_path: Path, sentences: list[str], options: dict[str, str], message: str
) -> None:
    with pytest.raises(BiLmError, match=message):
        write_embedded_file(tmp_path / "vectors.hdf5", sentences, VECTORS, **options)
    assert not list(tmp_path.iterdir())


def test_a_failure_on_the_way_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        write_embedded_file(tmp_path / "vectors.hdf5", ["a b", "c", "d"], VECTORS)
    assert not list(tmp_path.iterdir())
