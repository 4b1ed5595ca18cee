"""spaCy's component `elmo`: the biLM's own vectors of spaCy's own words, through all that a
pipeline does.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import torch

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.integrations import spacy_component  # registers it; else an entry point does
from elmo_plugin.integrations.word_vectors import WordVectors

TEXTS = ["The play's over.  Really?", "Hello!", "", "Don't go\nthere."]


def pipeline(pair: dict[str, str], **config: object) -> spacy.Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("elmo", config={"bilm": pair, **config})
    return nlp


def embed(pair: dict[str, str], *sentences: list[str]) -> np.ndarray:
    """The mean of the layers of each word, sentence after sentence."""
    layers = BiLm.from_files(pair["options"], pair["weights"]).embed(sentences)
    return np.concatenate([each.mean(dim=0).numpy() for each in layers])


@pytest.mark.slow
def test_known_sentences_are_embedded_separately(pair: dict[str, str]) -> None:
    nlp = pipeline(pair)
    nlp.add_pipe("sentencizer", before="elmo")
    expected = embed(pair, ["The", "play", "'s", "over", "."], ["Really", "?"])
    doc = nlp(TEXTS[0])
    np.testing.assert_allclose(doc._.elmo[[0, 1, 2, 3, 4, 6, 7]], expected, atol=1e-5)
    assert doc[5].is_space and not doc[5].has_vector and not doc._.elmo[5].any()


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("I  can\u2019t\n\u201cgo\u201d \u2026", 'I can\'t "go" ...'),
        ("\n\nHi!\u00a0", "Hi!"),
        (" \n ", ""),
    ],
)
def test_white_space_and_typographic_characters_do_not_change_vectors(
    typed: str, plain: str, pair: dict[str, str]
) -> None:
    nlp = pipeline(pair)
    doc, expected = nlp(typed), nlp(plain)
    words = [token.i for token in doc if not token.is_space]
    np.testing.assert_allclose(doc._.elmo[words], expected._.elmo, atol=1e-5)
    np.testing.assert_allclose(doc.vector, expected.vector, atol=1e-5)
    assert doc.has_vector == expected.has_vector == bool(plain)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_pipe_gives_the_same_vectors_as_single_documents(
    pair: dict[str, str], processes: int
) -> None:
    nlp = pipeline(pair, vectors=True)
    docs = list(nlp.pipe(TEXTS, batch_size=3, n_process=processes))
    for doc, text in zip(docs, TEXTS, strict=True):
        assert doc.text == text
        np.testing.assert_allclose(doc._.elmo, nlp(text)._.elmo, atol=1e-5)
        assert doc._.elmo.shape == (len(doc), 12)
        for token in doc:
            np.testing.assert_array_equal(token.vector, doc._.elmo[token.i])


def test_the_biLM_runs_on_spacys_device(
    pair: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`spacy.require_gpu()` makes this device that of torch in spaCy; it is no GPU here."""
    nlp, devices = pipeline(pair), []
    monkeypatch.setattr(WordVectors, "to", lambda self, device: devices.append(device))
    nlp(TEXTS[1])
    monkeypatch.setattr(
        spacy_component, "get_torch_default_device", lambda: torch.device("cuda", 1)
    )
    nlp(TEXTS[1])
    assert devices == ["cpu", "cuda:1"]


@pytest.mark.slow
@pytest.mark.parametrize("layers", ["mean", "all"])
def test_tokens_and_spans_slice_the_documents_vectors(layers: str, pair: dict[str, str]) -> None:
    doc = pipeline(pair, layers=layers)(TEXTS[0])
    for token in doc:
        np.testing.assert_array_equal(token._.elmo, doc._.elmo[..., token.i, :])
    np.testing.assert_array_equal(doc[1:4]._.elmo, doc._.elmo[..., 1:4, :])
    assert doc[2:2]._.elmo.shape == doc._.elmo[..., 2:2, :].shape
    blank = spacy.blank("en")(TEXTS[0])
    assert blank[0]._.elmo is None and blank[:2]._.elmo is None


