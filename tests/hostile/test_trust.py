"""Loading a trained model runs nothing, and reads and writes nothing outside of its archive."""

import io
import json
import re
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands import main
from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import PretrainedTransformerTokenizer, Tokenizer
from allennlp.models import Model
from allennlp.modules import TokenEmbedder

from elmo_plugin import archives, hardening, load_predictor, plugin  # noqa: F401 (register and replace)
from elmo_plugin.archives import check_config, load_archive
from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.errors import TRUST
from elmo_plugin.common.formats import torch_files
from elmo_plugin.common.nested_values import values_in
from elmo_plugin.embedding.token_embedder import ElmoTokenEmbedder
from tests.payload import Payload
from tests.small_bilm import loud_bilm, write_pair
from tests.trained_tagger import tagger_config, train

Files = dict[str, bytes]
MODULE = "from pathlib import Path\nPath(__file__).with_name('ran').touch()\nclass Reader: pass\n"


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tagger") / "run"
    train(tagger_config(write_pair(loud_bilm(), folder.parent), ["input"]), folder)
    return folder


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """
    The folder that archives are unpacked into; the working directory has a module to be imported.
    """
    (tmp_path / "temporary").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "planted.py").write_text(MODULE)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.syspath_prepend(str(tmp_path / "work"))
    return tmp_path / "temporary"


def changed(training: Path, folder: Path, change: Callable[[Files], None]) -> Path:
    """Writes the archive of the training with other content."""
    with tarfile.open(training / "model.tar.gz") as archive:
        files = {file.name: archive.extractfile(file).read() for file in archive if file.isfile()}  # type: ignore[union-attr]
    change(files)
    path = folder / "changed.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def with_config(**changes: Any) -> Callable[[Files], None]:
    """Sets values of the configuration by their keys, with __ between these."""

    def change(files: Files) -> None:
        config = json.loads(files["config.json"])
        for keys, value in changes.items():
            *above, last = keys.split("__")
            part = config
            for key in above:
                part = part.setdefault(key, {})
            part[last] = value
        files["config.json"] = json.dumps(config).encode()

    return change


def flip_weights(files: Files) -> None:
    """
    Flips one bit of a tensor. A fifth of the file is names and padding, where a flip changes
    nothing; which byte is in the middle of the file depends on the length of the biLM's path, which
    a tensor has.
    """
    content = bytearray(files["weights.th"])
    with zipfile.ZipFile(io.BytesIO(content)) as records:
        largest = max(records.infolist(), key=lambda record: record.file_size)
        content[content.index(records.read(largest)) + largest.file_size // 2] ^= 1
    files["weights.th"] = bytes(content)


def remove(name: str) -> Callable[[Files], None]:
    return lambda files: files.pop(name) and None


def deep(levels: int) -> list[Any]:
    nested: list[Any] = []
    for _ in range(levels):
        nested = [nested]
    return nested


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda files: files.update({"../outside": b"x"}), "outside"),
        (flip_weights, "its weights are damaged"),
        (remove("config.json"), "config.json: file not found"),
        (remove("weights.th"), "weights.th or best.th not found"),
        (remove("vocabulary/non_padded_namespaces.txt"), "non_padded_namespaces.txt"),
        (lambda files: files.update({"config.json": b"{"}), "config.json, line 1: not JSON"),
        (lambda files: files.update({"config.json": b"[]"}), "config.json: expected a JSON object"),
        (lambda files: files.update({"config.json": b"{}"}), "config.json: expected a model"),
        (lambda files: files.update({"config.json": b'{"model": std.extVar("HOME")}'}), "not JSON"),
        (with_config(model__contextual_encoder__dropout="x"), "dropout"),
        (with_config(vocabulary="from_files"), "expected a model and a vocabulary, as objects"),
        (lambda files: files.update({"weights.th": b"none"}), ": its weights are not plain tens"),
        (with_config(model__x="a/" * 3000), "model|x"),
        (with_config(dataset_reader__x=[deep(900)]), "config.json: not JSON .* nested too deeply"),
        (with_config(model__type="no.such\x1b[2J"), r"no\.such\\x1b"),
    ],
)
def test_a_bad_archive_is_named_and_leaves_nothing_behind(
    training: Path, tmp_path: Path, temporary: Path, change: Callable[[Files], None], message: str
) -> None:
    path = changed(training, tmp_path, change)
    with pytest.raises(BiLmError, match=message) as raised:
        load_archive(path)
    assert str(raised.value).startswith(f"archive {path}") and "\n" not in str(raised.value)
    assert not list(temporary.iterdir()) and not (tmp_path / "outside").exists()


