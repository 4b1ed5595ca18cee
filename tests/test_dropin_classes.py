"""With `elmo_plugin.dropin`, whoever makes AllenNLP's ELMo by its class makes ours."""

import copy
import importlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.modules import Elmo, TokenEmbedder
from allennlp.modules.token_embedders import ElmoTokenEmbedder

import elmo_plugin
from elmo_plugin import batch_to_ids
from tests.allennlp_elmo import dropin
from tests.migration.allennlp_api.against_allennlp import SENTENCES, assert_same
from tests.migration.allennlp_api.conftest import write_bilm

CLASS_PATH = "allennlp.modules.token_embedders.ElmoTokenEmbedder"


@pytest.fixture
def files(tmp_path: Any) -> tuple[str, str]:
    return write_bilm(tmp_path / "bilm")


@pytest.fixture
def registered() -> Iterator[None]:
    with dropin():
        yield


@Model.register("test_model_with_elmo")
class ModelWithElmo(Model):
    """
    Has, as `bcn` of allennlp-models, an `Elmo` of its own, imported from AllenNLP before the
    drop-in.
    """

    def __init__(self, vocab: Vocabulary, elmo: Elmo) -> None:
        super().__init__(vocab)
        self.elmo = elmo
        self.number_of_mixes = len(elmo._scalar_mixes)

    def forward(self, ids: torch.Tensor) -> dict[str, torch.Tensor]:  # type: ignore[override]
        return {"vectors": self.elmo(ids)["elmo_representations"][-1]}


def elmo_config(files: tuple[str, str], **options: Any) -> dict[str, Any]:
    pair = {"options_file": files[0], "weight_file": files[1]}
    return {**pair, "num_output_representations": 2, "dropout": 0.0, **options}


def test_a_model_that_imports_allennlps_elmo_gets_ours(files: tuple[str, str]) -> None:
    config = {"type": "test_model_with_elmo", "elmo": elmo_config(files)}
    ids = batch_to_ids(SENTENCES)
    theirs = Model.from_params(Params(copy.deepcopy(config)), vocab=Vocabulary()).eval()
    with dropin():
        ours = Model.from_params(Params(copy.deepcopy(config)), vocab=Vocabulary()).eval()
    assert type(theirs.elmo) is Elmo and type(ours.elmo) is elmo_plugin.Elmo
    assert ours.number_of_mixes == theirs.number_of_mixes == 2
    ours.load_state_dict(theirs.state_dict())
    assert_same(ours.elmo(ids), theirs.elmo(ids))


def test_classes_imported_earlier_from_allennlp_construct_ours(
    files: tuple[str, str], registered: None
) -> None:
    assert type(Elmo(*files, 1)) is elmo_plugin.Elmo
    assert type(ElmoTokenEmbedder(*files)) is elmo_plugin.ElmoTokenEmbedder


def test_classes_named_by_module_path_are_ours_with_our_options(
    files: tuple[str, str], registered: None
) -> None:
    params = {
        "type": CLASS_PATH,
        "options_file": files[0],
        "weight_file": files[1],
        "stateful": True,
    }
    embedder = TokenEmbedder.from_params(Params(params))
    assert type(embedder) is elmo_plugin.ElmoTokenEmbedder
    assert Elmo.from_params(
        Params(elmo_config(files, stateful=True))
    )._elmo_lstm._elmo_lstm.stateful


def test_subclasses_of_allennlps_classes_are_not_replaced(
    files: tuple[str, str], registered: None
) -> None:
    class Inherited(Elmo):
        pass

    for elmo in (Inherited(*files, 2), Inherited.from_params(Params(elmo_config(files)))):
        assert type(elmo) is Inherited
        assert type(elmo._elmo_lstm).__module__.startswith("allennlp.")


def test_the_module_of_allennlp_0_9_exists_and_contains_our_embedder(
    files: tuple[str, str],
) -> None:
    """As scripts import it; without the drop-in there is none."""
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("allennlp.commands.elmo")
    with dropin():
        import allennlp.commands.elmo
        from allennlp.commands.elmo import DEFAULT_OPTIONS_FILE, ElmoEmbedder  # type: ignore[attr-defined]

        vectors = allennlp.commands.elmo.ElmoEmbedder(*files).embed_sentence(["The", "play"])
        assert ElmoEmbedder is elmo_plugin.ElmoEmbedder and DEFAULT_OPTIONS_FILE.endswith(
            "_options.json"
        )
    assert vectors.shape == (3, 2, 12)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("allennlp.commands.elmo")
