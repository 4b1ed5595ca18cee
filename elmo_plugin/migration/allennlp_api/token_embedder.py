"""AllenNLP's `elmo_characters` and `elmo_token_embedder` on our biLM, and its weights in
archives.
"""

from collections.abc import Mapping
from functools import lru_cache
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import urlparse

import numpy as np
import torch
from allennlp.data import Vocabulary
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer
from allennlp.data.token_indexers.token_indexer import IndexedTokenList
from allennlp.data.tokenizers import Token
from allennlp.modules import TokenEmbedder
from overrides import overrides

from elmo_plugin.bilm import (
    MAX_CHARACTERS_PER_TOKEN,
    BiLm,
    BiLmError,
    BiLmOptions,
    word_to_character_ids,
)
from elmo_plugin.bilm.io import MODELS
from elmo_plugin.common.downloads import fetch
from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.embedding import RegisteredCache, find_bilms, stored_state
from elmo_plugin.migration.allennlp_api.elmo import Elmo
from elmo_plugin.migration.allennlp_api.elmo_bilm import CACHED_WORDS
from elmo_plugin.migration.allennlp_api.names import CHARACTERS, from_allennlp, published_options

OPTIONS_FILE, WEIGHT_FILE = MODELS["original"]
_PUBLISHED_NAMES = {
    PurePosixPath(options).name for options, _ in MODELS.values() if "://" in options
}
# The key of the options and their file, in torch's metadata of a token embedder's state dict.
_DESCRIPTION = "elmo"
_BILM = "._elmo._elmo_lstm."  # the biLM of a token embedder


class ElmoCharactersIndexer(ELMoTokenCharactersIndexer):
    """
    Gives the same ids as AllenNLP's `elmo_characters`. All occurrences of a word share one list of
    them.

    # Parameters

    namespace : `str`, optional (default = `"elmo_characters"`)
        Without effect, as in AllenNLP.
    tokens_to_add : `dict[str, int]`, optional (default = `None`)
        Gives each of these words the id of a single character, below 261, that stands for the
        whole word.
    token_min_padding_length : `int`, optional (default = `0`)
        See `TokenIndexer`.
    """

    def __init__(
        self,
        namespace: str = "elmo_characters",
        tokens_to_add: dict[str, int] | None = None,
        token_min_padding_length: int = 0,
    ) -> None:
        super().__init__(namespace, tokens_to_add, token_min_padding_length)
        self._ids_of_added_words: dict[str, list[int]] = {}
        if tokens_to_add is not None:
            for word in tokens_to_add:
                self._ids_of_added_words[word] = self._mapper.convert_word_to_char_ids(word)

    @overrides
    def tokens_to_indices(
        self, tokens: list[Token], vocabulary: Vocabulary
    ) -> dict[str, list[list[int]]]:
        ids_of_tokens = []
        for token in tokens:
            word = token.ensure_text()
            ids = self._ids_of_added_words.get(word)
            if ids is None:
                ids = _character_ids(word)
            ids_of_tokens.append(ids)
        return {"elmo_tokens": ids_of_tokens}

    @overrides
    def as_padded_tensor_dict(
        self, tokens: IndexedTokenList, padding_lengths: dict[str, int]
    ) -> dict[str, torch.Tensor]:
        """
        Returns `elmo_tokens`, shape (padded length, 50), int64, with zeros at padding. Tokens
        beyond the padded length are cut off, as in AllenNLP.
        """
        padded_length = padding_lengths["elmo_tokens"]
        ids = np.zeros((padded_length, MAX_CHARACTERS_PER_TOKEN), dtype=np.int64)
        kept_tokens = tokens["elmo_tokens"][:padded_length]
        if kept_tokens:  # numpy cannot assign an empty list
            ids[: len(kept_tokens)] = kept_tokens
        return {"elmo_tokens": torch.from_numpy(ids)}


