"""The vectors that are probed are those of the combinations, normalized layers among them."""

import torch

from elmo_plugin.analysis import LayerCombinations, Representation
from elmo_plugin.analysis.probes import TaggedSentence, word_vectors
from tests.small_bilm import loud_bilm


def test_all_words_have_the_vectors_of_each_combination() -> None:
    bilm = loud_bilm().eval().requires_grad_(False)
    sentences = [TaggedSentence(words.split(), []) for words in ("the play ended .", "hello")]
    weights = torch.tensor([[0.2, 0.5, 0.3], [0.2, 0.5, 0.3]])
    combinations = LayerCombinations(["a", "b"], weights, torch.tensor([False, True]))
    plain, normalized = word_vectors(Representation(bilm.embed, combinations), sentences)
    layers = torch.cat([bilm.embed([each.words])[0] for each in sentences], dim=1).double()
    variance = layers.var(dim=2, correction=0, keepdim=True)
    standard = (layers - layers.mean(dim=2, keepdim=True)) / (variance + 1e-5).sqrt()
    for actual, of_layers in ((plain, layers), (normalized, standard)):
        expected = 0.2 * of_layers[0] + 0.5 * of_layers[1] + 0.3 * of_layers[2]
        torch.testing.assert_close(actual.double(), expected, atol=1e-5, rtol=1e-5)
