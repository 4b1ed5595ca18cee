"""Fixtures that every test may use."""

import gc
import json
import multiprocessing
import os
import random
import sys
import threading
import zlib
from collections.abc import Iterator
from functools import cache, wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import settings
from torch import Tensor
from tqdm import tqdm

from elmo_plugin.bilm.io import sources
from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.common import workers
from elmo_plugin.common.formats.archives import AnyPath
from elmo_plugin.common.logs import close_log_files
from elmo_plugin.common.spacy_rules import SpacyRules
from tests.evaluated_json import evaluate_json
from tests.reference_recurrence import run_reference  # noqa: F401 (registers it)
from tests.small_bilm import small_options

# How long an example takes is not a test.
settings.register_profile("quick", deadline=None, max_examples=6)
settings.register_profile("slow", deadline=None, max_examples=25)
pytest.register_assert_rewrite("tests.tasks.contract")

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = REPOSITORY.parent / "shared"
SLOW_TEST_SECONDS = 900  # a test's limit where it is slow; that of the others is in setup.cfg
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)]
BILM_SENTENCES = [
    "the cat sat on the mat .",
    "a dog ran",
    "why did the cat run away ?",
    "dogs sat .",
    "the mat sat",
]


def at_most(examples: int) -> settings:
    """
    Returns the settings of a property of which each example takes long: not as many are tried as
    of others, and as few as of others unless slow tests run.
    """
    return settings(max_examples=min(examples, settings.default.max_examples))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow, too")


def pytest_configure(config: pytest.Config) -> None:
    """
    Tries fewer examples of each property unless slow tests run. Gives each of several workers a
    core.
    """
    settings.load_profile("slow" if config.getoption("--slow") else "quick")
    if hasattr(config, "workerinput"):
        torch.set_num_threads(1)
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # for the processes that tests start


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """
    Skips what needs a GPU where there is none, and slow tests or, where they run, their short
    forms. Gives slow tests longer than others, unless the command line says how long.
    """
    runs_slow = config.getoption("--slow")
    skipped = {}
    if not torch.cuda.is_available():
        skipped["cuda"] = "torch finds no GPU on this machine"
    if runs_slow:
        skipped["short"] = "its long form runs"
    else:
        skipped["slow"] = "give --slow to run it"
    for item in items:
        for marker, reason in skipped.items():
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=f"{marker}: {reason}"))
        if item.get_closest_marker("slow") and runs_slow and config.getoption("--timeout") is None:
            item.add_marker(pytest.mark.timeout(SLOW_TEST_SECONDS))


def pytest_collection() -> None:
    """Collects no garbage during imports, which make millions of objects and drop few."""
    gc.disable()


def pytest_collection_finish() -> None:
    """
    Spares collections of garbage the millions of objects that imports have made, and lets more of
    them come together before each: tests drop few that only a collection finds.
    """
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    gc.enable()


@pytest.fixture
def without_hardening(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Lets AllenNLP load any archive, also where other tests of this process have imported hardening.
    """
    monkeypatch.setattr("elmo_plugin.archives.check_config", lambda *_: None)


@pytest.fixture
def forked_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Makes the workers of `map_in_processes` copies of this process, which has imported everything:
    to start Python anew and import AllenNLP takes each of them seconds.
    """
    if not torch.cuda.is_available():  # a copy of a process that has used a GPU cannot use it
        monkeypatch.setattr(workers, "SPAWN", multiprocessing.get_context("fork"))


@pytest.fixture(
    params=[
        pytest.param("fork", marks=pytest.mark.short),
        pytest.param("spawn", marks=pytest.mark.slow),
    ]
)
def way_to_start_workers(request: pytest.FixtureRequest) -> None:
    """Lets workers start as copies of this process; or as they do for users, if slow tests run."""
    if request.param == "fork":
        request.getfixturevalue("forked_workers")


@pytest.fixture
def shared() -> Path:
    """The folder of real data and outside figures that lies beside the repository."""
    if not SHARED.is_dir():
        pytest.skip("needs the folder ../shared (real data and outside figures), which is not here")
    return SHARED


@pytest.fixture(autouse=True)
def log_files_end_with_their_test() -> Iterator[None]:
    """Closes the logs of trainings, so that no later test logs to them."""
    yield
    close_log_files()


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> None:
    """The objects that several tests share are the same, whichever test needs them first."""
    if fixturedef.scope != "function":
        set_seeds(f"{fixturedef.baseid}::{fixturedef.argname}")


@pytest.fixture(autouse=True)
def random_numbers_of_a_test(request: pytest.FixtureRequest) -> None:
    """
    Which tests have run before, in the same process, depends on how long those of others take: a
    test draws the same numbers after any others.
    """
    set_seeds(request.node.nodeid)


def set_seeds(name: str) -> None:
    """Sets the global seeds to a number that depends on a name."""
    seed = zlib.crc32(name.encode())
    random.seed(seed)
    np.random.seed(seed)
    torch.default_generator.manual_seed(seed)


@pytest.fixture(scope="session", autouse=True)
def cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests read and download is not left in the user's caches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ELMO_PLUGIN_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("ALLENNLP_CACHE_ROOT", str(tmp_path_factory.mktemp("allennlp")))
        yield


@pytest.fixture(scope="session", autouse=True)
def bytecode_for_new_processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """
    Lets processes that tests start share bytecode, also where the environment forbids to write it.
    """
    if not sys.dont_write_bytecode:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONDONTWRITEBYTECODE", "")
        patch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.getbasetemp() / "pycache"))
        yield


