"""Static word vectors, as a token indexer and a token embedder."""

from functools import lru_cache
from importlib.metadata import version
from os import PathLike
from typing import Any

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import TokenIndexer
from allennlp.data.token_indexers.token_indexer import IndexedTokenList
from allennlp.modules import TokenEmbedder
from overrides import overrides
from torch import Tensor, nn

from elmo_plugin.common.errors import advise_version, as_configuration_error
from elmo_plugin.common.formats.torch_files import EXTRA_STATE, entries_from_tensor, json_to_tensor
from elmo_plugin.common.word_keys import word_key
from elmo_plugin.embedding.archive import stored_state
from elmo_plugin.embedding.text_indexer import TextIndexer
from elmo_plugin.embedding.word_table import BUNDLED_TABLES, WordTable, is_table, read_table


@TokenIndexer.register("word_vectors")
class WordVectorsIndexer(TextIndexer):
    """
    Indexes tokens for the embedder `word_vectors`: by a key of the word and a key of its lower-case
    form. It needs no vocabulary, so at prediction even words that were not in the training data
    have their vectors.

    Registered as a `TokenIndexer` with name "word_vectors".

    # Parameters

    token_min_padding_length : `int`, optional (default = `0`)
        See `TokenIndexer`.
    """

    key = "word_keys"

    @overrides
    def as_padded_tensor_dict(
        self, tokens: IndexedTokenList, padding_lengths: dict[str, int]
    ) -> dict[str, torch.Tensor]:
        """
        Returns `word_keys`: the key of each word and of its lower-case form, shape (padded length,
        2), int64, zeros at padding.
        """
        keys = torch.zeros(padding_lengths["word_keys"], 2, dtype=torch.int64)
        words = tokens["word_keys"]  # still the words: their keys are computed here
        if words:  # a tensor of an empty list would have no second dimension
            keys[: len(words)] = torch.tensor([_pair_of_keys(word) for word in words])
        return {"word_keys": keys}


