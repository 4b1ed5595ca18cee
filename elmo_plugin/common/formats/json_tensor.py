"""JSON as a tensor, for what a model stores next to its weights.

Tools for weights, such as `allennlp diff`, expect only tensors, and compute with them. So the bytes are
stored as float32, which represents them exactly.
"""

import json
from typing import Any

import torch
from torch import Tensor

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.json_files import parse_json


def json_to_tensor(content: Any) -> Tensor:
    """Returns the UTF-8 bytes of JSON text, shape (bytes,), float32."""
    return torch.frombuffer(bytearray(json.dumps(content).encode()), dtype=torch.uint8).float()


def json_from_tensor(tensor: Tensor, name: str) -> Any:
    """
    Reads what `json_to_tensor` returned, in any numeric type.

    Raises `BiLmError`, which calls it `name`, if it is damaged.
    """
    content = tensor.to("cpu", torch.uint8) if isinstance(tensor, Tensor) else None
    if content is None or not torch.equal(content.double(), tensor.cpu().double()):
        raise BiLmError(f"{name}: it is damaged")
    return parse_json(content.numpy().tobytes(), name)
