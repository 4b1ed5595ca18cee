"""Values of a configuration or a command that AllenNLP accepts, and then ignores or fails on."""

import functools
import inspect
from collections.abc import Mapping
from typing import Any

from allennlp.commands import evaluate
from allennlp.commands.predict import _PredictManager
from allennlp.common import Params, params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DataLoader, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.data.samplers import BucketBatchSampler, MaxTokensBatchSampler
from allennlp.modules.token_embedders import embedding
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer

from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.formats.torch_files import check_finite

# The smallest values of the arguments of constructors. They also hold for each value of a dictionary.
MINIMUMS: dict[type, dict[str, int]] = {
    BucketBatchSampler: {"batch_size": 1},
    GradientDescentTrainer: {"num_epochs": 1, "num_gradient_accumulation_steps": 1},
    MaxTokensBatchSampler: {"max_tokens": 1},
    MultiProcessDataLoader: {"batch_size": 1, "batches_per_epoch": 1, "num_workers": 0},
    Vocabulary: {"min_count": 0, "max_vocab_size": 1},
    _PredictManager: {"batch_size": 1},
}

EVALUATE = evaluate.evaluate_from_archive
PARSE_OVERRIDES = params.parse_overrides
OPEN_EMBEDDINGS = embedding.EmbeddingsTextFile.__init__
READ_VOCABULARY = Vocabulary.set_from_file
READ_EMBEDDINGS = embedding._read_embeddings_from_text_file


def check_minimums(kind: type, minimums: Mapping[str, int]) -> None:
    """Makes the constructor of a class raise `ConfigurationError` for arguments below their minimum."""
    constructor = kind.__init__  # type: ignore[misc]
    names = list(inspect.signature(constructor).parameters)

    @functools.wraps(constructor)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        given = {**dict(zip(names[1:], args, strict=False)), **kwargs}
        for name, minimum in minimums.items():
            value = given.get(name)
            for one in value.values() if isinstance(value, Mapping) else [value]:
                if isinstance(one, int) and one < minimum:
                    raise ConfigurationError(
                        f"{kind.__name__.lstrip('_')}: {name} must be at least {minimum}, not {one}"
                    )
        constructor(self, *args, **kwargs)

    kind.__init__ = init  # type: ignore[misc]


def parse_overrides(serialized_overrides: str, ext_vars: dict[str, Any] | None = None) -> dict[str, Any]:
    """Raises `ConfigurationError` if the overrides are not a JSON object."""
    try:
        overrides = PARSE_OVERRIDES(serialized_overrides, ext_vars)
    except RuntimeError as error:
        raise ConfigurationError(f"the overrides are not JSON: {' '.join(str(error).split())}") from None
    if not isinstance(overrides, dict):
        raise ConfigurationError(f"the overrides must be a JSON object, not {serialized_overrides}")
    return overrides


@functools.wraps(EVALUATE)
def evaluate_from_archive(*args: Any, **kwargs: Any) -> Any:
    """Raises `ConfigurationError` for a batch size that AllenNLP would ignore."""
    batch_size = kwargs.get("batch_size")
    if batch_size is not None and batch_size < 1:
        raise ConfigurationError(f"--batch-size must be at least 1, not {batch_size}")
    return EVALUATE(*args, **kwargs)


class EvaluationLoader:
    """Takes the place of `DataLoader` in `allennlp evaluate`, whose `--batch-size` goes into the sampler."""

    @staticmethod
    def from_params(params: Params, **extras: Any) -> DataLoader:
        """Raises `ConfigurationError` if the sampler makes batches of another measure than their size."""
        sampler = params.get("batch_sampler")
        if isinstance(sampler, Params) and "batch_size" in params:
            batch_size = params.pop_int("batch_size")
            if "batch_size" not in sampler:
                kind = sampler.get("type")
                raise ConfigurationError(f"--batch-size: the batch_sampler {kind!r} has no batch_size")
            sampler["batch_size"] = batch_size
        return DataLoader.from_params(params=params, **extras)


def read_vocabulary(self: Vocabulary, filename: str, *args: Any, **kwargs: Any) -> None:
    """Raises `ConfigurationError`, naming the file, if it is not a vocabulary."""
    try:
        READ_VOCABULARY(self, filename, *args, **kwargs)
    except (AssertionError, ValueError, KeyError) as error:
        raise ConfigurationError(f"{filename}: not a vocabulary file ({error})") from None


def open_embeddings(self: Any, file_uri: str, *args: Any, **kwargs: Any) -> None:
    """Raises `ConfigurationError`, naming the file, if it has no word vectors."""
    try:
        OPEN_EMBEDDINGS(self, file_uri, *args, **kwargs)
    except StopIteration:
        raise ConfigurationError(f"{file_uri}: the file has no word vectors") from None
    except (ValueError, EOFError) as error:
        raise ConfigurationError(f"{file_uri}: not a file of word vectors ({error})") from None


def read_embeddings(file_uri: str, *args: Any, **kwargs: Any) -> Any:
    """Raises `ConfigurationError`, naming the file, if it is damaged or has a vector with NaN or infinity."""
    with as_configuration_error():
        try:
            return check_finite(f"{file_uri}: a word vector", READ_EMBEDDINGS(file_uri, *args, **kwargs))
        except ConfigurationError as error:
            raise ConfigurationError(
                str(error) if file_uri in str(error) else f"{file_uri}: {error}"
            ) from None
        except (ValueError, EOFError, TypeError, RuntimeError) as error:
            raise ConfigurationError(f"{file_uri}: not a file of word vectors ({error})") from None


for kind, minimums in MINIMUMS.items():
    check_minimums(kind, minimums)
params.parse_overrides = parse_overrides
evaluate.evaluate_from_archive = evaluate_from_archive
evaluate.DataLoader = EvaluationLoader  # type: ignore[misc, assignment]
Vocabulary.set_from_file = read_vocabulary  # type: ignore[method-assign]
embedding.EmbeddingsTextFile.__init__ = open_embeddings  # type: ignore[method-assign]
embedding._read_embeddings_from_text_file = read_embeddings
