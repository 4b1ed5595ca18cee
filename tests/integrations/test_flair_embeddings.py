"""flair's embeddings of words: the biLM's own vectors, and a tagger of flair that is stored with
them.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

flair = pytest.importorskip("flair", reason="needs elmo_plugin[flair]")

import torch  # noqa: E402
from flair.data import Dictionary, Sentence  # noqa: E402
from flair.models import SequenceTagger  # noqa: E402

from elmo_plugin.bilm import BiLm  # noqa: E402
from elmo_plugin.bilm.products import has_bfloat16  # noqa: E402
from elmo_plugin.integrations.flair_embeddings import ElmoEmbeddings  # noqa: E402
from tests.small_bilm import loud_bilm, write_pair  # noqa: E402

SENTENCES = [["The", "play", "ended", "."], ["Hello"]]


def embedded(embeddings: ElmoEmbeddings) -> list[np.ndarray]:
    sentences = [Sentence(words) for words in SENTENCES]
    embeddings.embed(sentences)
    return [
        torch.stack([token.embedding for token in sentence]).cpu().numpy() for sentence in sentences
    ]


def test_words_get_the_mean_of_the_layers_or_all_of_them(pair: dict[str, str]) -> None:
    layers = BiLm.from_files(pair["options"], pair["weights"]).embed(SENTENCES)
    mixed, every = ElmoEmbeddings(pair), ElmoEmbeddings(pair, layers="all")
    assert (mixed.embedding_length, every.embedding_length) == (12, 36)
    for actual, expected in zip(embedded(mixed), layers, strict=True):
        np.testing.assert_allclose(actual, expected.mean(dim=0), atol=1e-5)
    for actual, expected in zip(embedded(every), layers, strict=True):
        np.testing.assert_allclose(actual, torch.cat(list(expected), dim=-1), atol=1e-5)


@pytest.mark.parametrize(
    "settings",
    [{}, {"layers": "top"}, {"layers": [0.25, 0, 0.75]}, {"precision": "bfloat16"}],
    ids=str,
)
def test_a_sentence_gets_the_vectors_of_each_setting_and_biLM(
    settings: dict[str, Any], pair: dict[str, str], tmp_path: Path
) -> None:
    """flair passes over embeddings whose name the words have a vector of already."""
    (tmp_path / "other").mkdir()
    other_pair = write_pair(loud_bilm(1), tmp_path / "other")
    others = [ElmoEmbeddings(pair, layers="token"), ElmoEmbeddings(other_pair)]
    before, embeddings = ElmoEmbeddings(pair), ElmoEmbeddings(pair, **settings)
    write_pair(loud_bilm(2), tmp_path)  # the files, which have another biLM now
    others += [ElmoEmbeddings(pair)] + ([before] if settings else [])
    is_another = "precision" not in settings or has_bfloat16()  # else it is computed in float32
    alone, after_others = Sentence(SENTENCES[0]), Sentence(SENTENCES[0])
    embeddings.embed(alone)
    for each in [*others, embeddings]:
        each.embed(after_others)
    for token, expected in zip(after_others, alone, strict=True):
        torch.testing.assert_close(
            token.get_embedding([embeddings.name]), expected.embedding, rtol=0, atol=0
        )
        assert len(token._embeddings) == len(others) + is_another
    assert ElmoEmbeddings.from_params(embeddings.to_params()).name == embeddings.name


def test_a_tagger_is_stored_with_its_biLM(pair: dict[str, str], tmp_path: Path) -> None:
    tags = Dictionary(add_unk=False)
    for tag in ("D", "N", "V", "."):
        tags.add_item(tag)
    tagger = SequenceTagger(ElmoEmbeddings(pair), tags, "pos", hidden_size=8, use_crf=False)
    tagger.eval()
    sentence, again = Sentence(SENTENCES[0]), Sentence(SENTENCES[0])
    tagger.predict(sentence)
    tagger.save(tmp_path / "tagger.pt")
    for file in pair.values():
        Path(file).unlink()
    SequenceTagger.load(tmp_path / "tagger.pt").predict(again)
    assert [token.get_label("pos").value for token in again] == [
        token.get_label("pos").value for token in sentence
    ]
