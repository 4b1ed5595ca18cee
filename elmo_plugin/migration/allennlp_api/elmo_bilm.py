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
    Runs a biLM, loaded from a source of `BiLm.from_pretrained` or copied, with the inputs and
    outputs of AllenNLP's `_ElmoBiLm`.

    Its `state_dict` has AllenNLP's names and values, converted from ours, and `named_parameters`
    has names that AllenNLP's regular expressions match. The biLM runs as a whole: `_elmo_lstm` and
    `_token_embedder` are no modules (see `inner_modules`).

    `vocab_to_cache` are the words, by number, that `word_inputs` refer to; 0 is padding.
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
        if isinstance(source, BiLm):
            bilm = copy.deepcopy(source)
            # `get_precision` raises at an unknown name.
            bilm.precision = get_precision(precision or source.precision).name
        else:
            bilm = BiLm.from_pretrained(source, precision or "float32")
        bilm.requires_grad_(requires_grad)
        mappings(bilm.options)  # raises if the biLM does not read bytes
        # Without mixes: `Elmo` has its own.
        self.elmo = ElmoRepresentations(bilm, num_mixes=0, stateful=stateful, cache=cache)
        self.num_layers = bilm.num_layers
        self.weight_file: str | None = None
        if isinstance(source, Mapping):
            self.weight_file = str(source["weights"])
        self.register_buffer("_vocabulary", None, persistent=False)
        if vocab_to_cache:
            if bilm.is_trainable:
                raise BiLmError(_NO_TRAINED_WORDS)
            characters = bilm.options.char_cnn.max_characters_per_token
            (ids,) = sentences_to_character_ids([vocab_to_cache], characters)  # as one sentence
            # To the device and the type of the biLM's own character ids
            self._vocabulary = torch.from_numpy(ids).to(bilm.boundaries)
        # From `_convert_loaded` to `_check_loaded_words`: the vectors of cached words in a state
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
        """Says what to use instead of the rest of AllenNLP's class."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            raise not_supported(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuses to replace an inner module: torch would accept another, and it would not run."""
        if name in _INNER_MODULES:
            raise not_supported(name)
        super().__setattr__(name, value)

    def named_modules(
        self, memo: set[nn.Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, nn.Module]]:
        """
        Yields the modules that give the parameters AllenNLP's names, then those that exist. torch
        names a parameter after the first module that contains it.
        """
        if memo is None:
            memo = set()
        if self not in memo:  # otherwise the modules were yielded already
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
        Returns all layers, shape (num_layers, batch, time, output_dim), and the mask.

        `inputs` are character ids, shape (batch, time, characters). Positive `word_inputs`, shape
        (batch, time), replace the characters of cached words; 0 is padding, greater numbers keep
        the characters.
        """
        for name in self._modules:
            if name != "elmo":  # somebody has put it there by `add_module`, and it would not run
                raise not_supported(f"replacing {name}")
        if self._vocabulary is not None and word_inputs is not None:
            inputs = self._with_cached_words(self._vocabulary, inputs, word_inputs)
        return self.elmo.run_bilm(inputs, boundaries)

    def _with_cached_words(self, vocabulary: Tensor, inputs: Tensor, word_inputs: Tensor) -> Tensor:
        """
        Returns `inputs` in which the characters of cached words, and zeros at padding, replace the
        characters that are there. See `run` for the numbers in `word_inputs`.
        """
        if self.bilm.is_trainable:
            raise BiLmError(_NO_TRAINED_WORDS)
        if word_inputs.shape != inputs.shape[:-1]:
            expected = tuple(inputs.shape[:-1])
            raise BiLmError(f"word_inputs: expected {expected}, got {tuple(word_inputs.shape)}")
        last = len(vocabulary) - 1
        cached = vocabulary[word_inputs.clamp(max=last)]  # Shape: (batch, time, characters)
        numbers = word_inputs[..., None]  # Shape: (batch, time, 1)
        chosen = torch.where(numbers > last, inputs, cached.to(inputs.dtype))
        return chosen * (numbers > 0)

    @torch.no_grad()
    def cached_vectors(self, vocabulary: Tensor) -> Tensor:
        """
        Returns AllenNLP's `_word_embedding`: the vectors of the cached words, zeros for the first.
        """
        vectors = self.bilm.token_encoder(vocabulary).clone()  # Shape: (words, dim)
        vectors[0] = 0
        return vectors


def _join_names(prefix: str, name: str) -> str:
    """Returns the name of a module within another one, which may be the outermost: no prefix."""
    if not prefix:
        return name
    return f"{prefix}.{name}"


def _convert_saved(module: ElmoBiLm, state: dict[str, Any], prefix: str, _metadata: Any) -> None:
    """
    Replaces our weights in a new `state_dict` by AllenNLP's. As writing to these copies would have
    no effect, they are made in inference mode: torch then refuses it.
    """
    start = prefix + _BILM
    with torch.inference_mode():
        ours = {}
        for name in list(state):
            if name.startswith(start):
                ours[name.removeprefix(start)] = state.pop(name).clone()
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
    Replaces AllenNLP's weights in a `state_dict` by ours. A missing one is reported by AllenNLP's
    name, and the biLM keeps its own.
    """
    options = module.bilm.options
    theirs = {}
    for mapping in mappings(options):
        name = prefix + mapping.theirs
        if name in state:
            theirs[mapping.theirs] = state.pop(name)
        else:
            missing.append(name)
    # All weights of the biLM, so that torch reports none as missing by our name
    loaded: dict[str, Tensor] = dict(module.bilm.named_parameters())
    loaded.update(from_allennlp(theirs, options))  # in place of the biLM's own
    for name, weight in loaded.items():
        state[prefix + _BILM + name] = weight
    if module._vocabulary is not None:
        module._loaded_words = state.pop(prefix + CACHED_WORDS, None)


def _check_loaded_words(module: ElmoBiLm, _incompatible_keys: Any) -> None:
    """
    Runs after a state was loaded. Raises `BiLmError` if its vectors of cached words are not those
    that the biLM computes from characters: they were trained, and would be ignored.
    """
    words = module._loaded_words
    module._loaded_words = None  # needed once, and as large as a table of word vectors
    if words is None or module._vocabulary is None:
        return
    expected = module.cached_vectors(module._vocabulary).to(words)
    if not torch.allclose(words, expected, atol=_TOLERANCE):
        raise BiLmError(_NO_TRAINED_WORDS)