IMPORTS = {
    "a dataset reader": {"dataset_reader": {"type": "planted.Reader"}},
    "a program": {"dataset_reader": {"type": "subprocess.Popen", "args": ["touch", "ran"]}},
    "an encoder": {"model__contextual_encoder__encoder__type": "planted.Reader"},
    "a regularizer in a list": {"model__regularizer": {"regexes": [[".*", "planted.Reader"]]}},
    "a model": {"model__type": "planted.Reader"},
}


def ways_to_import() -> Iterator[Any]:
    """Yields each kind, for the function and for the command, which takes longer."""
    for name, changes in IMPORTS.items():
        yield pytest.param(changes, False, id=f"function-{name}")
        marks = [] if name == "a dataset reader" else [pytest.mark.slow]
        yield pytest.param(changes, True, id=f"allennlp predict-{name}", marks=marks)


@pytest.mark.parametrize(("changes", "is_command"), list(ways_to_import()))
def test_no_class_is_imported_by_its_module_path(
    training: Path,
    tmp_path: Path,
    changes: dict[str, Any],
    is_command: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = changed(training, tmp_path, with_config(**changes))
    with pytest.raises(
        (BiLmError, ConfigurationError), match=r"would be imported|is not registered"
    ):
        if is_command:
            monkeypatch.setattr("sys.argv", ["allennlp", "predict", str(path), "in.jsonl"])
            main()
        load_archive(path)
    assert not list(tmp_path.rglob("ran"))


def test_files_named_like_configuration_values_are_not_read(training: Path, tmp_path: Path) -> None:
    config = json.loads((training / "config.json").read_text())
    for number, name in enumerate(
        {value for _, value in values_in(config) if isinstance(value, str)}
    ):
        if "/" not in name:
            Path(name).mkdir() if number % 2 else Path(name).touch()
    assert load_archive(training / "model.tar.gz").model is not None


def test_trusted_archives_may_import(
    training: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    name = "elmo_plugin.tasks.ner.dataset_reader.Conll2003Reader"
    path = changed(training, tmp_path, with_config(dataset_reader__type=name))
    with pytest.raises(BiLmError, match="would be imported"):
        load_archive(path)
    assert load_archive(path, trust=True).dataset_reader is not None
    assert f"archive {path} is trusted" in caplog.text


def test_overrides_by_the_caller_may_name_anything(training: Path) -> None:
    name = "elmo_plugin.tasks.ner.dataset_reader.Conll2003Reader"
    loaded = load_archive(training, overrides={"dataset_reader.type": name})
    assert type(loaded.dataset_reader).__name__ == "Conll2003Reader"


def test_vocabulary_and_initial_values_come_from_the_archive_only(
    training: Path, tmp_path: Path
) -> None:
    vocabulary = {"type": "from_files", "directory": str(tmp_path / "gone")}
    initial = {"regexes": [[".*", {"type": "pretrained", "weights_file_path": "/etc/hostname"}]]}
    change = with_config(vocabulary=vocabulary, model__initializer=initial)
    assert load_archive(changed(training, tmp_path, change)).model is not None


def test_an_archive_cannot_start_processes(training: Path, tmp_path: Path) -> None:
    change = with_config(
        data_loader__num_workers=10_000, validation_data_loader__num_workers=10_000
    )
    config = load_archive(changed(training, tmp_path, change)).config
    for key in (
        "data_loader",
        "validation_data_loader",
    ):  # without workers AllenNLP reads in its own process
        assert "num_workers" not in config[key].params


def test_a_cache_in_an_archive_is_neither_written_nor_read(training: Path, tmp_path: Path) -> None:
    cache = {"type": "sqlite", "path": str(tmp_path / "cache")}
    members = [[{"cache": cache, "y": 1}], {"encoder": {"initializer": {}, "pretrained_file": "x"}}]
    (tmp_path / "config.json").write_text(json.dumps({"model": {"members": members}}))
    assert archives._read_config(tmp_path, "it") == {
        "model": {"members": [[{"y": 1}], {"encoder": {}}]}
    }
    keys = "model__contextual_encoder__elmo__cache"
    path = changed(training, tmp_path, with_config(**{keys: cache}))
    load_predictor(path).predict_json({"words": ["Ada"]})
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("kind", "gone"),
    [
        ("srl_conll2012", {"format": "jsonl"}),
        ("srl_predicates", {"format": "auto"}),
        ("squad_v1", {"skip_bad": True, "skip_unanswerable": True}),
    ],
)
def test_removed_reader_options_are_dropped_from_old_archives(
    kind: str, gone: dict[str, Any], tmp_path: Path
) -> None:
    readers = {"dataset_reader": {"type": kind}, "validation_dataset_reader": {"type": kind}}
    old = {name: reader | gone for name, reader in readers.items()}
    (tmp_path / "config.json").write_text(json.dumps({"model": {}, **old}))
    assert archives._read_config(tmp_path, "it") == {"model": {}, **readers}


def test_a_bilm_missing_from_the_weights_is_not_read_from_a_file(
    training: Path, tmp_path: Path
) -> None:
    keys = "model__contextual_encoder__elmo__bilm"
    files = {"options": str(tmp_path / "options.json"), "weights": str(tmp_path / "weights.hdf5")}
    path = changed(training, tmp_path, with_config(**{keys: files}))
    with pytest.raises(BiLmError, match="is not in the weights"):
        load_archive(path)


@pytest.mark.parametrize("name", ["best.th", "config.json", "meta.json", "vocabulary/tags.txt"])
def test_links_out_of_a_folder_are_not_followed(training: Path, tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(training, tmp_path / "run")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to("/etc/hostname")
    with pytest.raises(BiLmError, match=f"^directory {folder}: its .* is a link to"):
        load_archive(folder)


def test_the_caller_may_name_other_weights(training: Path, tmp_path: Path) -> None:
    state = torch.load(training / "best.th", weights_only=True)
    state["tag_projection.bias"] += 1
    torch.save(state, tmp_path / "other.th")
    loaded = load_archive(training, weights_file=tmp_path / "other.th").model
    assert torch.equal(loaded.state_dict()["tag_projection.bias"], state["tag_projection.bias"])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("missing", "file not found"),
        ("not torch", "its weights are not plain tensors, or damaged"),
        ("NaN", "the tensor tag_projection.bias has NaN in it"),
    ],
)
def test_other_weights_that_cannot_be_used_are_named(
    training: Path, tmp_path: Path, damage: str, message: str
) -> None:
    weights = tmp_path / "other.th"
    if damage == "not torch":
        weights.write_text("no weights")
    elif damage == "NaN":
        state = torch.load(training / "best.th", weights_only=True)
        state["tag_projection.bias"] += float("nan")
        torch.save(state, weights)
    named = re.escape(f"directory {training} with weights {weights}: {message}")
    with pytest.raises(BiLmError, match=f"^{named}$"):
        load_archive(training, weights_file=weights)


