"""Compares `elmo_plugin.Elmo` with AllenNLP's, which is the oracle."""

import logging
from typing import Any

import allennlp.modules.elmo as peer
import pytest
import torch
from torch import Tensor, nn

from elmo_plugin import Elmo, batch_to_ids
from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.embedding.cache import MemoryCache
from elmo_plugin.migration.allennlp_api.names import mappings
from tests.migration.allennlp_api.against_allennlp import (
    SENTENCES,
    WORDS,
    assert_same,
    different_mixes,
)
from tests.migration.allennlp_api.conftest import Files

ALTERNATIVES: list[dict[str, Any]] = [
    {},
    {"keep_sentence_boundaries": True},
    {"do_layer_norm": True},
    {"do_layer_norm": True, "keep_sentence_boundaries": True},
    {"scalar_mix_parameters": [-9e10, 1, -9e10]},
    {"scalar_mix_parameters": [0.3, -0.7, 1.1], "keep_sentence_boundaries": True},
]


@pytest.mark.parametrize("options", ALTERNATIVES, ids=str)
def test_the_first_batch_gives_the_vectors_that_allennlp_computes(
    files: Files, options: dict[str, Any]
) -> None:
    ours, theirs = (kind(*files, 2, **options).eval() for kind in (Elmo, peer.Elmo))
    different_mixes(ours, theirs)
    assert ours.get_output_dim() == theirs.get_output_dim()
    ids = batch_to_ids(SENTENCES)
    expected = theirs(ids)
    assert_same(ours(ids), expected)
    assert_same(ours(ids), expected)  # a second time, as there is no state


@pytest.mark.parametrize("options", ALTERNATIVES[:4], ids=str)
def test_stateful_gives_allennlps_vectors_when_batch_sizes_change(
    files: Files, options: dict[str, Any]
) -> None:
    ours, theirs = (
        Elmo(*files, 1, stateful=True, **options).eval(),
        peer.Elmo(*files, 1, **options).eval(),
    )
    batches = (
        SENTENCES[:2],
        SENTENCES,
        SENTENCES[1:2],
        SENTENCES[::-1],
        SENTENCES[:3],
    )  # one is empty
    for batch in batches:
        ids = batch_to_ids(batch)
        assert_same(ours(ids), theirs(ids))
    ours.reset_state()
    theirs._elmo_lstm._elmo_lstm.reset_states()
    assert_same(ours(ids), theirs(ids))


def numbers(sentences: list[list[str]], words: list[str]) -> Tensor:
    """The place of each word in the list; 1 for others."""
    known = {word: number for number, word in enumerate(words)}
    rows = [
        torch.tensor([known.get(word, 1) for word in sentence]).long() for sentence in sentences
    ]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True)


@pytest.mark.parametrize("words", [WORDS, WORDS[:5]], ids=["all words", "some words"])
def test_word_ids_give_the_vectors_that_allennlp_computes(files: Files, words: list[str]) -> None:
    ours, theirs = (kind(*files, 1, vocab_to_cache=words).eval() for kind in (Elmo, peer.Elmo))
    ids, word_inputs = batch_to_ids(SENTENCES), numbers(SENTENCES, words)
    assert_same(ours(ids, word_inputs), theirs(ids, word_inputs))
    nested = ids.view(2, 2, *ids.shape[1:]), word_inputs.view(2, 2, -1)
    theirs._elmo_lstm._elmo_lstm.reset_states()
    assert_same(ours(*nested), theirs(*nested))
    with pytest.raises(BiLmError, match="word_inputs: expected"):
        ours(ids, word_inputs[:, :1])
    with pytest.raises(BiLmError, match="expected character ids of shape"):
        ours(peer.batch_to_ids([[], []]))


def test_word_ids_without_a_vocabulary_are_ignored_with_a_warning(
    files: Files, caplog: pytest.LogCaptureFixture
) -> None:
    elmo, ids = Elmo(*files).eval(), batch_to_ids(SENTENCES)
    with caplog.at_level(logging.WARNING):
        output = elmo(ids, torch.ones(4, 6, dtype=torch.long))
    assert "vocab_to_cache is missing" in caplog.text
    assert_same(output, elmo(ids))


