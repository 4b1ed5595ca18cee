# ruff: noqa: RUF001
"""The tokenizers of plain sentences."""

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import WhitespaceTokenizer

from elmo_plugin.common.spacy_rules import SpacyRules
from elmo_plugin.tasks.tokenizers import (
    PennTreebankTokenizer,
    RawTextTokenizer,
    SpacyRulesTokenizer,
    raw_text_tokenizer,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A man sleeps.", "A man sleeps ."),
        ("It isn't Ann's well-known dog, is it?", "It is n't Ann 's well-known dog , is it ?"),
        ('"Stop!" she said.', '" Stop ! " she said .'),
        ("A cat (black) -- or 2,000 cats...", "A cat ( black ) -- or 2,000 cats ..."),
        ("  Two\tgaps \n", "Two gaps"),
        ("Bad.. so bad.. In 1999.Then 3.5.", "Bad .. so bad .. In 1999 . Then 3.5 ."),
        ("", ""),
    ],
)
def test_words_are_split_like_the_penn_treebank_with_plain_quotation_marks(
    text: str, words: str
) -> None:
    assert [token.text for token in PennTreebankTokenizer().tokenize(text)] == words.split()


@pytest.mark.slow
def test_spacys_rules_do_not_accumulate_new_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SpacyRules, "max_new_words", 50)
    tokenizer = SpacyRulesTokenizer()
    known = []
    for number in range(100):
        assert [token.text for token in tokenizer.tokenize(f"new{number}x .")] == [
            f"new{number}x",
            ".",
        ]
        known.append(len(tokenizer._rules._rules[0].vocab.strings))
    assert max(known) < known[0] + 70


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_spacys_rules_refuse_text_that_would_take_seconds(language: str) -> None:
    tokenizer = SpacyRulesTokenizer(language)
    with pytest.raises(ConfigurationError, match="2,000 characters without white space, not 2,001"):
        tokenizer.tokenize("a " + "(" * 2_001)
    assert len(tokenizer.tokenize("\u5e97" * 2_001)) == 2_001  # each is a word between spaces


@pytest.mark.parametrize("tokenizer", [PennTreebankTokenizer(), SpacyRulesTokenizer()])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("米拉于2018年在Varna开了店，后来。", "米 拉 于 2018 年 在 Varna 开 了 店 ， 后 来 。"),
        ("ミラは「カフェ」へ、と。", "ミ ラ は 「 カ フ ェ 」 へ 、 と 。"),
        ("か\u3099く 人々 𠀀が ｶﾞ", "か\u3099 く 人 々 𠀀 が ｶﾞ"),
        ("미라는 서점을 열었다. 작다.", "미라는 서점을 열었다 . 작다 ."),
        ("She dropped her phone. It broke.", "She dropped her phone . It broke ."),
        ('He "left." Then (really.) so', 'He " left . " Then ( really . ) so'),
        ("NASA. Mr. Ott of the U.S. at 5 p.m. so", "NASA . Mr. Ott of the U.S. at 5 p.m. so"),
        (
            "J. Ott, Ph.D. said 3.5 in 2019. Wait... go",
            "J. Ott , Ph.D. said 3.5 in 2019 . Wait ... go",
        ),
        ("ok it fell.It broke", "ok it fell . It broke"),
        ("Они ушли. Я нет.", "Они ушли . Я нет ."),
    ],
)
def test_characters_without_spaces_and_inner_full_stops_are_words(
    tokenizer: RawTextTokenizer, text: str, words: str
) -> None:
    tokens = tokenizer.tokenize(text)
    assert [token.text for token in tokens] == words.split()
    assert [text[token.idx : token.idx_end] for token in tokens] == words.split()


def test_text_that_needs_a_dictionary_is_refused_without_a_tokenizer() -> None:
    with pytest.raises(
        ConfigurationError, match="Thai is written without spaces between words: set tokenizer"
    ):
        PennTreebankTokenizer().tokenize("ฉันกินข้าว")
    given = raw_text_tokenizer(WhitespaceTokenizer(), default=PennTreebankTokenizer)
    assert [token.text for token in given.tokenize("ฉัน กิน 米拉")] == ["ฉัน", "กิน", "米拉"]


def test_spacys_rules_depend_on_the_language() -> None:
    tokens = SpacyRulesTokenizer("zh").tokenize("米拉 在。")
    assert [token.text for token in tokens] == ["米", "拉", "在", "。"]
    tokens = SpacyRulesTokenizer("zh").tokenize("约3.14元。iPhone在2024年")
    assert [token.text for token in tokens] == [
        "约",
        "3.14",
        "元",
        "。",
        "iPhone",
        "在",
        "2024",
        "年",
    ]
    with pytest.raises(ConfigurationError, match="spaCy has no rules for language 'lo'"):
        SpacyRulesTokenizer("lo")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Good\U0001f600 fun", ["Good", "\U0001f600", "fun"]),
        ("so good!\U0001f600\U0001f600", ["so", "good", "!", "\U0001f600", "\U0001f600"]),
        ("thanks\U0001f44d\U0001f3fd.", ["thanks", "\U0001f44d\U0001f3fd", "."]),
        ("it\u2764\ufe0f!", ["it", "\u2764\ufe0f", "!"]),
        ("x\U0001f1e9\U0001f1eay", ["x", "\U0001f1e9\U0001f1ea", "y"]),
        (
            "we\U0001f468\u200d\U0001f469\u200d\U0001f467",
            ["we", "\U0001f468\u200d\U0001f469\u200d\U0001f467"],
        ),
        ("at 20\u00b0C", ["at", "20\u00b0C"]),
        ("\u00bfD\u00f3nde? \u00a1Ya!", ["\u00bf", "D\u00f3nde", "?", "\u00a1", "Ya", "!"]),
        ("\u0939\u0948\u0964", ["\u0939\u0948", "\u0964"]),
        (
            "\u06c1\u06d2\u061f \u06c1\u0627\u06ba\u06d4",
            ["\u06c1\u06d2", "\u061f", "\u06c1\u0627\u06ba", "\u06d4"],
        ),
        ("\u1230\u120b\u121d\u1362", ["\u1230\u120b\u121d", "\u1362"]),
        ("\u0532\u0561\u0580\u0587\u0589", ["\u0532\u0561\u0580\u0587", "\u0589"]),
    ],
)
def test_emoji_and_marks_of_other_languages_are_words(text: str, words: list[str]) -> None:
    assert [token.ensure_text() for token in PennTreebankTokenizer().tokenize(text)] == words