@TokenEmbedder.register("word_vectors")
class WordVectorsEmbedder(TokenEmbedder):
    """
    Embeds words with static vectors: a word's own, else its lower-case form's, else zeros.

    Registered as a `TokenEmbedder` with name "word_vectors". Its token indexer is `word_vectors`.

    # Parameters

    vectors : `str`, optional (default = `"english"`)
        A table of this package ("english"), or a text file in the format of GloVe, word2vec or
        fastText, plain or compressed. An archive stores the vectors of a file. It stores only a
        digest of the package's table, unless the vectors are trained.
    trainable : `bool`, optional (default = `False`)
        Whether the vectors are trained with the task.
    learn_unknown : `bool`, optional (default = `False`)
        Whether words that are not in the table share one vector that is trained.
    serialization_dir : `str`, optional (default = `None`)
        Given by AllenNLP, not by a configuration. If the weights of a trained model are there, and
        contain these vectors, they are used.

    Raises `ConfigurationError` if the vectors cannot be read.
    """

    keys: Tensor
    vectors: Tensor
    scales: Tensor

    def __init__(
        self,
        vectors: str = "english",
        trainable: bool = False,
        learn_unknown: bool = False,
        serialization_dir: str | PathLike[str] | None = None,
    ) -> None:
        super().__init__()
        self._source = vectors
        table = _archived_table(serialization_dir, source=vectors)
        if table is None:
            table, self._digest = read_table(vectors)
        else:
            self._digest = ""  # the archive has the vectors themselves
        # A table of this package has a digest, and need not be stored unless it is trained.
        is_stored = trainable or self._digest == ""
        self.register_buffer("keys", table.keys, persistent=is_stored)
        if trainable:
            self.vectors = nn.Parameter(table.float_vectors())
            self.register_buffer("scales", torch.empty(0))  # the vectors are floats now
        else:
            self.register_buffer("vectors", table.vectors, persistent=is_stored)
            self.register_buffer("scales", table.scales, persistent=is_stored)
        self.unknown: nn.Parameter | None = None
        if learn_unknown:
            self.unknown = nn.Parameter(torch.zeros(self.get_output_dim()))

    @overrides
    def get_output_dim(self) -> int:
        return self.vectors.size(1)

    def forward(self, word_keys: Tensor) -> Tensor:
        """
        Returns the vectors of words, shape (batch, time, dim), for their keys, shape (batch, time,
        2); both have zeros at padding.
        """
        # Where the keys of the word and of its lower-case form are, if they are in the table. For a
        # key larger than all of the table's keys, the search returns a row after the last one.
        # Shape: (batch, time, 2)
        candidate_rows = torch.searchsorted(self.keys, word_keys).clamp(max=len(self.keys) - 1)
        is_found = self.keys[candidate_rows] == word_keys  # never at padding: no word's key is 0
        word_rows, lower_case_rows = candidate_rows.unbind(dim=-1)
        rows = torch.where(is_found[..., 0], word_rows, lower_case_rows)  # Shape: (batch, time)
        is_known = is_found.any(dim=-1, keepdim=True)
        embedded = self.vectors[rows]  # Shape: (batch, time, dim)
        if len(self.scales) > 0:  # the vectors are integers
            embedded = embedded * self.scales[rows].unsqueeze(-1)
        if self.unknown is None:
            return embedded * is_known
        is_word = word_keys[..., :1] != 0
        return torch.where(is_known, embedded, self.unknown * is_word)

    @overrides
    def get_extra_state(self) -> Tensor:
        """
        Returns the values that are stored with the weights: the source of the vectors, their digest
        if they come with this package, and the version of this package.
        """
        metadata = {
            "vectors": self._source,
            "digest": self._digest,
            "version": version("elmo_plugin"),
        }
        return json_to_tensor(metadata)

    @overrides
    def set_extra_state(self, state: Any) -> None:
        """
        Checks the stored digest, and sets nothing. Raises `ConfigurationError` if the model was
        trained with other vectors of the same name.
        """
        stored = _read_metadata(state)
        # Vectors without a digest are loaded from the state, or were read from an archive before.
        if stored["digest"] and self._digest and stored["digest"] != self._digest:
            raise ConfigurationError(
                f"the model was trained with other word vectors {self._source!r}: "
                f"{advise_version(stored['version'])}"
            )


@lru_cache(maxsize=1 << 16)
def _pair_of_keys(word: str) -> tuple[int, int]:
    """Returns the key of a word, and the key of its lower-case form."""
    return word_key(word), word_key(word.lower())


def _archived_table(folder: str | PathLike[str] | None, source: str) -> WordTable | None:
    """
    Returns the vectors from `source` that are stored with the weights of a trained model. Returns
    `None` if the folder does not contain weights yet, as at the start of training, or if the
    vectors come with this package and are not stored. Raises `ConfigurationError` if the vectors
    are damaged, or if those of a file are not stored, because an archive must not read other files.
    """
    with as_configuration_error():
        state = stored_state(folder)
    if state is None:
        return None
    for name in state:
        if not name.endswith(EXTRA_STATE):
            continue
        prefix = name.removesuffix(EXTRA_STATE)  # such as "embedder."
        tensor_names = [prefix + field for field in WordTable._fields]
        if any(tensor_name not in state for tensor_name in tensor_names):
            continue  # a module of another kind, or vectors that are not stored
        if _read_metadata(state[name])["vectors"] == source:
            table = WordTable(*[state[tensor_name] for tensor_name in tensor_names])
            if not is_table(table):
                raise ConfigurationError(f"{folder}: the word vectors {source} are damaged")
            return table
    if source not in BUNDLED_TABLES:
        raise ConfigurationError(f"{folder}: the word vectors {source} are not in the weights")
    return None


def _read_metadata(state: Any) -> dict[str, str]:
    """
    Reads the extra state of a `WordVectorsEmbedder`: its vectors, digest and version. Raises
    `ConfigurationError` if it is damaged, or has other entries.
    """
    name = "the metadata of word vectors in the weights"
    with as_configuration_error():
        return entries_from_tensor(state, name, keys=("vectors", "digest", "version"))
