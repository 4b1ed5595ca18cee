"""Scripts without spaces between words."""

import pytest

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.spacy_rules import SpacyRules
from elmo_plugin.common.typography import check_script


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("ฉันกินข้าว", "Thai"),
        ("มิราเปิดร้านหนังสือ ใน Varna", "Thai"),
        ("Mira Petrova of Varna said: มิราเปิดร้านหนังสือเล็กๆในวาร์นา", "Thai"),
        ("ຂ້ອຍກິນເຂົ້າ", "Lao"),
        ("ကျွန်တော်စားတယ်", "Burmese"),
        ("ខ្ញុំញ៉ាំបាយ 2019.", "Khmer"),
    ],
)
def test_texts_that_need_a_dictionary_are_refused_by_script_and_option(text: str, script: str) -> None:
    with pytest.raises(BiLmError, match=f"{script} is written without spaces between words: set language"):
        SpacyRules("en").words(text)


@pytest.mark.parametrize(
    "text",
    ["", "It rained.", "The temple วัดพระแก้ว is old.", "Bangkok (กรุงเทพ) is big", "米拉", "미라는 열었다"],
)
def test_other_texts_are_not_even_with_names_in_such_a_script(text: str) -> None:
    check_script(text, "tokenizer")
