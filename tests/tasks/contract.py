"""What every task keeps to. The tests of a task subclass `TaskContract`, with a configuration and
data.
"""

import copy
import json
import shutil
import socket
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pytest
import torch
from allennlp.common import Params
from allennlp.common.util import sanitize
from allennlp.data import Batch, DatasetReader, Instance, Vocabulary
from allennlp.models import Archive, Model, load_archive
from allennlp.nn.util import move_to_device
from allennlp.predictors import Predictor
from torch import Tensor, nn

from elmo_plugin.bilm import BiLm, normalize_text
from elmo_plugin.embedding import ElmoRepresentations
from elmo_plugin.tasks import Ensemble
from tests.conftest import DEVICES
from tests.experiments.configs import FIXTURES, bilm_in, evaluate, parameters
from tests.trained_tagger import train

PLACEMENTS = [[], ["input"], ["output"], ["input", "output"]]
BOTH = PLACEMENTS[-1]
TOLERANCE = 1e-5
TWIN = "\"It can't be -- O'Brien's co-op...\", she said."
TYPED = (
    "\ufeff\u201cIt\u00a0can\u2019t\u202fbe \u2014 O\u2019Brien\u2019s "
    "co\u2011op\u2026\u201d, sh\u00ade\u200b said."
)


class Trained(NamedTuple):
    """A training whose biLM's files are deleted, and what its model predicts for the data."""

    folder: Path
    outputs: Any


