"""The biLM inside `Elmo`, as AllenNLP's users reach it."""

import copy
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from elmo_plugin.bilm import (
    BiLm,
    BiLmError,
    Cache,
    LstmState,
    get_precision,
    sentences_to_character_ids,
)
from elmo_plugin.bilm.io import Source
from elmo_plugin.embedding import ElmoRepresentations
from elmo_plugin.migration.allennlp_api.names import (
    from_allennlp,
    mappings,
    parameter_names,
    to_allennlp,
)

CACHED_WORDS = "_word_embedding.weight"
_BILM = "elmo.bilm."
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
    `_token_embedder` are no modules. They have their parameters, and raise an error for everything
    that they do not support.

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
            bilm.precision = get_precision(precision or source.precision).name
        else:
            bilm = BiLm.from_pretrained(source, precision or "float32")
        bilm.requires_grad_(requires_grad)
        mappings(bilm.options)  # raises if the biLM does not read bytes
        self.elmo = ElmoRepresentations(bilm, 0, stateful=stateful, cache=cache)
        self.num_layers = bilm.num_layers
        self.weight_file = str(source["weights"]) if isinstance(source, Mapping) else None
        self.register_buffer("_vocabulary", None, persistent=False)
        if vocab_to_cache:
            if bilm.is_trainable:
                raise BiLmError(_NO_TRAINED_WORDS)
            characters = bilm.options.char_cnn.max_characters_per_token
            ids = torch.from_numpy(sentences_to_character_ids([vocab_to_cache], characters)[0])
            self._vocabulary = ids.to(bilm.boundaries)
        self._loaded_words: Tensor | None = None
        self._register_state_dict_hook(_convert_saved)
        self._register_load_state_dict_pre_hook(_convert_loaded, with_module=True)
        self.register_load_state_dict_post_hook(_check_loaded_words)

    @property
    def bilm(self) -> BiLm:
        return self.elmo.bilm

    def get_output_dim(self) -> int:
        return self.bilm.output_dim

    _elmo_lstm = property(lambda self: _ElmoLstm(self))
    _token_embedder = property(lambda self: _TokenEmbedder(self))

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            raise _not_supported(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("_elmo_lstm", "_token_embedder", "_word_embedding"):
            raise _not_supported(name)
        super().__setattr__(name, value)

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
        if len(self._modules) > 1:
            raise _not_supported(f"replacing {list(self._modules)[-1]}")
        vocabulary = self._vocabulary
        if vocabulary is not None and word_inputs is not None:
            if self.bilm.is_trainable:
                raise BiLmError(_NO_TRAINED_WORDS)
            if word_inputs.shape != inputs.shape[:-1]:
                raise BiLmError(
                    f"word_inputs: expected {(*inputs.shape[:-1],)}, got {(*word_inputs.shape,)}"
                )
            last = len(vocabulary) - 1
            words = vocabulary[word_inputs.clamp(max=last)].to(inputs.dtype)
            inputs = (
                torch.where(word_inputs[..., None] > last, inputs, words)
                * (word_inputs > 0)[..., None]
            )
        return self.elmo.run_bilm(inputs, boundaries)

    def named_modules(
        self, memo: set[nn.Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, nn.Module]]:
        """
        Yields the parameters in modules with AllenNLP's names first, from where their names are
        taken.
        """
        memo = set() if memo is None else memo
        if self not in memo:
            own = dict(self.bilm.named_parameters())
            modules: defaultdict[str, nn.Module] = defaultdict(nn.Module)
            for name, shown in parameter_names(self.bilm.options).items():
                path, _, last = shown.rpartition(".")
                modules[f"{prefix}.{path}".removeprefix(".")].register_parameter(last, own[name])
            for module in modules.values():
                module._forward_pre_hooks = module._forward_hooks = _NO_HOOKS
                module._backward_pre_hooks = module._backward_hooks = _NO_HOOKS
                vars(module)["register_parameter"] = _refuse_parameter
            yield from modules.items()
        yield from super().named_modules(memo, prefix, remove_duplicate)

    @torch.no_grad()
    def cached_vectors(self) -> Tensor:
        """
        Returns AllenNLP's `_word_embedding`: the vectors of the cached words, zeros for the first.
        """
        assert self._vocabulary is not None
        vectors = self.bilm.token_encoder(self._vocabulary).clone()
        vectors[0] = 0
        return vectors


def _convert_saved(module: ElmoBiLm, state: dict[str, Any], prefix: str, _metadata: Any) -> None:
    """
    Replaces our weights in a new `state_dict` by AllenNLP's. As writing to these copies would have
    no effect, they are made in inference mode: torch then refuses it.
    """
    start = prefix + _BILM
    ours = {
        name.removeprefix(start): state.pop(name) for name in list(state) if name.startswith(start)
    }
    with torch.inference_mode():
        theirs = to_allennlp(
            {name: weight.clone() for name, weight in ours.items()}, module.bilm.options
        )
        if module._vocabulary is not None:
            theirs[CACHED_WORDS] = module.cached_vectors()
    state.update((prefix + name, weight) for name, weight in theirs.items())


def _convert_loaded(
    module: ElmoBiLm,
    state: dict[str, Any],
    prefix: str,
    _metadata: Any,
    _strict: bool,
    missing: list[str],
    *_: Any,
) -> None:
    """
    Replaces AllenNLP's weights in a `state_dict` by ours. A missing one is reported by AllenNLP's
    name.
    """
    theirs = {}
    for mapping in mappings(module.bilm.options):
        if (name := prefix + mapping.theirs) in state:
            theirs[mapping.theirs] = state.pop(name)
        else:
            missing.append(name)
    own = dict(module.bilm.named_parameters())  # instead of the missing ones
    loaded = {**own, **from_allennlp(theirs, module.bilm.options)}
    state.update((f"{prefix}{_BILM}{name}", weight) for name, weight in loaded.items())
    if module._vocabulary is not None:
        module._loaded_words = state.pop(prefix + CACHED_WORDS, None)


def _check_loaded_words(module: ElmoBiLm, _incompatible_keys: Any) -> None:
    """
    Refuses vectors of cached words that were trained, because words are read from their characters.
    """
    words, module._loaded_words = module._loaded_words, None
    if words is not None and not torch.allclose(
        words, module.cached_vectors().to(words), atol=_TOLERANCE
    ):
        raise BiLmError(_NO_TRAINED_WORDS)


class _NoHooks(OrderedDict[int, Any]):
    """
    Refuses hooks on modules that have nothing but a parameter's name. Hooks of AllenNLP's checks at
    the start of a training, on all modules of a model, are ignored.
    """

    def __setitem__(self, key: int, hook: Any) -> None:
        if not getattr(hook, "__module__", "").startswith("allennlp."):
            raise _not_supported("a hook on a module inside the biLM")


_NO_HOOKS: Any = _NoHooks()


def _refuse_parameter(name: str, _parameter: nn.Parameter) -> NoReturn:
    raise _not_supported(f"replacing {name}")


class _Part:
    """
    The little of an inner module of AllenNLP's biLM that scripts need; everything else is an error.
    """

    name: str
    training = property(lambda self: self.elmo_bilm.training)
    requires_grad = property(lambda self: any(each.requires_grad for each in self.parameters()))

    def __init__(self, elmo_bilm: ElmoBiLm) -> None:
        self.__dict__["elmo_bilm"] = elmo_bilm

    def __getattr__(self, name: str) -> Any:
        raise _not_supported(f"{self.name}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(getattr(type(self), name, None), property):
            raise _not_supported(f"{self.name}.{name}")
        super().__setattr__(name, value)

    def __call__(self, *_: Any) -> Any:
        raise _not_supported(f"calling {self.name}")

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        for name, parameter in self.elmo_bilm.named_parameters():
            if name.startswith(f"{self.name}."):
                yield name.removeprefix(f"{self.name}."), parameter

    def parameters(self) -> Iterator[nn.Parameter]:
        return (parameter for _, parameter in self.named_parameters())

    def requires_grad_(self, requires_grad: bool = True) -> "_Part":
        for parameter in self.parameters():
            parameter.requires_grad = requires_grad
        return self

    def state_dict(self) -> dict[str, Tensor]:
        state, start = self.elmo_bilm.state_dict(), f"{self.name}."
        return {name.removeprefix(start): state[name] for name in state if name.startswith(start)}


class _ElmoLstm(_Part):
    """The state and the sizes of the LSTMs."""

    name = "_elmo_lstm"

    @property
    def stateful(self) -> bool:
        return self.elmo_bilm.elmo.stateful

    @stateful.setter
    def stateful(self, stateful: bool) -> None:
        self.elmo_bilm.elmo.stateful = stateful

    @property
    def _states(self) -> tuple[Tensor, ...] | None:
        """
        Hidden state and cell, shape (layers, batch, both directions' sizes); `None` if not
        stateful.
        """
        state = self.elmo_bilm.elmo._state
        return state and tuple(part.transpose(1, 2).flatten(2) for part in state)

    @_states.setter
    def _states(self, states: tuple[Tensor, ...] | None) -> None:
        if states is not None and not self.stateful:
            raise BiLmError(
                "_elmo_lstm._states cannot be set, because stateful is false: set it first"
            )
        parts = states and (part.unflatten(2, (2, -1)).transpose(1, 2) for part in states)
        self.elmo_bilm.elmo._state = parts and LstmState(*parts)

    def reset_states(self, mask: Tensor | None = None) -> None:
        """
        Starts the next batch from zero, or those of its rows that are true in `mask`, shape
        (batch,).
        """
        states = None if mask is None else self._states
        self._states = states and tuple(part * ~mask.view(1, -1, 1) for part in states)  # type: ignore[union-attr]

    input_size = hidden_size = property(
        lambda self: self.elmo_bilm.bilm.options.lstm.projection_dim
    )
    cell_size = property(lambda self: self.elmo_bilm.bilm.options.lstm.dim)
    num_layers = property(lambda self: self.elmo_bilm.bilm.options.lstm.n_layers)


class _TokenEmbedder(_Part):
    """
    The content of `options.json`, the path of the weight file, and the vectors of single words.
    """

    name = "_token_embedder"
    output_dim = property(lambda self: self.elmo_bilm.bilm.options.lstm.projection_dim)
    _options = property(lambda self: self.elmo_bilm.bilm.options.to_dict())
    _weight_file = property(lambda self: self.elmo_bilm.weight_file)

    def get_output_dim(self) -> int:
        return self.output_dim

    def __call__(self, inputs: Tensor) -> dict[str, Tensor]:
        """
        Returns `token_embedding`, (batch, time + 2, output_dim), and `mask`, (batch, time + 2).
        """
        layers, mask, _ = self.elmo_bilm.bilm(inputs, boundaries=True)
        return {"token_embedding": layers[0, ..., : self.output_dim], "mask": mask}


def _not_supported(what: str) -> AttributeError:
    return AttributeError(
        f"{what} is not supported, because the biLM runs as a whole: to change its inner modules, "
        "give Elmo the `module` allennlp.modules.elmo._ElmoBiLm(options_file, weight_file)"
    )
