"""Finds a biLM by, in order, a name, a path, a URL, the Hugging Face Hub; and writes its files."""

import json
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, cast

import torch
from torch import Tensor

from elmo_plugin.bilm.io.hdf5_weights import (
    SoftmaxWeights,
    check_weights_file,
    read_softmax,
    read_weights,
    write_weights,
)
from elmo_plugin.bilm.io.manylangs import is_model_folder, read_folder
from elmo_plugin.bilm.io.training_archive import CONFIG_NAME, read_archive
from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.common.bundled import BUNDLED
from elmo_plugin.common.downloads import fetch
from elmo_plugin.common.errors import BiLmError, did_you_mean
from elmo_plugin.common.files import atomic_write, atomic_write_all
from elmo_plugin.common.formats.archives import AnyPath, ZippedPath, is_zip
from elmo_plugin.common.outputs import refuse_folder

OPTIONS_NAME = "options.json"
WEIGHTS_NAME = "weights.hdf5"
_PAIR = f"one *{OPTIONS_NAME} and one *{WEIGHTS_NAME} or other *.hdf5"

Source = str | Path | Mapping[str, str]

CARD_NAME = "README.md"  # model hubs show a file of this name
_CARD = Path(__file__).with_name("card.md")
_UNKNOWN = """## Training data, figures, licence

Complete this before publishing: the training text, the perplexity on unseen text, and the licence
of the weights; also `license` and `language` at the top.
"""

_BUNDLED = BUNDLED / "bilm"
_PUBLISHED = "https://allennlp.s3.amazonaws.com/models/elmo"  # AllenNLP's cache uses this address
_PROTEINS = "https://rostlab.org/~deepppi/embedding_repo/embedding_models/seqvec"
# The places of a model card: the YAML at its beginning, an entry there with its further lines, and
# the pictures and links in its text that are not on the web.
_CARD_HEADER = re.compile(r"---\n(.*?)^---\n", re.DOTALL | re.MULTILINE)
_LICENSE_OR_LANGUAGE = re.compile(r"^(?:license|language):.*\n(?:[ -].*\n)*", re.MULTILINE)
_PICTURE_IN_FOLDER = re.compile(r"!\[[^\]]*\]\((?!https?:)[^)]*\)\n*")
_LINK_INTO_FOLDER = re.compile(r"\[([^\]]*)\]\((?!https?:|#)[^)]*\)")
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+(@[\w.-]+)?")
_DIGEST_VERSION = b"elmo_plugin 1"  # raise it if the same biLM gives other numbers


def _published(stem: str, weights: str = "weights") -> tuple[str, str]:
    """Returns the URLs of the options and the weights of a published biLM."""
    return f"{_PUBLISHED}/{stem}_options.json", f"{_PUBLISHED}/{stem}_{weights}.hdf5"


def _bundled(name: str) -> tuple[str, str]:
    """Returns the paths of the options and the weights of a biLM of this package."""
    return f"{_BUNDLED}/{name}/{OPTIONS_NAME}", f"{_BUNDLED}/{name}/{WEIGHTS_NAME}"


BUNDLED_MODELS = ("tiny", "base")
MODELS: dict[str, tuple[str, str]] = {
    "tiny": _bundled("tiny"),
    "base": _bundled("base"),
    "small": _published("2x1024_128_2048cnn_1xhighway/elmo_2x1024_128_2048cnn_1xhighway"),
    "medium": _published("2x2048_256_2048cnn_1xhighway/elmo_2x2048_256_2048cnn_1xhighway"),
    "original": _published("2x4096_512_2048cnn_2xhighway/elmo_2x4096_512_2048cnn_2xhighway"),
    "original-5.5b": _published(
        "2x4096_512_2048cnn_2xhighway_5.5B/elmo_2x4096_512_2048cnn_2xhighway_5.5B"
    ),
    "pubmed": _published(
        "contributed/pubmed/elmo_2x4096_512_2048cnn_2xhighway", "weights_PubMed_only"
    ),
    "seqvec": (f"{_PROTEINS}/options.json", f"{_PROTEINS}/weights.hdf5"),
    "portuguese": _published("contributed/pt/elmo_pt"),
}
"""The options and weights of each name, in this package or to be downloaded once."""


class Card(NamedTuple):
    """
    The statements of a model card about the training of a biLM.

    metadata: lines of YAML with `license` and `language`
    training: Markdown, beginning with the heading `## Training data`
    """

    metadata: str = "license: unknown\nlanguage: und\n"
    training: str = _UNKNOWN

    def first_statement(self) -> str:
        """Returns the first clause on the training data, without the heading; "" if unknown."""
        if self.training == _UNKNOWN:
            return ""
        _, _, text = self.training.partition("\n")
        first_paragraph, _, _ = text.strip().partition("\n\n")
        in_one_line = " ".join(first_paragraph.split())
        clauses = re.split(r"[:.;](?:\s|$)", in_one_line, maxsplit=1)
        return clauses[0].strip()


