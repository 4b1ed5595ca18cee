"""`elmo new` writes projects whose documented lines run, wherever they are."""

import json
import re
import shlex
from itertools import chain
from pathlib import Path

import pytest
from allennlp.commands import main as allennlp
from allennlp.common import Params
from allennlp.common.tqdm import Tqdm

from elmo_plugin.commands.main import main
from elmo_plugin.commands.new import LIBRARY, PROJECT_TASKS, new_project
from elmo_plugin.common.parts import find_parts
from tests.conftest import REPOSITORY
from tests.small_bilm import loud_bilm, write_pair

TASKS = [task for task in PROJECT_TASKS if task != "bilm"]


@pytest.fixture(params=TASKS)
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    main(["new", request.param, str(tmp_path / "project")])
    return tmp_path / "project"


def commands(project: Path) -> list[list[str]]:
    lines = (project / "README.md").read_text(encoding="utf-8").splitlines()
    return [shlex.split(line) for line in lines if re.match("    (allennlp|elmo) ", line)]


def test_a_project_contains_what_its_readme_names_and_imports_nothing_from_outside(
    project: Path,
) -> None:
    train, evaluate, predict, show = commands(project)
    config = Params.from_file(project / train[2]).as_dict(quiet=True)
    assert config["model"]["contextual_encoder"]["elmo"]["input"]
    data = [config["train_data_path"], config["validation_data_path"], evaluate[3]]
    assert "bilm='base'" in (project / train[2]).read_text(encoding="utf-8"), (
        "in the place of --bilm"
    )
    assert len(set(data)) == 3 and all((project / file).is_file() for file in [*data, predict[3]])
    library = {file.name: file.read_bytes() for file in (project / "lib").iterdir()}
    assert library == {name: (LIBRARY / name).read_bytes() for name in library}
    assert {"elmo.libsonnet", "words.libsonnet"} < library.keys() and show[:2] == [
        "elmo",
        "predict",
    ]
    assert (project / ".allennlp_plugins").read_text() == "elmo_plugin.quiet\n" + (
        REPOSITORY / ".allennlp_plugins"
    ).read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("project", ["classify"], indirect=True)
def test_the_commands_of_a_projects_readme_train_evaluate_and_predict(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setattr(Tqdm, "tqdm", Tqdm.tqdm)  # which quiet replaces
    train, evaluate, predict, show = commands(project)
    less = [
        "-o",
        json.dumps({"trainer.num_epochs": 1, "model.contextual_encoder.elmo.bilm": "tiny"}),
    ]
    for arguments in ([*train, *less], evaluate, [*predict, "--output-file", "predictions.jsonl"]):
        monkeypatch.setattr("sys.argv", arguments)
        allennlp()
        if arguments[:2] == train[:2]:
            *_, epoch, best = capsys.readouterr().out.splitlines()  # first, what the readers found
            assert epoch.startswith("epoch 1 of 1: training loss ")
            assert best.startswith("best epoch 1: ")
    names = ("inputs.jsonl", "predictions.jsonl")
    inputs, predictions = (Path(name).read_text().splitlines() for name in names)
    assert len(predictions) == len(inputs) and all(map(json.loads, predictions))
    main(show[1:])
    assert capsys.readouterr().out


def test_an_existing_folder_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(SystemExit, match=rf"^elmo new: {tmp_path} already exists"):
        main(["new", "ner", str(tmp_path)])
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("names", "found", "are_named"),
    [
        ("train.csv dev.csv test.csv", "train.csv dev.csv test.csv", False),
        ("x-ud-train.conllu x-ud-dev.conllu README.md", "x-ud-train.conllu x-ud-dev.conllu", False),
        ("wnut17train.conll emerging.dev.conll emerging.test.annotated", None, False),
        ("eng.train eng.testa eng.testb", None, False),
        ("Train.txt Valid.txt .train.swp", "Train.txt Valid.txt", False),
        ("train.csv notes.txt", "train.csv", False),
        ("a.csv b.csv", None, True),
        ("dev.csv test.csv train.csv", "train.csv dev.csv test.csv", True),
        ("all.csv", "all.csv", True),
    ],
)
def test_data_files_are_recognized_by_name_or_by_order(
    tmp_path: Path, names: str, found: str | None, are_named: bool
) -> None:
    paths = [tmp_path / name for name in names.split()]
    for path in paths:
        path.touch()
    files = find_parts(paths if are_named else [tmp_path])
    assert [files[role].name for role in ("train", "dev", "test") if role in files] == (
        found or names
    ).split()
    assert all(file.is_absolute() for file in files.values())


