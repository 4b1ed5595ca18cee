"""The rule for tokenizers: AllenNLP 2 does not have word splitters, filters or stemmers."""

from typing import Any

from elmo_plugin.migration.porting.config import TABLES, Config, Porting, type_of, without_type

# Splitters that AllenNLP 2 does not have, and that our tokenizer `old_words` has.
_SPLITTERS_OF_OLD_WORDS = ("simple", "bert-basic")
# Splitters whose tokenizers in AllenNLP 2 add no start and end tokens.
_SPLITTERS_WITHOUT_ENDS = ("just_spaces", "letters_digits")


def port_tokenizers(porting: Porting) -> None:
    """
    Replaces each tokenizer that has a word splitter by the splitter itself. A character tokenizer
    is without one.
    """
    for place, part in porting.objects():
        for key in list(part):
            is_tokenizer_of_words = key.endswith("tokenizer") and key != "character_tokenizer"
            if is_tokenizer_of_words and _has_word_splitter(part[key]):
                old = part[key]
                if isinstance(old, str):
                    old = {"type": old}
                part[key] = _port_tokenizer(porting, f"{place}.{key}", old)


def _has_word_splitter(tokenizer: Any) -> bool:
    """Returns whether a tokenizer is one of AllenNLP 0.x that a word splitter does the work for."""
    return type_of(tokenizer) == "word" or (
        isinstance(tokenizer, dict) and "word_splitter" in tokenizer
    )


def _port_tokenizer(porting: Porting, place: str, old: Config) -> Config:
    """Returns the tokenizer that splits as the word splitter of an old one did."""
    new = _as_object(old.get("word_splitter") or "spacy")  # the default of AllenNLP 0.x
    ends = {name: old[name] for name in ("start_tokens", "end_tokens") if old.get(name)}
    kind = new["type"]
    if kind in TABLES["splitters"]:
        porting.note(place, f"{kind!r} was removed: {TABLES['splitters'][kind]}", "left")
        kind = "spacy"
        new["type"] = kind
    text = f"now {kind!r}"
    loses_ends = bool(ends) and kind in _SPLITTERS_WITHOUT_ENDS
    if kind in _SPLITTERS_OF_OLD_WORDS or loses_ends:
        new = _as_old_words(new)
        text = "now 'old_words', of elmo_plugin.plugin"
    porting.note(place, text)
    for option in ("word_filter", "word_stemmer"):
        removed = type_of(old.get(option))
        if removed not in ("", "pass_through"):
            text = f"{removed!r} was removed: change the texts instead"
            porting.note(f"{place}.{option}", text, "left")
    return new | ends


def _as_object(splitter: Any) -> Config:
    """Returns a word splitter as an object with a type."""
    if isinstance(splitter, str):
        return {"type": splitter}
    return {"type": "spacy", **splitter}


def _as_old_words(splitter: Config) -> Config:
    """Returns our tokenizer that splits as a splitter of AllenNLP 0.x did."""
    tokenizer: Config = {"type": "old_words", "splitter": splitter["type"]}
    for name, value in without_type(splitter).items():
        if value is not None:
            tokenizer[name] = value
    return tokenizer
