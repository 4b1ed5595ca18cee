"""Training goes on from an archive with labels that it lacks, by AllenNLP's configuration, for all
tasks.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader
from allennlp.models import Model, load_archive

from elmo_plugin.predictions.predictor import load_predictor
from elmo_plugin.tasks import Classifier
from elmo_plugin.tasks.labels import KnownLabelField
from tests.tasks import test_contract
from tests.tasks.contract import TaskContract
from tests.tasks.ner.test_tags import are_legal
from tests.tasks.srl.test_predictor import SrlPredicates
from tests.trained_tagger import train

Coref, Ner, Snli = test_contract.TestCoref, test_contract.TestNer, test_contract.TestSnli
Squad, Srl, Sst = test_contract.TestSquad, test_contract.TestSrl, test_contract.TestSst
pytestmark = pytest.mark.usefixtures("without_hardening")
# Of each task: a text of the training data and what stands for it in the new data, and what grows.
CHANGES: dict[type[TaskContract], tuple[str, str, set[str]]] = {
    Ner: ("LOC", "ISLAND", {"tag_projection", "crf"}),
    Srl: ("ARG1", "ARGM-CAU", {"tag_projection"}),
    SrlPredicates: ("judge", "jury", set()),
    Snli: ("neutral", "unrelated", {"output_logits"}),
    Sst: ("(4 ", "(3 ", {"output_logits"}),
    Coref: ("nw/", "story/", {"antecedent_scorer.genre_embedding"}),
    Squad: ("Ansel", "Ansum", set()),
}
VOCABULARIES: dict[str, dict[str, Any]] = {"new data alone": {}, "extended": {"type": "extend"}}


def train_first(task: type[TaskContract], folder: Path) -> Model:
    config = task.config([])
    config["trainer"]["num_epochs"] = 1
    if task is Sst:
        config["train_data_path"] = config["validation_data_path"] = str(folder / "first.txt")
        (folder / "first.txt").write_text("(4 Superb)\n(1 Bad)\n")
    return train(config, folder / "first")


def go_on(
    task: type[TaskContract], folder: Path, data: str, vocabulary: dict[str, Any], **trainer: Any
) -> Model:
    """Trains on from the archive in `folder` by the learning rate 0: grown, but as it was."""
    path = folder / f"new{task.data.suffix}"
    path.write_text(data)
    config = task.config([]) | {"train_data_path": str(path), "validation_data_path": str(path)}
    config["model"] = {
        "type": "from_archive",
        "archive_file": str(folder / "first" / "model.tar.gz"),
    }
    config["trainer"] |= {"num_epochs": 1, "optimizer": {"type": "sgd", "lr": 0.0}} | trainer
    if vocabulary:
        config["vocabulary"] = {"directory": str(folder / "first" / "vocabulary"), **vocabulary}
    return train(config, folder / "second")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "vocabulary"),
    [*((task, "new data alone") for task in CHANGES), (Ner, "extended"), (Sst, "extended")],
)
def test_old_labels_keep_their_values_and_new_ones_are_named(
    task: type[TaskContract], vocabulary: str, tmp_path: Path
) -> None:
    old, new, growing = CHANGES[task]
    before = train_first(task, tmp_path)
    text = "(0 Awful)\n(1 Bad)\n" if task is Sst else task.data.read_text().replace(old, new)
    after = go_on(task, tmp_path, text, VOCABULARIES[vocabulary])
    grown = {
        name
        for name, parameter in before.named_parameters()
        if parameter.shape != after.get_parameter(name).shape and "text_field_embedder" not in name
    }
    assert {name.rsplit(".", 1)[0] for name in grown} == growing
    assert bool(growing) == ("of the archive grow" in (tmp_path / "second" / "out.log").read_text())
    for name, parameter in before.named_parameters():
        found = after.get_parameter(name)
        if name.endswith("_constraint_mask"):
            continue
        kept = parameter.shape
        if name == "antecedent_scorer.genre_embedding.weight":
            kept = (
                len(parameter) - 1,
                parameter.size(1),
            )  # without the unknown genre, which is the last one
            assert not found[-1].any() and found[-2].any()
        place = tuple(map(slice, kept))
        assert found[place].equal(parameter[place]), name
    again = load_archive(
        tmp_path / "second" / "model.tar.gz"
    ).model  # which reads the first one, too
    assert all(again.get_parameter(name).equal(value) for name, value in after.named_parameters())


@pytest.mark.slow
def test_a_new_type_of_entity_never_follows_an_illegal_tag(tmp_path: Path) -> None:
    train_first(Ner, tmp_path)
    model = go_on(Ner, tmp_path, "Mira B-PER\njoined O\nSolt B-ORG\nHill I-ORG\n. O\n", {}).eval()
    instances = list(
        DatasetReader.from_params(Params(Ner.config([])["dataset_reader"])).read(Ner.data)
    )
    seen = set()
    for seed in range(9):
        torch.manual_seed(seed)
        torch.nn.init.normal_(model.tag_projection.weight, std=20)
        for output in model.forward_on_instances(instances):
            assert are_legal(output["tags"], "BIOUL")
            seen.update(output["tags"])
    assert {"B-ORG", "L-ORG", "U-PER"} <= seen
    path = tmp_path / "second" / "model.tar.gz"
    assert load_predictor(path, trust=True).predict("Ada sings.")["words"] == ["Ada", "sings", "."]


REFUSED = {
    "tags": (Ner, "Ann B-NEW\n. O\n", "U-NEW is in the training data, but not in the vocabulary"),
    "roles": (
        Srl,
        "x 0 0 Dogs NNS * - - - - * (NEW*) -\nx 0 1 bark VBP * bark 01 - - * (V*) -\n",
        "B-NEW is in the training data, but not in the vocabulary: .* 'extend'",
    ),
    "labels": (
        Sst,
        "(0 Awful)\n",
        "a label of the training data, named in the warning above, .* very positive, negative: ",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_labels_missing_from_the_old_vocabulary_are_refused_in_training(
    case: str, tmp_path: Path
) -> None:
    task, text, message = REFUSED[case]
    train_first(task, tmp_path)
    with pytest.raises(ConfigurationError, match=message):
        go_on(task, tmp_path, text, {"type": "from_files"})


@pytest.mark.slow
def test_tags_of_another_encoding_are_refused(tmp_path: Path) -> None:
    train_first(Ner, tmp_path)
    config = Ner.config([])
    config["dataset_reader"]["tag_encoding"] = "BIO"

    class Bio(Ner):
        @classmethod
        def config(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return json.loads(json.dumps(config))

    with pytest.raises(
        ConfigurationError, match=r"expected tags in BIOUL, as .*, but B-NEW has no L-NEW"
    ):
        go_on(Bio, tmp_path, "Ann B-NEW\nLee I-NEW\n. O\n", {})


def test_instances_left_out_in_evaluation_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model, _ = Ner.model_and_batch(Ner.config([]))
    reader = DatasetReader.from_params(Params(Ner.config([])["dataset_reader"]))
    (tmp_path / "new.txt").write_text("Ann B-NEW\n. O\n\nLee B-NEW\nsat O\n")
    model.eval().forward_on_instances(list(reader.read(tmp_path / "new.txt")))
    assert caplog.messages[-1].startswith("U-NEW is not in the vocabulary: words with such a tag")
    model.get_metrics(reset=True)
    assert "U-NEW is not in the vocabulary: the loss leaves out 2 words" in caplog.messages


@pytest.mark.parametrize("task", [Sst, Snli])
@pytest.mark.parametrize("training", [False, True])
def test_a_gold_label_that_the_model_lacks_counts_as_wrong(
    task: type[TaskContract], training: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Also if nobody has called `eval()`: a prediction needs no gradients, a training does."""
    model, _ = task.model_and_batch(task.config([]))
    instances = task.instances(task.config([]))[:4]
    right = [output["label"] for output in model.eval().forward_on_instances(instances)]
    model.get_metrics(reset=True)
    for instance, label in zip(instances, right, strict=True):
        instance.fields["label"] = KnownLabelField(label)
    instances[0].fields["label"] = KnownLabelField("of another planet")
    for instance in instances:
        instance.indexed = False
    outputs = model.train(training).forward_on_instances(instances)
    assert [output["label"] for output in outputs][1:] == right[1:] or training
    if not training:
        assert model.get_metrics()["accuracy"] == 0.75
    assert sum("has no label 'of another planet'" in line for line in caplog.messages) <= 1


def test_a_tag_that_the_model_lacks_counts_as_wrong_before_eval(tmp_path: Path) -> None:
    model, _ = Ner.model_and_batch(Ner.config([]))
    reader = DatasetReader.from_params(Params(Ner.config([])["dataset_reader"]))
    (tmp_path / "new.txt").write_text("Ann B-NEW\n. O\n")
    outputs = model.train().forward_on_instances(list(reader.read(tmp_path / "new.txt")))
    assert len(outputs) == 1


def test_the_loss_of_labels_leaves_out_unknown_ones() -> None:
    model, _ = Sst.model_and_batch(Sst.config([]))
    assert isinstance(model, Classifier)
    logits = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
    unknown, second = torch.tensor([-100, -100]), torch.tensor([-100, 1])
    expected = torch.nn.functional.cross_entropy(logits[1:], second[1:])
    model.eval()
    assert torch.equal(model.decode(logits, second)["loss"], expected)
    assert model.decode(logits, unknown)["loss"] == 0
    with pytest.raises(ConfigurationError, match="a label of the training data"):
        model.train().decode(logits, second)
