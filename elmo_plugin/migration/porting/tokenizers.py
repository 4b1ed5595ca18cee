"""The rule for tokenizers: AllenNLP 2 does not have word splitters, filters or stemmers."""

from typing import Any

from elmo_plugin.migration.porting.config import (
    TABLES,
    Config,
    Porting,
    as_options,
    type_of,
    without_type,
)

# Splitters that AllenNLP 2 does not have, and that our tokenizer `old_words` has.
_SPLITTERS_OF_OLD_WORDS = ("simple", "bert-basic")
# Splitters whose tokenizers in AllenNLP 2 add no start and end tokens.
_SPLITTERS_WITHOUT_ENDS = ("just_spaces", "letters_digits")


def port_tokenizers(porting: Porting) -> None:
    """
    Replaces each tokenizer that has a word splitter by the splitter itself. Character tokenizers
    have none, so they are left out.
    """
    for place, part in porting.objects():
        for key in list(part):
            is_tokenizer_of_words = key.endswith("tokenizer") and key != "character_tokenizer"
            if is_tokenizer_of_words and _has_word_splitter(part[key]):
                old = as_options(part[key])
                part[key] = _port_tokenizer(porting, f"{place}.{key}", old)


def _has_word_splitter(tokenizer: Any) -> bool:
    """Returns whether a tokenizer is one of AllenNLP 0.x that a word splitter does the work for."""
    return type_of(tokenizer) == "word" or (
        isinstance(tokenizer, dict) and "word_splitter" in tokenizer
    )


def _port_tokenizer(porting: Porting, place: str, old: Config) -> Config:
    """Returns the tokenizer that splits as the word splitter of an old one did."""
    # AllenNLP 0.x took spaCy's splitter by default.
    splitter = {"type": "spacy"} | as_options(old.get("word_splitter") or {})
    start_and_end_tokens = {}
    for name in ("start_tokens", "end_tokens"):
        if old.get(name):
            start_and_end_tokens[name] = old[name]
    if splitter["type"] in TABLES["splitters"]:
        removed = splitter["type"]
        porting.note(place, f"{removed!r} was removed: {TABLES['splitters'][removed]}", kind="left")
        splitter["type"] = "spacy"
    if _needs_old_words(splitter["type"], bool(start_and_end_tokens)):
        tokenizer = _as_old_words(splitter)
        porting.note(place, "now 'old_words', of elmo_plugin.plugin")
    else:
        tokenizer = splitter
        porting.note(place, f"now {splitter['type']!r}")
    _note_removed_steps(porting, place, old)
    return tokenizer | start_and_end_tokens


def _needs_old_words(splitter_type: str, has_start_or_end_tokens: bool) -> bool:
    """Returns whether AllenNLP 2 has no tokenizer that does the same as a word splitter."""
    if splitter_type in _SPLITTERS_WITHOUT_ENDS:
        return has_start_or_end_tokens
    return splitter_type in _SPLITTERS_OF_OLD_WORDS


def _note_removed_steps(porting: Porting, place: str, old: Config) -> None:
    """Notes the filter and the stemmer that changed the words of a tokenizer after splitting."""
    for option in ("word_filter", "word_stemmer"):
        removed = type_of(old.get(option))
        if removed not in ("", "pass_through"):
            text = f"{removed!r} was removed: change the texts instead"
            porting.note(f"{place}.{option}", text, kind="left")


def _as_old_words(splitter: Config) -> Config:
    """Returns our tokenizer that splits as a splitter of AllenNLP 0.x did."""
    tokenizer: Config = {"type": "old_words", "splitter": splitter["type"]}
    for name, value in without_type(splitter).items():
        if value is not None:
            tokenizer[name] = value
    return tokenizer