class AllenNlpElmoTokenEmbedder(TokenEmbedder):
    """
    Embeds tokens with `Elmo`, with the arguments and the weights' names of AllenNLP's
    `ElmoTokenEmbedder`. AllenNLP loads the archives in which it is saved.

    An archive of AllenNLP's class needs no weight file, and no options file if the biLM is one of
    the published models; an archive of this class needs neither.

    # Parameters

    options_file, weight_file : `str`, optional
        The biLM in the published layout: paths or URLs. By default the original model.
    do_layer_norm, dropout, requires_grad, vocab_to_cache, scalar_mix_parameters
        See `Elmo`.
    projection_dim : `int`, optional (default = `None`)
        If given, the vectors are projected to this size, with a bias.
    stateful : `bool | str`, optional (default = `False`)
        Whether the biLM's state is carried from batch to batch, as AllenNLP does; "call" carries it
        from text to text within a call of the model only.
    precision : `str`, optional (default = `"float32"`)
        The precision of a frozen biLM: "float32", "bfloat16" or "int8".
    cache : `RegisteredCache`, optional (default = `None`)
        Stores the output of a frozen biLM for each sentence. See `docs/faster.md`.
    serialization_dir : `str`, optional (default = `None`)
        Passed by AllenNLP, not by a configuration. If it contains the weights of a trained model,
        the biLM is made from them.

    Raises `ConfigurationError` if the files are not a usable model, or the other parameters do not
    fit it.
    """

    def __init__(
        self,
        options_file: str = OPTIONS_FILE,
        weight_file: str = WEIGHT_FILE,
        do_layer_norm: bool = False,
        dropout: float = 0.5,
        requires_grad: bool = False,
        projection_dim: int | None = None,
        vocab_to_cache: list[str] | None = None,
        scalar_mix_parameters: list[float] | None = None,
        *,
        stateful: bool | str = False,
        precision: str = "float32",
        cache: RegisteredCache = None,
        serialization_dir: str | PathLike[str] | None = None,
    ) -> None:
        super().__init__()
        # A caller may give a `Path`, but an archive stores this value as plain data.
        options_file = str(options_file)
        with as_configuration_error():
            bilm: BiLm | dict[str, str] | None = archived_bilm(serialization_dir, options_file)
            if bilm is None:
                bilm = {"options": options_file, "weights": str(weight_file)}
            self._elmo = Elmo(
                bilm=bilm,
                requires_grad=requires_grad,
                do_layer_norm=do_layer_norm,
                dropout=dropout,
                vocab_to_cache=vocab_to_cache,
                scalar_mix_parameters=scalar_mix_parameters,
                stateful=stateful,
                precision=precision,
                cache=cache,
            )
        # `_add_description` stores it with the weights, so that `archived_bilm` does not need the
        # options file.
        self._description = {
            "options_file": options_file,
            "options": self._elmo._elmo_lstm.bilm.options.to_dict(),
        }
        self.output_dim = self._elmo.get_output_dim()
        self._projection: torch.nn.Linear | None = None
        if projection_dim:
            self._projection = torch.nn.Linear(self.output_dim, projection_dim)
            self.output_dim = projection_dim
        self._register_state_dict_hook(_add_description)

    @staticmethod
    def argument_with_outside_file(folder: Path, params: Mapping[str, Any]) -> str | None:
        """
        Returns the name of an argument of this class if the trained model in `folder` cannot be
        loaded without the file that the argument names, and that file is not in `folder`. Returns
        `None` if `folder` contains all that is needed.
        """
        options_file = str(params.get("options_file", OPTIONS_FILE))
        found = _find_bilm(folder, options_file)
        if found is None:  # the weights are not known, so the biLM is made from both files again
            return "weight_file"
        if found.options is not None:
            return None
        if Path(options_file).resolve().is_relative_to(folder.resolve()):
            return None
        return "options_file"

    @overrides
    def get_output_dim(self) -> int:
        return self.output_dim

    def forward(self, elmo_tokens: torch.Tensor, word_inputs: torch.Tensor = None) -> torch.Tensor:
        """
        Returns vectors of shape (batch, ..., time, output_dim); see `Elmo` for the inputs.

        Raises `ConfigurationError` if the biLM cannot read the words, or this machine cannot
        compute in the precision.
        """
        with as_configuration_error():
            (vectors,) = self._elmo(elmo_tokens, word_inputs)["elmo_representations"]
        if self._projection is None:
            return vectors
        return self._projection(vectors)


