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
# The pattern of the file names that `Chunk.from_inputs` gives.
_CHUNKS = "[0-9]" * 8 + "_" + "[0-9a-f]" * 32 + ".jsonl.gz"

logger = get_logger(__name__)


@dataclass(frozen=True)
class PredictorSettings:
    """
    Says how a model is loaded, and how it predicts. All worker processes get the same settings.

    archive, predicates, trust: see `load_predictor`
    device: "cpu", "cuda" or "cuda:N"
    batch_size: the number of texts that are computed together
    threads: the number of threads in each process. The last digits of probabilities depend on it.
    """

    archive: str
    predicates: str | None
    device: str
    trust: bool
    batch_size: int
    threads: int

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
    Consecutive inputs of a file. Their predictions are written together.

    file_name: the name of the file with the predictions. It begins with the chunk's number. It also
        contains a digest of the inputs, because after they change, the old file must not be used.
    """

    inputs: Sequence[Input]
    file_name: str

    @classmethod
    def from_inputs(cls, number: int, inputs: Sequence[Input]) -> "Chunk":
        """Makes a chunk and the name of its file. The first chunk of a file has the number 0."""
        digest = blake2b(digest_size=16)
        for text in inputs:
            digest.update(json.dumps([text.line, text.values]).encode())
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
    Writes the prediction for each input, as `write_predictions` does. `predictor` is the result of
    `settings.load()`; if there are several workers, each loads its own.

    Predictions that a stopped run has left are used if the model, the settings and the texts are
    still the same. Otherwise a warning names the changes.

    Raises `BiLmError` if an input cannot be used, or another process writes the same output, and
    `ChildProcessError` if a worker was killed.
    """
    paths = []
    num_kept = 0
    with unfinished_folder(Path(output), _CHUNKS) as folder:
        _prepare_folder(folder, _describe_run(predictor, settings))
        chunks = _divide(inputs, settings.chunk_size)
        chunks = _replacing_outdated_files(chunks, folder)
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
        yield Chunk.from_inputs(number, taken)
        number += 1


def _prepare_folder(folder: Path, description: dict[str, Any]) -> None:
    """
    Keeps the chunks that a stopped run has left in the folder if that run had the same description.
    Otherwise removes them, warns of the changes, and writes the new description.
    """
    file = folder / DESCRIPTION
    if file.exists():
        old_description = read_json_object(file, str(file))
        if old_description == description:
            return
        changed = []
        for name, value in description.items():
            if old_description.get(name) != value:
                changed.append(name)
        logger.warning("%s was made with another %s: starting again", folder, " and ".join(changed))
    for chunk in folder.glob(_CHUNKS):
        chunk.unlink()
    write_json(file, description)


def _describe_run(predictor: TextPredictor, settings: PredictorSettings) -> dict[str, Any]:
    """Returns everything that the prediction for a text depends on, except the text."""
    # A run may resume on another GPU, so cuda:0 and cuda:1 are both "cuda".
    kind_of_device = settings.device.split(":")[0]
    return {
        "version": _VERSION,
        "model": _digest_of_models(predictor),
        "device": kind_of_device,
        "batch size": settings.batch_size,
        "number of threads": settings.threads,
    }


def _digest_of_models(predictor: TextPredictor) -> str:
    """
    Returns a digest of the configuration, the vocabulary and the weights of the model, and of its
    tagger's model if it needs a tagger.
    """
    digest = blake2b(digest_size=16)
    digest.update(json.dumps(predictor.config, sort_keys=True).encode())
    if predictor.tagger is not None:
        digest.update(_digest_of_models(predictor.tagger).encode())
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


def _replacing_outdated_files(chunks: Iterable[Chunk], folder: Path) -> Iterator[Chunk]:
    """
    Yields all the chunks. Before a chunk is yielded, its old file is removed if a stopped run made
    it for other texts. Only the first such file causes a warning.
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
    Writes the predictions for each chunk that is not in the folder yet. Yields all chunks in order,
    each with true if its predictions are new.

    If there is one worker, it is this process, and uses `predictor`. Otherwise the workers are new
    processes, and each loads its own predictor.
    """
    if num_workers == 1:
        for chunk in chunks:
            yield chunk, _predict_chunk(predictor, settings.batch_size, folder, chunk)
        return
    predict = partial(_predict_in_worker, folder)
    yield from map_in_processes(
        predict, chunks, num_workers, start=_start_worker, arguments=(settings,)
    )


# Only workers have these variables. The first call of `_get_predictor` loads the predictor. This
# happens in the worker's first task and not at its start, because the pool passes only the errors
# of tasks on to the parent.
_get_predictor: "Callable[[], TextPredictor]"
_batch_size: int


def _start_worker(settings: PredictorSettings) -> None:
    """Sets the number of threads and the global variables of a new worker process."""
    global _get_predictor, _batch_size
    torch.set_num_threads(settings.threads)
    _get_predictor = cache(settings.load)
    _batch_size = settings.batch_size


def _predict_in_worker(folder: Path, chunk: Chunk) -> bool:
    """Predicts a chunk with the predictor of this worker, and returns whether that was needed."""
    return _predict_chunk(_get_predictor(), _batch_size, folder, chunk)


def _predict_chunk(predictor: TextPredictor, batch_size: int, folder: Path, chunk: Chunk) -> bool:
    """
    Writes the predictions for a chunk into its file, one line of JSON for each, and returns true.
    Returns false if a stopped run has left the file already.
    """
    path = folder / chunk.file_name
    if path.exists() and _is_whole(path, len(chunk.inputs)):
        return False
    # The last digits of a cached vector depend on the batch in which it was computed. Which chunks
    # this process has predicted before depends on the number of workers and on stopped runs. So
    # each chunk begins with an empty cache.
    for model in predictor.models:
        for module in model.modules():
            if isinstance(module, BiLm):
                module.clear_word_cache()
    with atomic_write(path) as temporary, gzip.open(temporary, "wt", encoding="utf-8") as file:
        for prediction in predictor.predict_each(chunk.inputs, batch_size):
            # In the order in which `_read_chunks` reads them.
            values = [prediction.line, prediction.inputs, prediction]
            file.write(json.dumps(values) + "\n")
    return True


def _is_whole(path: Path, num_predictions: int) -> bool:
    """Returns whether the file of a chunk has all its predictions, and warns if it does not."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            num_lines = sum(1 for _ in file)  # raises an error if the checksum of gzip is wrong
        if num_lines == num_predictions:
            return True
    except (EOFError, OSError, ValueError, zlib.error):
        pass
    logger.warning("%s is damaged: its texts are predicted again", path)
    return False


def _read_chunks(paths: Iterable[Path], task: TaskCard) -> Iterator[Prediction]:
    """Yields the predictions in the files that `_predict_chunk` has written."""
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for json_line in file:
                line_number, inputs, output = json.loads(json_line)
                prediction = Prediction(output, task, inputs)
                prediction.line = line_number
                yield prediction
