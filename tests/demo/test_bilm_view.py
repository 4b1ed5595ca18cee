"""The biLM's tab: its numbers against other parts of this package, and closed forms."""

from typing import Any

import numpy as np
import pytest
import torch
from starlette.testclient import TestClient

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.common.typography import normalize_text
from elmo_plugin.demo.app import make_app
from elmo_plugin.demo.bilm_view import BiLmTab

TEXT = "They saw a play .\nThe team made a great play .\nHe can Play"


@pytest.fixture(scope="module")
def tiny() -> BiLmTab:
    return BiLmTab("tiny", 10_000)


def view(tab: BiLmTab, text: str = TEXT, word: int | str = "") -> dict[str, Any]:
    return tab.answer({"text": text, "word": str(word)})


def layers_of(sentences: list[list[str]]) -> torch.Tensor:
    """Shape (num_layers, words, dim)."""
    return torch.cat(BiLm.from_pretrained("tiny").embed(sentences), dim=1)


def test_words_are_split_like_encode_and_shown_as_typed(tiny: BiLmTab) -> None:
    lines = ["She said: “don\u2019t!”", "हिन्दी 3.5 😀 今日"]
    shown = view(tiny, f"{lines[0]}\n \n{lines[1]}")
    assert shown["sentences"][0] == ["She", "said", ":", "“", "do", "n\u2019t", "!", "”"]
    for words, encoded in zip(shown["sentences"], tiny.bilm.encode(lines), strict=True):
        assert list(map(normalize_text, words)) == encoded.words


def test_the_shown_cosines_equal_those_of_the_vectors(tiny: BiLmTab) -> None:
    shown = view(tiny, word=3)
    assert shown["occurrences"] == [3, 10, 14]
    assert [layer["name"] for layer in shown["layers"]] == ["token", "LSTM 1", "LSTM 2"]
    for layer, vectors in zip(
        shown["layers"], layers_of(shown["sentences"])[:, [3, 10, 14]], strict=True
    ):
        unit = vectors.numpy() / np.linalg.norm(vectors.numpy(), axis=1, keepdims=True)
        np.testing.assert_allclose(layer["cosines"], unit @ unit.T, atol=1e-5)


def test_the_map_keeps_the_distances_of_three_points(tiny: BiLmTab) -> None:
    """Three points lie in a plane, so two principal components lose nothing but the scale."""
    shown = view(tiny, word=3)
    points = torch.tensor(shown["layers"][-1]["points"]).double()
    ratio = torch.pdist(layers_of(shown["sentences"])[-1, [3, 10, 14]].double()) / torch.pdist(
        points
    )
    torch.testing.assert_close(ratio, ratio[:1].expand(3), rtol=1e-4, atol=0)
    assert shown["layers"][-1]["explained"] == pytest.approx(1)
    assert float(points.min()) == 0 and float(points.max()) == pytest.approx(1)


def test_the_nearest_words_come_first_without_the_word_itself(tiny: BiLmTab) -> None:
    shown = view(tiny, word=10)
    cosines = [each["cosine"] for each in shown["neighbors"]]
    assert cosines == sorted(cosines, reverse=True) and len(cosines) == 8
    places = [(each["words"], each["position"]) for each in shown["neighbors"]]
    assert (shown["sentences"][1], 5) not in places
    assert places[0][0][places[0][1]].lower() == "play"


def test_the_longest_repeated_word_is_chosen_or_else_the_longest_without_a_map(
    tiny: BiLmTab,
) -> None:
    assert view(tiny)["chosen"] == 3
    assert view(tiny, "? !")["chosen"] is None
    alone = view(tiny, "one two three")
    assert alone["chosen"] == 2 and alone["occurrences"] == [2]
    assert alone["layers"] == [] and len(alone["neighbors"]) == 2


@pytest.mark.parametrize("word", ["15", "x", "-1", "9" * 99])
def test_a_word_that_does_not_occur_is_an_error(tiny: BiLmTab, word: str) -> None:
    with pytest.raises(BiLmError, match=f"The word {word!r} is not in this text"):
        view(tiny, word=word)


def test_each_word_on_the_tab_is_a_link_to_its_layers(tiny: BiLmTab) -> None:
    client = TestClient(make_app([tiny]), base_url="http://localhost")
    page = client.get("/bilm", params={"text": TEXT, "word": 3}).text
    assert (
        page.count('class="word"') == 15
        and page.count("<svg") == 3
        and page.count('class="heat"') == 3
    )
    assert 'name="word" value="10"' in page and page.count("aria-current") == 2
    assert client.get("/bilm.json", params={"text": TEXT}).json()["chosen"] == 3
