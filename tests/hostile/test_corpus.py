"""
Archives that name files, addresses, models and packages in every argument of every registered type:
nothing is opened outside, connected to, started or imported. The cases are made from AllenNLP's
registry.
"""

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params, Registrable
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_plugin import archives, plugin  # noqa: F401 (registers)
from elmo_plugin.archives import load_archive, safe_default_predictor
from elmo_plugin.commands.main import main
from elmo_plugin.common.bundled import trained_models
from elmo_plugin.common.nested_values import values_in
from elmo_plugin.config_check import PASSED_BY_ALLENNLP
from elmo_plugin.config_check.classes import Constructor
from tests.forks import run_forked

_STARTS = {
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "os.forkpty",
    "os.spawn",
    "subprocess.Popen",
}
_CONNECTS = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}
_WRITES = {"os.mkdir", "os.rename", "os.symlink", "os.link"}
_INSTALLED = [
    sys.prefix,
    sys.base_prefix,
    sys.pycache_prefix or sys.prefix,
    str(Path(__file__).parents[2] / "elmo_plugin"),
    "/proc",
    "/dev",
]


class Watch:
    """
    Calls `found` for each audit event of this process that an archive must not cause, from now on;
    files below `folders`, of Python, and of what is installed may be opened.
    """

    def __init__(self, folders: list[Path]) -> None:
        self.found: list[str] = []
        self._inside = tuple(
            f"{os.path.realpath(each)}{os.sep}" for each in [*folders, *_INSTALLED]
        )
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in _STARTS | _CONNECTS:
            self.found.append(f"{event} {arguments!r:.200}")
        elif event == "open" or event in _WRITES:
            path = arguments[0]
            if isinstance(path, bytes | str | os.PathLike):
                whole = os.path.realpath(os.fsdecode(path))
                if not f"{whole}{os.sep}".startswith(self._inside):
                    self.found.append(f"{event} {whole}")

    def during(self, work: Callable[[], object]) -> tuple[list[str], str]:
        """Does the work; returns what was noted, and its error."""
        self.found = []
        error = ""
        try:
            work()
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
        except SystemExit as raised:
            error = f"SystemExit: {raised}"
        return self.found, error


Case = tuple[str, dict[str, Any]]
PACKAGES = ("planted", "en_core_web_sm", "allennlp_models", "allennlp_semparse", "allennlp_server")
CODE = (
    "from pathlib import Path\nPath(__file__).with_name('ran').touch()\ndef load(**_): "
    "pass\nclass X: pass\n"
)
MODEL = {
    "text_field_embedder": {
        "token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 2}}
    }
}
TAGGER = {"type": "simple_tagger", **MODEL, "encoder": {"type": "pass_through", "input_dim": 2}}
PARTS = {
    "TextFieldEmbedder": MODEL["text_field_embedder"],
    "Seq2SeqEncoder": {"type": "pass_through", "input_dim": 2},
    "Seq2VecEncoder": {"type": "boe", "embedding_dim": 2},
    "FeedForward": {"input_dim": 2, "num_layers": 1, "hidden_dims": 2, "activations": "relu"},
    "Embedding": {"embedding_dim": 2, "num_embeddings": 3},
    "ContextualEncoder": {**MODEL, "encoder": {"type": "pass_through", "input_dim": 2}},
    "Tokenizer": "whitespace",
    "DatasetReader": {"type": "sequence_tagging"},
}
READER = {"type": "text_classification_json"}


def hold(base: Any, parent: Any) -> str:
    """Registers a class of a user that takes one part of any type of `base`; returns its name."""
    name = f"holds_{base.__module__}_{base.__name__}".replace(".", "_")

    def init(self: Any, vocab: Any = None, part: Any = None, **options: Any) -> None:
        super(cls, self).__init__(*([vocab] if parent is Model else []))
        self.weight = torch.nn.Parameter(torch.zeros(1))

    init.__annotations__ = {"part": base}
    cls: Any = type(name, (parent,), {"__init__": init, "__module__": "users_own"})
    parent.register(name, exist_ok=True)(cls)
    return name


