"""What is said of arguments that cannot be."""

from pathlib import Path

import torch
from allennlp.common.checks import ConfigurationError, check_for_gpu

from elmo_plugin.bilm import BiLmError, get_precision
from elmo_plugin.embed_files.formats import FORMATS
from elmo_plugin.embed_files.settings import DTYPES, KEYS, LAYOUTS, TOKENIZERS, Settings
from elmo_plugin.embed_files.text import STANDARD_INPUT
from elmo_plugin.embed_files.tokenizers import make_tokenizer


def check_settings(settings: Settings, output_format: str) -> None:
    """Raises `ConfigurationError` where settings are wrong, or do not fit one another or the format."""
    choices = {"layout": LAYOUTS, "tokenizer": TOKENIZERS, "dtype": DTYPES, "keys": KEYS}
    for name, values in choices.items():
        _require(getattr(settings, name) in values, f"{name} is one of {', '.join(values)}", settings, name)
    for name in ("batch_size", "max_batch_tokens", "threads"):
        _require(getattr(settings, name) >= 1, f"{name.replace('_', ' ')} is at least 1", settings, name)
    _require(settings.gzip in (None, *range(1, 10)), "the level of gzip is from 1 to 9", settings, "gzip")
    if output_format not in FORMATS:
        raise ConfigurationError(f"the format is one of {', '.join(FORMATS)}, not {output_format!r}")
    if output_format != "hdf5" and (settings.gzip is not None or settings.keys != "line"):
        raise ConfigurationError(f"compression and keys are for hdf5, not for {output_format}")
    if settings.placement is not None and settings.layout != "mix":
        raise ConfigurationError("a placement is for the mixture of a trained model")
    try:
        get_precision(settings.precision)
        make_tokenizer(settings.tokenizer, settings.language)
    except BiLmError as error:
        raise ConfigurationError(str(error)) from None
    except ImportError as error:
        raise ConfigurationError(f"spaCy has no rules for language {settings.language!r} ({error})") from None


def check_files(source: str, output: Path) -> None:
    """Raises `ConfigurationError` where there is nothing to read, or the output cannot be a file."""
    if source != STANDARD_INPUT and "://" not in source and not Path(source).exists():
        raise ConfigurationError(f"{source}: there is no such file")
    if Path(source).is_dir() or output.is_dir():
        raise ConfigurationError(f"{source if Path(source).is_dir() else output} is a directory; name a file")


def devices_of(workers: int | None, cuda_devices: tuple[int, ...]) -> list[str]:
    """
    The device of each worker, by default one worker for each GPU, or one on the CPU. Raises
    `ConfigurationError` where there is no such GPU.
    """
    if workers is not None and workers < 1:
        raise ConfigurationError(f"the number of workers is at least 1, not {workers}")
    for number in cuda_devices:
        check_for_gpu(torch.device(f"cuda:{number}"))
    devices = [f"cuda:{number}" for number in cuda_devices] or ["cpu"]
    return [devices[worker % len(devices)] for worker in range(workers or len(devices))]


def _require(is_fine: bool, rule: str, settings: Settings, name: str) -> None:
    if not is_fine:
        raise ConfigurationError(f"{rule}, not {getattr(settings, name)!r}")
