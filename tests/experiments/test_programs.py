"""The programs of experiments: parts of data, texts of a task, vectors of words, and means of
weights.
"""

import ast
import json
import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import LabelField, MetadataField

from elmo_plugin.bilm import BiLm
from elmo_plugin.bilm.io.training_archive import read_archive
from elmo_plugin.sweeps import trainings
from elmo_plugin.sweeps.scores import Metric
from tests.conftest import REPOSITORY
from tests.experiments.configs import BILM
from tests.experiments.programs import experiment_module
from tests.trained_bilm import random_bilm, write_training
from tests.trained_tagger import tagger_config

PROGRAMS = sorted(
    str(path.relative_to(REPOSITORY))
    for folder in ("benchmarks", "experiments")
    for path in (REPOSITORY / folder).rglob("*.py")
)


@pytest.mark.parametrize("file", PROGRAMS)
def test_the_commands_in_the_docstring_of_a_program_are_whole(file: str) -> None:
    tree = ast.parse((REPOSITORY / file).read_text())
    docstring = ast.get_docstring(tree, clean=False) or ""
    docstring = re.sub(r"\\\n\s*", "", docstring)  # a backslash continues a line
    for command in re.findall(r"^    \S.*", docstring, re.MULTILINE):
        words = [word for word in shlex.split(command) if not re.fullmatch(r"[A-Z]+=\w+", word)]
        assert words[0] in ("npm", "pip", "python", "uv"), command
        assert not {"pip", "python"} <= set(words), command
        assert all(word == word.strip() for word in words), command


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return experiment_module("sample_efficiency", monkeypatch)


class Numbers(DatasetReader):
    """Reads the numbers below 100; every tenth has the label "rare" if there are labels."""

    def __init__(self, has_labels: bool = True) -> None:
        super().__init__()
        self.has_labels = has_labels

    def _read(self, file_path: str) -> Iterable[Instance]:
        return map(self.text_to_instance, range(100))

    def text_to_instance(self, number: int) -> Instance:
        fields = {"number": MetadataField(number)}
        if self.has_labels:
            fields["label"] = LabelField("common" if number % 10 else "rare")
        return Instance(fields)


def part(program: ModuleType, fraction: float, seed: int = 1, has_labels: bool = True) -> list[int]:
    torch.manual_seed(seed)
    reader = program.FractionReader(Numbers(has_labels), fraction)
    return [instance["number"].metadata for instance in reader.read("anywhere")]


@pytest.mark.parametrize("has_labels", [True, False])
def test_smaller_parts_are_contained_in_larger_ones_and_depend_on_the_seed(
    program: ModuleType, has_labels: bool
) -> None:
    parts = [part(program, fraction, 1, has_labels) for fraction in (0.01, 0.1, 0.34, 0.5, 1)]
    for smaller, larger in pairwise(parts):
        assert set(smaller) <= set(larger) and smaller == sorted(smaller)
    assert parts[-1] == list(range(100))
    assert part(program, 0.3, seed=1) == part(program, 0.3, seed=1) != part(program, 0.3, seed=2)


def test_each_label_keeps_its_share_in_a_part(program: ModuleType) -> None:
    assert Counter(number % 10 == 0 for number in part(program, 0.3)) == {False: 27, True: 3}
    assert Counter(number % 10 == 0 for number in part(program, 0.01)) == {False: 1, True: 1}
    with pytest.raises(
        ConfigurationError, match=r"fraction: expected a number in \(0, 1\], got 1.1"
    ):
        part(program, 1.1)


def test_the_first_epoch_that_reaches_a_score_is_found(program: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "updates.json").write_text("[7, 14, 21]")
    for epoch, accuracy in enumerate([0.2, 0.5, 0.4]):
        metrics = {"validation_accuracy": accuracy, "validation_loss": 1 - epoch / 4}
        (tmp_path / f"metrics_epoch_{epoch}.json").write_text(json.dumps(metrics))
    assert program.updates_to_reach(tmp_path, 40, Metric("accuracy", True)) == 14
    assert program.updates_to_reach(tmp_path, 60, Metric("accuracy", True)) is None
    assert program.updates_to_reach(tmp_path, 0.5, Metric("loss", False)) == 21


@pytest.mark.slow
def test_a_study_trains_each_configuration_on_each_part(
    program: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("small", 4), ("large", 5)):
        config = tagger_config(BILM, ["input"])
        config["model"]["contextual_encoder"]["encoder"]["hidden_sizes"] = [size]
        config["trainer"] |= {"num_epochs": 2, "validation_metric": "+f1-measure-overall"}
        (tmp_path / f"{name}.json").write_text(json.dumps(config))
    runs, scores = tmp_path / "runs", tmp_path / "scores.json"
    arguments = [tmp_path / "small.json", tmp_path / "large.json", "-s", runs, "--seeds", 1]
    arguments += ["--fractions", 0.5, 1, "--json", scores]
    monkeypatch.setattr(sys, "argv", ["experiments/sample_efficiency.py", *map(str, arguments)])
    program.main()
    results = json.loads(scores.read_text())
    assert set(results) == {
        f"{name}@{fraction}" for name in ("small", "large") for fraction in ("0.5", "1")
    }
    assert all(result["command"] == f"python {' '.join(sys.argv)}" for result in results.values())
    reach = results["small@1"]["reaches"]["large"]
    assert reach["score"] == max(results[f"large@{part}"]["scores"][0] for part in ("0.5", "1"))
    half, whole = (
        json.loads((runs / f"small@{part}/1/updates.json").read_text()) for part in ("0.5", "1")
    )
    assert len(whole) == 2 and whole[1] == 2 * whole[0] > half[1]


