"""
What public code does to an `Elmo` and its inner parts: with ours it does the same as with
AllenNLP's, or ends in a sentence that says what to use instead. More of it is in
`tests/migration/allennlp_api`.
"""

import copy
import io
import pickle
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import allennlp.modules.elmo as peer
import pytest
import torch
from allennlp.modules import ScalarMix
from torch import Tensor, nn

import elmo_plugin
from elmo_plugin import batch_to_ids
from elmo_plugin.bilm import BiLmError
from tests.migration.allennlp_api.conftest import write_bilm

IDS = batch_to_ids([["The", "play", "ended", "."], ["Wörterbuch"], ["A", "long", "play"]])
OTHER = batch_to_ids([["Rain", "fell"], ["Ivan"]])
Make = Callable[..., Any]
IDIOMS: dict[str, Callable[[Make], Any]] = {}
REFUSED: dict[str, Callable[[Any], Any]] = {}


def idiom(function: Callable[[Make], Any]) -> Callable[[Make], Any]:
    IDIOMS[function.__name__] = function
    return function


def refused(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    REFUSED[function.__name__] = function
    return function


def vectors(elmo: nn.Module, ids: Tensor = IDS) -> Tensor:
    """Zeros at padding, where AllenNLP leaves something."""
    output = elmo(ids)
    return output["elmo_representations"][0] * output["mask"][..., None]


def assert_same(actual: Any, expected: Any, where: str = "") -> None:
    if isinstance(expected, dict):
        assert actual.keys() == expected.keys(), where
        for name, value in expected.items():
            assert_same(actual[name], value, f"{where}[{name!r}]")
    elif isinstance(expected, list | tuple):
        assert len(actual) == len(expected), where
        for number, pair in enumerate(zip(actual, expected, strict=True)):
            assert_same(*pair, f"{where}[{number}]")
    elif isinstance(expected, torch.Tensor | float):
        torch.testing.assert_close(actual, expected, atol=1e-5, rtol=1e-5)
    else:
        assert actual == expected, where


def trainable(elmo: nn.Module) -> int:
    return sum(parameter.numel() for parameter in elmo.parameters() if parameter.requires_grad)


def states(elmo: Any) -> list[Tensor]:
    return [part.clone() for part in elmo._elmo_lstm._elmo_lstm._states]


@idiom
def states_are_read(make: Make) -> Any:
    elmo = make(stateful=True)
    first = elmo._elmo_lstm._elmo_lstm._states
    return first, vectors(elmo), states(elmo), vectors(elmo, OTHER), states(elmo)


@idiom
def states_are_dropped(make: Make) -> Any:
    elmo = make(stateful=True)
    before = vectors(elmo)
    elmo._elmo_lstm._elmo_lstm._states = None
    return before, vectors(elmo)


@idiom
def states_are_put_back(make: Make) -> Any:
    elmo = make(stateful=True)
    vectors(elmo)
    kept = states(elmo)
    before = vectors(elmo, OTHER)
    elmo._elmo_lstm._elmo_lstm._states = tuple(kept)
    return before, vectors(elmo, OTHER)


@idiom
def states_of_some_rows_are_reset(make: Make) -> Any:
    elmo = make(stateful=True)
    vectors(elmo)
    elmo._elmo_lstm._elmo_lstm.reset_states(torch.tensor([True, False, True]))
    return states(elmo), vectors(elmo)


@idiom
def states_are_not_read_while_it_is_not_stateful(make: Make) -> Any:
    elmo = make(stateful=True)
    vectors(elmo)
    elmo._elmo_lstm._elmo_lstm.stateful = False
    return vectors(elmo, OTHER), elmo._elmo_lstm._elmo_lstm.stateful


@idiom
def states_are_reset_without_any(make: Make) -> Any:
    elmo = make()
    elmo._elmo_lstm._elmo_lstm.reset_states()
    elmo._elmo_lstm._elmo_lstm._states = None
    return vectors(elmo)


@idiom
def characters_are_frozen(make: Make) -> Any:
    elmo = make(requires_grad=True)
    for parameter in elmo._elmo_lstm._token_embedder.parameters():
        parameter.requires_grad = False
    return trainable(elmo), elmo._elmo_lstm._token_embedder.requires_grad_(False) is not None


@idiom
def lstms_are_frozen(make: Make) -> Any:
    elmo = make(requires_grad=True)
    elmo._elmo_lstm._elmo_lstm.requires_grad_(False)
    vectors(elmo).square().sum().backward()
    return trainable(elmo), sum(parameter.grad is not None for parameter in elmo.parameters()) > 3


@idiom
def a_layer_is_frozen_by_its_name(make: Make) -> Any:
    elmo = make(requires_grad=True)
    for name, parameter in elmo._elmo_lstm._elmo_lstm.named_parameters():
        if name.startswith(("forward_layer_0", "backward_layer_0")):
            parameter.requires_grad = False
    return trainable(elmo)


@idiom
def layers_are_unfrozen_one_after_the_other(make: Make) -> Any:
    elmo, found = make(), []
    for part in ("layer_1", "layer_0", "_token_embedder"):
        for name, parameter in elmo.named_parameters():
            if part in name:
                parameter.requires_grad = True
        chosen = [each for each in elmo.parameters() if each.requires_grad]
        elmo._elmo_lstm._elmo_lstm.reset_states()
        optimizer = torch.optim.SGD(chosen, lr=1e-4)
        vectors(elmo).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        elmo._elmo_lstm._elmo_lstm.reset_states()
        found.append(vectors(elmo).detach())
    return found


@idiom
def groups_of_parameters_by_name(make: Make) -> Any:
    elmo = make(requires_grad=True)
    groups: list[list[Any]] = [[], []]
    for name, parameter in elmo.named_parameters():
        groups["_elmo_lstm" in name].append(parameter)
    optimizer = torch.optim.SGD(
        [{"params": groups[0], "lr": 0.01}, {"params": groups[1], "lr": 1e-4}]
    )
    vectors(elmo).square().sum().backward()
    optimizer.step()
    elmo._elmo_lstm._elmo_lstm.reset_states()
    return vectors(elmo)


@idiom
def numbers_of_parameters(make: Make) -> Any:
    elmo = make()
    parts = elmo._elmo_lstm._elmo_lstm, elmo._elmo_lstm._token_embedder
    sizes = [sum(each.numel() for each in part.parameters()) for part in (elmo, *parts)]
    return sizes, next(parts[0].parameters()).device.type, [part.requires_grad for part in parts]


@idiom
def inner_weights_are_saved(make: Make) -> Any:
    bilm = make()._elmo_lstm
    return dict(bilm._elmo_lstm.state_dict()), dict(bilm._token_embedder.state_dict())


@idiom
def names_of_weights_in_their_order(make: Make) -> Any:
    elmo = make(num_output_representations=2)
    return sorted(elmo.state_dict()), [name for name, _ in elmo.named_children()]


@idiom
def a_weight_of_a_named_module_is_scaled(make: Make) -> Any:
    elmo = make()
    modules = dict(elmo.named_modules())
    with torch.no_grad():
        modules["_elmo_lstm._token_embedder._projection"].weight.mul_(2)
    return vectors(elmo)


@idiom
def hooks_on_all_calls(make: Make) -> Any:
    elmo = make()

    def hook(module: Any, _: Any, output: Any) -> Any:
        if module is elmo._elmo_lstm:
            return {**output, "activations": 3 * output["activations"][:1]}
        return 2 * output if module is elmo.scalar_mix_0 else None

    handle = nn.modules.module.register_module_forward_hook(hook)
    with_hook = vectors(elmo)
    handle.remove()
    elmo._elmo_lstm._elmo_lstm.reset_states()
    return with_hook, vectors(elmo)


@idiom
def hooks_on_gradients(make: Make) -> Any:
    elmo, seen = make(requires_grad=True), set()
    for name, parameter in elmo.named_parameters():
        parameter.register_hook(lambda _, name=name: seen.add(name.split(".")[0]))
    vectors(elmo).square().sum().backward()
    return sorted(seen)


@idiom
def a_backward_hook_on_the_biLM(make: Make) -> Any:
    elmo, calls = make(requires_grad=True), []
    elmo._elmo_lstm.register_forward_hook(lambda *_: calls.append("forward"))
    elmo.scalar_mix_0.register_full_backward_hook(lambda *_: calls.append("backward"))
    vectors(elmo).sum().backward()
    return calls


@idiom
def a_method_is_bound_in_place_of_forward(make: Make) -> Any:
    elmo = make()
    forward = elmo._elmo_lstm.forward

    def top_layer_only(self: Any, *inputs: Any) -> Any:
        output = forward(*inputs)
        return {**output, "activations": output["activations"][-1:] * self.num_layers}

    elmo._elmo_lstm.forward = types.MethodType(top_layer_only, elmo._elmo_lstm)
    return vectors(elmo)


@idiom
def the_biLM_gets_a_subclass(make: Make) -> Any:
    elmo = make()
    kind = type(elmo._elmo_lstm)

    class Sum(kind):  # type: ignore[valid-type, misc]
        def forward(self, *inputs: Any) -> Any:
            output = super().forward(*inputs)
            return {**output, "activations": [sum(output["activations"])] * 3}

    elmo._elmo_lstm.__class__ = Sum
    return vectors(elmo)


@idiom
def a_mix_is_added(make: Make) -> Any:
    elmo = make()
    elmo.add_module("scalar_mix_1", ScalarMix(3, initial_scalar_parameters=[0.0, 1.0, 2.0]))
    elmo._scalar_mixes.append(elmo.scalar_mix_1)
    return [vectors[0] for vectors in elmo(IDS)["elmo_representations"]]


@idiom
def a_mix_is_set_by_its_data(make: Make) -> Any:
    elmo = make()
    elmo.scalar_mix_0.scalar_parameters[2].data.fill_(3.0)
    elmo._scalar_mixes[0].gamma.data.mul_(2)
    return vectors(elmo)


@idiom
def dropout_is_set_to_zero(make: Make) -> Any:
    elmo = make(dropout=0.5).train()
    elmo._dropout.p = 0.0
    return vectors(elmo)


@idiom
def inner_parts_are_called(make: Make) -> Any:
    bilm = make()._elmo_lstm
    output = bilm._token_embedder(IDS)
    return output["token_embedding"][output["mask"]], bilm.forward(IDS)["mask"]


@idiom
def copies(make: Make) -> Any:
    elmo = make()
    file = io.BytesIO()
    torch.save(elmo, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    return [
        vectors(each) for each in (copy.deepcopy(elmo), pickle.loads(pickle.dumps(elmo)), loaded)
    ]


@idiom
def wrapped_for_gpus_that_are_not_there(make: Make) -> Any:
    return vectors(nn.DataParallel(make()))


@idiom
def one_process_of_distributed_training(make: Make) -> Any:
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        elmo = nn.parallel.DistributedDataParallel(make(requires_grad=True))
        vectors(elmo).square().sum().backward()
        return [each.grad for name, each in elmo.named_parameters() if "mix" in name]
    finally:
        torch.distributed.destroy_process_group()


@idiom
def sizes_of_all_parts(make: Make) -> Any:
    bilm = make()._elmo_lstm
    lstm, tokens = bilm._elmo_lstm, bilm._token_embedder
    sizes = [lstm.input_size, lstm.hidden_size, lstm.cell_size, lstm.num_layers]
    return [
        *sizes,
        bilm.num_layers,
        bilm.get_output_dim(),
        tokens.output_dim,
        tokens.get_output_dim(),
    ]


@idiom
def a_part_is_loaded(make: Make) -> Any:
    elmo = make()
    state = {name: 0.5 * tensor for name, tensor in elmo.state_dict().items() if "backward" in name}
    missing, unexpected = elmo.load_state_dict(state, strict=False)
    return sorted(missing), unexpected, vectors(elmo)


@idiom
def a_tagger_around_it_is_trained_and_loaded(make: Make) -> Any:
    elmos = [make(requires_grad=True) for _ in range(2)]
    torch.manual_seed(0)
    first, second = (nn.ModuleDict({"elmo": elmo, "tags": nn.Linear(12, 3)}) for elmo in elmos)
    first["tags"](vectors(first["elmo"])).square().sum().backward()
    torch.optim.SGD(first.parameters(), lr=1e-4).step()
    second.load_state_dict(first.state_dict())
    return second["tags"](vectors(second["elmo"]))


@idiom
def in_inference_mode(make: Make) -> Any:
    with torch.inference_mode():
        return vectors(make()).clone()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder: Path = tmp_path_factory.mktemp("bilm")
    return write_bilm(folder)


@pytest.mark.parametrize("name", IDIOMS)
def test_an_idiom_does_the_same_as_with_allennlp(name: str, files: tuple[str, str]) -> None:
    def theirs(num_output_representations: int = 1, stateful: bool = True, **options: Any) -> Any:
        return peer.Elmo(*files, num_output_representations, **{"dropout": 0.0, **options})

    def ours(num_output_representations: int = 1, **options: Any) -> Any:
        return elmo_plugin.Elmo(*files, num_output_representations, **{"dropout": 0.0, **options})

    assert_same(IDIOMS[name](ours), IDIOMS[name](theirs))


@refused
def a_hook_on_a_named_module(elmo: Any) -> None:
    name = "_elmo_lstm._token_embedder._projection"
    dict(elmo.named_modules())[name].register_forward_hook(print)


@refused
def hooks_on_all_modules(elmo: Any) -> None:
    for module in elmo.modules():
        module.register_full_backward_hook(print)


@refused
def a_parameter_of_a_named_module_is_replaced(elmo: Any) -> None:
    module = dict(elmo.named_modules())["_elmo_lstm._token_embedder._projection"]
    module.bias = nn.Parameter(torch.zeros_like(module.bias))


@refused
def a_module_is_put_among_the_others(elmo: Any) -> None:
    elmo._elmo_lstm._modules["_token_embedder"] = nn.Identity()
    elmo(IDS)


@refused
def forward_of_the_token_embedder_is_replaced(elmo: Any) -> None:
    elmo._elmo_lstm._token_embedder.forward = nn.Identity()


@refused
def vectors_of_words_are_made(elmo: Any) -> None:
    elmo._elmo_lstm.create_cached_cnn_embeddings(["play"])


@pytest.mark.parametrize("name", REFUSED)
def test_an_unsupported_idiom_ends_with_one_sentence(name: str, files: tuple[str, str]) -> None:
    with pytest.raises(
        AttributeError, match=r"give Elmo the `module` allennlp\.modules\.elmo\._ElmoBiLm"
    ):
        REFUSED[name](elmo_plugin.Elmo(*files))


def test_setting_an_unused_state_is_refused(files: tuple[str, str]) -> None:
    elmo = elmo_plugin.Elmo(*files)
    with pytest.raises(BiLmError, match="stateful is false"):
        elmo._elmo_lstm._elmo_lstm._states = (torch.zeros(2, 1, 12), torch.zeros(2, 1, 8))
