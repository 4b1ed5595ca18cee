"""The biLM's tab: its numbers against those of other parts of this package, and of closed forms."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from starlette.testclient import TestClient

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.demo import LoadedBiLm, make_tabs
from elmo_plugin.demo.bilm_view import Place, split_words
from elmo_plugin.demo.page import make_app
from elmo_plugin.language_model import measure_perplexity
from tests.conftest import REPOSITORY
from tests.trained_bilm import random_bilm, write_training
from tests.without_allennlp import BLOCK_ALLENNLP

TEXT = "They saw a play .\nThe team made a great play .\nHe can Play"


@pytest.fixture(scope="module")
def tiny() -> LoadedBiLm:
    return LoadedBiLm("tiny")


def test_words_are_apart_from_punctuation_but_not_cut_at_hyphens_and_apostrophes() -> None:
    assert split_words('She said: "don\'t!"\n\n  A well-known 3.5 😀مرحبا') == [
        ["She", "said", ":", '"', "don't", "!", '"'],
        ["A", "well-known", "3.5", "😀", "مرحبا"],
    ]


def test_the_cosines_of_each_layer_are_those_of_the_vectors(tiny: LoadedBiLm) -> None:
    view = tiny.view(TEXT, "0.3")
    assert view.occurrences == [Place(0, 3), Place(1, 5), Place(2, 2)]
    layers = BiLm.from_pretrained("tiny").embed(view.sentences)
    assert [layer.name for layer in view.layers] == ["token", "LSTM 1", "LSTM 2"]
    for number, layer in enumerate(view.layers):
        vectors = np.stack([layers[place.sentence][number, place.word].numpy() for place in view.occurrences])
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        np.testing.assert_allclose(layer.cosines, unit @ unit.T, atol=1e-5)


def test_the_map_keeps_the_distances_of_three_places(tiny: LoadedBiLm) -> None:
    """Three points lie in a plane, so that two principal components lose nothing but the scale."""
    view = tiny.view(TEXT, "0.3")
    layers = BiLm.from_pretrained("tiny").embed(view.sentences)
    vectors = torch.stack([layers[place.sentence][-1, place.word] for place in view.occurrences]).double()
    points = torch.tensor(view.layers[-1].points).double()
    ratio = torch.pdist(vectors) / torch.pdist(points)
    torch.testing.assert_close(ratio, ratio[:1].expand(3), rtol=1e-4, atol=0)
    assert view.layers[-1].explained == pytest.approx(1)
    assert float(points.min()) == 0 and float(points.max()) == pytest.approx(1)


def test_a_word_without_its_sentence_is_one_point(tiny: LoadedBiLm) -> None:
    token_layer = tiny.view("They play .\nWe play !\nA play", "0.1").layers[0]
    assert token_layer.points == [(0.5, 0.5)] * 3
    np.testing.assert_allclose(token_layer.cosines, np.ones((3, 3)), atol=1e-5)


def test_the_nearest_words_of_the_text_come_first_and_not_the_word_itself(tiny: LoadedBiLm) -> None:
    view = tiny.view(TEXT, "1.5")
    cosines = [each.cosine for each in view.neighbors]
    assert cosines == sorted(cosines, reverse=True) and len(cosines) == 8
    occurrences = [each.occurrence for each in view.neighbors]
    assert (view.sentences[1], 5) not in occurrences
    assert occurrences[0].words[occurrences[0].position].lower() == "play"


def test_the_most_frequent_word_is_chosen_and_a_single_one_has_no_map(tiny: LoadedBiLm) -> None:
    assert tiny.view(TEXT).chosen == Place(0, 3)
    assert tiny.view("one two three").chosen is None
    alone = tiny.view("one two three", "0.1")
    assert alone.occurrences == [Place(0, 1)] and alone.layers == [] and len(alone.neighbors) == 2


@pytest.mark.parametrize("chosen", ["9.0", "0.9", "x", "0", "-1.0", "0.1.2", "9" * 99])
def test_a_word_that_is_not_there_is_an_error(tiny: LoadedBiLm, chosen: str) -> None:
    with pytest.raises(BiLmError, match="there is no word"):
        tiny.view(TEXT, chosen)


def test_a_text_without_words_is_an_error(tiny: LoadedBiLm) -> None:
    with pytest.raises(BiLmError, match="there is no word in this text"):
        tiny.view(" \n ")


def test_surprisal_is_what_elmo_perplexity_writes_for_each_word(tmp_path: Path) -> None:
    archive = str(write_training(tmp_path / "run", random_bilm()))
    (tmp_path / "text.txt").write_text("the cat sat\nsat elsewhere the\n")
    scores, cache = tmp_path / "scores.jsonl", str(tmp_path / "cache")
    texts = [str(tmp_path / "text.txt")]
    measure_perplexity(archive, texts, "reset", per_sentence=str(scores), cache_directory=cache)
    expected = [json.loads(line) for line in scores.read_text().splitlines()]
    view = LoadedBiLm(archive).view((tmp_path / "text.txt").read_text())
    for of_sentence, line in zip(view.scores, expected, strict=True):
        bits = [[score.forward, score.backward] for score in of_sentence]
        nats = np.stack([line["forward_nats"][:-1], line["backward_nats"][:-1]], axis=1)
        np.testing.assert_allclose(bits, nats / math.log(2), atol=1e-5)
        unknown = [number for number, score in enumerate(of_sentence) if not score.is_known]
        assert unknown == line["unknown"]


def test_the_tab_links_each_word_and_shows_the_layers(tiny: LoadedBiLm) -> None:
    client = TestClient(make_app(make_tabs([], tiny)), base_url="http://localhost")
    page = client.get("/bilm", params={"text": TEXT}).text
    assert page.count('class="word"') == 15 and page.count("<svg") == 3 and page.count('class="heat"') == 3
    assert "word=1.5" in page
    assert "The text is empty" in client.get("/bilm", params={"text": ""}).text
    assert "The text has 1,200 words" in client.get("/bilm", params={"text": "a," * 600}).text
    found = client.get("/bilm.json", params={"text": TEXT}).json()
    assert found["chosen"] == {"sentence": 0, "word": 3}


WITHOUT_ALLENNLP = (
    BLOCK_ALLENNLP
    + """
from starlette.testclient import TestClient
from elmo_plugin.commands.main import main
from elmo_plugin.demo import LoadedBiLm, load_archives, make_tabs
from elmo_plugin.demo.page import make_app
client = TestClient(make_app(make_tabs([], LoadedBiLm("tiny"))), base_url="http://localhost")
print(client.get("/bilm?text=play+play").status_code)
main(["predict", "model.tar.gz", "text"])
"""
)


@pytest.mark.slow
def test_the_tab_needs_no_allennlp_and_the_others_say_that_they_do() -> None:
    program = [sys.executable, "-W", "ignore", "-c", WITHOUT_ALLENNLP]
    process = subprocess.run(program, cwd=REPOSITORY, capture_output=True, text=True)
    assert process.stdout == "200\n"
    assert process.stderr.startswith("elmo predict needs AllenNLP: pip install")