SUBJECTS, VERBS = (
    ("cat", "dog", "bird", "man", "woman", "child"),
    ("sat", "ran", "slept", "ate", "left", "sang"),
)
SENTENCES = [["the", subject, verb, "."] for subject in SUBJECTS for verb in VERBS]
DEV = [["the", "cat", "sat", "and", "ran", "."], ["dogs", "sat"]]


@pytest.fixture
def finetune(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return experiment_module("finetune", monkeypatch)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The same sentences in the layouts of both tasks, some more than once."""
    folder = tmp_path / "data"
    folder.mkdir()
    for part, sentences in (("train", [*SENTENCES, SENTENCES[3]]), ("dev", [SENTENCES[0], *DEV])):
        columns = ("".join(f"{word} _ _ O\n" for word in sentence) for sentence in sentences)
        (folder / f"{part}.txt").write_text("\n".join(columns))
        pairs = ({"sentence1": " ".join(s), "sentence2": "The cat sat ."} for s in sentences)
        (folder / f"{part}.jsonl").write_text("".join(f"{json.dumps(pair)}\n" for pair in pairs))
    return folder


def lines(sentences: list[list[str]]) -> list[str]:
    return [" ".join(sentence) for sentence in sentences]


def test_a_text_contains_each_sentence_once_and_dev_none_of_train(
    finetune: ModuleType, data: Path, tmp_path: Path
) -> None:
    ner = finetune.write_texts(finetune.ner_sentences(str(data)), tmp_path / "ner")
    assert ner["train"].read_text().splitlines() == lines(SENTENCES)
    assert ner["dev"].read_text().splitlines() == lines(DEV)
    nli = finetune.write_texts(finetune.nli_sentences(str(data)), tmp_path / "nli")
    first, *rest = lines(SENTENCES)
    assert nli["train"].read_text().splitlines() == [first, "The cat sat .", *rest]
    assert nli["dev"].read_text().splitlines() == lines(DEV)


TEXT = "the judge ordered a trial .\nthe court ordered a trial .\nit rained today .\n" * 40


@pytest.mark.slow
def test_the_bilm_learns_the_text_once_and_the_task_gets_both(
    finetune: ModuleType, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = str(write_training(tmp_path / "source", random_bilm()))
    given = []

    def scores_of_seeds(data: str, bilm: str, seeds: list[int], runs: Path) -> list[float]:
        given.append(bilm)
        return [10.0 * seed for seed in seeds]

    monkeypatch.setattr(finetune, "scores_of_seeds", scores_of_seeds)
    arguments = ["--ner", data, "--nli", data, "--bilm", archive, "--seeds", 1, 2]
    arguments += ["--json", tmp_path / "out.json", "--runs", tmp_path / "runs"]
    monkeypatch.setattr(sys, "argv", ["experiments/finetune.py", *map(str, arguments)])
    finetune.main()
    results = json.loads((tmp_path / "out.json").read_text())
    assert results["command"] == f"python {' '.join(sys.argv)}"
    for task in ("ner", "nli"):
        before, after = results[task]["text"]["before"], results[task]["text"]["after"]
        assert after["perplexity"] < before["perplexity"]
        counts = [name for name in after if "perplexity" not in name]
        assert [after[name] for name in counts] == [before[name] for name in counts]
    scores = {"mean": 15, "scores": [10, 20]}
    assert results["ner"]["f1"] == {"before": scores, "after": scores}
    assert given == [archive, str(tmp_path / "runs" / "ner" / "bilm")]
    assert BiLm.from_pretrained(given[1]).output_dim == BiLm.from_pretrained(archive).output_dim

    monkeypatch.setattr(trainings, "train_model", None)
    finetune.main()
    assert json.loads((tmp_path / "out.json").read_text()) == results


@pytest.fixture
def text(tmp_path: Path) -> str:
    (tmp_path / "text.txt").write_text(TEXT)
    return str(tmp_path / "text.txt")


def test_words_in_the_same_contexts_get_similar_vectors(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = pytest.importorskip("gensim.models")
    train = experiment_module("static_vectors", monkeypatch).train
    for name in ("one.txt", "two.txt"):
        train([text, text], tmp_path / name, dim=8, epochs=30, min_count=3, seed=1)
    vectors = models.KeyedVectors.load_word2vec_format(tmp_path / "one.txt")
    assert vectors.similarity("judge", "court") > vectors.similarity("judge", "rained")
    assert (tmp_path / "one.txt").read_bytes() == (tmp_path / "two.txt").read_bytes()


def test_each_weight_is_the_mean_over_the_archives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archives = []
    for factor in (1.0, 2.0, 6.0):
        bilm = random_bilm()
        for tensor in bilm.state_dict().values():
            tensor.mul_(factor)
        archives.append(write_training(tmp_path / str(factor), bilm))
    experiment_module("average", monkeypatch).average(archives, tmp_path / "mean.tar.gz")
    options, weights, softmax = read_archive(tmp_path / "mean.tar.gz")
    bilm = random_bilm()
    assert options == bilm.options
    for name, tensor in bilm.state_dict().items():
        torch.testing.assert_close(weights[name], 3 * tensor)
    expected = read_archive(archives[0]).softmax
    assert softmax is not None and expected is not None and softmax.words == expected.words
    assert torch.equal(softmax.weight, expected.weight) and torch.equal(softmax.bias, expected.bias)
