"""Every way to say which biLM is meant: by files, a folder, an archive."""

import copy
import json
import tarfile
from pathlib import Path

import pytest
import torch

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.bilm.io.card import read_card
from elmo_plugin.common.formats.torch_files import json_to_tensor
from tests.bilm.conftest import BiLmMaker
from tests.fixtures.make_bilm_fixture import FOLDER
from tests.small_bilm import write_pair


def _same(one: BiLm, other: BiLm) -> bool:
    states = one.state_dict(), other.state_dict()
    return all(torch.equal(states[0][name], states[1][name]) for name in states[0]) and len(
        states[0]
    ) == len(states[1])


@pytest.fixture
def files(make_bilm: BiLmMaker, tmp_path: Path) -> dict[str, str]:
    return write_pair(make_bilm(), tmp_path)


def _write_training(folder: Path, bilm: BiLm, weights_name: str = "weights.th", **model) -> None:
    config = {"model": {"type": "bilm", "options": bilm.options.to_dict(), **model}}
    (folder / "config.json").write_text(json.dumps(config))
    state = {f"bilm.{name}": tensor for name, tensor in bilm.state_dict().items()}
    state["_extra_state"] = json_to_tensor({"options": bilm.options.to_dict()})
    torch.save({**state, "softmax.weight": torch.zeros(3, 2)}, folder / weights_name)


def _pack(folder: Path, archive: Path) -> None:
    with tarfile.open(archive, "w:gz") as tar:
        for path in folder.iterdir():
            tar.add(path, arcname=path.name)


def test_from_pretrained_passes_the_precision_to_the_bilm(
    files: dict[str, str], make_bilm: BiLmMaker, tmp_path: Path
) -> None:
    _write_training(tmp_path, make_bilm())
    for source in (files, str(tmp_path), "tiny"):
        assert BiLm.from_pretrained(source, precision="int8").precision == "int8"
    with pytest.raises(BiLmError, match="one of float32, bfloat16, int8, got 'half'"):
        BiLm.from_pretrained(files, precision="half")


def test_an_archive_and_a_serialization_directory_are_loaded(
    make_bilm: BiLmMaker, tmp_path: Path
) -> None:
    bilm = make_bilm()
    (tmp_path / "packed").mkdir()
    _write_training(tmp_path / "packed", bilm)
    _pack(tmp_path / "packed", tmp_path / "model.tar.gz")
    assert _same(BiLm.from_pretrained(str(tmp_path / "model.tar.gz")), bilm)
    (tmp_path / "run").mkdir()
    _write_training(tmp_path / "run", bilm, weights_name="best.th")
    assert _same(BiLm.from_pretrained(str(tmp_path / "run")), bilm)


def test_a_directory_with_one_pair_of_published_files_is_loaded(
    files: dict[str, str], make_bilm: BiLmMaker, tmp_path: Path
) -> None:
    for name, file in (("options", "my_options.json"), ("weights", "my_weights.hdf5")):
        Path(files[name]).rename(tmp_path / file)
    for source in (tmp_path, tmp_path / "my_weights.hdf5", tmp_path / "my_options.json"):
        assert _same(BiLm.from_pretrained(str(source)), make_bilm())
    (tmp_path / "other_options.json").touch()
    with pytest.raises(BiLmError, match=r"expected config\.json, or one \*options"):
        BiLm.from_pretrained(str(tmp_path))


def test_an_archive_of_another_model_is_refused(make_bilm: BiLmMaker, tmp_path: Path) -> None:
    _write_training(tmp_path, make_bilm(), type="ner_bilstm_crf")
    with pytest.raises(BiLmError, match="expected a model of type 'bilm', got 'ner_bilstm_crf'"):
        BiLm.from_pretrained(str(tmp_path))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("tinny", "biLM not found: tinny is neither a name nor a path; did you mean 'tiny'?"),
        ("x", "biLM not found: x is neither a name nor a path; the names are tiny, base, .*"),
        ({"options": "x"}, "expected a name, a path, a URL or .*, got"),
        ("", "expected a name, a path or a URL, got an empty text"),
        (5, "expected a name, a path, a URL or .*, got 5"),
    ],
)
def test_a_source_without_a_bilm_is_refused(source: object, message: str) -> None:
    with pytest.raises(BiLmError, match=message):
        BiLm.from_pretrained(source)  # type: ignore[arg-type]


@pytest.mark.parametrize("frozen", [True, False])
def test_a_copy_keeps_the_digest_and_a_change_alters_it(make_bilm: BiLmMaker, frozen: bool) -> None:
    bilm = make_bilm().requires_grad_(not frozen)
    digest = bilm.digest()
    assert copy.deepcopy(bilm).digest() == digest
    for parameter in bilm.parameters():
        before = parameter.detach().clone()
        parameter.detach().view(-1)[-1] += 1e-3
        bilm.refresh()
        assert bilm.digest() != digest
        parameter.detach().copy_(before)
        bilm.refresh()
        assert bilm.digest() == digest


def test_the_digest_of_a_bilm_is_stable_between_versions() -> None:
    bilm = BiLm.from_files(FOLDER / "options.json", FOLDER / "weights.hdf5")
    assert bilm.digest().hex() == "5c914d08f34a975b01e517bdae0557674c22acb2003e58f0d13480679f997c96"


@pytest.mark.parametrize(
    ("header", "is_kept"),
    [
        ("license: mit\nlanguage: en\n", True),
        ("language:\n- en\n- de\nlicense: mit\n", True),
        ("license: mit\nlicense: apache-2.0\n", False),
        ("language: en\n", False),
    ],
)
def test_a_card_is_kept_only_if_it_names_its_licence_and_its_language(
    tmp_path: Path, header: str, is_kept: bool
) -> None:
    text = f"---\n{header}---\n# A biLM\n\n## Training data\n\nA text.\n"
    (tmp_path / "README.md").write_text(text)
    card = read_card(tmp_path)
    assert (card is not None) == is_kept
    assert card is None or card.metadata == header
