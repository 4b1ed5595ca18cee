"""The HDF5 file of vectors that AllenNLP's `ElmoEmbedder` writes."""

import json
from collections.abc import Callable, Iterable, Sequence
from os import PathLike

import h5py
import numpy as np

from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.files import replace_when_written
from elmo_plugin.common.formats.hdf5_files import new_hdf5

# What is written of the vectors of a sentence, which have the shape (layers, words, dim).
_LAYERS_WRITTEN: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "all": lambda vectors: vectors,
    "top": lambda vectors: vectors[-1],
    "average": lambda vectors: vectors.mean(axis=0),
}
INDEX = "sentence_to_index"


def write_embedded_file(
    path: str | PathLike[str],
    sentences: Sequence[str],
    vectors: Iterable[np.ndarray],
    output_format: str = "all",
    forget_sentences: bool = False,
    use_sentence_keys: bool = False,
) -> None:
    """
    Writes a data set of float32 for each sentence. The file is there as a whole or not at all.

    # Parameters

    path : `str | PathLike`
        The file.
    sentences : `Sequence[str]`
        The sentences.
    vectors : `Iterable[numpy.ndarray]`
        Those of each sentence in all layers, shape (layers, words, dim).
    output_format : `str`
        Which of them are written: "all", the "top" layer, or their "average".
    forget_sentences : `bool`
        Whether the data set "sentence_to_index" is left out, one string of JSON: the key of each sentence.
    use_sentence_keys : `bool`
        Whether the key of a sentence is the sentence itself, and not its number from 0; there is then no
        index.

    Raises `BiLmError` where a sentence is empty, or cannot be the key.
    """
    if output_format not in _LAYERS_WRITTEN:
        raise BiLmError(f"output_format must be one of {', '.join(_LAYERS_WRITTEN)}, not {output_format!r}")
    empty = [number for number, sentence in enumerate(sentences) if not sentence]
    if empty:
        raise BiLmError(f"there are empty lines, which have no vectors: numbers {empty}, from 0 on")
    keys = list(sentences) if use_sentence_keys else [str(number) for number in range(len(sentences))]
    if len(set(keys)) < len(keys):
        raise BiLmError("a sentence comes twice, so that sentences cannot be the keys")
    with replace_when_written(path) as temporary, new_hdf5(temporary) as (file, _):
        for key, of_sentence in zip(keys, vectors, strict=True):
            file.create_dataset(key, data=_LAYERS_WRITTEN[output_format](of_sentence), dtype="float32")
        if not forget_sentences and not use_sentence_keys:
            index = json.dumps(dict(zip(sentences, keys, strict=True)))
            file.create_dataset(INDEX, (1,), dtype=h5py.string_dtype())[0] = index
