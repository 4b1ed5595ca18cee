"""The transformer of scikit-learn, by the checks of scikit-learn and by the biLM itself."""

import pickle
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6", reason="needs elmo_plugin[sklearn]")

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.integrations.sklearn_transformer import ElmoVectorizer
from tests.small_bilm import loud_bilm, write_pair

SENTENCES = [["The", "play", "ended", "."], [], ["Hello"]]
# `check_estimator` passes over estimators whose input is no matrix of numbers. These of its checks look at
# the estimator itself, and hold for those, too.
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


@pytest.fixture
def pair(tmp_path: Path) -> dict[str, str]:
    return write_pair(loud_bilm(), tmp_path)


@pytest.mark.parametrize("check", CHECKS)
def test_the_checks_of_scikit_learn_that_apply_pass(check: str) -> None:
    getattr(estimator_checks, check)("ElmoVectorizer", ElmoVectorizer())


@pytest.mark.filterwarnings("ignore:Can't test estimator")
def test_check_estimator_passes() -> None:
    estimator_checks.check_estimator(ElmoVectorizer())


@pytest.mark.parametrize("batch_size", [1, 2, 256])
def test_a_sentence_has_the_mean_of_its_words(batch_size: int, pair: dict[str, str]) -> None:
    layers = BiLm.from_files(pair["options"], pair["weights"]).embed(SENTENCES)
    means = [each.mean(dim=(0, 1)).numpy() if each.size(1) else np.zeros(12) for each in layers]
    actual = ElmoVectorizer(pair, batch_size=batch_size).fit_transform(SENTENCES)
    assert actual.dtype == np.float32
    np.testing.assert_allclose(actual, means, atol=1e-5)


def test_all_layers_are_concatenated(pair: dict[str, str]) -> None:
    every = ElmoVectorizer(pair, layers="all").fit(SENTENCES)
    alone = [ElmoVectorizer(pair, layers=number).fit_transform(SENTENCES) for number in range(3)]
    np.testing.assert_allclose(every.transform(SENTENCES), np.concatenate(alone, axis=1), atol=1e-6)
    assert len(every.get_feature_names_out()) == 36 and every.transform([]).shape == (0, 36)


def test_it_is_a_step_of_a_pipeline_and_of_a_search(pair: dict[str, str]) -> None:
    sentences = [["a", "good", "play"], ["a", "bad", "play"]] * 6
    classes = [1, 0] * 6
    search = GridSearchCV(
        make_pipeline(ElmoVectorizer(pair), LogisticRegression()),
        {"elmovectorizer__layers": ["mean", "token"]},
        cv=2,
    )
    assert search.fit(sentences, classes).score(sentences, classes) == 1


def test_a_pickle_has_the_biLM(pair: dict[str, str]) -> None:
    fitted = ElmoVectorizer(pair).fit(SENTENCES)
    expected, content = fitted.transform(SENTENCES), pickle.dumps(fitted)
    for file in pair.values():
        Path(file).unlink()
    np.testing.assert_array_equal(pickle.loads(content).transform(SENTENCES), expected)


def test_what_is_no_list_of_words_is_named(pair: dict[str, str]) -> None:
    fitted = ElmoVectorizer(pair).fit(SENTENCES)
    for wrong in ("The play ended.", [1, 2]):
        with pytest.raises(BiLmError, match="a sentence is a list of words"):
            fitted.transform([wrong])
    with pytest.raises(BiLmError, match="batch_size must be at least 1"):
        ElmoVectorizer(pair, batch_size=0).fit(SENTENCES)


def test_a_bilm_that_is_not_there_is_an_error_of_fit(tmp_path: Path) -> None:
    with pytest.raises(BiLmError, match=r"options\.json"):
        ElmoVectorizer({"options": str(tmp_path / "options.json"), "weights": "gone"}).fit(SENTENCES)