class Checkpoint(NamedTuple):
    """
    A stored biLM.

    options: the sizes
    weights: names and tensors for `BiLm.load_weights`; each is read when the iteration reaches it
    softmax: the softmax that the biLM was trained with, if it is stored and requested
    dtype: the type of the stored weights, one of `DTYPES`
    card: the content of its model card, if it has one
    """

    options: BiLmOptions
    weights: Iterable[tuple[str, Tensor]]
    softmax: SoftmaxWeights | None = None
    dtype: str = "float32"
    card: Card | None = None


def read_checkpoint(source: Source, with_softmax: bool = True) -> Checkpoint:
    """
    Reads a stored biLM. The source is one of:

    - a name of `MODELS`
    - the path or URL of a training archive, or the directory of a training
    - a folder or zip archive with a pair of files: `*options.json`, and `*weights.hdf5` or another
      `*.hdf5`
    - a folder or zip archive with a model of ELMoForManyLangs
    - USER/MODEL on the Hugging Face Hub
    - `{"options": …, "weights": …}` with two paths or URLs

    A `Path` is always a path, never a name. Raises `BiLmError` if the biLM is not found or cannot
    be used.
    """
    location = _find_location(source)
    if isinstance(location, ModelFiles):
        return _read_published(location, with_softmax)
    # Trainings are tar archives, so a folder in a zip archive is a model of ELMoForManyLangs.
    if isinstance(location, zipfile.Path) or is_model_folder(location):
        options, weights = read_folder(location)
        return Checkpoint(options, weights.items())
    trained = read_archive(location, with_softmax=with_softmax)
    return Checkpoint(trained.options, trained.weights.items(), trained.softmax)


class ModelFiles(NamedTuple):
    """The two files of a biLM in the published layout."""

    options: AnyPath
    weights: AnyPath


def _read_published(files: ModelFiles, with_softmax: bool) -> Checkpoint:
    """Reads a biLM in the published layout, with the model card next to its options."""
    options = BiLmOptions.from_file(files.options)
    dtype = check_weights_file(files.weights, options)
    softmax = None
    if with_softmax:
        softmax = read_softmax(files.weights, options)
    return Checkpoint(
        options=options,
        weights=read_weights(files.weights, options),
        softmax=softmax,
        dtype=dtype,
        card=read_card(cast(AnyPath, files.options.parent)),
    )


def _find_location(source: Source) -> AnyPath | ModelFiles:
    """
    Returns the two files of a biLM in the published layout; for any other kind, its archive or
    folder.
    """
    if isinstance(source, Mapping) and set(source) == {"options", "weights"}:
        return ModelFiles(fetch(source["options"]), fetch(source["weights"]))
    if not isinstance(source, str | Path):
        raise BiLmError(
            f'expected a name, a path, a URL or {{"options": …, "weights": …}}, got {source!r}'
        )
    if isinstance(source, str) and source in MODELS:
        options, weights = MODELS[source]
        return ModelFiles(fetch(options), fetch(weights))
    path = fetch(source)
    if not path.exists():
        path = _find_on_hub(source, path)
    return _find_at_path(path)


def _find_at_path(path: Path) -> AnyPath | ModelFiles:
    """
    Returns the two files of a biLM in the published layout at an existing path. If there is one of
    ELMoForManyLangs, returns its folder; if there is a training, the path itself. Raises
    `BiLmError` if the path leads to none of these, or to several.
    """
    if path.is_file() and path.suffix in (".hdf5", ".json"):  # one of the files of a pair
        path = path.parent
    if is_zip(path):
        expected = f"archive {path}: expected {_PAIR} of one model"
        return _only_model(ZippedPath.folders(path), expected)
    if path.is_dir() and not (path / CONFIG_NAME).is_file():
        expected = f"directory {path}: expected {CONFIG_NAME}, or {_PAIR} of one model"
        return _only_model([path], expected)
    return path  # the archive or the directory of a training


def _only_model(folders: Sequence[AnyPath], expected: str) -> AnyPath | ModelFiles:
    """
    Returns the model in these folders. Raises `BiLmError`, beginning with `expected`, unless they
    contain exactly one.
    """
    models = []
    names = []
    for folder in folders:
        model = _model_in(folder)
        if model is not None:
            models.append(model)
            names.append(str(folder))
    if not models:
        raise BiLmError(f"{expected}, got none")
    if len(models) > 1:
        raise BiLmError(f"{expected}, got {names}")
    return models[0]


def _model_in(folder: AnyPath) -> AnyPath | ModelFiles | None:
    """
    Returns the folder if it has a model of ELMoForManyLangs, or the pair of files in it; `None` if
    it has neither, or several files that could be one of the pair.
    """
    if is_model_folder(folder):
        return folder
    # The names of published files often begin with the name of the model. NLPL calls its weights
    # model.hdf5.
    options = _files_ending_in(folder, OPTIONS_NAME)
    weights = _files_ending_in(folder, WEIGHTS_NAME)
    if not weights:
        weights = _files_ending_in(folder, ".hdf5")
    if len(options) != 1 or len(weights) != 1:
        return None
    return ModelFiles(options[0], weights[0])


