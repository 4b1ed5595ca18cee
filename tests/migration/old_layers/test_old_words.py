"""The words of AllenNLP 0.x."""

# fmt: off

import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import Tokenizer

import elmo_plugin.register  # noqa: F401


# As AllenNLP 0.9.0 and pytorch_pretrained_bert 0.6.2 split them.
@pytest.mark.parametrize(("splitter", "text", "words"), [
    ("simple", "It isn't 12,000, etc. (Mr. Lee's)", "It is n't 12,000 , etc. ( Mr. Lee 's )"),
    ("simple", "\"We COULDN'T'VE,\" e.g. don\u2019t.", "\" We COULD N'T 'VE , \" e.g. do "
"n\u2019t ."),
    ("simple", " n't '' U.S. e.g.' ", "n't ' ' U.S . e.g. '"),
    ("bert-basic", "Café [MASK] , isn't 中国", "cafe [MASK] , isn ' t 中 国"),
    ("letters_digits", "a1, b_c", "a 1 , b _ c"), ("just_spaces", " a\tb.", "a b."), ("simple", "", "")])
def test_words_are_split_as_in_allennlp_0(splitter: str, text: str, words: str) -> None:
    if splitter == "bert-basic":
        pytest.importorskip("transformers", reason="needs elmo_plugin[transformers]")
    params = {"type": "old_words", "splitter": splitter, "start_tokens": ["<"], "end_tokens": [">", "!"]}
    found = [token.text for token in Tokenizer.from_params(Params(params)).tokenize(text)]
    assert found == ["<", *words.split(), ">", "!"]


def test_an_unknown_splitter_is_one_sentence() -> None:
    with pytest.raises(ConfigurationError, match=r"^splitter: expected one of simple, .*, found 'porter'"):
        Tokenizer.from_params(Params({"type": "old_words", "splitter": "porter"}))
