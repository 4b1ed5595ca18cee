"""Senses by nearest mean vectors against a restatement in ten lines, and their scores."""

import pytest
import torch
from torch import Tensor

from elmo_plugin.analysis import nearest_sense
from elmo_plugin.analysis.nearest_sense import NearestSense, SenseScore, score_senses
from elmo_plugin.analysis.representations import Combination, Representations, layer_representations
from elmo_plugin.analysis.sense_corpus import SenseSentence, Target
from elmo_plugin.bilm import BiLm

TRAIN = [
    SenseSentence(["The", "play", "ended", "."], [Target(1, 1, "play", "n", ["play%1"])]),
    SenseSentence(
        ["A", "good", "play", "by", "the", "team"], [Target(2, 1, "play", "n", ["play%2"])]
    ),
    SenseSentence(["The", "play", "won", "."], [Target(1, 1, "play", "n", ["play%2", "play%3"])]),
    SenseSentence(["They", "play", "chess"], [Target(1, 1, "play", "v", ["play%4"])]),
    SenseSentence(["Nothing", "here"], []),
    SenseSentence(["New", "York", "play"], [Target(0, 2, "new_york", "n", ["york%1"])]),
]
TEST = [
    SenseSentence(
        ["Her", "play", "opened", "."], [Target(1, 1, "play", "n", ["play%1", "play%9"])]
    ),
    SenseSentence(
        ["We", "play", "in", "New", "York"],
        [
            Target(1, 1, "play", "v", ["play%4"]),
            Target(3, 2, "new_york", "n", ["york%2"]),
        ],
    ),
    SenseSentence(["A", "dog"], [Target(1, 1, "dog", "n", ["dog%1"])]),
    SenseSentence(["A", "cat"], [Target(1, 1, "cat", "n", ["cat%1"])]),
]
Mix = tuple[list[float], bool]  # the weights, and whether the layers are normalized
FIRST = {("play", "n"): "play%1", ("play", "v"): "play%5", ("dog", "n"): "dog%1"}


@pytest.fixture(scope="module")
def bilm() -> BiLm:
    return BiLm.from_pretrained("tiny")


def vector(bilm: BiLm, sentence: SenseSentence, target: Target, mix: Mix) -> Tensor:
    weights, layer_norm = mix
    layers = bilm.embed([sentence.words])[0].double()
    if layer_norm:
        variance = layers.var(dim=2, correction=0, keepdim=True)
        layers = (layers - layers.mean(dim=2, keepdim=True)) / (variance + 1e-5).sqrt()
    words = sum(weight * layer for weight, layer in zip(weights, layers, strict=True))
    return words[target.first : target.first + target.length].mean(dim=0)


def restated(bilm: BiLm, sentence: SenseSentence, target: Target, mix: Mix) -> str | None:
    """
    Table 5 of the paper: the mean vector of each sense, and the nearest of those of the lemma.
    """
    examples: dict[str, list[Tensor]] = {}
    for each in TRAIN:
        for other in each.targets:
            if (other.lemma, other.part_of_speech) == (target.lemma, target.part_of_speech):
                for sense in other.senses:
                    examples.setdefault(sense, []).append(vector(bilm, each, other, mix))
    own = vector(bilm, sentence, target, mix)
    cosines = {
        sense: float(torch.cosine_similarity(torch.stack(vectors).mean(dim=0), own, dim=0))
        for sense, vectors in examples.items()
    }
    nearest = [sense for sense, cosine in cosines.items() if cosine > max(cosines.values()) - 1e-6]
    return max(nearest, key=lambda sense: len(examples[sense]), default=None)


@pytest.mark.slow
def test_the_sense_with_the_nearest_mean_is_chosen_for_each_mix(
    bilm: BiLm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest_sense, "WORDS_AT_ONCE", 5)
    mixes = [
        *[([1.0, 0, 0], False), ([0, 1.0, 0], False), ([0, 0, 1.0], False), ([1 / 3] * 3, False)],
        *[([0.2, 0.7, 0.1], True), ([0, 0.5, 0.5], True)],
    ]
    combinations = layer_representations(bilm).combinations
    combinations |= {"a": Combination(*mixes[4]), "b": Combination(*mixes[5])}
    model = NearestSense(Representations(bilm.embed, combinations))
    assert model.fit(TRAIN) == 5
    places = [(sentence, target) for sentence in TEST for target in sentence.targets]
    for (sentence, expected), (target, found) in zip(places, model.predict(TEST), strict=True):
        assert target == expected
        assert (found or [None] * 6) == [restated(bilm, sentence, target, mix) for mix in mixes]


def test_the_most_frequent_of_equally_near_senses_is_chosen(
    bilm: BiLm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    The token layer has one vector for a word, whatever its sense: their sums differ by rounding
    alone.
    """
    monkeypatch.setattr(nearest_sense, "WORDS_AT_ONCE", 40)
    train = [
        SenseSentence([*["a"] * length, "play"], [Target(length, 1, "play", "n", [each])])
        for length, each in enumerate("ababcabbbaacbbbab")
    ]
    model = NearestSense(layer_representations(bilm))
    model.fit(train)
    for _, found in model.predict(train):
        assert found is not None and found[0] == "b"


def test_lemmas_missing_from_the_training_data_get_their_first_sense(bilm: BiLm) -> None:
    model = NearestSense(layer_representations(bilm))
    model.fit(TRAIN)
    first, *layers = score_senses(model, TEST, FIRST.get)
    assert first == SenseScore("first sense", correct=2, answered=3, total=5)
    assert [score.name for score in layers] == ["token", "LSTM 1", "LSTM 2", "mean"]
    for (
        score
    ) in layers:  # the dog by its first sense, the verb by its one sense, the city by a wrong one
        assert (score.answered, score.total) == (4, 5)
        assert score.correct in (2, 3)
