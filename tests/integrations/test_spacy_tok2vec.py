"""The architecture `elmo_plugin.Tok2VecElmo.v1`: its mix against torch's, and a tagger that learns
by it.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import torch
from spacy.training import Example
from thinc.api import Adam, Config

from elmo_plugin.bilm import BiLm
from elmo_plugin.embedding.representations import ScalarMix
from elmo_plugin.integrations.spacy_tok2vec import bilm_layers, scalar_mix
from elmo_plugin.integrations.word_vectors import WordVectors

TAGGED = [("the cat sat", ["D", "N", "V"]), ("a dog ran", ["D", "N", "V"]), ("cat sat", ["N", "V"])]


def test_the_mix_and_its_gradients_equal_torchs() -> None:
    draw = np.random.default_rng(0)
    layers = [draw.normal(size=(3, words, 4)).astype("f") for words in (5, 2, 0)]
    gradients = [draw.normal(size=(words, 4)).astype("f") for words in (5, 2, 0)]
    mix, expected = scalar_mix(), ScalarMix(3)
    mix.initialize(layers)
    mix.set_param("weights", np.asarray([0.3, -1, 0.5], "f"))
    mix.set_param("gamma", np.asarray([1.7], "f"))
    with torch.no_grad():
        expected.weights.copy_(torch.tensor([0.3, -1, 0.5]))
        expected.gamma.fill_(1.7)
    mixed, backprop = mix.begin_update(layers)
    of_torch = [expected(torch.from_numpy(each)) for each in layers]
    for one, other in zip(mixed, of_torch, strict=True):
        np.testing.assert_allclose(one, other.detach().numpy(), atol=1e-5)
    backprop(gradients)
    torch.autograd.backward(of_torch, [torch.from_numpy(each) for each in gradients])
    np.testing.assert_allclose(mix.get_grad("weights"), expected.weights.grad.numpy(), atol=1e-4)
    np.testing.assert_allclose(mix.get_grad("gamma"), [expected.gamma.grad], atol=1e-4)


def tagger(pair: dict[str, str], embed: dict[str, Any] | None = None) -> spacy.Language:
    tok2vec = {
        "@architectures": "elmo_plugin.Tok2VecElmo.v1",
        "bilm": pair,
        "width": 16,
        "dropout": 0.0,
    }
    if embed:
        tok2vec["embed"] = embed
    model = {"@architectures": "spacy.Tagger.v2", "tok2vec": tok2vec}
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger", config=Config({"model": model}))
    return nlp


HASHES = {
    "@architectures": "spacy.MultiHashEmbed.v2",
    "width": 8,
    "attrs": ["NORM"],
    "rows": [50],
    "include_static_vectors": False,
}


@pytest.mark.slow
@pytest.mark.parametrize("embed", [None, HASHES], ids=["alone", "with hashes"])
def test_a_tagger_learns_and_is_stored_with_its_biLM(
    embed: dict[str, Any] | None, pair: dict[str, str], tmp_path: Path
) -> None:
    spacy.util.fix_random_seed(0)
    nlp = tagger(pair, embed)
    examples = [Example.from_dict(nlp.make_doc(text), {"tags": tags}) for text, tags in TAGGED]
    nlp.initialize(lambda: examples)
    optimizer = Adam(0.03)
    mix = next(
        node for node in nlp.get_pipe("tagger").model.walk() if node.name == "elmo_scalar_mix"
    )
    losses = []
    for _ in range(20):
        loss: dict[str, float] = {}
        nlp.update(examples, sgd=optimizer, losses=loss)
        losses.append(loss["tagger"])
    assert losses[-1] < losses[0] / 5
    assert abs(mix.get_param("weights")).max() > 0 and mix.get_param("gamma") != 1
    predicted = [[token.tag_ for token in nlp(text)] for text, _ in TAGGED]
    assert predicted == [tags for _, tags in TAGGED]
    nlp.to_disk(tmp_path / "tagger")
    for file in pair.values():
        Path(file).unlink()
    loaded = spacy.load(tmp_path / "tagger")
    assert [[token.tag_ for token in loaded(text)] for text, _ in TAGGED] == predicted


@pytest.mark.slow
def test_training_and_a_pipeline_with_sentence_boundaries_get_the_same_vectors(
    pair: dict[str, str],
) -> None:
    words = ["the", "cat", "sat", ".", "a", "dog", "ran", "!"]
    expected = BiLm.from_files(pair["options"], pair["weights"]).embed([words])[0].numpy()
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    for doc in (nlp.make_doc("the cat sat. a dog ran!"), nlp("the cat sat. a dog ran!")):
        actual, empty = bilm_layers(WordVectors(pair, "all")).predict([doc, nlp("")])
        np.testing.assert_allclose(actual, expected, atol=1e-5)
        assert empty.shape == (3, 0, 12)