def _files_ending_in(folder: AnyPath, ending: str) -> list[AnyPath]:
    """Returns the files in a folder whose names have this ending, without hidden files."""
    files = []
    for file in folder.iterdir():
        if file.name.endswith(ending) and not file.name.startswith(".") and file.is_file():
            files.append(file)
    return files


def _find_on_hub(source: str | Path, path: Path) -> Path:
    """
    Downloads the source, USER/MODEL, from the Hugging Face Hub, and returns the path of the
    download. `path` is the source read as a path; nothing exists there. If the folder USER exists,
    the source is taken for a mistyped path, and nothing is downloaded. Raises `BiLmError` if
    nothing is found.
    """
    if isinstance(source, Path):
        raise BiLmError(f"biLM not found: {source}")
    message = f"biLM not found: {source} is neither a name nor a path"
    user_folder = path.parent
    if _HUB_ID.fullmatch(source) and not user_folder.exists():
        try:
            return fetch(f"hf://{source}")
        except BiLmError as error:
            raise BiLmError(f"{message}, and {error}") from None
    hint = did_you_mean(source, MODELS)
    # A single word is probably meant as a name.
    if not hint and re.fullmatch(r"[\w-]+", source):
        hint = f"; the names are {', '.join(MODELS)}"
    raise BiLmError(message + hint)


def write_files(folder: str | Path, checkpoint: Checkpoint) -> tuple[Path, Path]:
    """
    Writes a biLM as the two files of published models, and returns their paths. A process that is
    killed meanwhile may have replaced only one of them; reading then refuses the pair. Raises
    `BiLmError` if the weights are damaged or do not fit the format, and `OSError` if the system
    cannot write the files.
    """
    files = (Path(folder) / OPTIONS_NAME, Path(folder) / WEIGHTS_NAME)
    for file in files:
        refuse_folder(file)
    with atomic_write_all(files) as (options_file, weights_file):
        checkpoint.options.to_file(options_file)
        try:
            write_weights(
                weights_file,
                dict(checkpoint.weights),
                checkpoint.options,
                checkpoint.dtype,
                checkpoint.softmax,
            )
        except BiLmError as error:
            raise BiLmError(f"weight file {files[1]}: {error}") from None
    return files


def write_card(folder: str | Path, checkpoint: Checkpoint) -> None:
    """
    Writes a model card next to the files of a biLM, unless there is one. It keeps what the card of
    the source says about training data and licence. All weights are read, to count the parameters.
    """
    path = Path(folder) / CARD_NAME
    if path.exists():
        return
    options = checkpoint.options
    softmax = "none"
    if checkpoint.softmax is not None:
        softmax = f"{len(checkpoint.softmax.words):,} words"
    text = _CARD.read_text(encoding="utf-8").format(
        title=path.parent.resolve().name,
        cnn=options.char_cnn,
        lstm=options.lstm,
        num_layers=options.lstm.n_layers + 1,
        output_dim=2 * options.lstm.projection_dim,
        parameters=sum(values.numel() for _, values in checkpoint.weights),
        dtype=checkpoint.dtype,
        softmax=softmax,
        card=checkpoint.card or Card(),
    )
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_card(folder: AnyPath) -> Card | None:
    """
    Reads the statements of a folder's model card about training data, licence and language; `None`
    unless it has all three. Pictures and links that lead to other files of the folder are removed,
    because these files are not copied with the card. The texts of such links stay.
    """
    try:
        content = (folder / CARD_NAME).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    text = content.replace("\r\n", "\n")
    header = _CARD_HEADER.match(text)
    if header is None:
        return None
    entries = _LICENSE_OR_LANGUAGE.findall(header[1])
    keys = [entry.partition(":")[0] for entry in entries]
    _, heading, training = text.partition("\n## Training data")
    if sorted(keys) != ["language", "license"] or not heading:
        return None
    training = _PICTURE_IN_FOLDER.sub("", training)
    training = _LINK_INTO_FOLDER.sub(r"\1", training)
    return Card("".join(entries), heading.strip("\n") + training)


def weights_digest(
    options: BiLmOptions, precision: str, tensors: Iterable[tuple[str, Tensor]]
) -> bytes:
    """
    Returns 32 bytes that identify a biLM: its sizes, its precision, and the bytes of its weights.
    """
    digest = blake2b(digest_size=32, person=_DIGEST_VERSION)
    settings = json.dumps([options.to_dict(), precision], sort_keys=True)
    digest.update(settings.encode())
    for name, tensor in tensors:
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        values = tensor.detach().cpu().contiguous().flatten()
        digest.update(values.view(torch.uint8).numpy().data)
    return digest.digest()
