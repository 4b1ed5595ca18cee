from pathlib import Path

import numpy as np
import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance, Token, Vocabulary
from allennlp.data.fields import TextField
from allennlp.data.token_indexers import SingleIdTokenIndexer
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.language_model.corpus import Corpus, prepare_corpus
from elmo_plugin.language_model.vocabulary import CountedWords, check_order, check_vocabulary
from tests.conftest import at_most


@at_most(40)
@given(
    sentences=st.lists(
        st.lists(st.sampled_from(["a", "b", "c", "d", "@@UNKNOWN@@"]), min_size=1, max_size=5),
        min_size=1,
        max_size=6,
    ),
    chunk_tokens=st.integers(1, 8),
)
def test_counts_and_vocabulary_equal_those_of_reading_sentence_by_sentence(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[list[str]], chunk_tokens: int
) -> None:
    folder = tmp_path_factory.mktemp("corpus")
    text = folder / "text.txt"
    text.write_text("\n".join(map(" ".join, sentences)))
    corpus = prepare_corpus([str(text)], folder, chunk_tokens=chunk_tokens)
    bounded = [word for sentence in sentences for word in ("<S>", *sentence, "</S>")]
    assert list(corpus.counts.items()) == [(w, bounded.count(w)) for w in dict.fromkeys(bounded)]
    made = Vocabulary.from_instances([CountedWords(corpus)], max_vocab_size=4)
    field = TextField([Token(word) for word in bounded], {"words": SingleIdTokenIndexer("words")})
    expected = Vocabulary.from_instances([Instance({"words": field})], max_vocab_size=4)
    assert made.get_index_to_token_vocabulary("words") == expected.get_index_to_token_vocabulary(
        "words"
    )
    assert made._retained_counter == expected._retained_counter


@pytest.fixture
def heldout(shared: Path, tmp_path: Path) -> Corpus:
    return prepare_corpus([str(shared / "data" / "lm" / "heldout-dev.txt")], tmp_path)


def vocabulary_of(words: list[str]) -> Vocabulary:
    return Vocabulary(tokens_to_add={"words": words})


def test_only_a_vocabulary_ordered_by_frequency_is_accepted(heldout: Corpus) -> None:
    counts = heldout.counts
    descending = sorted(counts, key=counts.__getitem__, reverse=True)
    check_order(vocabulary_of(descending), heldout)
    shuffled = np.random.default_rng(0).permutation(descending).tolist()
    for words in (shuffled, sorted(counts), descending[::-1]):
        with pytest.raises(ConfigurationError, match=r"not in the order .*`allennlp build-vocab`"):
            check_order(vocabulary_of(words), heldout)
    small = [word for word in descending if len(word) > 3][:20]
    check_order(vocabulary_of(["<S>", "</S>", *small]), heldout)
    with pytest.raises(ConfigurationError, match=r"not in the order .* leave num_negatives out"):
        check_order(vocabulary_of(["<S>", "</S>", *small[::-1]]), heldout)


@pytest.mark.parametrize("lacking", ["@@UNKNOWN@@", "<S>", "</S>"])
def test_a_vocabulary_without_a_special_word_is_refused(tmp_path: Path, lacking: str) -> None:
    text = tmp_path / "text.txt"
    text.write_text("a b\n")
    corpus = prepare_corpus([str(text)], tmp_path)
    words = [word for word in ("@@UNKNOWN@@", "<S>", "</S>", "a", "b") if word != lacking]
    made = Vocabulary(tokens_to_add={"words": words}, non_padded_namespaces=["words"])
    with pytest.raises(
        ConfigurationError, match=f"{lacking} is missing in .* namespace words; .*build-vocab"
    ):
        check_vocabulary(made)
    check_order(vocabulary_of(["b", "</S>", "a", "<S>"]), corpus)  # too small for an order


def test_a_vocabulary_with_a_word_in_the_place_of_padding_is_refused() -> None:
    words = ["a", "@@UNKNOWN@@", "<S>", "</S>"]
    made = Vocabulary(tokens_to_add={"words": words}, non_padded_namespaces=["words"])
    with pytest.raises(ConfigurationError, match=r"has 'a' as number 0 .* needs @@PADDING@@; .*"):
        check_vocabulary(made)


def test_the_vocabulary_of_bilm_tf_is_one_file(tmp_path: Path) -> None:
    file = tmp_path / "vocab.txt"
    file.write_text("\ufeff</S>\n<S>\n<UNK>\nthe\nplay\n!!!MAXTERMID\n")
    made = Vocabulary.from_params(Params({"type": "bilm_tf", "file": str(file)}))
    words = ["@@PADDING@@", "@@UNKNOWN@@", "</S>", "<S>", "the", "play"]
    assert list(made.get_index_to_token_vocabulary("words").values()) == words
    made.save_to_files(tmp_path / "saved")
    assert type(made).from_files(tmp_path / "saved")._token_to_index == made._token_to_index
    for content, found in (("<S>\nthe 3\n", "'the 3'"), ("a\na\n", "'a'"), ("a\n\n", "''")):
        file.write_text(content)
        with pytest.raises(
            ConfigurationError, match=f"{file}, line 2: expected a new word, got {found}"
        ):
            Vocabulary.from_params(Params({"type": "bilm_tf", "file": str(file)}))
