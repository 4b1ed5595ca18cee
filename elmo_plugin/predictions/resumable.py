"""
Writes the predictions for a file of texts so that a stopped run resumes, in one process or several.

The texts are divided into chunks. Until the output is complete, the predictions for each chunk are
in a file in the folder `OUTPUT.unfinished`. The output does not depend on how often a run was
stopped, nor on the number of processes.
"""

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from elmo_plugin.bilm import BiLm
from elmo_plugin.common.files import atomic_write, write_json
from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.common.logs import get_logger
from elmo_plugin.common.process import cuda_number
from elmo_plugin.common.task_cards import TaskCard
from elmo_plugin.common.unfinished import DESCRIPTION, unfinished_folder
from elmo_plugin.common.workers import map_in_processes
from elmo_plugin.predictions.files import write_predictions
from elmo_plugin.predictions.inputs import Input
from elmo_plugin.predictions.prediction import Prediction
from elmo_plugin.predictions.predictor import TextPredictor, load_predictor

if TYPE_CHECKING:
    from collections.abc import Callable

    from tqdm import tqdm

_VERSION = 2  # of the files of chunks, and of how their predictions are computed
_CHUNK_INPUTS = 256  # about how many inputs a chunk has: whole batches
_CHUNKS = "[0-9]" * 8 + "_" + "[0-9a-f]" * 32 + ".jsonl.gz"  # the names that `Chunk.of` gives

logger = get_logger(__name__)