def _add_description(
    module: AllenNlpElmoTokenEmbedder,
    _state_dict: dict[str, Any],
    _prefix: str,
    metadata: dict[str, Any],
) -> None:
    """
    Adds the options of the biLM, and the name of their file, to the metadata that torch keeps for a
    module in a new `state_dict`.
    """
    metadata[_DESCRIPTION] = module._description


def archived_bilm(folder: str | PathLike[str] | None, options_file: str) -> BiLm | None:
    """
    Makes the biLM of a token embedder from the weights of a trained model. The options come from
    the archive if this class saved it. They are known if `options_file` is the URL of a published
    model. Otherwise they are read from `options_file`.

    Returns `None` if the folder contains no weights, as at the start of training, or the weights of
    several biLMs that cannot be distinguished.

    Raises `BiLmError` if the options are needed and cannot be read.
    """
    found = _find_bilm(folder, options_file)
    if found is None:
        return None
    options = found.options
    if options is None:
        options = _read_options(options_file)
    return BiLm(options, weights=from_allennlp(found.weights, options).items())


class _ArchivedBiLm(NamedTuple):
    """
    A biLM within a trained model.

    weights: the weights of the biLM, with AllenNLP's names
    options: `None` if the archive does not tell them
    """

    weights: dict[str, torch.Tensor]
    options: BiLmOptions | None


def _find_bilm(folder: str | PathLike[str] | None, options_file: str) -> _ArchivedBiLm | None:
    """
    Finds the weights of a biLM within a trained model, with its options if they are known. Returns
    `None` if the model contains no biLM, or if it is not clear which of its biLMs is meant.
    """
    state = stored_state(folder)
    if state is None:
        return None
    metadata_of_modules = getattr(state, "_metadata", {})
    weights_of_bilms = []
    for embedder_name, weights in find_bilms(state, marker=_BILM + CHARACTERS, bilm_path=_BILM):
        weights.pop(CACHED_WORDS, None)  # the biLM computes them from its other weights
        metadata = metadata_of_modules.get(embedder_name, {})
        description = metadata.get(_DESCRIPTION)
        if description is not None and description.get("options_file") == options_file:
            return _ArchivedBiLm(weights, BiLmOptions.from_dict(description["options"]))
        weights_of_bilms.append(weights)
    # No description names the options file, as in models that AllenNLP saved. If all biLMs have the
    # same sizes, they are taken for copies of the same biLM.
    distinct_options = {published_options(weights) for weights in weights_of_bilms}
    if len(distinct_options) != 1:
        return None
    options = None
    if _is_published(options_file):
        options = distinct_options.pop()
    return _ArchivedBiLm(weights_of_bilms[0], options)


def _is_published(options_file: str) -> bool:
    """
    Returns whether an options file is the URL of a published model. The host does not matter,
    because several sites offer copies. All published models have the same activation and clips.
    """
    url = urlparse(options_file)
    return url.scheme in ("http", "https") and PurePosixPath(url.path).name in _PUBLISHED_NAMES


def _read_options(options_file: str) -> BiLmOptions:
    """Reads the options from their file. If that fails, the error says why they are needed."""
    try:
        return BiLmOptions.from_file(fetch(options_file))
    except BiLmError as error:
        raise BiLmError(
            f"{error}: AllenNLP's archives lack the biLM's activation and clips, so override "
            "options_file with the path of a copy"
        ) from None


@lru_cache(maxsize=1 << 17)
def _character_ids(word: str) -> list[int]:
    """Returns the character ids of a word: the same list each time, so nobody may change it."""
    return word_to_character_ids(word).tolist()