@pytest.mark.parametrize(
    ("names", "arguments", "message"),
    [
        ("", ["."], "expected a file called train…, got nothing"),
        ("a.csv b.csv", ["."], "expected a file called train…, got a.csv, b.csv"),
        (
            "train.csv train.tsv",
            ["."],
            "expected one train file, got train.csv, train.tsv; name them",
        ),
        ("train.csv", ["train.csv", "dev.csv"], r"file not found: .*dev\.csv"),
        (
            "dev.csv mine.csv",
            ["dev.csv", "mine.csv"],
            "--data: expected one dev file, got dev.csv, mine.csv; rename one",
        ),
    ],
)
def test_files_whose_use_is_unclear_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: str, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in names.split():
        Path(name).touch()
    with pytest.raises(SystemExit, match=message):
        main(["new", "classify", "project", "--data", *arguments])
    assert not Path("project").exists()


def test_a_project_contains_the_users_data_in_the_tasks_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = 'it\'s "mine", größe 100 % $x'
    Path(folder).mkdir()
    Path(folder, "train.txt").write_text("Ada\tB-PER\nsleeps\tO\n.\tO\n")
    Path(folder, "dev.txt").write_text("Ada\tB-PER\n")
    main(["new", "ner", "project", "--data", folder])
    config = Params.from_file("project/config.jsonnet").as_dict(quiet=True)
    assert config["train_data_path"] == "data/train.txt"
    assert config["validation_data_path"] == "data/dev.txt"
    assert Path("project/data/train.txt").read_text() == "Ada\tB-PER\nsleeps\tO\n.\tO\n\n"
    assert not Path("project/data/test.txt").exists()
    said = capsys.readouterr().out
    assert f"{folder}/train.txt: the words are in column '0'" in said
    assert "train: 1 sentences; entities: PER (1)" in said


def test_unreadable_data_leave_no_project_behind(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text("nothing\n")
    with pytest.raises(SystemExit, match=r"^elmo new: .*train\.jsonl, line 1: "):
        main(["new", "snli", str(tmp_path / "project"), "--data", str(tmp_path / "train.jsonl")])
    assert [file.name for file in tmp_path.iterdir()] == ["train.jsonl"]


@pytest.mark.slow
def test_a_project_uses_the_bilm_that_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    write_pair(loud_bilm(), Path("mine"))
    for name, bilm in {"named": "tiny", "own": "mine"}.items():
        main(["new", "ner", name, "--bilm", bilm])
        elmo = Params.from_file(f"{name}/config.jsonnet")["model"]["contextual_encoder"]["elmo"]
        assert elmo["bilm"] == (bilm if name == "named" else str(tmp_path / bilm))


@pytest.mark.slow
def test_a_project_cuts_words_at_its_bilms_maximum_length(tmp_path: Path) -> None:
    write_pair(loud_bilm(char_cnn={"max_characters_per_token": 30}), tmp_path)
    main(["new", "tag", str(tmp_path / "project"), "--bilm", str(tmp_path)])
    config = Params.from_file(tmp_path / "project/config.jsonnet")
    assert config["dataset_reader"]["token_indexers"]["elmo"]["max_characters_per_token"] == 30


@pytest.mark.parametrize(
    ("task", "bilm", "message"),
    [
        ("tag", "bsae", "biLM not found: bsae .*; did you mean 'base'"),
        ("bilm", "base", "are for the other tasks; bilm.initialized_from"),
    ],
)
def test_an_unusable_bilm_is_refused(task: str, bilm: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=message):
        main(["new", task, str(tmp_path / "project"), "--bilm", bilm])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_commands_of_a_bilm_projects_readme_train_measure_export_and_embed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["new", "bilm", "project"])
    monkeypatch.chdir("project")
    monkeypatch.setattr(Tqdm, "tqdm", Tqdm.tqdm)  # which quiet replaces
    train, *rest = commands(Path())
    monkeypatch.setattr("sys.argv", train)
    allennlp()
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("epoch ")]
    assert [line.split(":")[0] for line in lines] == [
        f"epoch {number} of 3" for number in (1, 2, 3)
    ]
    for arguments in rest:
        main(arguments[1:])
    assert Path("exported/weights.hdf5").is_file() and Path("vectors.hdf5").is_file()


