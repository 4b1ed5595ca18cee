"""`allennlp predict`: errors name the line of the input."""

from collections import deque
from collections.abc import Iterator
from typing import Any

from allennlp.commands import predict
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import SigTermReceived
from allennlp.predictors import Predictor

from elmo_plugin.common.errors import BiLmError, as_configuration_error
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.common.formats.text_files import decode, read_lines, standard_input_lines

MANAGER = predict._PredictManager
GET_JSON_DATA = MANAGER._get_json_data
PREDICT_JSON = MANAGER._predict_json
_OTHER_COMPRESSION = (".bz2", ".lzma", ".xz")  # AllenNLP reads these, `read_lines` does not


def get_json_data(self: Any) -> Iterator[Any]:
    """Raises `ConfigurationError`, naming the line, where the input is not UTF-8 or not JSON."""
    self._line_numbers = deque()  # of the lines that were read and not yet predicted
    if self._input_file.endswith(_OTHER_COMPRESSION):
        yield from GET_JSON_DATA(self)
        return
    lines = standard_input_lines() if self._input_file == "-" else read_lines(self._input_file)
    with as_configuration_error():
        for number, line in enumerate(lines, start=1):
            location = f"{_name(self)}, line {number}"
            text = decode(line, location)
            if not text.isspace():
                inputs = _parse_line(self._predictor, text, location)
                self._line_numbers.append(number)
                yield inputs


def _parse_line(predictor: Predictor, text: str, location: str) -> Any:
    if type(predictor).load_line is Predictor.load_line:
        return parse_json(text, location, is_line=True)
    try:
        return predictor.load_line(text)
    except BiLmError:
        raise
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{location}: not what the predictor reads ({error})") from None


def predict_json(self: Any, batch_data: list[Any]) -> Iterator[str]:
    """Raises `ConfigurationError`, naming the lines, for any error of a prediction."""
    read = getattr(self, "_line_numbers", ())
    numbers = [read.popleft() for _ in batch_data if read]
    try:
        yield from PREDICT_JSON(self, batch_data)
    except (OSError, MemoryError, SigTermReceived):
        raise
    except Exception as error:
        is_ours = isinstance(error, ConfigurationError | BiLmError)
        reason = str(error) if is_ours else f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise ConfigurationError(f"{_name(self)}{_location(numbers)}: {reason}") from error


def _name(manager: Any) -> str:
    return "standard input" if manager._input_file == "-" else manager._input_file


def _location(numbers: list[int]) -> str:
    if not numbers:
        return ""
    return f", line {numbers[0]}" if len(numbers) == 1 else f", lines {numbers[0]} to {numbers[-1]}"


MANAGER._get_json_data = get_json_data  # type: ignore[method-assign]
MANAGER._predict_json = predict_json  # type: ignore[method-assign]
