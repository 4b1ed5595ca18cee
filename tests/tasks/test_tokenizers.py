"""The tokenizer of plain sentences."""

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.spacy_rules import SpacyRules
from elmo_plugin.tasks.tokenizers import PennTreebankTokenizer, SpacyRulesTokenizer


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A man sleeps.", "A man sleeps ."),
        ("It isn't Ann's well-known dog, is it?", "It is n't Ann 's well-known dog , is it ?"),
        ('"Stop!" she said.', '" Stop ! " she said .'),
        ("A cat (black) -- or 2,000 cats...", "A cat ( black ) -- or 2,000 cats ..."),
        ("  Two\tgaps \n", "Two gaps"),
        ("", ""),
    ],
)
def test_divides_like_the_penn_treebank_with_plain_quotation_marks(text: str, words: str) -> None:
    assert [token.text for token in PennTreebankTokenizer().tokenize(text)] == words.split()


def test_spacys_rules_need_no_model_and_tell_where_words_are() -> None:
    text = " Ada didn't  meet\nCharles (in London). "
    tokens = SpacyRulesTokenizer().tokenize(text)
    assert " ".join(token.text for token in tokens) == "Ada did n't meet Charles ( in London ) ."
    assert all(text[token.idx :].startswith(token.text) for token in tokens)


def test_spacys_rules_forget_words_that_were_new(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SpacyRules, "max_new_words", 50)
    tokenizer = SpacyRulesTokenizer()
    known = []
    for number in range(100):
        assert [token.text for token in tokenizer.tokenize(f"new{number}x .")] == [f"new{number}x", "."]
        known.append(len(tokenizer._rules._rules[0].vocab.strings))
    assert max(known) < known[0] + 70


def test_spacys_rules_refuse_what_takes_them_seconds() -> None:
    assert len(SpacyRulesTokenizer().tokenize("(" * 2_000 + " " + ")" * 2_000)) == 4_000
    with pytest.raises(ConfigurationError, match="2,000 characters without white space, not 2,001"):
        SpacyRulesTokenizer().tokenize("a " + "(" * 2_001)
