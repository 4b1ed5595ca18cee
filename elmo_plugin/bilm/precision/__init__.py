"""The precisions of a biLM: the numbers in which it computes."""

from elmo_plugin.bilm.precision.base import PackedDirections, PackedLinear, Precision
from elmo_plugin.bilm.precision.floating import (
    BFloat16,
    Float32,
    autocast_dtype,
    has_bfloat16,
    multiply,
    pack_for_training,
)
from elmo_plugin.bilm.precision.int8 import Int8, int8_is_exact
from elmo_plugin.common.errors import BiLmError

__all__ = [
    "FLOAT32",
    "PRECISIONS",
    "PackedDirections",
    "PackedLinear",
    "Precision",
    "autocast_dtype",
    "get_precision",
    "has_bfloat16",
    "int8_is_exact",
    "multiply",
    "pack_for_training",
]

FLOAT32 = Float32()
PRECISIONS: dict[str, Precision] = {precision.name: precision for precision in (FLOAT32, BFloat16(), Int8())}


def get_precision(name: str) -> Precision:
    """Returns the precision of this name; raises `BiLmError` where the name is unknown."""
    if name not in PRECISIONS:
        raise BiLmError(f"the precision of a biLM is one of {', '.join(PRECISIONS)}, not {name!r}")
    return PRECISIONS[name]