class TaskContract:
    """
    task: Jsonnet without ELMo or dropout; it may use the functions of `elmo_plugin/jsonnet`
    data: the file to train with and to predict
    inputs: JSON for the predictor
    answers: the fields of an instance that are there where the right answers are known
    """

    task: str
    data: Path
    inputs: ClassVar[list[dict[str, Any]]]
    answers: ClassVar[tuple[str, ...]] = ("label", "tags")

    @classmethod
    def config(cls, placements: list[str] = BOTH, **options: Any) -> dict[str, Any]:
        """The task's, with one `elmo.at` of these placements and options."""
        options = {"bilm": bilm_in(FIXTURES / "bilm"), "dropout": 0, **options}
        arguments = ", ".join(f"{name}={json.dumps(value)}" for name, value in options.items())
        return cls.config_with(f"elmo.at({json.dumps(placements)}, {arguments})")

    @classmethod
    def config_with(cls, elmo: str) -> dict[str, Any]:
        return evaluate(f"{cls.task} + {elmo}") | {
            "train_data_path": str(cls.data),
            "validation_data_path": str(cls.data),
            "data_loader": {"batch_size": 2, "shuffle": False},
            "trainer": {
                "optimizer": {"type": "adam", "lr": 0.01},
                "num_epochs": 2,
                "enable_default_callbacks": False,
            },
        }

    @classmethod
    def instances(cls, config: dict[str, Any] | None = None) -> list[Instance]:
        reader = (config or cls.config())["dataset_reader"]
        return copy.deepcopy(read_instances(json.dumps(reader), cls.data))

    @classmethod
    def model_and_batch(cls, config: dict[str, Any], seed: int = 0) -> tuple[Model, dict[str, Any]]:
        """An untrained model with random mixing weights, and all of the data as one batch."""
        torch.manual_seed(seed)
        batch = Batch(cls.instances(config))
        vocab = Vocabulary.from_instances(batch.instances)
        batch.index_instances(vocab)
        model = Model.from_params(Params(copy.deepcopy(config["model"])), vocab=vocab)
        for weights in parameters(model, "scalar_mix.weights").values():
            nn.init.uniform_(weights, -1, 1)
        return model, batch.as_tensor_dict()

    @pytest.fixture(scope="class")
    @classmethod
    def trained(cls, tmp_path_factory: pytest.TempPathFactory) -> Trained:
        folder = tmp_path_factory.mktemp("contract")
        shutil.copytree(FIXTURES / "bilm", folder / "bilm")
        model = train(cls.config(bilm=bilm_in(folder / "bilm")), folder / "run")
        outputs = sanitize(model.eval().forward_on_instances(cls.instances()))
        shutil.rmtree(folder / "bilm")
        return Trained(folder / "run", outputs)

    def test_training_lowers_the_loss(self, trained: Trained) -> None:
        first, second = (
            json.loads((trained.folder / f"metrics_epoch_{epoch}.json").read_text())
            for epoch in (0, 1)
        )
        assert second["training_loss"] < first["training_loss"]

    @pytest.fixture(scope="class")
    @classmethod
    def archive(cls, trained: Trained) -> Iterator[Archive]:
        """Loaded without a network."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(socket.socket, "connect", refuse_connection)
            yield load_archive(trained.folder / "model.tar.gz")

    def test_an_archive_predicts_the_same_offline_without_the_files_of_its_bilm(
        self, trained: Trained, archive: Archive
    ) -> None:
        outputs = archive.model.eval().forward_on_instances(self.instances())
        assert_same(sanitize(outputs), trained.outputs)

    def test_the_default_predictor_predicts_json_alone_and_in_a_batch(
        self, archive: Archive
    ) -> None:
        predictor = Predictor.from_archive(archive)
        assert type(predictor) is Predictor.by_name(archive.model.default_predictor)
        assert predictor.name == archive.model.default_predictor, "which its errors begin with"
        alone = [predictor.predict_json(line) for line in self.inputs]
        assert not any("loss" in output for output in alone)
        assert_same(predictor.predict_batch_json(self.inputs), alone)

    def test_typographic_characters_are_predicted_as_their_ascii_twins_and_shown_as_typed(
        self, archive: Archive
    ) -> None:
        predictor = Predictor.from_archive(archive)
        texts = {name: text for name, text in self.inputs[0].items() if isinstance(text, str)}
        twin, typed = (
            self.inputs[0] | {name: f"{text} {more}" for name, text in texts.items()}
            for more in (TWIN, TYPED)
        )
        expected, found = predictor.predict_json(twin), predictor.predict_json(typed)
        assert_same(normalized(found), normalized(expected))
        shown = [*found.get("words", ()), *chain.from_iterable(found.get("sentences", ()))]
        assert not shown or {"n\u2019t", "\u2019s", "sh\u00ade"} <= set(shown)

    def test_predictions_do_not_depend_on_the_batch(self) -> None:
        model, _ = self.model_and_batch(self.config())
        instances = self.instances()
        together = model.eval().forward_on_instances(instances)
        for instance, expected in zip(instances, together, strict=True):
            found = model.forward_on_instance(instance)
            assert_same(sanitize({name: found[name] for name in expected}), sanitize(expected))

    @pytest.mark.parametrize("placements", [[], BOTH], ids=str)
    def test_gradients_reach_every_parameter_but_those_of_a_frozen_bilm(
        self, placements: list[str]
    ) -> None:
        model, batch = self.model_and_batch(self.config(placements))
        model(**batch)["loss"].backward()
        for name, parameter in model.named_parameters():
            reached = parameter.grad is not None and bool(parameter.grad.abs().sum() > 0)
            assert reached == parameter.requires_grad, name
        assert not any(parameter.requires_grad for parameter in bilm_parameters(model).values())

    @pytest.mark.parametrize("device", DEVICES)
    def test_loss_and_gradients_are_those_of_float64(self, device: str) -> None:
        model, batch = self.model_and_batch(self.config())
        gradients = []
        for where, dtype in (("cpu", torch.double), (device, torch.float)):
            torch.manual_seed(0)
            model.to(where, dtype).zero_grad()
            loss = model(**move_to_device(batch, torch.device(where)))["loss"]
            loss.backward()
            found = {
                key: each.grad for key, each in model.named_parameters() if each.grad is not None
            }
            found["loss"] = loss.detach()
            gradients.append(
                {key: value.to("cpu", torch.double, copy=True) for key, value in found.items()}
            )
        largest = max(gradient.abs().max().item() for gradient in gradients[0].values())
        for key, expected in gradients[0].items():
            torch.testing.assert_close(
                gradients[1][key],
                expected,
                rtol=1e-3,
                atol=1e-5 * largest,
                msg=lambda m, k=key: f"{k}: {m}",
            )

    def test_an_ensemble_predicts_from_the_average_of_logits(self) -> None:
        (one, batch), (other, _) = (self.model_and_batch(self.config(), seed) for seed in (0, 1))
        logits = [model.eval().compute_logits(**batch) for model in (one, other)]
        expected = one.decode(one.average_logits(logits), **batch)
        assert_same(sanitize(Ensemble(one.vocab, [one, other])(**batch)), sanitize(expected))
        twice, once = Ensemble(one.vocab, [one, one])(**batch), one(**batch)
        for output in (twice, once):
            output.pop("logits", None)  # which may differ by what a softmax does not see
        assert_same(sanitize(twice), sanitize(once))

    def test_instances_without_answers_have_no_loss(self) -> None:
        model, batch = self.model_and_batch(self.config())
        questions = {name: values for name, values in batch.items() if name not in self.answers}
        assert questions.keys() < batch.keys()
        assert "loss" not in model(**questions)
        assert not any(model.get_metrics().values())


class OnceContract(TaskContract):
    """What every task gets from its bases, so one task shows it."""

    @pytest.mark.parametrize("placements", PLACEMENTS[1:], ids=str)
    def test_each_placement_changes_the_loss_and_runs_the_bilm_no_more_often(
        self, placements: list[str]
    ) -> None:
        model, batch = self.model_and_batch(self.config(placements, layer_norm=True))
        instances = self.instances()
        for instance in instances[:2]:  # a biLM may remember its last batches
            model.eval().forward_on_instance(instance)
        runs: list[None] = []
        bilm = next(module for module in model.modules() if isinstance(module, BiLm))
        hook = bilm.register_forward_hook(lambda *_: runs.append(None))
        loss = model(**batch)["loss"]
        hook.remove()
        assert len(runs) == 1
        gammas = parameters(model, "scalar_mix.gamma").values()
        assert len(gammas) == len(placements)
        for gamma in gammas:
            nn.init.constant_(gamma, 100.0)
            assert not torch.isclose(model(**batch)["loss"], loss)
            nn.init.ones_(gamma)

    def test_gradients_reach_a_bilm_that_is_trained_with_the_task(self) -> None:
        model, batch = self.model_and_batch(self.config(requires_grad=True))
        model(**batch)["loss"].backward()
        assert bilm_parameters(model)
        assert all(parameter.grad is not None for parameter in bilm_parameters(model).values())

    def test_lambda_counts_once_for_each_placement(self) -> None:
        at = f"bilm={json.dumps(bilm_in(FIXTURES / 'bilm'))}, dropout=0"
        for elmo, strengths in {
            f"elmo.at(['input'], {at}, lambda=0.1)": {"input": 0.1},
            f"elmo.at(['output'], {at}, lambda=0.1)": {"output": 0.1},
            f"elmo.at(['input', 'output'], {at}, lambda=0.1)": {"input": 0.1, "output": 0.1},
            f"elmo.at(['input'], {at}) + elmo.at(['output'], {at}, lambda=2)": {
                "input": 0,
                "output": 2,
            },
        }.items():
            model, _ = self.model_and_batch(self.config_with(elmo))
            mixes = parameters(model, "scalar_mix.weights")
            assert len(mixes) == len(strengths)
            expected = sum(
                strengths["output" if ".output." in name else "input"] * value**2
                for name, weights in mixes.items()
                for value in weights.tolist()
            )
            assert model.get_regularization_penalty().item() == pytest.approx(expected), elmo

    @pytest.mark.parametrize("requires_grad", [False, True])
    def test_an_initializer_reaches_all_but_the_bilm_and_what_is_frozen(
        self, requires_grad: bool
    ) -> None:
        config = self.config(requires_grad=requires_grad)
        initializer = {"regexes": [[".*", {"type": "constant", "val": 0.25}]]}
        before, _ = self.model_and_batch(config)
        params = Params(copy.deepcopy(config["model"]) | {"initializer": initializer})
        model = Model.from_params(params, vocab=before.vocab)
        bilm = bilm_parameters(model)
        for name, parameter in model.named_parameters():
            expected = torch.full_like(parameter, 0.25)
            if name in bilm or not parameter.requires_grad:
                expected = before.get_parameter(name)
            assert parameter.equal(expected), name

    def test_a_predictor_keeps_no_sentences_in_memory(self, archive: Archive) -> None:
        model, _ = self.model_and_batch(self.config(cache={"type": "memory"}))
        elmos = [module for module in model.modules() if isinstance(module, ElmoRepresentations)]
        assert elmos and all(elmo.cache for elmo in elmos)
        Predictor.by_name(model.default_predictor)(model, archive.dataset_reader)
        assert not any(elmo.cache for elmo in elmos)


@cache
def read_instances(reader: str, data: Path) -> list[Instance]:
    return list(DatasetReader.from_params(Params(json.loads(reader))).read(data))


def bilm_parameters(model: Model) -> dict[str, Tensor]:
    bilms = [module for module in model.modules() if isinstance(module, BiLm)]
    ids = {id(parameter) for bilm in bilms for parameter in bilm.parameters()}
    return {name: weight for name, weight in model.named_parameters() if id(weight) in ids}


def normalized(output: Any) -> Any:
    """
    Returns an output with ASCII twins and without places of characters, which count the text as
    typed.
    """
    if isinstance(output, dict):
        return {name: normalized(value) for name, value in output.items() if name != "characters"}
    if isinstance(output, list):
        return list(map(normalized, output))
    return normalize_text(output) if isinstance(output, str) else output


def refuse_connection(*_: Any) -> None:
    raise OSError("the network is off")


def assert_same(found: Any, expected: Any) -> None:
    """Of the same structure, with the same words and numbers."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            assert_same(found[key], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        assert found == (
            pytest.approx(expected, abs=TOLERANCE) if isinstance(expected, float) else expected
        )
