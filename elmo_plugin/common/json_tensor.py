"""JSON as a tensor, for what a model stores with its weights beside them.

Whoever handles the weights of models, such as `allennlp diff`, expects nothing but tensors, and computes with
them: the bytes are stored as float32, which has all of their values.
"""

import json
from typing import Any

import torch
from torch import Tensor


def json_to_tensor(content: Any) -> Tensor:
    """Returns the UTF-8 bytes of JSON text, shape (bytes,), float32."""
    return torch.frombuffer(bytearray(json.dumps(content).encode()), dtype=torch.uint8).float()


def json_from_tensor(tensor: Tensor) -> Any:
    """
    Reads what `json_to_tensor` gave, in numbers of whatever type.

    Raises `ValueError` where it is no JSON.
    """
    return json.loads(tensor.to("cpu", torch.uint8).numpy().tobytes())
