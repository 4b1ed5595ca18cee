"""The biLM inside `Elmo`, as AllenNLP's users reach it."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from elmo_plugin.bilm import (
    BiLm,
    BiLmError,
    Cache,
    get_precision,
    sentences_to_character_ids,
)
from elmo_plugin.bilm.io import Source
from elmo_plugin.embedding import ElmoRepresentations
from elmo_plugin.migration.allennlp_api.inner_modules import (
    ElmoLstm,
    TokenEmbedder,
    modules_of_parameters,
    not_supported,
)
from elmo_plugin.migration.allennlp_api.names import from_allennlp, mappings, to_allennlp

CACHED_WORDS = "_word_embedding.weight"
_BILM = "elmo.bilm."
_INNER_MODULES = ("_elmo_lstm", "_token_embedder", "_word_embedding")
_TOLERANCE = 1e-4  # between vectors of words that two implementations have computed
_NO_TRAINED_WORDS = (
    "vocab_to_cache cannot be combined with a trained biLM or trained vectors of words"
)


class ElmoBiLm(nn.Module):
    """
    Runs a biLM with the inputs and outputs of AllenNLP's `_ElmoBiLm`. The biLM is loaded from a
    source of `BiLm.from_pretrained`, or copied from another `BiLm`.

    A `state_dict` contains the weights as AllenNLP names and stores them, converted from ours, and
    `named_parameters` yields AllenNLP's names, so that its regular expressions match. The biLM runs
    as a whole: `_elmo_lstm` and `_token_embedder` are not modules (see `inner_modules`).

    `vocab_to_cache` lists the words to which the numbers in `word_inputs` refer; the first one
    stands for padding.
    """

    _vocabulary: Tensor | None  # Shape: (words, characters)

    def __init__(
        self,
        source: Source | BiLm,
        *,
        requires_grad: bool = False,
        stateful: bool = False,
        precision: str | None = None,
        vocab_to_cache: Sequence[str] | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__()
        bilm = _load_or_copy(source, precision)
        bilm.requires_grad_(requires_grad)
        # Called for its check: only a biLM that reads bytes fits into AllenNLP's class.
        mappings(bilm.options)
        # The mixes are in `Elmo`, under AllenNLP's names.
        self.elmo = ElmoRepresentations(bilm, num_mixes=0, stateful=stateful, cache=cache)
        self.num_layers = bilm.num_layers
        self.weight_file: str | None = None
        if isinstance(source, Mapping):
            self.weight_file = str(source["weights"])
        self.register_buffer("_vocabulary", None, persistent=False)
        if vocab_to_cache:
            self._vocabulary = _vocabulary_of(bilm, vocab_to_cache)
        # The vectors of cached words in a state that is being loaded: `_convert_loaded` sets them,
        # and `_check_loaded_words` compares and deletes them.
        self._loaded_words: Tensor | None = None
        self._register_state_dict_hook(_convert_saved)
        self._register_load_state_dict_pre_hook(_convert_loaded, with_module=True)
        self.register_load_state_dict_post_hook(_check_loaded_words)

    @property
    def bilm(self) -> BiLm:
        """The biLM that this runs."""
        return self.elmo.bilm

    @property
    def _elmo_lstm(self) -> ElmoLstm:
        """Stands for AllenNLP's LSTMs: scripts reset and read their state, and freeze them."""
        return ElmoLstm(self, self.elmo)

    @property
    def _token_embedder(self) -> TokenEmbedder:
        """Stands for AllenNLP's character CNN: scripts freeze it, and embed single words."""
        return TokenEmbedder(self, self.bilm, self.weight_file)

    def get_output_dim(self) -> int:
        return self.bilm.output_dim

    def __getattr__(self, name: str) -> Any:
        """Raises an error for attributes of AllenNLP's class that this one does not have."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            raise not_supported(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuses to replace an inner module: torch would register another one that never runs."""
        if name in _INNER_MODULES:
            raise not_supported(name)
        super().__setattr__(name, value)

    def named_modules(
        self, memo: set[nn.Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, nn.Module]]:
        """
        Yields modules that stand for AllenNLP's, and then the modules that really run. torch names
        a parameter after the first module that contains it, so all have AllenNLP's names.
        """
        if memo is None:
            memo = set()
        # A model may contain this module twice. The second time, nothing is yielded.
        if self not in memo:
            for name, module in modules_of_parameters(self.bilm).items():
                yield _join_names(prefix, name), module
        yield from super().named_modules(memo, prefix, remove_duplicate)

    def forward(self, inputs: Tensor, word_inputs: Tensor | None = None) -> dict[str, Any]:
        """
        Returns `activations`, a list with a tensor of shape (batch, time + 2, output_dim) for each
        layer, and `mask`, shape (batch, time + 2), both with the sentence boundaries.
        """
        layers, mask = self.run(inputs, word_inputs, boundaries=True)
        return {"activations": list(layers), "mask": mask}

    def run(
        self, inputs: Tensor, word_inputs: Tensor | None = None, *, boundaries: bool = False
    ) -> tuple[Tensor, Tensor]:
        """
        Returns all layers, shape (num_layers, batch, time, output_dim), and the mask, shape (batch,
        time). With `boundaries` both include the sentence boundaries, so time is longer by 2.

        `inputs` are character ids, shape (batch, time, characters). `word_inputs`, shape (batch,
        time), are the numbers of words in `vocab_to_cache`: 0 is padding, and a word that is not in
        it has a number greater than all of these.
        """
        for name in self._modules:
            if name != "elmo":  # a script has set a module of its own, and it would never run
                raise not_supported(f"replacing {name}")
        if self._vocabulary is not None and word_inputs is not None:
            inputs = self._with_cached_words(self._vocabulary, inputs, word_inputs)
        return self.elmo.run_bilm(inputs, boundaries)

    def _with_cached_words(self, vocabulary: Tensor, inputs: Tensor, word_inputs: Tensor) -> Tensor:
        """
        Returns `inputs` with the characters of the cached words in their places, and with zeros at
        padding. See `run` for the numbers in `word_inputs`.
        """
        if self.bilm.is_trainable:
            raise BiLmError(_NO_TRAINED_WORDS)
        if word_inputs.shape != inputs.shape[:-1]:
            expected = tuple(inputs.shape[:-1])
            raise BiLmError(f"word_inputs: expected {expected}, got {tuple(word_inputs.shape)}")
        last = len(vocabulary) - 1
        cached = vocabulary[word_inputs.clamp(max=last)]  # Shape: (batch, time, characters)
        is_cached = (word_inputs <= last)[..., None]  # Shape: (batch, time, 1)
        is_padding = (word_inputs <= 0)[..., None]
        characters = torch.where(is_cached, cached.to(inputs.dtype), inputs)
        return characters.masked_fill(is_padding, 0)

    @torch.no_grad()
    def cached_vectors(self, vocabulary: Tensor) -> Tensor:
        """
        Returns the weight of AllenNLP's `_word_embedding`, shape (words, dim): the vectors of the
        cached words, computed from their characters.
        """
        vectors = self.bilm.token_encoder(vocabulary).clone()
        vectors[0] = 0  # the first word stands for padding
        return vectors