def filler(annotation: Any) -> Any:
    """Returns a value for an argument without a default."""
    for name, part in PARTS.items():
        if f"{name}'" in str(annotation) or str(annotation).endswith(f"{name}]"):
            return part
    for kind, value in ((bool, True), (int, 2), (float, 0.5), (list, []), (dict, {})):
        if kind.__name__ in str(annotation).lower():
            return value
    return "x"


def type_cases(values: list[Any]) -> Iterator[Case]:
    """Each registered type, with its defaults, and with each of its arguments set to each value."""
    for base, types in list(Registrable._registry.items()):
        parent = (
            DatasetReader
            if base.__name__ in ("Tokenizer", "TokenIndexer", "SentenceSplitter")
            else Model
        )
        role = "model" if parent is Model else "dataset_reader"
        holder = hold(base, parent)
        for name in [each for each in types if not each.startswith("holds_")]:
            options = Constructor(*types[name]).options()
            needed = {
                option.name: filler(option.annotation)
                for option in options.values()
                if option.default is inspect.Parameter.empty
                and option.kind not in (option.VAR_KEYWORD, option.VAR_POSITIONAL)
                and option.name not in PASSED_BY_ALLENNLP
            }
            parts = [("with what it needs", {"type": name, **needed})]
            parts += [("as it is", {"type": name})] if values and needed else []
            parts += [
                (f"{option}={value!r:.40}", {"type": name, **needed, option: value})
                for option in options
                for value in values
            ]
            for what, part in parts:
                yield f"{base.__name__} {name}, {what}", {role: {"type": holder, "part": part}}
                if base in (Model, DatasetReader):
                    yield (
                        f"{role} {name}, {what}",
                        {"model" if base is Model else "dataset_reader": part},
                    )


def spacy_cases() -> Iterator[Case]:
    """What makes AllenNLP load, or install, a model of spaCy, spelled or by default."""
    for tokenizer in (
        "spacy",
        {},
        None,
        {"pos_tags": True},
        {"language": "planted"},
        {"language": "./planted"},
        {"type": "spacy", "language": "en_core_web_sm"},
        {"type": "spacy", "language": "xy_z"},
        {"parse": True},
        {"ner": True, "language": "planted"},
    ):
        reader = {**READER, "tokenizer": tokenizer}
        for role in ("dataset_reader", "validation_dataset_reader"):
            yield f"{role} {tokenizer}", {role: reader}
        yield (
            f"multitask {tokenizer}",
            {"dataset_reader": {"type": "multitask", "readers": {"a": reader}}},
        )
        yield f"sharded {tokenizer}", {"dataset_reader": {"type": "sharded", "base_reader": reader}}
    yield "no tokenizer", {"dataset_reader": READER}
    yield "sentences", {"dataset_reader": {**READER, "segment_sentences": True}}
    yield "tags", {"dataset_reader": {**READER, "token_indexers": {"a": {"feature_name": "tag_"}}}}
    yield "a reader without one", {"dataset_reader": {"type": "conll2003"}, "model": TAGGER}


