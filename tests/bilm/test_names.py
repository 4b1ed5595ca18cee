"""A biLM introduces itself, and names of other libraries lead to ours."""

import copy

import pytest
import torch

import elmo_plugin
from elmo_plugin import BiLm
from elmo_plugin.common.meanings import meanings
from tests.small_bilm import loud_bilm


def test_a_bundled_bilm_introduces_itself_in_four_lines() -> None:
    bilm = BiLm.from_pretrained("tiny")
    name, layers, words, training = repr(bilm).splitlines()
    assert name == f"BiLm tiny: {bilm.num_layers} layers of {bilm.output_dim} numbers"
    assert layers.startswith("layers: 0 reads the characters of a word, 1 to 2 are LSTMs")
    assert words == "words: any; the first 48 bytes of each are read"
    assert training.startswith("trained on: 8,147,583 tokens of English prose")
    assert repr(copy.deepcopy(bilm)) == repr(bilm)


def test_a_bilm_without_a_card_says_that_its_training_is_not_known() -> None:
    assert repr(loud_bilm()).splitlines()[-1] == "trained on: not known"


@pytest.mark.parametrize(
    "name", sorted(" ".join(meanings()["attributes of BiLm"].values()).split())
)
def test_names_of_other_libraries_lead_to_what_a_bilm_has(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"no attribute '{name}'; \S"):
        getattr(loud_bilm(), name)


def test_what_the_table_says_to_write_exists() -> None:
    bilm = loud_bilm()
    for target in meanings()["attributes of BiLm"]:
        owner, _, rest = target.partition(".")
        if owner in ("bilm", "BiLm") and not target.endswith("."):
            assert hasattr(bilm, rest.partition("(")[0])


def test_torch_still_finds_weights_and_says_which_are_missing() -> None:
    bilm = loud_bilm()
    assert isinstance(next(bilm.parameters()), torch.Tensor)
    with pytest.raises(AttributeError, match=r"'BiLm' object has no attribute 'gamma'$"):
        _ = bilm.gamma


def test_a_bilm_has_no_length_and_counts_as_true() -> None:
    with pytest.raises(TypeError, match=r"bilm\.num_layers layers of bilm\.output_dim numbers"):
        len(loud_bilm())
    assert loud_bilm()


@pytest.mark.parametrize(
    "name", sorted(" ".join(meanings()["names of elmo_plugin"].values()).split())
)
def test_other_libraries_names_say_what_to_write(name: str) -> None:
    for line in (f"from elmo_plugin import {name}", f"import elmo_plugin.{name}"):
        with pytest.raises(ImportError, match=f"^elmo_plugin has no {name}; "):
            exec(line)
    with pytest.raises(AttributeError, match=f"^elmo_plugin has no {name}; "):
        getattr(elmo_plugin, name)
    assert not hasattr(elmo_plugin, name)


def test_unknown_names_of_the_package_are_attribute_errors() -> None:
    assert not hasattr(elmo_plugin, "nothing_like_this")
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'elmo_plugin\.nothing_like"):
        exec("import elmo_plugin.nothing_like_this")