@pytest.fixture(scope="session", autouse=True)
def progress_bars_of_each_process() -> None:
    """
    A process that a test kills may hold the lock of tqdm's bars: forked processes must not share
    it.
    """
    tqdm.set_lock(threading.RLock())


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """
    On busy cores, threads wait longer for one another than these small tensors take to compute,
    here and in processes that tests start.
    """
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        yield


@pytest.fixture(scope="session", autouse=True)
def float32_is_float32() -> None:
    """cuDNN's convolutions would round factors to TF32 on a GPU; tests that want it ask for it."""
    torch.backends.cudnn.allow_tf32 = False


@pytest.fixture(scope="session", autouse=True)
def allennlp_is_searched_once() -> Iterator[None]:
    """
    Each `allennlp` command looks for all modules of AllenNLP, which this process has after the
    first.
    """
    plugins = sys.modules.get("allennlp.common.plugins")
    if plugins is None:  # no test that was collected needs AllenNLP
        yield
        return
    search, found = plugins.import_module_and_submodules, set()

    def search_once(package_name: str, exclude: set[str] | None = None) -> None:
        if package_name != "allennlp" or package_name not in found:
            search(package_name, exclude)
            found.add(package_name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plugins, "import_module_and_submodules", search_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def json_needs_no_jsonnet() -> Iterator[None]:
    """
    AllenNLP reads JSON as Jsonnet, which takes longer than much of what these tests do with it.
    Our own configurations, which are Jsonnet, are evaluated once.
    """
    params = sys.modules.get("allennlp.common.params")
    if params is None:  # no test that was collected needs AllenNLP
        yield
        return
    evaluate = params.evaluate_snippet

    def evaluate_snippet(name: str, text: str, ext_vars: dict[str, str]) -> str:
        try:
            return evaluate_json(text)  # in which there are neither variables nor other files
        except ValueError:
            return evaluate(name, text, ext_vars=ext_vars)

    @cache
    def evaluate_ours(name: str, path: Path, ext_vars: tuple[tuple[str, str], ...]) -> str:
        return evaluate_snippet(name, path.read_text(encoding="utf-8"), dict(ext_vars))

    def evaluate_file(name: str, ext_vars: dict[str, str]) -> str:
        path = Path(name).resolve()
        if path.is_relative_to(REPOSITORY):  # which no test changes
            return evaluate_ours(name, path, tuple(sorted(ext_vars.items())))
        return evaluate_snippet(name, path.read_text(encoding="utf-8"), ext_vars)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(params, "evaluate_snippet", evaluate_snippet)
        patch.setattr(params, "evaluate_file", evaluate_file)
        yield


@pytest.fixture(scope="session", autouse=True)
def spacys_rules_are_loaded_once() -> Iterator[None]:
    """
    Most readers and predictors load rules when they are made, and rules load for a fifth of a
    second.
    """
    load, loaded = SpacyRules._load, {}

    @wraps(load)
    def load_once(rules: SpacyRules) -> Any:
        if hasattr(rules, "_rules"):  # to forget the words that they have read
            return load(rules)
        kind = rules._language, rules._pipes
        loaded[kind] = loaded.get(kind) or load(rules)
        return loaded[kind]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SpacyRules, "_load", load_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def bundled_bilms_are_read_once() -> Iterator[None]:
    """Hundreds of tests load a biLM of the package, and most of that is reading its HDF5 file."""
    read = sources.read_weights
    found: dict[tuple[str, str], list[tuple[str, Tensor]]] = {}

    def read_once(path: str | AnyPath, options: BiLmOptions) -> Iterator[tuple[str, Tensor]]:
        if not str(path).startswith(str(REPOSITORY / "elmo_plugin" / "models")):
            yield from read(path, options)
            return
        key = (str(path), repr(options))
        if key not in found:
            found[key] = list(read(path, options))
        for name, tensor in found[key]:
            yield name, tensor.clone()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "read_weights", read_once)
        yield


@pytest.fixture
def bilm_config(tmp_path: Path) -> dict[str, Any]:
    return small_bilm_config(tmp_path)


def small_bilm_config(folder: Path) -> dict[str, Any]:
    """
    `training_config/bilm_tiny.jsonnet` with small sizes, for a few steps of a plain optimizer.
    """
    import _jsonnet  # here: a machine with a GPU may have torch alone

    import elmo_plugin.register  # noqa: F401 (what the configuration names)

    text = folder / "text.txt"
    text.write_text("\n".join(BILM_SENTENCES * 4) + "\n")
    paths = dict.fromkeys(("BILM_TRAIN_DATA_PATH", "BILM_VALIDATION_DATA_PATH"), str(text))
    file = REPOSITORY / "training_config" / "bilm_tiny.jsonnet"
    config = json.loads(_jsonnet.evaluate_file(str(file), ext_vars=paths))
    config["vocabulary"] = {"max_vocab_size": {"words": 10}}
    for loader in ("data_loader", "validation_data_loader"):
        config[loader] |= {"batch_size": 3, "unroll_steps": 4, "num_workers": 0}
    config["validation_data_loader"]["unroll_steps"] = (
        20  # of which nothing that is measured depends
    )
    config["model"] |= {"options": small_options(), "num_negatives": 3}
    config["trainer"] |= {"num_epochs": 2, "optimizer": {"type": "adam", "lr": 0.01}}
    config["trainer"] |= {"learning_rate_scheduler": None, "enable_default_callbacks": False}
    return config