@pytest.mark.slow
def test_the_text_of_a_bilm_is_split_into_parts_and_its_size_chooses_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"line {number} : cafe\u0301 .\n" for number in range(40_000)]
    Path("mine.txt").write_text("".join(lines), encoding="utf-8")
    main(["new", "bilm", "project", "--data", "mine.txt"])
    config = Params.from_file("project/config.jsonnet").as_dict(quiet=True)
    assert config["model"]["options"]["lstm"]["projection_dim"] == 64
    assert config["vocabulary"] == {"min_count": {"words": 5}, "max_vocab_size": {"words": 5000}}
    assert (config["model"]["num_negatives"], config["data_loader"]["batch_size"]) == (None, 64)
    files = [Path(f"project/data/{role}.txt") for role in ("train", "dev", "test")]
    texts = [file.read_text("utf-8").splitlines() for file in files]
    assert sorted(chain(*texts)) == sorted(line.strip().replace("e\u0301", "é") for line in lines)
    assert all(len(text) == 2_000 for text in texts[1:])
    assert "size mini, 6 epochs, the full softmax" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("lines", "is_wrapped"),
    [
        (["We left the town. Rain", "fell on the road, and", "we came home late. Then"], True),
        (["We left the town .", "Dr. Ames saw Mr. Bell .", "Rain fell on the road ."], False),
        (["We left the town. Rain fell.", "Then we came home. It was late!"], False),
        (["Rain on the road", "Late home from town", "Mr. Bell speaks again"] * 2, False),
        (["we left the town", "rain fell on the road", "then we came home late"], False),
    ],
)
def test_a_text_whose_lines_end_within_sentences_is_reported(
    lines: list[str],
    is_wrapped: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for role in ("train", "dev"):
        Path(f"{role}.txt").write_text("\n".join([*lines, ""] * 10))
    main(["new", "bilm", "project", "--data", "train.txt", "dev.txt"])
    assert ("end in the middle of a sentence" in capsys.readouterr().out) == is_wrapped


def test_dev_text_that_is_in_the_training_text_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.txt").write_text("".join(f"line {n} .\n" for n in range(20)))
    (tmp_path / "dev.txt").write_text("line 1 .\nline 2 .\nline 2 .\nother .\n")
    main(["new", "bilm", str(tmp_path / "project"), "--data", str(tmp_path)])
    assert "3 sentences of dev.txt are also in train.txt" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--language", "tr"],
            "the options that say how data are read are for --data, which is missing",
        ),
        (
            ["--data", "train.txt", "dev.txt", "more.txt"],
            "expected only files called train.*, got more.txt",
        ),
    ],
)
def test_options_and_files_that_a_bilm_project_cannot_use_are_refused(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("train", "dev", "more"):
        Path(f"{name}.txt").write_text("one line .\n" * 9)
    with pytest.raises(SystemExit, match=message):
        main(["new", "bilm", "project", *arguments])
    assert not Path("project").exists()


def test_sentence_ends_are_in_the_vocabulary_even_of_few_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("train", "dev"):
        Path(f"{name}.txt").write_text("a rose is a rose is a rose is a rose\n" * 4)
    main(["new", "bilm", "project", "--data", "train.txt", "dev.txt"])
    config = Params.from_file("project/config.jsonnet").as_dict(quiet=True)
    assert config["vocabulary"]["min_count"] == {"words": 4}


def test_raw_text_is_split_by_the_rules_of_its_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for role in ("train", "dev"):
        Path(f"{role}.txt").write_text(
            "A Ana (de Faro) chegou. Disse «bom dia».\n" * 200, encoding="utf-8"
        )
    main(["new", "bilm", "raw", "--data", "."])
    assert "split raw text with --language CODE" in capsys.readouterr().out
    main(["new", "bilm", "project", "--data", ".", "--language", "pt"])
    assert not Path("project/data/test.txt").exists()
    readme = Path("project/README.md").read_text("utf-8")
    assert "perplexity run/model.tar.gz data/dev.txt" in readme and "test.txt" not in readme
    first, second, *_ = Path("project/data/dev.txt").read_text("utf-8").splitlines()
    assert (first, second) == ("A Ana ( de Faro ) chegou .", 'Disse " bom dia " .')


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("one line .\n" * 190, [], "mine.txt: expected at least 191 sentences to train"),
        ("a </S> b\n" * 200, [], "mine.txt, line 1: the sentence contains </S>"),
        (
            "one line .\n",
            ["--split", "0.1"],
            "the options of `elmo import` are for the other tasks",
        ),
        ("".join(f"圆周率约{n}\n" for n in range(200)), [], "none of 180 words .* --language CODE"),
    ],
)
def test_unsuitable_text_for_a_bilm_leaves_no_project_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.txt").write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit, match=message):
        main(["new", "bilm", "project", "--data", "mine.txt", *arguments])
    assert not Path("project").exists()