def _load_or_copy(source: Source | BiLm, precision: str | None) -> BiLm:
    """
    Returns the biLM of a source, or a copy of a biLM. Without a `precision`, a copy keeps its own,
    and a source is loaded in float32.
    """
    if not isinstance(source, BiLm):
        return BiLm.from_pretrained(source, precision or "float32")
    bilm = copy.deepcopy(source)
    if precision is not None:
        bilm.precision = get_precision(precision).name  # `get_precision` refuses unknown names
    return bilm


def _vocabulary_of(bilm: BiLm, words: Sequence[str]) -> Tensor:
    """
    Returns the character ids of words, shape (words, characters). Raises `BiLmError` if the biLM is
    trained, because then the vectors of words change.
    """
    if bilm.is_trainable:
        raise BiLmError(_NO_TRAINED_WORDS)
    characters = bilm.options.char_cnn.max_characters_per_token
    # The words are converted as if they were one sentence.
    (ids,) = sentences_to_character_ids([words], characters)
    # `boundaries` are character ids too, with the device and the type that the biLM needs.
    return torch.from_numpy(ids).to(bilm.boundaries)


def _join_names(prefix: str, name: str) -> str:
    """Returns the full name of a module, given the prefix that the module around it has."""
    if not prefix:  # the module around it is the outermost one
        return name
    return f"{prefix}.{name}"


def _convert_saved(module: ElmoBiLm, state: dict[str, Any], prefix: str, _metadata: Any) -> None:
    """
    Replaces our weights in a new `state_dict` by AllenNLP's.

    A script may write to the weights of a `state_dict` in order to change the module. These are
    converted copies, so that would have no effect. They are made in inference mode, because torch
    then raises an error when somebody writes to them.
    """
    our_prefix = prefix + _BILM
    with torch.inference_mode():
        ours = {}
        for name in list(state):
            if name.startswith(our_prefix):
                ours[name.removeprefix(our_prefix)] = state.pop(name).clone()
        theirs = to_allennlp(ours, module.bilm.options)
        if module._vocabulary is not None:
            theirs[CACHED_WORDS] = module.cached_vectors(module._vocabulary)
    for name, weight in theirs.items():
        state[prefix + name] = weight


def _convert_loaded(
    module: ElmoBiLm,
    state: dict[str, Any],
    prefix: str,
    _metadata: Any,
    _strict: bool,
    missing: list[str],
    _unexpected: list[str],
    _errors: list[str],
) -> None:
    """
    Replaces AllenNLP's weights in a `state_dict` by ours, before torch loads it. A weight that is
    missing there is reported by AllenNLP's name, and does not change in the biLM.
    """
    options = module.bilm.options
    theirs = {}
    for mapping in mappings(options):
        name = prefix + mapping.theirs
        if name in state:
            theirs[mapping.theirs] = state.pop(name)
        else:
            missing.append(name)
    # The biLM's own weights take the place of the missing ones. Otherwise torch would report these
    # again, by our names.
    loaded: dict[str, Tensor] = dict(module.bilm.named_parameters())
    loaded.update(from_allennlp(theirs, options))
    for name, weight in loaded.items():
        state[prefix + _BILM + name] = weight
    if module._vocabulary is not None:
        module._loaded_words = state.pop(prefix + CACHED_WORDS, None)


def _check_loaded_words(module: ElmoBiLm, _incompatible_keys: Any) -> None:
    """
    Raises `BiLmError` if a state that was just loaded has other vectors of cached words than the
    biLM computes from their characters. Such vectors were trained, and would be ignored here.
    """
    loaded_words = module._loaded_words
    module._loaded_words = None  # frees the memory
    if loaded_words is None or module._vocabulary is None:
        return
    expected = module.cached_vectors(module._vocabulary).to(loaded_words)
    if not torch.allclose(loaded_words, expected, atol=_TOLERANCE):
        raise BiLmError(_NO_TRAINED_WORDS)