def test_bilm_weights_get_the_gradients_that_allennlp_computes(files: Files) -> None:
    options: dict[str, Any] = {"requires_grad": True, "dropout": 0.0, "do_layer_norm": True}
    ours, theirs = Elmo(*files, 2, **options), peer.Elmo(*files, 2, **options)
    ids, weights = batch_to_ids(SENTENCES), None
    for module in (ours, theirs):
        representations = torch.stack(module(ids)["elmo_representations"])
        weights = torch.randn_like(representations) if weights is None else weights
        (representations * weights).sum().backward()
    bilm = ours._elmo_lstm.bilm
    gradients = {name: parameter.grad for name, parameter in bilm.named_parameters()}
    for mapping in mappings(bilm.options):
        parts = [gradients[name] for name in mapping.ours]
        # The conversions are linear but for the forget gate's constant, which has no gradient.
        zeros = [torch.zeros_like(part) for part in parts]
        gradient = mapping.to_theirs(*parts) - mapping.to_theirs(*zeros)
        expected = theirs.get_parameter(f"_elmo_lstm.{mapping.theirs}").grad
        torch.testing.assert_close(gradient, expected, atol=1e-4, rtol=1e-4, msg=mapping.theirs)
    for number in range(2):
        for name, parameter in getattr(ours, f"scalar_mix_{number}").named_parameters():
            expected = theirs.get_parameter(f"scalar_mix_{number}.{name}").grad
            torch.testing.assert_close(parameter.grad, expected, atol=1e-4, rtol=1e-4, msg=name)


@pytest.mark.parametrize("make", [peer._ElmoBiLm, lambda *files: Elmo(*files)._elmo_lstm])
@pytest.mark.parametrize("kind", [Elmo, peer.Elmo])
def test_our_elmo_and_allennlps_accept_each_others_bilm(files: Files, kind: Any, make: Any) -> None:
    elmo = kind(None, None, 2, module=make(*files)).eval()
    assert elmo.get_output_dim() == 12
    assert_same(Elmo(*files, 2).eval()(batch_to_ids(SENTENCES)), elmo(batch_to_ids(SENTENCES)))


@pytest.mark.slow
def test_a_bilm_may_be_a_name_an_archive_or_an_object(files: Files) -> None:
    ids = batch_to_ids(SENTENCES)
    loaded: BiLm = BiLm.from_pretrained({"options": files[0], "weights": files[1]})
    for source in (loaded, {"options": files[0], "weights": files[1]}):
        assert_same(Elmo(bilm=source).eval()(ids), Elmo(*files).eval()(ids))
    assert Elmo(bilm="tiny").get_output_dim() == BiLm.from_pretrained("tiny").output_dim


def test_a_cached_sentence_gives_the_same_vectors_without_running_the_bilm(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, cached = Elmo(*files).eval(), Elmo(*files, cache=MemoryCache(max_gb=0.5)).eval()
    ids = batch_to_ids(SENTENCES)
    expected = plain(ids)
    assert_same(cached(ids), expected)
    monkeypatch.setattr(BiLm, "forward", None)
    assert_same(cached(ids), expected)


@pytest.mark.parametrize(
    "option", ["keep_sentence_boundaries", "do_layer_norm", "requires_grad", "stateful"]
)
def test_a_cache_for_a_trained_or_stateful_bilm_is_refused(files: Files, option: str) -> None:
    with pytest.raises(BiLmError, match="cache"):
        Elmo(*files, cache=MemoryCache(), **{option: True})


def test_exactly_one_bilm_must_be_given(files: Files) -> None:
    module = nn.Identity()
    for options in (
        {},
        {"options_file": files[0]},
        {"options_file": files[0], "bilm": "tiny"},
        {"options_file": files[0], "weight_file": files[1], "bilm": "tiny"},
        {"options_file": files[0], "weight_file": files[1], "module": module},
        {"bilm": "tiny", "module": module},
    ):
        with pytest.raises(
            BiLmError, match="needs either options_file and weight_file, or bilm, or module"
        ):
            Elmo(**options)