def other_cases(values: list[Any]) -> Iterator[Case]:
    for value in values:
        for kind in ("planted.X", "os.path.join", "from_archive", value):
            for role in ("model", "dataset_reader", "vocabulary", "data_loader", "evaluation"):
                yield f"{role} {kind}", {role: {"type": kind, "archive_file": value}}
            yield f"{kind} alone", {"dataset_reader": kind}
            encoder = {"type": "compose", "encoders": {str(kind): 1}}
            yield f"{kind} as a key", {"model": {**TAGGER, "encoder": encoder}}
            yield f"{kind} within", {"model": {**TAGGER, "encoder": {"type": kind}}}
        pretrained = {"_pretrained": {"archive_file": value, "module_path": ""}}
        yield f"_pretrained {value}", {"model": {**TAGGER, "encoder": pretrained}}
        for name in (
            "original",
            "small",
            "user/model",
            value,
            {"options": value, "weights": value},
        ):
            elmo = {"type": "elmo", "bilm": name}
            embedders = {"tokens": elmo, "words": {"type": "word_vectors", "vectors": str(value)}}
            yield (
                f"bilm {name}",
                {"model": {**TAGGER, "text_field_embedder": {"token_embedders": embedders}}},
            )
        loader = {"type": "bilm_stream", "cache_directory": value}
        yield f"loader {value}", {"data_loader": loader}
        yield f"vocabulary {value}", {"vocabulary": {"type": "from_files", "directory": value}}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with what archives could name; it is on the path, as with `python -m`."""
    archives.import_all_plugins("the test")  # of the folder from which the tests run
    here = tmp_path / "here"
    for name in PACKAGES:
        (here / name).mkdir(parents=True)
        (here / name / "__init__.py").write_text(CODE)
        (here / name / "config.json").write_text("{}")
    (here / "here.txt").write_text("a b\n")
    info = here / "planted-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: planted\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[spacy_models]\nplanted = planted:load\n")
    monkeypatch.syspath_prepend(str(here))
    return here


def load(folder: Path) -> None:
    archive = load_archive(folder)
    with safe_default_predictor(archive):
        Predictor.from_archive(archive)


def try_all(cases: list[Case], here: Path) -> None:
    """Loads an archive for each case, and makes its predictor, in one watched process."""
    run = here.parent / "run"
    run.mkdir()
    torch.save({"weight": torch.zeros(1)}, run / "best.th")
    Vocabulary().save_to_files(str(run / "vocabulary"))
    config = {"model": TAGGER, "dataset_reader": {"type": "sequence_tagging"}}

    def work() -> None:
        watch, wrong = Watch([run]), []
        for case, changes in cases:
            (run / "config.json").write_text(json.dumps({**config, **changes}))
            found, error = watch.during(partial(load, run))
            if found or not (error == "" or error.startswith(("BiLmError", "ConfigurationError"))):
                wrong.append(f"{case}: {error[:200]} {found}")
        assert not wrong, f"{len(wrong)} of {len(cases)}: " + "\n".join(wrong[:40])

    ended = run_forked(work, here, 600)
    assert ended.status == 0, ended.error[-6000:]
    assert not list(here.rglob("ran"))


@pytest.mark.slow
def test_no_type_and_no_spelling_of_spacy_reads_outside_the_archive(here: Path) -> None:
    cases = [*type_cases([])][::2]
    try_all([*cases, *spacy_cases(), *[*other_cases(["here.txt"])][::2]], here)


VALUES: list[Any] = [
    "here.txt",
    "planted",
    "/etc/hostname",
    "http://127.0.0.1:9/x",
    {"proxies": {"https": "127.0.0.1:9"}},
]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(VALUES)))
def test_no_argument_of_any_type_reads_outside_the_archive(here: Path, number: int) -> None:
    """Each value is tried in a part of all arguments; all of them take half an hour."""
    value = VALUES[number]
    try_all([*type_cases([value]), *other_cases([value])][number :: 2 * len(VALUES)], here)


@pytest.mark.slow
@pytest.mark.parametrize("name", trained_models())
def test_bundled_models_load_next_to_files_named_like_their_values(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place_values(load_archive(name).config.as_dict(quiet=True))
    assert load_archive(name).model is not None


@pytest.mark.slow
@pytest.mark.parametrize("task", ["ner", "srl", "coref", "squad", "snli", "sst"])
def test_archives_of_elmo_new_projects_load_without_trust(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["new", task, "project"])
    monkeypatch.chdir(tmp_path / "project")
    for path in Path().glob("*.jsonnet"):
        config = Params.from_file(path).as_dict(quiet=True)
        place_values(config)
        archives.check_config(config, path.name, tmp_path)


def place_values(config: dict[str, Any]) -> None:
    """Makes files and folders that are called as the values of a configuration."""
    texts = {value for _, value in values_in(config) if isinstance(value, str)}
    for number, name in enumerate(sorted(texts)):
        if "/" not in name and 0 < len(name) < 200 and not Path(name).exists():
            Path(name).mkdir() if number % 2 else Path(name).touch()
