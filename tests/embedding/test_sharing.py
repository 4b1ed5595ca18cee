"""Several placements of one biLM: one copy, one run for each batch, the same vectors as without sharing."""

import copy
import io
import pickle
import threading
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from torch import Tensor, nn

from elmo_plugin.bilm import BiLm, BiLmError, sentences_to_character_ids
from elmo_plugin.bilm.io import write_weights
from elmo_plugin.embedding import Elmo
from elmo_plugin.embedding.token_embedder import ElmoTokenEmbedder

PREMISE = torch.from_numpy(sentences_to_character_ids([["The", "play", "ended", "."], ["Play", "!"]]))
HYPOTHESIS = torch.from_numpy(sentences_to_character_ids([["It", "ended"], ["A", "play"]]))


def placements(files: dict[str, str], **options: Any) -> nn.ModuleDict:
    """A model with ELMo at two places."""
    return nn.ModuleDict({name: ElmoTokenEmbedder(files, **options) for name in ("input", "output")})


def bilms(model: nn.Module) -> list[BiLm]:
    """The biLM of each placement."""
    return [module.bilm for module in model.modules() if isinstance(module, Elmo)]


def one_bilm(model: nn.Module) -> BiLm:
    first, second = bilms(model)
    assert first is second
    return first


def count_runs(bilm: BiLm) -> list[None]:
    runs: list[None] = []
    bilm.register_forward_hook(lambda *_: runs.append(None))
    return runs


def vectors(model: nn.Module, *fields: Tensor) -> list[Tensor]:
    """Of all fields at the input, then of all fields at the output; dropout is the same every time."""
    torch.manual_seed(0)
    return [model[place](field) for place in ("input", "output") for field in fields]


def assert_same(actual: list[Tensor], expected: list[Tensor]) -> None:
    assert all(torch.equal(*pair) for pair in zip(actual, expected, strict=True))


def separated(model: nn.Module) -> nn.Module:
    """A copy of the model in which nothing is shared."""
    return nn.ModuleDict({name: copy.deepcopy(part) for name, part in model.items()})


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("options", [{}, {"layer_norm": True}, {"layers": "top"}], ids=str)
def test_vectors_are_those_of_separate_bilms_and_each_text_field_is_run_once(
    bilm_files: dict[str, str], training: bool, options: dict[str, Any]
) -> None:
    model = placements(bilm_files, **options).train(training)
    batches = [(PREMISE, HYPOTHESIS), (PREMISE.flip(0), HYPOTHESIS.flip(0))]
    expected = [vectors(separated(model), *batch) for batch in batches]
    runs = count_runs(one_bilm(model))
    for number, batch in enumerate(batches):
        assert_same(vectors(model, *batch), expected[number])
        assert len(runs) == 2 * (number + 1)


def test_gradients_of_both_mixes_are_those_of_separate_bilms(bilm_files: dict[str, str]) -> None:
    model = placements(bilm_files)
    gradients = []
    for variant in (model, separated(model)):
        sum(vector.pow(2).sum() for vector in vectors(variant, PREMISE, HYPOTHESIS)).backward()
        gradients.append([p.grad for p in variant.parameters() if p.requires_grad])
    assert len(gradients[0]) == 4
    assert_same(*gradients)


def test_placements_of_different_layers_share_a_run(bilm_files: dict[str, str]) -> None:
    embedders = [ElmoTokenEmbedder(bilm_files, layers=layers).eval() for layers in ("all", "top", [2, 0])]
    expected = [copy.deepcopy(embedder)(PREMISE) for embedder in embedders]
    runs = count_runs(embedders[0]._elmo.bilm)
    assert_same([embedder(PREMISE) for embedder in embedders], expected)
    assert len(runs) == 1


def test_a_run_in_inference_mode_serves_training(bilm_files: dict[str, str]) -> None:
    model = placements(bilm_files)
    runs = count_runs(one_bilm(model))
    with torch.inference_mode():
        model["input"](PREMISE)
    model["output"](PREMISE).sum().backward()
    assert len(runs) == 1


def test_a_mask_that_its_owner_changes_does_not_reach_the_others(bilm: BiLm) -> None:
    first, second = Elmo(bilm), Elmo(bilm)
    first(PREMISE).mask.fill_(False)
    assert second(PREMISE).mask.sum() == 6


