"""
Makes everything that a configuration names, and runs one batch through the model: reader, vocabulary, model,
trainer. Small stand-ins take the place of files that are missing.
"""

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import spacy
from allennlp.commands.train import TrainModel
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader
from allennlp.data.tokenizers import spacy_tokenizer

from elmo_plugin.bilm import BiLm, BiLmOptions
from elmo_plugin.common.errors import BiLmError, raise_stop
from elmo_plugin.config_check import NO_SPACY_MODEL, options_of
from elmo_plugin.porting.config import Config, Porting

_DATA = {
    "train_data_path": ("train", ""),
    "validation_data_path": ("dev", "valid", ""),
    "test_data_path": ("test", "dev", ""),
}
_INSTANCES = 64
_ORIGINAL_DIM = 512  # of each direction, in the default of AllenNLP's embedder


def dry_run(config: Config, data: str | None, bilm: str, say: Callable[[str], None]) -> None:
    """
    Makes all parts of a configuration and runs one batch. `data` is a folder with stand-ins for missing data,
    `bilm` gives the sizes of stand-ins for missing biLMs. `say` is called with each stand-in.

    Raises `BiLmError` for the first part that cannot be made.
    """
    with tempfile.TemporaryDirectory(prefix="elmo_port_") as folder, spacy_stand_in(say):
        config = with_stand_ins(config, data, bilm, Path(folder), say)
        try:
            loop = TrainModel.from_params(Params(config), serialization_dir=folder, local_rank=0)
            batch = next(iter(loop.trainer.data_loader))  # type: ignore[attr-defined]
            loop.trainer.batch_outputs(batch, for_training=True)  # type: ignore[attr-defined]
        except Exception as error:  # readers and models can raise anything
            raise_stop(error)
            kind = "" if isinstance(error, ConfigurationError | BiLmError) else f"{type(error).__name__}: "
            raise BiLmError(f"dry run: {kind}{' '.join(str(error).split())}") from error


def with_stand_ins(
    config: Config, data: str | None, bilm: str, folder: Path, say: Callable[[str], None]
) -> Config:
    porting = Porting(config)
    new = porting.config
    for key, names in _DATA.items():
        if _is_missing(path := new.get(key)):
            if data is None:
                raise BiLmError(f"{key}: {path!r} not found: pass --data DIR with other data")
            files = sorted(path for path in Path(data).iterdir() if not path.name.startswith("."))
            found = [path for name in names for path in files if path.name.startswith(name)]
            if not found:
                raise BiLmError(f"--data {data}: expected files, found none")
            new[key] = str(found[0])
            say(f"{key}: {new[key]} stands in")
    new.pop("distributed", None)
    for place, part in porting.objects():
        if part.get("type") == "elmo_token_embedder" or "options_file" in part or "bilm" in part:
            _stand_in_for_bilm(place, part, bilm, folder, say)
        for key in ("pretrained_file", "weights_file_path"):
            if _is_missing(part.get(key)):
                say(f"{place}.{key}: random values stand in")
                part.pop(key) if key == "pretrained_file" else part.update(type="zero", **{key: None})
    if _is_missing(porting.get("vocabulary").get("directory")):
        say("vocabulary: made from the data")
        del new["vocabulary"]
    for key in ("dataset_reader", "validation_dataset_reader"):
        if (reader := porting.get(key)) and "max_instances" in options_of(DatasetReader, reader.get("type")):
            reader["max_instances"] = _INSTANCES
    new.setdefault("trainer", {})["cuda_device"] = -1
    return new


def _is_missing(path: Any) -> bool:
    return isinstance(path, str) and not os.path.exists(path)


def _stand_in_for_bilm(place: str, part: Config, bilm: str, folder: Path, say: Callable[[str], None]) -> None:
    source = part["bilm"] if isinstance(part.get("bilm"), dict) else {}
    options_file = str(source.get("options") or part.get("options_file") or "")
    weights_file = str(source.get("weights") or part.get("weight_file") or "")
    if os.path.exists(weights_file) and os.path.exists(options_file):
        return
    if os.path.exists(options_file):
        dim = BiLmOptions.from_file(options_file).lstm.projection_dim
    else:
        sizes = re.search(r"\dx\d+_(\d+)_", options_file or weights_file)
        dim = int(sizes[1]) if sizes else _ORIGINAL_DIM
    options = BiLm.from_pretrained(bilm).options
    path = folder / f"bilm_{dim}"
    if not path.exists():
        BiLm(replace(options, lstm=replace(options.lstm, projection_dim=dim))).save_pretrained(path)
    files = str(path / "options.json"), str(path / "weights.hdf5")
    if "bilm" in part:
        part["bilm"] = dict(zip(("options", "weights"), files, strict=True))
    else:
        part["options_file"], part["weight_file"] = files
    say(f"{place}: a random biLM with {2 * dim} dimensions stands in")


@contextmanager
def spacy_stand_in(say: Callable[[str], None]) -> Iterator[None]:
    """Lets AllenNLP take spaCy's rules instead of downloading a model that splits text in the same way."""
    original = spacy_tokenizer.get_spacy_model

    def get(name: str, *args: Any, **kwargs: Any) -> Any:
        if spacy.util.is_package(name):
            return original(name, *args, **kwargs)
        say(f"spaCy's model {name} {NO_SPACY_MODEL}")
        language = spacy.blank(name[:2])
        language.add_pipe("sentencizer")
        return language

    spacy_tokenizer.get_spacy_model = get  # type: ignore[assignment]
    try:
        yield
    finally:
        spacy_tokenizer.get_spacy_model = original