@pytest.mark.parametrize(
    "task",
    [
        "ner",
        "sst",
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in ("tag", "coref", "srl", "squad", "snli", "classify")
        ),
    ],
)
def test_a_project_in_another_language_learns_its_words(task: str, tmp_path: Path) -> None:
    new_project(task, tmp_path / "project", is_english=False)
    config = Params.from_file(tmp_path / "project/config.jsonnet").as_dict(quiet=True)
    readers = json.dumps(config["dataset_reader"]["token_indexers"]["tokens"])
    assert "word_vectors" not in readers and "single_id" in readers
    readme = (tmp_path / "project/README.md").read_text("utf-8")
    assert "The biLM `base` is English" in readme and "elmo new bilm" in readme


def test_data_in_another_language_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(
        "text,label\n"
        "Der Zug kam heute wieder viel zu spät an.,schlecht\n"
        "Die Karten waren schnell und ohne Mühe gekauft.,gut\n"
        "Am Schalter stand niemand und alles blieb geschlossen.,schlecht\n"
        "Im Wagen gab es genug Platz für unser Gepäck.,gut\n",
        encoding="utf-8",
    )
    main(["new", "classify", "project", "--data", "a.csv", "a.csv"])
    assert "in another language than English" in capsys.readouterr().out
    assert "words.learned(100)" in Path("project/config.jsonnet").read_text("utf-8")
    main(["new", "classify", "english", "--data", "a.csv", "a.csv", "--language", "en"])
    assert "another language" not in capsys.readouterr().out
    assert "words.bundled()" in Path("english/config.jsonnet").read_text("utf-8")


def test_the_tutorial_is_a_notebook_in_a_new_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "my tutorial"
    main(["new", "tutorial", str(folder)])
    assert f"jupyter lab '{folder}/tutorial.ipynb'" in capsys.readouterr().out
    assert json.loads((folder / "tutorial.ipynb").read_text(encoding="utf-8"))["cells"]
    with pytest.raises(SystemExit):
        main(["new", "tutorial", str(folder)])
    assert "already exists" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["new", "tutorial", str(tmp_path / "other"), "--data", str(folder / "tutorial.ipynb")])
    assert "brings its own sentences" in capsys.readouterr().err
