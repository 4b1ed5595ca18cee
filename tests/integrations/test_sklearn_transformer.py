"""The transformer of scikit-learn, by the checks of scikit-learn and by the biLM itself."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6", reason="needs elmo_plugin[sklearn]")

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.integrations.sklearn_transformer import ElmoVectorizer

SENTENCES = [["The", "play", "ended", "."], [], ["Hello"]]
# `check_estimator` passes over estimators whose input is no matrix of numbers. These of its checks
# look at the estimator itself, and hold for those, too.
CHECKS = [
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


@pytest.mark.parametrize("check", CHECKS)
def test_the_checks_of_scikit_learn_that_apply_pass(check: str) -> None:
    getattr(estimator_checks, check)("ElmoVectorizer", ElmoVectorizer())


@pytest.mark.slow
@pytest.mark.parametrize("layers", ["mean", "all"])
def test_a_sentences_vector_is_pooled_from_its_words(layers: str, pair: dict[str, str]) -> None:
    of_words = BiLm.from_files(pair["options"], pair["weights"]).embed(SENTENCES)
    chosen = [each if layers == "all" else each.mean(dim=0, keepdim=True) for each in of_words]
    pools = {"mean": lambda each: each.mean(dim=1), "max": lambda each: each.amax(dim=1)}
    for pooling, pool in {**pools, "first": lambda each: each[:, 0]}.items():
        vectorizer = ElmoVectorizer(pair, layers=layers, pooling=pooling)
        actual = vectorizer.fit_transform(SENTENCES)
        assert actual.shape == (3, len(vectorizer.get_feature_names_out())) and not actual[1].any()
        for number in (0, 2):
            np.testing.assert_allclose(actual[number], pool(chosen[number]).flatten(), atol=1e-5)


def test_changing_layers_requires_a_new_fit(pair: dict[str, str]) -> None:
    vectorizer = ElmoVectorizer(pair).fit(SENTENCES)
    expected = vectorizer.transform(SENTENCES)
    np.testing.assert_array_equal(
        vectorizer.set_params(layers="all").transform(SENTENCES), expected
    )
    assert vectorizer.fit_transform(SENTENCES).shape == (len(SENTENCES), 36)


def test_texts_are_split_by_the_given_tokenizer(pair: dict[str, str]) -> None:
    texts = [" ".join(words) for words in SENTENCES]
    actual = ElmoVectorizer(pair, tokenizer=str.split).fit_transform(texts)
    vectorizer = ElmoVectorizer(pair)
    np.testing.assert_array_equal(actual, vectorizer.fit_transform(SENTENCES))
    np.testing.assert_array_equal(actual, vectorizer.transform(texts))  # by spaCy's rules
    assert vectorizer.transform([]).shape == (0, 12)


def test_the_biLM_is_on_the_requested_device_even_after_unpickling(pair: dict[str, str]) -> None:
    fitted = ElmoVectorizer(pair, device="meta").fit(SENTENCES)  # a device without numbers
    assert {each.device.type for each in fitted.word_vectors_.bilm.parameters()} == {"meta"}
    for wrong in ("nowhere", "cuda:99"):
        with pytest.raises(BiLmError, match=f"{wrong}"):
            ElmoVectorizer(pair, device=wrong).fit(SENTENCES)
    on_cpu = pickle.loads(pickle.dumps(ElmoVectorizer(pair).fit(SENTENCES)))
    with pytest.raises(BiLmError, match="got 'nowhere'"):
        on_cpu.set_params(device="nowhere").transform(SENTENCES)


@pytest.mark.slow
def test_the_transformer_works_in_a_pipeline_and_a_grid_search(pair: dict[str, str]) -> None:
    sentences = [["a", "good", "play"], ["a", "bad", "play"]] * 6
    classes = [1, 0] * 6
    search = GridSearchCV(
        make_pipeline(ElmoVectorizer(pair), LogisticRegression()),
        {"elmovectorizer__layers": ["mean", "token"]},
        cv=2,
    )
    assert search.fit(sentences, classes).score(sentences, classes) == 1


def test_wrong_inputs_are_named(pair: dict[str, str]) -> None:
    fitted = ElmoVectorizer(pair).fit(SENTENCES)
    for wrong, message in (
        ("The play ended.", "expected several texts, got one: put it in a list"),
        (["The play ended.", np.nan], r"texts\[1\]: expected a text or a list of words, got nan"),
        ([[1, 2]], r"texts\[0\]\[0\]: expected a word, got 1"),
        ({"text": ["The play"]}, "expected a text, or a list or column of texts, got dict"),
    ):
        with pytest.raises(BiLmError, match=message):
            fitted.transform(wrong)
    with pytest.raises(BiLmError, match="batch_size: expected at least 1"):
        ElmoVectorizer(pair, batch_size=0).fit(SENTENCES)
    with pytest.raises(
        BiLmError, match="pooling: expected one of mean, max, first, sif, got 'min'"
    ):
        ElmoVectorizer(pair, pooling="min").fit(SENTENCES)


def test_a_column_of_an_array_is_its_texts(pair: dict[str, str]) -> None:
    vectorizer = ElmoVectorizer(pair).fit(SENTENCES)
    texts = ["The boat left.", "Rain fell on it."]
    column = np.array(texts, dtype=object).reshape(-1, 1)
    np.testing.assert_array_equal(vectorizer.transform(column), vectorizer.transform(texts))
    with pytest.raises(BiLmError, match="expected a word, got a text with spaces"):
        vectorizer.transform(np.array([texts, texts], dtype=object))