def test_code_in_weights_is_not_run_by_an_old_torch(
    training: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plant(files: Files) -> None:
        buffer = io.BytesIO()
        torch.save({"weight": Payload(tmp_path / "ran")}, buffer)
        files["weights.th"] = buffer.getvalue()

    path = changed(training, tmp_path, plant)
    for version in ((2, 5), (2, 6)):
        monkeypatch.setattr(torch_files, "TORCH_VERSION", version)
        with pytest.raises(BiLmError, match=f"archive {path}: "):
            load_archive(path)
    assert not (tmp_path / "ran").exists()


def test_only_the_archive_of_a_bilm_may_name_its_initial_bilm(tmp_path: Path) -> None:
    bilm = {"type": "bilm", "initial": "/etc/hostname"}
    check_config({"model": bilm}, "it", tmp_path)
    with pytest.raises(BiLmError, match=r"model\.members\.0\.initial"):
        check_config({"model": {"type": "ensemble", "members": [bilm]}}, "it", tmp_path)


@Model.register("users_own")
class UsersOwn(Model):
    def __init__(
        self, vocab: Any, size: int, word: str, words: list[str], more: Any = None
    ) -> None:
        super().__init__(vocab)


@TokenEmbedder.register("users_elmo")
class UsersElmo(ElmoTokenEmbedder):
    """It inherits the constructor."""


@Tokenizer.register("users_transformer")
class UsersTransformer(PretrainedTransformerTokenizer):
    """It inherits the constructor."""


@pytest.mark.parametrize(
    "changes",
    [
        {
            "model__contextual_encoder__encoder": {
                "type": "compose",
                "encoders": {"planted.Reader": 1},
            }
        },
        {"dataset_reader": {"type": "text_classification_json", "tokenizer": "users_transformer"}},
        {
            "model__contextual_encoder__text_field_embedder__token_embedders__tokens": {
                "type": "users_elmo",
                "bilm": "small",
                "serialization_dir": None,
            }
        },
    ],
)
def test_list_keys_and_inherited_constructors_do_not_read_outside_the_archive(
    changes: dict[str, Any], training: Path, tmp_path: Path
) -> None:
    with pytest.raises(BiLmError, match=r"trust=True"):
        load_archive(changed(training, tmp_path, with_config(**changes)))


@Model.register("takes_rows")
class TakesRows(Model):
    def __init__(self, vocab: Any, rows: list[dict]) -> None:
        super().__init__(vocab)


@pytest.mark.parametrize("rows", [{"a": "/etc/hostname"}, {"a": {"type": "subprocess.Popen"}}])
def test_an_object_in_place_of_a_list_is_checked_with_its_values(
    rows: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(BiLmError, match=r"model\.rows\.a.*trust=True"):
        check_config({"model": {"type": "takes_rows", "rows": rows}}, "it", tmp_path)


@pytest.mark.parametrize("text", ["train", "auto", "a/b", r"\.bias$", "U.S.", "/", "~"])
@pytest.mark.parametrize("changes", [{}, {"more": {"a": [1.5, None, {"b": "linear"}]}}])
def test_a_users_class_accepts_plain_values(
    text: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    model = {"type": "users_own", "size": 3, "word": text, "words": ["x", text], **changes}
    if text in ("/", "~", r"\.bias$"):  # as a path would be
        with pytest.raises(BiLmError, match=r"model\.word: .* is outside the archive"):
            check_config({"model": model}, "it", tmp_path)
    else:
        check_config({"model": model}, "it", tmp_path)


@pytest.mark.parametrize(
    "more",
    [
        "/etc/hostname",
        ["../x"],
        {"a": "https://example.org/x"},
        {"a": {"type": "planted.Reader"}},
        {"type": "pretrained_transformer", "model_name": "x"},
        [{"type": "pretrained_transformer"}],
    ],
)
def test_a_users_class_accepts_only_plain_values(more: Any, tmp_path: Path) -> None:
    model = {"type": "users_own", "size": 3, "word": "a", "words": [], "more": more}
    with pytest.raises(BiLmError, match=r"it: model\.more"):
        check_config({"model": model}, "it", tmp_path)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("absent", "'absent' is not registered: list its package in .allennlp_plugins.*"),
        ("bert_for_classification", "'bert_for_classification' was removed: take .*"),
        ("no.such", f"no.such would be imported; {re.escape(TRUST)}"),
    ],
)
def test_trust_is_advised_only_where_it_helps(kind: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(BiLmError, match=f"^it: model.type: {message}$") as raised:
        check_config({"model": {"type": kind}}, "it", tmp_path)
    assert (TRUST in str(raised.value)) is ("." in kind)


def test_a_refused_class_in_a_users_class_is_not_called_unregistered(tmp_path: Path) -> None:
    more = {"type": "pretrained_transformer"}
    model = {"type": "users_own", "size": 3, "word": "a", "words": [], "more": more}
    message = "it: model.more.type: pretrained_transformer reads files, runs programs or loads"
    with pytest.raises(BiLmError, match=f"^{message}.*{re.escape(TRUST)}$"):
        check_config({"model": model}, "it", tmp_path)


def test_an_override_excuses_only_its_own_key(tmp_path: Path) -> None:
    model = {
        "type": "users_own",
        "size": 3,
        "word": "/x",
        "words": [],
        "more": {"a.b": "/x", "c": "/x"},
    }
    check_config({"model": {**model, "more": {}}}, "it", tmp_path, {"model.word": "/y"})
    for overrides in (
        {"model.word": 1, "model.more.a": 1, "model.more.c": 1},
        {"model": {"mor": 1, "word": 2}},
    ):
        with pytest.raises(BiLmError, match=r"it: model\.more\.(a\.b|c): "):
            check_config({"model": model}, "it", tmp_path, overrides)


def test_strings_of_listed_types_may_look_like_paths(tmp_path: Path) -> None:
    reader = {
        "type": "sequence_tagging",
        "word_tag_delimiter": "/",
        "token_indexers": {"train": "single_id"},
    }
    check_config({"model": {"type": "bilm"}, "dataset_reader": reader}, "it", tmp_path)
