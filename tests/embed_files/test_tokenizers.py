import pytest
import spacy

from elmo_plugin.embed_files import tokenizers
from elmo_plugin.embed_files.tokenizers import make_tokenizer

TEXT = "  Don't stop, he  said. It's £3.50/kg!\t"


def test_tokenised_text_is_split_at_white_space() -> None:
    assert make_tokenizer("whitespace", "en")("a  b\tc\u3000d.") == ["a", "b", "c", "d."]
    assert make_tokenizer("whitespace", "en")("") == []


@pytest.mark.parametrize("language", ["en", "de", "xx"])
def test_raw_text_is_split_by_the_rules_of_the_language(language: str) -> None:
    expected = [token.text for token in spacy.blank(language)(TEXT) if token.text.strip()]
    assert make_tokenizer("spacy", language)(TEXT) == expected
    assert make_tokenizer("spacy", language)("") == []


def test_english_contractions_are_two_words() -> None:
    assert make_tokenizer("spacy", "en")("Don't go.") == ["Do", "n't", "go", "."]


def test_the_memory_of_spacy_is_bounded_and_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizers, "_MAX_STRINGS", 100)
    tokenize = make_tokenizer("spacy", "en")
    at_first = len(tokenize._strings)
    for number in range(100):
        assert tokenize(f"word{number} isn't other{number}.") == [
            f"word{number}",
            "is",
            "n't",
            f"other{number}",
            ".",
        ]
        assert len(tokenize._strings) < at_first + 120


def test_a_language_without_rules_is_an_import_error() -> None:
    with pytest.raises(ImportError):
        make_tokenizer("spacy", "no-such-language")