def test_vector_and_similarity_use_elmo(pair: dict[str, str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        doc = pipeline(pair)(TEXTS[0])
        vectors = doc._.elmo
        assert doc.has_vector and doc[0].has_vector
        np.testing.assert_array_equal(doc[1].vector, vectors[1])
        np.testing.assert_allclose(doc[1:3].vector, vectors[1:3].mean(axis=0))
        np.testing.assert_allclose(doc.vector, vectors[vectors.any(axis=1)].mean(axis=0))
        cosine = vectors[0] @ vectors[1] / np.linalg.norm(vectors[0]) / np.linalg.norm(vectors[1])
        assert doc[0].similarity(doc[1]) == pytest.approx(cosine, abs=1e-6)
        assert [doc.similarity(doc), doc[:3].similarity(doc[:3])] == pytest.approx([1, 1])


@pytest.mark.parametrize("config", [{"vectors": False}, {"layers": "all"}], ids=str)
def test_spacys_own_vectors_are_kept_without_one_vector_per_word(
    pair: dict[str, str], config: dict[str, Any]
) -> None:
    doc = pipeline(pair, **config)(TEXTS[0])
    assert not doc.has_vector and doc.tensor.size == 0 and doc[0].vector.size == 0


@pytest.mark.slow
@pytest.mark.parametrize("way", ["disk", "bytes"])
def test_a_stored_pipeline_contains_its_biLM(
    way: str, pair: dict[str, str], tmp_path: Path
) -> None:
    nlp = pipeline(pair, vectors=True)
    expected = nlp(TEXTS[0])._.elmo
    nlp.to_disk(tmp_path / "pipeline")
    content, config = nlp.to_bytes(), nlp.config
    for file in pair.values():
        Path(file).unlink()
    if way == "disk":
        loaded = spacy.load(tmp_path / "pipeline")
    else:
        loaded = spacy.blank("en").from_config(config)
        loaded.from_bytes(content)
    np.testing.assert_array_equal(loaded(TEXTS[0])._.elmo, expected)


def test_stored_numbers_are_finite(pair: dict[str, str]) -> None:
    component = pipeline(pair).get_pipe("elmo")
    with torch.no_grad():
        next(component.word_vectors.bilm.parameters()).view(-1)[0] = torch.nan
    with pytest.raises(BiLmError, match=r"the stored biLM: the tensor .* has NaN"):
        component.from_bytes(component.to_bytes())


def test_a_document_keeps_its_vectors_when_serialized(pair: dict[str, str]) -> None:
    doc = pipeline(pair)(TEXTS[0])
    again = spacy.tokens.Doc(doc.vocab).from_bytes(doc.to_bytes())
    np.testing.assert_array_equal(again._.elmo, doc._.elmo)


def test_stored_vectors_of_other_tokens_are_not_used(pair: dict[str, str]) -> None:
    nlp = pipeline(pair)
    doc = nlp("I saw New York City today .")
    vectors = doc._.elmo
    part = doc[2:].as_doc(copy_user_data=True)
    assert part._.elmo is None and doc[2:].as_doc(copy_user_data=True)[0]._.elmo is None
    np.testing.assert_array_equal([token.vector for token in part], vectors[2:])
    together = spacy.tokens.Doc.from_docs([doc, nlp("Hello")])
    np.testing.assert_array_equal([token.vector for token in together][:7], vectors)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:4])
        retokenizer.split(doc[5], ["to", "day"], heads=[(doc[5], 0), (doc[5], 1)])
    assert len(doc) == len(vectors) and doc._.elmo is doc[0]._.elmo is doc[:2]._.elmo is None
    nlp.get_pipe("elmo")(doc)
    words = ["I", "saw", "New York", "City", "to", "day", "."]
    np.testing.assert_allclose(doc._.elmo, embed(pair, words), atol=1e-5)
