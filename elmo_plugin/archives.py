"""
Trained models, loaded as data: nothing that an archive contains is run, and nothing outside it is
read or written. All commands, the demo and `elmo_plugin.hardening` load models with `load_archive`.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path, PureWindowsPath
from pickle import UnpicklingError
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.bilm.io import WEIGHTS_NAMES, read_state, weights_file
from elmo_plugin.common.bundled import archive_path
from elmo_plugin.common.errors import (
    NEEDS_ALLENNLP,
    TRUST,
    message_of,
    raise_if_sigterm_or_out_of_memory,
)
from elmo_plugin.common.files import PARTS, atomic_write, temporary_folder, write_json
from elmo_plugin.common.formats.archives import unpack
from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.common.formats.torch_files import (
    check_all_finite,
    check_before_load,
    save_tensors,
)
from elmo_plugin.common.logs import get_logger
from elmo_plugin.common.nested_values import values_in
from elmo_plugin.common.spacy_in_allennlp import using_spacy_rules
from elmo_plugin.common.training_folder import check_kinds
from elmo_plugin.embedding import ElmoRepresentations, LayerMix, read_layer_weights

# AllenNLP may not be installed, so each function that needs it imports it.
if TYPE_CHECKING:
    from allennlp.models import Archive, Model
    from torch import Tensor

logger = get_logger(__name__)

_CONFIG = "config.json"
# The options of the vocabulary that AllenNLP reads from the configuration of an archive. The rest
# of the vocabulary is in files.
_VOCABULARY_OPTIONS = ("type", "padding_token", "oov_token")
# The options for initial values. AllenNLP, too, makes the model of an archive without them.
_INITIAL_VALUE_OPTIONS = {"pretrained_file", "initializer"}
GONE_READER_OPTIONS = {
    "squad_v1": ("skip_bad", "skip_unanswerable"),
    "srl_conll2012": ("format",),
    "srl_predicates": ("format",),
    "ner_conll2003": ("separator", "label_names", "file_encoding", "skip_bad"),
    "snli_jsonl": (
        "format",
        "premise_column",
        "hypothesis_column",
        "label_column",
        "label_names",
        "columns",
        "skip_bad",
    ),
    "sst_trees": (
        "format",
        "text_column",
        "label_column",
        "label_names",
        "columns",
        "skip_bad",
    ),
}
"""
Options of dataset readers that said how files are read. Version 1.0.0 removed them. Predictions
need none of them, so they are ignored in archives that were made before.
"""

# Held while plugins are imported, because that changes `sys.path` for a moment. One thread may hold
# it twice: a plugin may itself load a model, and so import plugins again.
_importing_plugins = RLock()


class TrainedMix(NamedTuple):
    """A mix that a task model has learned, with the biLM whose layers it mixes."""

    placement: str  # as in `LayerWeights`
    bilm: BiLm
    mix: LayerMix


def import_all_plugins(subject: str) -> None:
    """
    Registers this package's classes, then the classes of the user's plugins. Raises `BiLmError` if
    AllenNLP, or a package that it needs, is not installed: the message says that `subject`, such as
    "a trained model", needs AllenNLP.
    """
    try:
        # These two modules need most of AllenNLP's dependencies, so a missing one shows here.
        import_module("allennlp.models")
        import_module("allennlp.common.plugins")
    except ModuleNotFoundError:
        raise BiLmError(f"{subject} {NEEDS_ALLENNLP}") from None
    import_module("elmo_plugin.register")
    from elmo_plugin import shims  # after the check, because it imports AllenNLP

    shims.never_install_spacy_models()
    with _importing_plugins:
        shims.import_plugins(os.getcwd())


def load_archive(
    path: str | Path,
    cuda_device: int = -1,
    overrides: str | dict[str, Any] = "",
    weights_file: str | Path | None = None,
    trust: bool = False,
) -> "Archive":
    """
    Loads a trained model, and the dataset readers that it was trained and validated with.

    # Parameters

    path : `str | Path`
        The name of a trained model of this package; or a `model.tar.gz`, its URL, or the directory
        of a training. A `Path` is never a name.
    cuda_device : `int`
        The number of a GPU; -1 for the CPU.
    overrides : `str | dict`
        Changes of the configuration, in Jsonnet or as a dictionary. They may name any class and
        file.
    weights_file : `str | Path | None`
        Weights to load instead of the archive's own.
    trust : `bool`
        If true, the archive may name files, classes by their modules (their code runs), and models
        of spaCy that are installed.

    Raises `BiLmError`, naming the archive, if it is damaged, names code or files, or cannot be
    loaded.
    """
    import_all_plugins(subject="a trained model")
    from allennlp.common.meta import META_NAME, Meta
    from allennlp.common.params import Params, parse_overrides, with_overrides
    from allennlp.models import Archive, archival

    with _unpacked(path) as (folder, name):
        # Also called if the caller gives other weights: in an archive without weights, the biLM
        # would be read from the file that the configuration names, so such an archive is refused.
        weights = find_weights(folder, name)
        if weights_file:
            weights = Path(weights_file)
            name = f"{name} with weights {weights_file}"
        with naming_archive(name):
            config = _read_config(folder, name)
            # AllenNLP reads the weights by `torch.load`.
            check_before_load(weights, name)
            if isinstance(overrides, str):
                overrides = parse_overrides(overrides)
            if overrides:
                config = with_overrides(config, overrides)
            params = Params(config)
            if trust:
                logger.warning("%s is trusted: it may run code and read any file", name)
            else:
                check_config(params.as_dict(quiet=True), name, folder, overrides)
            with using_spacy_rules(params, name, trust):
                # Each gets a copy, because AllenNLP removes the parameters that it has read.
                readers = archival._load_dataset_readers(params.duplicate(), folder)
                model = archival._load_model(params.duplicate(), weights, folder, cuda_device)
                check_all_finite(_stored_tensors(model), name)
            meta = None
            if (folder / META_NAME).is_file():
                meta = Meta.from_path(folder / META_NAME)
    reader, validation_reader = readers
    return Archive(
        model=model,
        config=params,
        dataset_reader=reader,
        validation_dataset_reader=validation_reader,
        meta=meta,
    )


def _stored_tensors(model: "Model") -> Iterator[tuple[str, "Tensor"]]:
    """
    Yields the names and tensors that a model stores: its parameters and its persistent buffers.
    Other buffers are derived from options, and may be infinite: forbidden transitions score -inf.

    Does not call `model.state_dict()`, because that leaves out the weights of a bundled biLM, and
    reads the file of the biLM to recognize them.
    """
    yield from model.named_parameters()
    for module_name, module in model.named_modules():
        for name, buffer in module.named_buffers(module_name, recurse=False):
            _, _, own_name = name.rpartition(".")  # without the name of the module
            if own_name not in module._non_persistent_buffers_set:
                yield name, buffer


def load_mixes(archive: str | Path, trust: bool) -> list[TrainedMix]:
    """
    Loads a trained model on the CPU, as `load_archive` does, and returns its mixes of layers in the
    order of `read_layer_weights`. Raises the errors of `load_archive`, and `BiLmError` if the model
    does not use ELMo.
    """
    import_all_plugins(subject="the mixture of a trained model")
    # The names of the stored weights show whether a model uses ELMo, before it is loaded.
    if not read_layer_weights(read_state(archive)):
        raise BiLmError(f"archive {archive}: expected a model with ELMo")
    model = load_archive(archive, trust=trust).model
    bilms_and_mixes = []
    for module in model.modules():
        if isinstance(module, ElmoRepresentations):
            for mix in module.mixes.values():
                bilms_and_mixes.append((module.bilm, cast(LayerMix, mix)))
    # The weights in the model's state have the same order as its modules.
    layer_weights = read_layer_weights(model.state_dict())
    trained = []
    for weights, (bilm, layer_mix) in zip(layer_weights, bilms_and_mixes, strict=True):
        trained.append(TrainedMix(weights.placement, bilm, layer_mix))
    return trained


def find_weights(folder: Path, name: str) -> Path:
    """
    Returns the file of weights in the folder of an archive. Raises `BiLmError` if there is none.
    """
    file = weights_file(folder)
    if file is None:
        raise BiLmError(f"{name}: {' or '.join(WEIGHTS_NAMES)} not found")
    return file


def write_archive(model: "Model", config: Mapping[str, Any], output: str | Path) -> None:
    """Writes a model and its configuration as a `model.tar.gz`, as `allennlp train` does."""
    from allennlp.common.meta import META_NAME, Meta
    from allennlp.models import archive_model

    # AllenNLP writes a file for each namespace of the vocabulary.
    _check_that_files_can_hold(model.vocab.get_namespaces())
    with atomic_write(output) as temporary:
        folder = temporary.parent / PARTS  # removed with its parent
        folder.mkdir()
        write_json(folder / _CONFIG, config)
        Meta.new().to_file(folder / META_NAME)
        model.vocab.save_to_files(str(folder / "vocabulary"))
        save_tensors(model.state_dict(), folder / "best.th")
        archive_model(folder, archive_path=str(temporary))


def _check_that_files_can_hold(namespaces: Iterable[str]) -> None:
    """
    Raises `BiLmError` if AllenNLP could not write a namespace of a vocabulary to a file of its
    name, or not read that file again. A configuration may choose any name, such as `../x`.
    """
    for namespace in namespaces:
        # Windows has the strictest rules: `/`, `\` and the `C:` of a drive separate folders there.
        is_name_of_file = PureWindowsPath(namespace).name == namespace and "\0" not in namespace
        if not is_name_of_file or not _is_read_again(namespace):
            raise BiLmError(f"the vocabulary's namespace {namespace!r:.100} is no name of a file")


def _is_read_again(namespace: str) -> bool:
    """Returns whether AllenNLP finds the file of a namespace again, with the same namespace."""
    # AllenNLP does not read hidden files. Even an empty name makes one: `.txt`.
    is_hidden = f"{namespace}.txt".startswith(".")
    is_taken = namespace == "non_padded_namespaces"  # AllenNLP has another file of this name.
    # To find the namespace, AllenNLP removes each `.txt` from the name of the file.
    is_shortened = ".txt" in namespace
    return not is_hidden and not is_taken and not is_shortened


def check_config(
    config: Mapping[str, Any], name: str, folder: Path, overrides: Mapping[str, Any] | None = None
) -> None:
    """
    Raises `BiLmError`, beginning with `name`, if the configuration of an archive names code, or
    files outside the archive. `refused_in_archive` has the rules. `folder` has the unpacked
    archive. `overrides` are already in the configuration. They are the caller's own, so they may
    name anything.
    """
    from elmo_plugin.config_check import refused_in_archive

    model = dict(config["model"])
    if model.get("type") == "bilm":
        # `initial` names the biLM with which the training started. That is not read again, because
        # the archive has all weights, so it may be any file.
        model.pop("initial", None)
    overridden = _overridden_keys(overrides or {})
    for refusal in refused_in_archive({**config, "model": model}, folder):
        keys = [str(key) for key in refusal.keys]
        is_overridden = any(keys[: len(prefix)] == prefix for prefix in overridden)
        if is_overridden:
            continue  # the caller has chosen this value
        message = f"{name}: {'.'.join(keys)}: {refusal.reason}"
        if refusal.trust_helps:
            message += f"; {TRUST}"
        raise BiLmError(message)


def _overridden_keys(overrides: Mapping[str, Any]) -> list[list[str]]:
    """
    Returns the keys that lead to each overridden value. In `overrides`, they may be the keys of
    objects within objects, or joined by dots.
    """
    from allennlp.common import Params

    return [joined_keys.split(".") for joined_keys in Params(dict(overrides)).as_flat_dict()]


@contextmanager
def safe_default_predictor(archive: "Archive", trust: bool = False) -> Iterator[None]:
    """
    Makes it safe to let AllenNLP construct, within the block, the predictor that an archive names.
    Raises `BiLmError` if that predictor reads files or loads other models. A predictor that splits
    text into words does so by spaCy's rules. With `trust`, nothing is checked or changed.
    """
    from elmo_plugin.config_check import refused_predictor

    if trust:
        yield
        return
    refused_name = refused_predictor(archive.model, archive.validation_dataset_reader)
    if refused_name is not None:
        raise BiLmError(
            f"the predictor {refused_name} reads files or loads other models; name another one, or "
            f"{TRUST}"
        )
    # To split text into words, AllenNLP would otherwise load or install a model of spaCy.
    with using_spacy_rules(archive.config, name="the archive"):
        yield


def _drop_gone_options(reader: dict[str, Any]) -> None:
    """Deletes, from an old archive's dataset reader, the options that version 1.0.0 removed."""
    reader_type = str(reader.get("type"))
    for option in GONE_READER_OPTIONS.get(reader_type, ()):
        reader.pop(option, None)
    if reader_type == "ner_conll2003":
        _drop_gone_values(reader)


