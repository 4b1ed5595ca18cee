"""The NER data set is what its program writes and has the properties that its README claims."""

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "experiments" / "data"
DOCUMENT_START = "-DOCSTART- -X- -X- O"

Sentence = list[tuple[str, str]]


def read(part: str) -> list[Sentence]:
    blocks = (DATA / "ner" / f"{part}.txt").read_text(encoding="utf-8").strip().split("\n\n")
    return [
        [(line.split(" ")[0], line.split(" ")[3]) for line in block.split("\n")]
        for block in blocks
        if block != DOCUMENT_START
    ]


TRAIN, DEV = read("train"), read("dev")


def words(sentence: Sentence) -> tuple[str, ...]:
    return tuple(word for word, _ in sentence)


def entities(sentences: list[Sentence]) -> list[tuple[str, str]]:
    """(text, type) of each entity."""
    found = []
    for sentence in sentences:
        text = " ".join(f"{word}/{tag}" for word, tag in sentence)
        for match in re.finditer(r"\S+/B-(\S+)(?: \S+/I-\S+)*", text):
            found.append((re.sub(r"/[BI]-\S+", "", match[0]), match[1]))
    return found


def test_the_readme_states_how_many_words_are_ambiguous() -> None:
    types = defaultdict(set)
    for sentence in TRAIN + DEV:
        for word, tag in sentence:
            types[word].add(tag[2:])
    two, three = (sum(len(found) >= number for found in types.values()) for number in (2, 3))
    readme = " ".join((DATA / "README.md").read_text(encoding="utf-8").split())
    assert f"{two} word forms occur with two or more types and {three} with three or more" in readme
    assert two >= 100


@pytest.mark.parametrize("part", ["train", "dev"])
def test_lines_have_four_columns_and_legal_bio_tags(part: str) -> None:
    previous = "O"
    for line in (DATA / "ner" / f"{part}.txt").read_text(encoding="utf-8").split("\n"):
        if line in ("", DOCUMENT_START):
            previous = "O"
            continue
        word, part_of_speech, chunk, tag = line.split(" ")
        assert word and part_of_speech == chunk == "_"
        assert re.fullmatch(r"O|[BI]-(PER|LOC|ORG|MISC)", tag)
        assert not tag.startswith("I-") or previous[1:] == tag[1:]
        previous = tag


def test_there_are_400_and_150_different_sentences_and_none_is_shared() -> None:
    assert len({words(sentence) for sentence in TRAIN}) == len(TRAIN) == 400
    assert len({words(sentence) for sentence in DEV}) == len(DEV) == 150
    assert len({words(sentence) for sentence in TRAIN + DEV}) == 550


def test_sentences_have_5_to_35_words_and_begin_with_a_capital() -> None:
    for sentence in TRAIN + DEV:
        text = " ".join(words(sentence))
        assert 5 <= len(sentence) <= 35
        assert re.match(r'(" )?[A-Z]', text)
        assert re.search(r'[.?!]( ")?$', text)


def test_a_and_an_fit_the_next_word() -> None:
    text = " ".join(" ".join(words(sentence)) for sentence in TRAIN + DEV)
    assert not re.search(r"\b[Aa] (?!Euro)[AEIOaeio]", text)
    assert not re.search(r"\b[Aa]n (Euro|(?!hour)[^AEIOUaeiou])", text)


def test_half_of_the_dev_entities_are_not_in_train() -> None:
    known = {text for text, _ in entities(TRAIN)}
    mentions = [text for text, _ in entities(DEV)]
    assert 0.5 < sum(text not in known for text in mentions) / len(mentions) < 0.7
    assert (
        0.4
        < sum(text not in known for text in mentions if " " not in text)
        / len([text for text in mentions if " " not in text])
        < 0.6
    )


def test_every_symbol_of_the_grammar_is_a_list_and_every_list_is_used() -> None:
    grammar = "\n".join(
        line
        for path in (DATA / "ner_grammar").glob("*.txt")
        for line in path.read_text(encoding="utf-8").split("\n")
        if not line.strip().startswith("#")
    )
    lists = set(re.findall(r"^(\S+):$", grammar, re.MULTILINE))
    symbols = {symbol.partition(".")[0] for symbol in re.findall(r"\{([^}]*)\}", grammar)}
    assert {name.partition(".")[0] for name in lists} == symbols | {"sentence"}
    assert all(name.removesuffix(".f") + ".m" in lists for name in lists if name.endswith(".f"))


def test_sentences_to_predict_are_plain_or_tokenised() -> None:
    inputs = [
        json.loads(line) for line in (DATA / "sentences.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert len(inputs) == 5
    assert {key for item in inputs for key in item} == {"sentence", "tokens"}
    assert all(item.get("sentence") or all(item["tokens"]) for item in inputs)