@dataclass(frozen=True)
class PredictorSettings:
    """
    Says how a model is loaded, and how it predicts: in each process alike.

    archive, predicates, trust: see `load_predictor`
    device: "cpu", "cuda" or "cuda:N"
    batch_size: the number of texts that are computed together
    threads: of each process; the last digits of probabilities depend on it
    """

    archive: str
    predicates: str | None = None
    device: str = "cpu"
    trust: bool = False
    batch_size: int = 32
    threads: int = 1

    def load(self) -> TextPredictor:
        """Loads the model. Raises `BiLmError` as `load_predictor` does."""
        options = {}  # only the predictor of semantic roles takes `predicates`
        if self.predicates is not None:
            options["predicates"] = self.predicates
        return load_predictor(
            self.archive, cuda_device=cuda_number(self.device), trust=self.trust, **options
        )

    @property
    def chunk_size(self) -> int:
        """The number of inputs in a chunk: as many whole batches as `_CHUNK_INPUTS` has."""
        num_batches = max(_CHUNK_INPUTS // self.batch_size, 1)
        return num_batches * self.batch_size


class Chunk(NamedTuple):
    """
    Consecutive inputs of a file.

    file_name: of their predictions. It begins with the chunk's number, and contains a digest of the
        inputs, so that predictions for other inputs are not taken for theirs.
    """

    inputs: Sequence[Input]
    file_name: str

    @classmethod
    def of(cls, number: int, inputs: Sequence[Input]) -> "Chunk":
        """Makes a chunk of its inputs and of its number, from 0."""
        digest = blake2b(digest_size=16)
        for given in inputs:
            digest.update(json.dumps([given.line, given.values]).encode())
        return cls(inputs, f"{number:08d}_{digest.hexdigest()}.jsonl.gz")


class Count(NamedTuple):
    """The number of predictions that were written, and how many an earlier run had made."""

    written: int
    kept: int


def write_resumable(
    inputs: Iterable[Input],
    output: str | Path,
    predictor: TextPredictor,
    settings: PredictorSettings,
    num_workers: int,
    bar: "tqdm",
) -> Count:
    """
    Writes the prediction for each input, as `write_predictions` does, with a predictor that the
    settings have loaded. Predictions that a stopped run has left are used if they are of the same
    model, settings and texts; otherwise a warning says that they are not.

    Raises `BiLmError` if an input cannot be used, or another process writes the same output, and
    `ChildProcessError` if a worker was killed.
    """
    paths = []
    num_kept = 0
    with unfinished_folder(Path(output), _CHUNKS) as folder:
        _prepare_folder(folder, _describe(predictor, settings))
        chunks = _remove_outdated(_divide(inputs, settings.chunk_size), folder)
        for chunk, is_new in _predict_chunks(chunks, folder, predictor, settings, num_workers):
            paths.append(folder / chunk.file_name)
            num_inputs = len(chunk.inputs)
            if not is_new:
                num_kept += num_inputs
                bar.initial += num_inputs  # so that the bar's speed does not count this chunk
            bar.update(num_inputs)
        predictions = _read_chunks(paths, predictor.task)
        num_written = write_predictions(predictions, output, predictor.allennlp)
    return Count(num_written, num_kept)


def _divide(inputs: Iterable[Input], size: int) -> Iterator[Chunk]:
    """Yields the inputs in chunks of this size."""
    remaining = iter(inputs)
    number = 0
    while taken := list(islice(remaining, size)):
        yield Chunk.of(number, taken)
        number += 1


def _prepare_folder(folder: Path, description: dict[str, Any]) -> None:
    """
    Removes the chunks that a stopped run has left in the folder, and writes the description there.
    Chunks with the same description are kept; if it differs, a warning says in what.
    """
    file = folder / DESCRIPTION
    if file.exists():
        found = read_json_object(file, str(file))
        if found == description:
            return
        changed = [name for name in description if found.get(name) != description[name]]
        logger.warning("%s was made with another %s: starting again", folder, " and ".join(changed))
    for chunk in folder.glob(_CHUNKS):
        chunk.unlink()
    write_json(file, description)


def _describe(predictor: TextPredictor, settings: PredictorSettings) -> dict[str, Any]:
    """Returns all on which the predictions for a text depend."""
    return {
        "version": _VERSION,
        "model": _digest(predictor),
        "device": settings.device.split(":")[0],  # whichever GPU it is
        "batch size": settings.batch_size,
        "number of threads": settings.threads,
    }


def _digest(predictor: TextPredictor) -> str:
    """Returns a digest of the configurations, the vocabularies and the weights of the models."""
    digest = blake2b(digest_size=16)
    digest.update(json.dumps(predictor.config, sort_keys=True).encode())
    if predictor.tagger is not None:
        digest.update(_digest(predictor.tagger).encode())
    model = predictor.allennlp._model
    for namespace in sorted(model.vocab.get_namespaces()):
        words = model.vocab.get_index_to_token_vocabulary(namespace)
        digest.update(json.dumps([namespace, words]).encode())
    for name, tensor in model.state_dict().items():
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        values = tensor.detach().cpu().contiguous().flatten()
        digest.update(values.view(torch.uint8).numpy().data)
    for module in model.modules():
        if isinstance(module, BiLm):  # the model's state may leave out the weights of its biLM
            digest.update(module.digest())
    return digest.hexdigest()


def _remove_outdated(chunks: Iterable[Chunk], folder: Path) -> Iterator[Chunk]:
    """
    Yields all the chunks. Before each, removes the file with the same number that a stopped run
    made for other texts. Warns of the first such file only.
    """
    path_of_number = {_number_in(path.name): path for path in folder.glob(_CHUNKS)}
    has_warned = False
    for chunk in chunks:
        old_path = path_of_number.get(_number_in(chunk.file_name))
        if old_path is not None and old_path.name != chunk.file_name:
            old_path.unlink()
            if not has_warned:
                place = chunk.inputs[0].place
                logger.warning("%s: the texts have changed, and are predicted again", place)
            has_warned = True
        yield chunk


def _number_in(file_name: str) -> str:
    """Returns the digits of a chunk's number from the name of its file."""
    return file_name.split("_")[0]


def _predict_chunks(
    chunks: Iterable[Chunk],
    folder: Path,
    predictor: TextPredictor,
    settings: PredictorSettings,
    num_workers: int,
) -> Iterator[tuple[Chunk, bool]]:
    """
    Writes the predictions for each chunk that is not in the folder yet: with the predictor, or in
    several processes with one each. Yields all chunks in order, and whether each one is new.
    """
    if num_workers == 1:
        for chunk in chunks:
            yield chunk, _predict_chunk(predictor, settings.batch_size, folder, chunk)
        return
    predict = partial(_predict_in_worker, folder)
    yield from map_in_processes(
        predict, chunks, num_workers, start=_start_worker, arguments=(settings,)
    )


# The predictor and the size of the batches of this process, if it is a worker. The first call of
# `_get_predictor` loads the predictor. That is within a task and not at the start of the worker,
# because the pool passes only the errors of tasks on to the parent.
_get_predictor: "Callable[[], TextPredictor]"
_batch_size: int


def _start_worker(settings: PredictorSettings) -> None:
    """Sets the threads and the variables of a new worker, but does not load its predictor yet."""
    global _get_predictor, _batch_size
    torch.set_num_threads(settings.threads)
    _get_predictor = cache(settings.load)
    _batch_size = settings.batch_size


def _predict_in_worker(folder: Path, chunk: Chunk) -> bool:
    """Predicts a chunk with the predictor of this worker, and returns whether that was needed."""
    return _predict_chunk(_get_predictor(), _batch_size, folder, chunk)


def _predict_chunk(predictor: TextPredictor, batch_size: int, folder: Path, chunk: Chunk) -> bool:
    """
    Writes the predictions for a chunk into its file: a line of JSON for each, compressed. Does
    nothing and returns false if they are there already.
    """
    path = folder / chunk.file_name
    if path.exists() and _is_whole(path, len(chunk.inputs)):
        return False
    # A cached word was computed in the batch of another chunk, and a bit differently there; but the
    # predictions shall not depend on the chunks that this process has predicted before.
    for model in predictor.models:
        for module in model.modules():
            if isinstance(module, BiLm):
                module.clear_word_cache()
    with atomic_write(path) as temporary, gzip.open(temporary, "wt", encoding="utf-8") as file:
        for prediction in predictor.predict_each(chunk.inputs, batch_size):
            file.write(json.dumps([prediction.line, prediction.inputs, prediction]) + "\n")
    return True


def _is_whole(path: Path, num_predictions: int) -> bool:
    """Returns whether the file of a chunk has all its predictions, and warns if it does not."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            if sum(1 for _ in file) == num_predictions:  # reading compares the checksum
                return True
    except (EOFError, OSError, ValueError, zlib.error):
        pass
    logger.warning("%s is damaged: its texts are predicted again", path)
    return False


def _read_chunks(paths: Iterable[Path], task: TaskCard) -> Iterator[Prediction]:
    """Yields the predictions in the files of chunks."""
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for text in file:
                line, inputs, output = json.loads(text)
                prediction = Prediction(output, task, inputs)
                prediction.line = line
                yield prediction