def _drop_gone_values(reader: dict[str, Any]) -> None:
    """Deletes options of `ner_conll2003` that have values of old archives, unknown to it now."""
    if reader.get("source_encoding") in ("auto", "IO", "mixed"):
        del reader["source_encoding"]
    # These options are numbers now. In old archives, they may also be the name of a column.
    for option in ("word_column", "tag_column"):
        if isinstance(reader.get(option), str):
            del reader[option]


def _read_config(folder: Path, name: str) -> dict[str, Any]:
    """
    Reads the configuration of an archive. Leaves out settings that only matter to a training:
    caches, initial values, the number of processes, and how the vocabulary was made. Also leaves
    out options that this package no longer has.
    """
    config = read_json_object(folder / _CONFIG, f"{name}, its {_CONFIG}")
    model = config.get("model")
    vocabulary = config.get("vocabulary", {})
    if not isinstance(model, dict) or not isinstance(vocabulary, dict):
        raise BiLmError(f"{name}: its {_CONFIG}: expected a model and a vocabulary, as objects")
    if vocabulary:
        config["vocabulary"] = {
            key: vocabulary[key] for key in _VOCABULARY_OPTIONS if key in vocabulary
        }
    for loader in _objects_at(config, "data_loader", "validation_data_loader"):
        loader.pop("cache_directory", None)
        loader.pop("num_workers", None)
    for reader in _objects_at(config, "dataset_reader", "validation_dataset_reader"):
        _drop_gone_options(reader)
    for _, part in values_in(model):
        if isinstance(part, dict):
            _remove_initial_values_and_cache(part)
    return config


