# ruff: noqa: RUF001
"""Typographic characters: the words of their ASCII twins, and the places of the text as typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.spacy_rules import SpacyRules
from elmo_plugin.common.typography import NormalizedText, check_script, normalize_text

TYPOGRAPHIC = "’‘“”„«»‹›…–—‑′″\u00a0\u202f\u2009\u00ad\u200b\u200d\ufeff\ufb01"
typed_texts = st.text(st.sampled_from(f"{TYPOGRAPHIC}ab .'\"-é中😀"), max_size=30)


@pytest.mark.parametrize(
    ("typed", "twin"),
    [
        ("isn’t, isn‘t, isn´t, isn′t", "isn't, isn't, isn't, isn't"),
        ("“So”, „so“, «so», »so« ‹so›", '"So", "so", "so", "so" \'so\''),
        ("« Oui\u202f!\u00a0»", '" Oui ! "'),
        ("1999–2004 — well‑known…", "1999-2004 -- well-known..."),
        ("\ufeffco\u00adop\u200b, a\u200cb\u2060", "coop, ab"),
        ("ﬁne oﬃce", "fine office"),
    ],
)
def test_typographic_characters_are_replaced_by_ascii(typed: str, twin: str) -> None:
    assert normalize_text(typed) == NormalizedText(typed, separate=False).text == twin


@pytest.mark.parametrize(
    "text", ["می\u200cروم", "👩\u200d🚀", "क्\u200dष", "naïve café 中文，。", "£5 ½ №"]
)
def test_characters_and_joiners_of_other_scripts_are_kept(text: str) -> None:
    assert normalize_text(text) == text


@given(typed_texts)
def test_the_offsets_of_a_word_cover_its_original_characters(text: str) -> None:
    normalized = NormalizedText(text, separate=False)
    for start in range(len(normalized.text)):
        word, first, last = normalized.word(start, start + 1)
        assert last == first + 1 and word in (normalize_text(text[first]) or text[first])


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "She didn’t — couldn’t — see O’Brien’s “house”…\u00a0Why?"),
        pytest.param(  # whose rules take seconds to load
            "fr", "«\u202fL’eau n’est pas d’ici\u202f», dit-elle…", marks=pytest.mark.slow
        ),
        ("de", "„Das ist’s“, sagte er – und »ging« weiter."),
    ],
)
def test_words_come_from_the_ascii_form_and_offsets_from_the_typed_text(
    language: str, text: str
) -> None:
    rules = SpacyRules(language)
    words, twins = rules.words(text), rules.words(normalize_text(text))
    assert [word.text for word in words] == [word.text for word in twins]
    assert all(normalize_text(text[start:end]) == word for word, start, end in words)


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("ฉันกินข้าว", "Thai"),
        ("มิราเปิดร้านหนังสือ ใน Varna", "Thai"),
        ("Mira Petrova of Varna said: มิราเปิดร้านหนังสือเล็กๆในวาร์นา", "Thai"),
        ("ကျွန်တော်စားတယ်", "Burmese"),
    ],
)
def test_texts_that_need_a_dictionary_are_refused_naming_script_and_option(
    text: str, script: str
) -> None:
    with pytest.raises(
        BiLmError, match=f"{script} is written without spaces between words: set language"
    ):
        SpacyRules("en").words(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It rained.",
        "The temple วัดพระแก้ว is old.",
        "Bangkok (กรุงเทพ) is big",
        "米拉",
        "미라는 열었다",
    ],
)
def test_texts_with_single_names_in_such_a_script_are_accepted(text: str) -> None:
    check_script(text, "tokenizer")
