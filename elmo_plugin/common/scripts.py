"""Scripts that are written without spaces between words, for rules that split words at spaces."""

import re

from elmo_plugin.common.errors import BiLmError

# Han, kana and their marks of repetition and length, each with the marks that follow: voicing and variants.
_HAN_OR_KANA = (
    "[\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff]"
    "[\u3099\u309a\uff9e\uff9f\ufe00-\ufe0f\U000e0100-\U000e01ef]*"
)
_PUNCTUATION = (
    "[\u3001-\u3003\u3008-\u3020\u3030\u303d\u30a0\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]"
)
SEPARATE = re.compile(f"{_HAN_OR_KANA}|{_PUNCTUATION}")
"""A Han or kana character, or a punctuation mark of East Asia: a word of its own, as for BERT's tokenizer."""

SEGMENTED_LANGUAGES = ("ja", "th", "zh")
"""The languages that spaCy splits into words in its own way."""

_UNSPACED = {
    "Thai": "\u0e01-\u0e7f",
    "Lao": "\u0e81-\u0eff",
    "Burmese": "\u1000-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f",
    "Khmer": "\u1780-\u17ff",
}
_LONGEST_NAME = 20
_ANY_UNSPACED = re.compile(f"[{''.join(_UNSPACED.values())}]")


def check_script(text: str, option: str) -> None:
    """
    Raises `BiLmError`, naming the `option` of tokenizers, if the text is in a script whose words only a
    dictionary can find. A foreign name in a text of another script is one word.
    """
    if text.isascii() or not (first := _ANY_UNSPACED.search(text)):
        return
    chunks = [len(_ANY_UNSPACED.findall(chunk)) for chunk in text.split() if any(map(str.isalpha, chunk))]
    if 2 * sum(map(bool, chunks)) >= len(chunks) or max(chunks) > _LONGEST_NAME:
        script = next(name for name, characters in _UNSPACED.items() if re.match(f"[{characters}]", first[0]))
        raise BiLmError(f"{script} is written without spaces between words: set {option}")