def _objects_at(config: Mapping[str, Any], *keys: str) -> list[dict[str, Any]]:
    """Returns the values of these keys that are objects. Any of the keys may be missing."""
    values = [config.get(key) for key in keys]
    return [value for value in values if isinstance(value, dict)]


def _remove_initial_values_and_cache(part: dict[str, Any]) -> None:
    """
    Removes from a part of a model the options for its initial values, because the archive has its
    weights. Also removes its `cache` if that is a cache of this package: a class of the user's may
    have another option of that name.
    """
    for key in _INITIAL_VALUE_OPTIONS:
        part.pop(key, None)
    cache = part.get("cache")
    if isinstance(cache, dict) and cache.get("type") in ("memory", "sqlite"):
        del part["cache"]


@contextmanager
def _unpacked(path: str | Path) -> Iterator[tuple[Path, str]]:
    """
    Yields the folder with the content of an archive, and the archive's name for messages. The
    directory of a training is yielded itself. A file is unpacked into a temporary folder.

    Raises `BiLmError` if a directory has a folder or a pipe in the place of a file, or links that
    lead out of it; or if an archive lacks a vocabulary.
    """
    local = archive_path(path)
    if local.is_dir():
        name = f"directory {path}"
        check_kinds(local, name)
        _check_links(local, name)
        yield local, name
        return
    with temporary_folder("elmo_archive_") as folder:
        unpack(local, folder)
        # If `vocabulary` were a file, AllenNLP would unpack it, without our checks.
        if not (folder / "vocabulary").is_dir():
            raise BiLmError(f"archive {path}: vocabulary not found")
        yield folder, f"archive {path}"


def _check_links(folder: Path, name: str) -> None:
    """
    Raises `BiLmError`, beginning with `name`, if a file that is read from the directory of a
    training is a link out of the directory. Otherwise any file of this machine could be read.
    """
    root = folder.resolve()
    files = [folder / file_name for file_name in (_CONFIG, "meta.json", *WEIGHTS_NAMES)]
    files += (folder / "vocabulary").rglob("*")
    for file in files:
        target = file.resolve()
        if not target.is_relative_to(root):
            raise BiLmError(f"{name}: its {file.name} is a link to {target}")


@contextmanager
def naming_archive(name: str) -> Iterator[None]:
    """
    Turns an error of the block into a `BiLmError` of one line that names an archive. The block
    makes a model or a predictor from the archive. A lack of memory is not the archive's fault, so
    such an error passes unchanged.
    """
    try:
        yield
    except Exception as error:  # damage can make AllenNLP and torch raise anything
        raise_if_sigterm_or_out_of_memory(error)
        if isinstance(error, UnpicklingError):
            # torch's own message advises to run the code in the file.
            message = "its weights are not plain tensors, or damaged"
        else:
            message = message_of(error)
        if name not in message:
            message = f"{name}: {message}"
        raise BiLmError(message) from error
