"""Text with the boundaries of sentences already in it."""

import pytest

from elmo_plugin.bilm import BiLmError, check_no_boundaries


@pytest.mark.parametrize(
    ("words", "found"),
    [("<S> It rains . </S>", "<S> and </S>"), ("It <S> rains .", "<S>"), ("It rains . </S>", "</S>")],
)
def test_boundaries_are_refused_wherever_they_are(words: str, found: str) -> None:
    with pytest.raises(BiLmError, match=f"^text, line 3: the sentence contains {found}: remove it from"):
        check_no_boundaries(words.split(), "text, line 3")
    check_no_boundaries(["<s>", "S", "<S"], "text, line 3")
