"""A dry run of `elmo port` makes only what runs no code and fetches nothing, unless it is trusted."""

import json
import tempfile
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Registrable
from allennlp.common.checks import ConfigurationError
from allennlp.common.file_utils import CACHE_DIRECTORY

from elmo_plugin import archives, plugin  # noqa: F401 (register)
from elmo_plugin.bilm import BiLmError
from elmo_plugin.config_check import try_training
from tests.commands.run import run
from tests.forks import run_forked
from tests.hostile.test_corpus import Watch, spacy_cases, type_cases

READER = {"type": "sequence_tagging"}
MODEL = {
    "type": "simple_tagger",
    "text_field_embedder": {
        "token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 2}}
    },
    "encoder": {"type": "pass_through", "input_dim": 2},
}


def training(**changes: Any) -> dict[str, Any]:
    """Returns a configuration of which a dry run succeeds, with other values for some keys."""
    config = {
        "dataset_reader": READER,
        "train_data_path": "data.txt",
        "model": MODEL,
        "data_loader": {"batch_size": 2},
        "trainer": {"optimizer": "adam", "num_epochs": 1},
    }
    return deepcopy(config | changes)  # AllenNLP takes the keys out while it makes the objects


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    archives.import_all_plugins("the test")  # all types of AllenNLP, as the command does
    (tmp_path / "data.txt").write_text("a###N\tb###V\n")
    (tmp_path / "planted.py").write_text("import pathlib\npathlib.Path('ran').touch()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def dry_run(config: dict[str, Any], *options: str) -> None:
    Path("old.json").write_text(json.dumps(config))
    run("port", "old.json", "-o", "new.json", "--dry-run", *options)


PROGRAM = {"type": "subprocess.Popen", "args": ["touch", "ran"]}
REFUSED = {
    "a program for a reader": {"dataset_reader": PROGRAM},
    "a program for a validation reader": {"validation_dataset_reader": PROGRAM},
    "a program for a model": {"model": {**MODEL, "type": "subprocess.Popen"}},
    "a program for a part of a model": {"model": {**MODEL, "encoder": PROGRAM}},
    "a module": {"model": {**MODEL, "encoder": {"type": "planted.Encoder"}}},
    "a program for a loader": {"data_loader": PROGRAM},
    "a program for a trainer": {"trainer": PROGRAM},
    "a program for an optimizer": {"trainer": {"optimizer": PROGRAM}},
    "a program for a callback": {"trainer": {"optimizer": "adam", "callbacks": [PROGRAM]}},
    "a program for a vocabulary": {"vocabulary": PROGRAM},
    "a program for the training": {"type": "subprocess.Popen"},
    "another model": {"model": {**MODEL, "encoder": {"_pretrained": {"archive_file": "x"}}}},
    "a download of weights": {
        "model": {
            **MODEL,
            "text_field_embedder": {
                "token_embedders": {"tokens": {"type": "elmo", "bilm": "https://127.0.0.1/x"}}
            },
        }
    },
    "a download by default": {
        "model": {
            **MODEL,
            "text_field_embedder": {"token_embedders": {"tokens": "elmo_token_embedder"}},
        }
    },
    "a model of the hub": {
        "model": {
            **MODEL,
            "text_field_embedder": {
                "token_embedders": {"tokens": {"type": "elmo", "bilm": "user/model"}}
            },
        }
    },
    "a download of data": {"train_data_path": "https://127.0.0.1/x"},
    "a download of more data": {"validation_data_path": {"a": ["https://127.0.0.1/x"]}},
    "a download of a vocabulary": {
        "vocabulary": {"type": "from_files", "directory": "https://127.0.0.1/x"}
    },
    "a download of a vocabulary that grows": {
        "vocabulary": {"type": "extend", "directory": "https://127.0.0.1/x"}
    },
    "a download in a list": {"vocabulary": {"pretrained_files": ["https://127.0.0.1/x"]}},
    "an endless file": {"train_data_path": "/dev/zero"},
    "pickled weights": {
        "model": {
            **MODEL,
            "initializer": {
                "regexes": [[".*", {"type": "pretrained", "weights_file_path": "data.txt"}]]
            },
        }
    },
    "a cache to be written": {
        "model": {
            **MODEL,
            "text_field_embedder": {
                "token_embedders": {
                    "tokens": {"type": "elmo", "cache": {"type": "sqlite", "path": "cache"}}
                }
            },
        }
    },
    "a callback that logs in": {"trainer": {"optimizer": "adam", "callbacks": ["wandb"]}},
}


@pytest.mark.parametrize("changes", REFUSED.values(), ids=REFUSED)
def test_a_dry_run_refuses_what_is_not_data(changes: dict[str, Any], here: Path) -> None:
    with pytest.raises(BiLmError, match=r"^dry run: .*; use --trust if you trust this"):
        try_training(training(**changes), trust=False)
    assert not (here / "ran").exists()


def test_a_dry_run_makes_data_and_a_trusted_one_makes_anything(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dry_run(training(validation_data_path="data.txt"))
    assert "ran one batch" in capsys.readouterr().err
    reader = {"dataset_reader": {"type": "planted.Reader"}}
    with pytest.raises(ConfigurationError, match=r"planted\.Reader would be imported; use --trust"):
        dry_run(training(**reader))
    assert not (here / "ran").exists()
    with pytest.raises(ConfigurationError, match=r"^dry run: "):
        dry_run(training(**reader), "--trust")
    assert (here / "ran").exists()


@pytest.mark.parametrize("kind", ["from_files", "extend"])
def test_a_dry_run_reads_a_vocabulary_from_a_folder_of_this_machine(
    kind: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "words").mkdir()
    (here / "words" / "non_padded_namespaces.txt").write_text("*tags\n*labels\n")
    (here / "words" / "tokens.txt").write_text("@@UNKNOWN@@\na\nb\n")
    (here / "words" / "labels.txt").write_text("N\nV\n")
    try_training(training(vocabulary={"type": kind, "directory": "words"}), trust=False)


@pytest.mark.parametrize("changes", [{"type": []}, {"vocabulary": {"type": {}}}])
def test_a_type_that_is_no_text_is_not_registered(changes: dict[str, Any], here: Path) -> None:
    with pytest.raises(BiLmError, match=r"^dry run: (vocabulary\.)?type: .* is not registered"):
        try_training(training(**changes), trust=False)


OF_TRAININGS = {
    "Optimizer": "optimizer",
    "LearningRateScheduler": "learning_rate_scheduler",
    "MomentumScheduler": "momentum_scheduler",
    "MovingAverage": "moving_average",
    "Checkpointer": "checkpointer",
}


def training_cases() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields a configuration for each registered part of a trainer, with the values that it needs."""
    for base, types in list(Registrable._registry.items()):
        for name in types:
            trainer: dict[str, Any] = {"optimizer": "adam", "num_epochs": 1}
            if base.__name__ in OF_TRAININGS:
                trainer[OF_TRAININGS[base.__name__]] = name
            elif base.__name__ == "TrainerCallback":
                trainer["callbacks"] = [name]
            elif base.__name__ == "Trainer":
                trainer["type"] = name
            else:
                continue
            yield f"{base.__name__} {name}", {"trainer": trainer}
        if base.__name__ == "Vocabulary":
            for name in types:
                for arguments in ({"directory": "gone"}, {"model_name": "x"}, {}):
                    yield f"vocabulary {name}", {"vocabulary": {"type": name, **arguments}}


@pytest.mark.slow
def test_no_registered_type_starts_or_fetches_anything_in_a_dry_run(here: Path) -> None:
    cases = [*training_cases(), *list(type_cases([]))[::2], *list(spacy_cases())[::2]]

    def work() -> None:
        # AllenNLP makes the folder of its cache whenever it opens a file.
        cache = Path(CACHE_DIRECTORY)
        watch = Watch([here, Path(tempfile.gettempdir()), cache])
        wrong = []
        num_made = 0
        for case, changes in cases:
            found, error = watch.during(partial(try_training, training(**changes), trust=False))
            is_refused = error.startswith(("BiLmError", "ConfigurationError"))
            if found or not (error == "" or is_refused):
                wrong.append(f"{case}: {error[:200]} {found}")
            num_made += error == ""
        assert not wrong, f"{len(wrong)} of {len(cases)}: " + "\n".join(wrong[:40])
        assert num_made > 20  # so that the refusals are not all there is

    ended = run_forked(work, here, 600)
    assert ended.status == 0, ended.error[-6000:]