def test_stateful_placements_go_on_each_for_itself(bilm_files: dict[str, str]) -> None:
    model = placements(bilm_files, stateful=True).eval()
    apart = separated(model)
    one_bilm(model)
    for _ in range(2):
        assert_same(vectors(model, PREMISE, PREMISE), vectors(apart, PREMISE, PREMISE))


def test_a_bilm_that_is_trained_is_the_placements_own(bilm_files: dict[str, str]) -> None:
    frozen, (first, second) = (
        one_bilm(placements(bilm_files)),
        bilms(placements(bilm_files, requires_grad=True)),
    )
    assert first is not second and frozen not in (first, second)


def test_training_one_model_leaves_the_other(bilm_files: dict[str, str]) -> None:
    frozen = placements(bilm_files).eval()
    before = vectors(frozen, PREMISE)
    trained = ElmoTokenEmbedder(bilm_files, requires_grad=True)
    trained(PREMISE).sum().backward()
    torch.optim.SGD(trained.parameters(), lr=1.0).step()
    assert_same(vectors(frozen, PREMISE), before)


def test_parameters_released_later_are_those_of_all_placements_and_of_no_model_made_after(
    bilm_files: dict[str, str],
) -> None:
    model = placements(bilm_files, dropout=0)
    before = vectors(model, PREMISE)
    model.requires_grad_(True)
    later = placements(bilm_files, dropout=0)
    assert one_bilm(later) is not one_bilm(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sum(vector.pow(2).sum() for vector in vectors(model, PREMISE)).backward()
    assert all(parameter.grad is not None for parameter in one_bilm(model).parameters())
    optimizer.step()
    assert_same(vectors(later, PREMISE), before)
    assert not torch.equal(vectors(model, PREMISE)[0], before[0])


@pytest.mark.parametrize("trained_first", [True, False])
def test_one_elmo_trains_a_copy_of_the_bilm_that_another_only_runs(bilm: BiLm, trained_first: bool) -> None:
    elmos = [Elmo(bilm, requires_grad=trained, dropout=0) for trained in (trained_first, not trained_first)]
    trained, frozen = elmos if trained_first else elmos[::-1]
    assert frozen.bilm is bilm and trained.bilm is not bilm
    expected = frozen(PREMISE).representations[0]
    torch.testing.assert_close(trained(PREMISE).representations[0], expected)
    for _ in range(2):
        trained(PREMISE).representations[0].sum().backward()
        assert all(parameter.grad is not None for parameter in trained.bilm.parameters())
        torch.optim.SGD(trained.bilm.parameters(), lr=0.1).step()
        assert torch.equal(frozen(PREMISE).representations[0], expected)
    assert not torch.allclose(trained(PREMISE).representations[0], expected, atol=1e-3)


def test_elmos_never_change_the_callers_bilm(bilm: BiLm) -> None:
    bilm.eval()
    bilm.max_batch_tokens = 7

    def settings() -> tuple[Any, ...]:
        released = [parameter.requires_grad for parameter in bilm.parameters()]
        return released, bilm.training, bilm.precision, bilm.recurrence, bilm.max_batch_tokens

    before, weights = settings(), copy.deepcopy(bilm.state_dict())
    for options in ({}, {"requires_grad": True}, {"requires_grad": False, "precision": "float32"}):
        Elmo(bilm, max_batch_tokens=3, **options)(PREMISE)
        assert settings() == before
    bilm.requires_grad_(True)
    before = settings()
    for options in ({}, {"requires_grad": False}, {"requires_grad": False, "precision": "bfloat16"}):
        assert Elmo(bilm, max_batch_tokens=3, **options).bilm.is_trained == (not options)
        assert settings() == before
    assert_same(list(bilm.state_dict().values()), list(weights.values()))


def test_each_embedder_has_its_own_max_batch_tokens(
    bilm_files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks: list[int] = []
    run_packed = BiLm.run_packed

    def note(self: BiLm, character_ids: Tensor, *args: Any, **kwargs: Any) -> Any:
        chunks.append(len(character_ids))
        return run_packed(self, character_ids, *args, **kwargs)

    whole = ElmoTokenEmbedder(bilm_files).eval()
    halved = ElmoTokenEmbedder(bilm_files, max_batch_tokens=2).eval()
    assert whole._elmo.bilm is halved._elmo.bilm
    bilm = whole._elmo.bilm
    bilm.state_after_boundary(bilm.inference_weights())
    monkeypatch.setattr(BiLm, "run_packed", note)
    whole(PREMISE)
    assert chunks == [6]
    halved(HYPOTHESIS)
    assert chunks == [6, 2, 2]
    whole(torch.cat([PREMISE, PREMISE.flip(0)], dim=1)[:1])
    assert chunks[3:] == [6]


def test_each_elmo_has_its_own_precision(bilm: BiLm, rough: str) -> None:
    expected = Elmo(copy.deepcopy(bilm), dropout=0)(PREMISE).representations
    plain, rounded = Elmo(bilm, dropout=0), Elmo(bilm, dropout=0, precision=rough)
    other = rounded(PREMISE).representations
    assert_same(plain(PREMISE).representations, expected)
    assert not torch.allclose(other[0], expected[0], atol=1e-2)
    assert_same(rounded(PREMISE).representations, other)
    assert bilm.precision == "float32"


def test_loading_what_was_saved_keeps_one_bilm(bilm_files: dict[str, str]) -> None:
    model = placements(bilm_files)
    bilm = one_bilm(model)
    model.load_state_dict(copy.deepcopy(model.state_dict()))  # each tensor twice, as if never shared
    assert one_bilm(model) is bilm


def test_saving_writes_a_shared_bilm_once(bilm_files: dict[str, str]) -> None:
    def tensors_written(module: nn.Module) -> int:
        buffer = io.BytesIO()
        torch.save(module.state_dict(), buffer)
        return sum("/data/" in name for name in zipfile.ZipFile(buffer).namelist())

    model = placements(bilm_files)
    bilm_names = {name for name in model.state_dict() if "_elmo.bilm." in name}
    assert len(bilm_names) == 2 * len(one_bilm(model).state_dict())
    assert tensors_written(model) == tensors_written(model["input"]) + 3  # a mix has two, and the description


def test_an_archive_with_other_weights_leaves_other_models_as_they_are(
    bilm_files: dict[str, str], bilm: BiLm
) -> None:
    archived = placements(bilm_files).eval()
    saved, expected = copy.deepcopy(archived.state_dict()), vectors(archived, PREMISE)
    other = BiLm(bilm.options)
    write_weights(bilm_files["weights"], other.state_dict(), other.options)
    holder, loaded = placements(bilm_files).eval(), placements(bilm_files).eval()
    before = vectors(holder, PREMISE)
    shared = one_bilm(loaded)
    assert shared is one_bilm(holder)

    loaded.load_state_dict(saved)
    assert one_bilm(loaded) is not shared, "its two placements share a biLM again, but not the holder's"
    assert one_bilm(holder) is shared
    runs = count_runs(one_bilm(loaded))
    assert_same(vectors(loaded, PREMISE), expected)
    assert len(runs) == 1
    assert_same(vectors(holder, PREMISE), before)
    assert not torch.equal(before[0], expected[0])


def test_an_archive_that_does_not_fit_is_refused_and_changes_nothing(bilm_files: dict[str, str]) -> None:
    model, holder = placements(bilm_files).eval(), placements(bilm_files).eval()
    before = vectors(holder, PREMISE)
    saved = {name: 2 * tensor for name, tensor in model.state_dict().items()}
    saved.pop(next(name for name in saved if "output._elmo.bilm." in name))
    with pytest.raises(RuntimeError, match="Missing key"):
        model.load_state_dict(saved)
    assert_same(vectors(holder, PREMISE), before)


def test_another_type_of_one_model_leaves_the_other(bilm_files: dict[str, str]) -> None:
    model, holder = placements(bilm_files).eval(), placements(bilm_files).eval()
    before = vectors(holder, PREMISE)
    doubled = vectors(model.double(), PREMISE)
    assert doubled[0].dtype == torch.float64
    assert one_bilm(holder).boundaries is not bilms(model)[0].boundaries
    assert all(parameter.dtype == torch.float32 for parameter in one_bilm(holder).parameters())
    assert_same(vectors(holder, PREMISE), before)


def test_a_bilm_of_another_type_than_the_mix_is_understood(bilm: BiLm) -> None:
    elmo = Elmo(bilm).eval()
    expected = elmo(PREMISE).representations[0]
    bilm.double()
    torch.testing.assert_close(elmo(PREMISE).representations[0], expected)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_bilm_that_another_model_moved_answers_on_the_device_of_the_words(
    bilm_files: dict[str, str],
) -> None:
    model, holder = placements(bilm_files).eval(), placements(bilm_files).eval()
    before = vectors(holder, PREMISE)
    model.to("cuda")
    assert one_bilm(holder) is one_bilm(model)
    for actual, expected in zip(vectors(holder, PREMISE), before, strict=True):
        assert actual.device.type == "cpu"
        torch.testing.assert_close(actual, expected, atol=1e-4, rtol=0)
    assert vectors(model, PREMISE.to("cuda"))[0].is_cuda


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_of_a_model_shares_within_itself_and_not_with_the_original(
    bilm_files: dict[str, str], duplicate: Callable[[nn.Module], nn.Module]
) -> None:
    model = placements(bilm_files).eval()
    expected = vectors(model, PREMISE)
    made = duplicate(model)
    bilm = one_bilm(made)
    assert bilm is not one_bilm(model)
    assert not {p.data_ptr() for p in bilm.parameters()} & {
        p.data_ptr() for p in one_bilm(model).parameters()
    }
    runs = count_runs(bilm)
    assert_same(vectors(made, PREMISE), expected)
    assert len(runs) == 1


def test_a_copy_of_one_placement_has_none_of_the_outputs_of_the_original(bilm_files: dict[str, str]) -> None:
    model = placements(bilm_files).eval()
    expected = vectors(model, PREMISE)[0]
    made = copy.deepcopy(model["input"])
    runs = count_runs(made._elmo.bilm)
    for _ in range(2):
        assert torch.equal(made(PREMISE), expected)
    assert len(runs) == 1


def test_threads_may_run_the_placements_side_by_side(bilm_files: dict[str, str]) -> None:
    model = placements(bilm_files).eval()
    fields = {"premise": PREMISE, "hypothesis": HYPOTHESIS}
    expected = {name: separated(model)["input"](field).detach() for name, field in fields.items()}
    wrong: list[str] = []

    def work(place: str, name: str) -> None:
        with torch.no_grad():
            for _ in range(20):
                if not torch.allclose(model[place](fields[name]), expected[name], atol=1e-6):
                    wrong.append(name)

    threads = [threading.Thread(target=work, args=(place, name)) for place in model for name in fields]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_precisions_of_different_placements_are_different_bilms(bilm_files: dict[str, str]) -> None:
    exact, rough = (ElmoTokenEmbedder(bilm_files, precision=name) for name in ("float32", "int8"))
    assert exact._elmo.bilm is not rough._elmo.bilm
    assert (exact._elmo.bilm.precision, rough._elmo.bilm.precision) == ("float32", "int8")


def test_the_precision_of_elmo_is_that_of_its_bilm_unless_it_is_given(bilm: BiLm, rough: str) -> None:
    expected = Elmo(bilm, dropout=0, precision=rough)(PREMISE).representations
    bilm.precision = rough
    assert_same(Elmo(bilm, dropout=0)(PREMISE).representations, expected)
    exact = Elmo(bilm, dropout=0, precision="float32")(PREMISE).representations
    assert not torch.allclose(exact[0], expected[0], atol=1e-2)


def test_precisions_that_cannot_be_are_refused(bilm: BiLm, bilm_files: dict[str, str]) -> None:
    with pytest.raises(BiLmError, match="one of float32, bfloat16, int8, not 'float16'"):
        Elmo(bilm, precision="float16")
    with pytest.raises(BiLmError, match="a biLM is fine-tuned in float32, not in int8"):
        Elmo(bilm, precision="int8", requires_grad=True)
    with pytest.raises(ConfigurationError, match="one of float32, bfloat16, int8, not 'float16'"):
        ElmoTokenEmbedder(bilm_files, precision="float16")
    with pytest.raises(ConfigurationError, match="a biLM is fine-tuned in float32, not in int8"):
        ElmoTokenEmbedder(bilm_files, precision="int8", requires_grad=True)
