"""Files of torch are read as they were written, or refused by their name."""

import struct
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.torch_files import (
    check_before_load,
    check_finite,
    check_tensors,
    json_from_tensor,
    json_to_tensor,
    load_plain,
    load_state,
    save_tensors,
)
from tests.payload import Payload

STATE = {
    "a": torch.arange(1000.0),
    "b": {"c": torch.ones(3, 2, dtype=torch.int64)},
    "d": [1, "two", None],
}


def test_a_saved_file_survives_a_round_trip(tmp_path: Path) -> None:
    save_tensors(STATE, tmp_path / "a.th")
    for file in (tmp_path / "a.th", (tmp_path / "a.th").read_bytes()):
        found = load_plain(file, "a")
        assert torch.equal(found["a"], STATE["a"]) and torch.equal(found["b"]["c"], STATE["b"]["c"])
        assert found["d"] == STATE["d"]


def test_every_flipped_byte_is_detected_or_harmless(tmp_path: Path) -> None:
    save_tensors(STATE, tmp_path / "a.th")
    content = (tmp_path / "a.th").read_bytes()
    noticed = 0
    for place in range(0, len(content), 13):
        damaged = bytearray(content)
        damaged[place] ^= 32
        try:
            found = load_plain(bytes(damaged), "a.th")
        except BiLmError as error:
            assert str(error).startswith("a.th: ")
            noticed += 1
        else:
            assert torch.equal(found["a"], STATE["a"])
    assert noticed > 200


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"hello", bytes(1000)])
def test_files_of_other_formats_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.th").write_bytes(content)
    with pytest.raises(BiLmError, match=r"a\.th: its weights are "):
        load_plain(tmp_path / "a.th", "a.th")
    with pytest.raises(BiLmError, match=r"gone\.th: "):
        load_plain(tmp_path / "gone.th", "gone.th")


@pytest.mark.parametrize("content", [[torch.ones(2)], torch.ones(2), {3: torch.ones(2)}, None])
def test_weights_without_names_are_refused(content: object, tmp_path: Path) -> None:
    save_tensors(content, tmp_path / "a.th")
    with pytest.raises(BiLmError, match=r"a\.th: its weights are not tensors with names"):
        load_state(tmp_path / "a.th", "a.th")


def test_an_error_without_a_message_is_named_by_its_class(tmp_path: Path) -> None:
    save_tensors({"a": STATE["a"]}, tmp_path / "a.th")
    content = bytearray((tmp_path / "a.th").read_bytes())
    # In the directory of the zip archive, the last member seems longer than the file.
    sizes_at = content.rfind(b"PK\x01\x02") + 20
    struct.pack_into("<II", content, sizes_at, len(content), len(content))
    # Newer versions of Python notice that the member overlaps the directory.
    with pytest.raises(
        BiLmError, match=r"a\.th: its weights are damaged \((EOFError|.*verlap.*)\)"
    ):
        check_tensors(bytes(content), "a.th")


def test_allennlp_loads_a_checked_file_without_a_warning(tmp_path: Path) -> None:
    from allennlp.nn.util import read_state_dict

    save_tensors({"a": STATE["a"]}, tmp_path / "a.th")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_before_load(tmp_path / "a.th", "a.th")
        assert torch.equal(read_state_dict(tmp_path / "a.th")["a"], STATE["a"])


def test_no_code_is_run(tmp_path: Path) -> None:
    torch.save({"weight": Payload(tmp_path / "ran")}, tmp_path / "a.th")
    with pytest.raises(BiLmError, match="not plain tensors"):
        load_plain(tmp_path / "a.th", "a.th")
    check_tensors(tmp_path / "a.th", "a.th")
    assert not (tmp_path / "ran").exists()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "changed",
    [
        torch.Tensor.to_sparse,
        lambda tensor: tensor.to("meta"),
        lambda tensor: torch.quantize_per_tensor(tensor, 0.1, 0, torch.qint8),
        lambda tensor: tensor.to(torch.float8_e4m3fn),
        lambda tensor: torch.nested.nested_tensor([tensor]),
    ],
    ids=["sparse", "meta", "quantized", "fp8", "nested"],
)
def test_tensors_of_other_kinds_are_refused(
    changed: Callable[[torch.Tensor], torch.Tensor], tmp_path: Path
) -> None:
    torch.save({"state": [{"weight": changed(torch.eye(2))}]}, tmp_path / "a.th")
    with pytest.raises(BiLmError, match="not plain tensors"):
        load_plain(tmp_path / "a.th", "a.th")


def test_an_expanded_tensor_cannot_exceed_the_memory_limit(
    tmp_path: Path,
) -> None:
    torch.save({"weight": torch.zeros(()).expand(2**20, 2**10)}, tmp_path / "a.th")
    with pytest.raises(
        BiLmError, match=r"a\.th: its content would be 4\.3 GB, far more than the file"
    ):
        load_plain(tmp_path / "a.th", "a.th")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_tensors_with_nan_or_infinity_are_named(value: float, dtype: torch.dtype) -> None:
    values = torch.zeros(2, 3, dtype=dtype)
    assert check_finite("the tensor a", values) is values
    values[1, 2] = value
    with pytest.raises(BiLmError, match=r"the tensor a has (NaN|an infinite number) in it"):
        check_finite("the tensor a", values)
    with pytest.raises(BiLmError, match="a has complex numbers"):
        check_finite("a", torch.ones(1, dtype=torch.complex64))


CONTENT = {"source": "naïve/日本.json", "options": {"dim": 4096, "clip": None}, "layers": [0, 1, 2]}


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.uint8]
)
def test_json_in_a_tensor_is_read_after_the_tensor_was_cast(dtype: torch.dtype) -> None:
    assert json_from_tensor(json_to_tensor(CONTENT).to(dtype), "it") == CONTENT
    with pytest.raises(BiLmError, match=r"^the state of x"):
        json_from_tensor(torch.tensor([0.5], dtype=dtype), "the state of x")
