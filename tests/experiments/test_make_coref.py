"""The coreference data set is what its program writes and has the properties that its README claims."""

import importlib
import re
from collections import defaultdict
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import pytest

from tests.experiments.programs import DATA

FIRST_PERSON = {"i", "me", "my", "myself"}
SECOND_PERSON = {"you", "your", "yourself"}
THIRD_PERSON = [
    {"he", "him", "his", "himself"},
    {"she", "her", "herself"},
    {"it", "its", "itself"},
    {"they", "them", "their", "themselves"},
]


class Mention(NamedTuple):
    sentence: int
    start: int
    end: int


class Document(NamedTuple):
    name: str
    sentences: list[list[list[str]]]  # the columns of each word
    chains: dict[str, list[Mention]]

    def text(self, mention: Mention) -> str:
        return " ".join(row[3] for row in self.sentences[mention.sentence][mention.start : mention.end])

    def speaker(self, mention: Mention) -> str:
        return self.sentences[mention.sentence][0][9]

    @property
    def chain_of(self) -> dict[Mention, str]:
        return {mention: chain for chain, mentions in self.chains.items() for mention in mentions}


def mentions(sentence: int, rows: list[list[str]]) -> Iterator[tuple[str, Mention]]:
    """The chain and the place of each mention; each bracket has its other half, and none cross."""
    opened: list[tuple[str, int]] = []
    for place, row in enumerate(rows):
        for bracket in row[-1].split("|") if row[-1] != "-" else []:
            match = re.fullmatch(r"(\()?(\d+)(\))?", bracket)
            assert match and (match[1] or match[3])
            if match[1]:
                opened.append((match[2], place))
            if match[3]:
                chain, start = opened.pop()
                assert chain == match[2]
                yield chain, Mention(sentence, start, place + 1)
    assert not opened


def read(part: str) -> list[Document]:
    text = (DATA / "coref" / f"{part}.gold_conll").read_text(encoding="utf-8")
    pattern = r"#begin document \((\w+/\d\d)\); part 000\n(.*?)\n\n#end document\n"
    assert not re.sub(pattern, "", text, flags=re.DOTALL)
    documents = []
    for name, content in re.findall(pattern, text, re.DOTALL):
        sentences = [[line.split(" ") for line in block.split("\n")] for block in content.split("\n\n")]
        chains = defaultdict(list)
        for number, rows in enumerate(sentences):
            for chain, mention in mentions(number, rows):
                chains[chain].append(mention)
        documents.append(Document(name, sentences, dict(chains)))
    return documents


TRAIN, DEV = read("train"), read("dev")
ALL = TRAIN + DEV
DIALOGUES = [document for document in ALL if document.name.startswith("dialogue/")]


def words(documents: list[Document]) -> list[str]:
    return [row[3] for document in documents for rows in document.sentences for row in rows]


def test_there_are_three_genres_and_no_document_twice() -> None:
    assert {document.name.partition("/")[0] for document in TRAIN} == {"story", "news", "dialogue"}
    for part in (TRAIN, DEV):
        assert len({document.name for document in part}) == len(part)
    texts = {" ".join(words([document])) for document in ALL}
    assert len(texts) == len(ALL) == 147


def test_lines_have_the_columns_of_conll_2012() -> None:
    for document in ALL:
        for rows in document.sentences:
            parse = ["*"] * len(rows)
            parse[0], parse[-1] = f"(TOP{parse[0]}", f"{parse[-1]})"
            for place, row in enumerate(rows):
                assert row[:3] == [document.name, "0", str(place)]
                assert row[4:9] == ["XX", parse[place], "-", "-", "-"]
                assert row[9] == rows[0][9] and row[10] == "*" and len(row) == 12


def test_documents_have_5_to_12_sentences_of_2_to_26_words() -> None:
    for document in ALL:
        assert 5 <= len(document.sentences) <= 12
        for rows in document.sentences:
            assert 2 <= len(rows) <= 26
            text = " ".join(row[3] for row in rows)
            assert re.match(r'(" )?[A-Z]', text) and re.search(r"[.?!]$", text)
            assert not re.search(r", [,.?!]|, 's", text)


def test_a_and_an_fit_the_next_word() -> None:
    text = " ".join(words(ALL))
    assert not re.search(r"\b[Aa] (?!uni)[aeiou]", text)
    assert not re.search(r"\b[Aa]n [^aeiou]", text)


def test_a_chain_has_two_mentions_or_more_and_a_number_in_order() -> None:
    for document in ALL:
        assert all(len(chain) >= 2 for chain in document.chains.values())
        first = [min((m.sentence, m.start, -m.end) for m in chain) for chain in document.chains.values()]
        ordered = [chain for _, chain in sorted(zip(first, document.chains, strict=True))]
        assert ordered == [str(number) for number in range(len(ordered))]


def test_no_mention_comes_twice_and_none_is_in_another_of_its_chain() -> None:
    for document in ALL:
        found = [mention for chain in document.chains.values() for mention in chain]
        assert len(set(found)) == len(found)
        for chain in document.chains.values():
            for outer in chain:
                assert not any(
                    inner.sentence == outer.sentence and outer.start <= inner.start and inner.end <= outer.end
                    for inner in chain
                    if inner != outer
                )


def test_two_speak_in_a_dialogue_and_nobody_elsewhere() -> None:
    for document in ALL:
        speakers = {rows[0][9] for rows in document.sentences}
        assert len(speakers - {"-"}) == (2 if document in DIALOGUES else 0)
        assert ("-" in speakers) == (document not in DIALOGUES)


def test_a_dialogue_has_one_chain_for_each_speaker() -> None:
    for document in DIALOGUES:
        chain_of = document.chain_of
        found = defaultdict(set)  # speaker -> chains
        names = {rows[0][9] for rows in document.sentences}
        for number, rows in enumerate(document.sentences):
            (other,) = names - {rows[0][9]}
            for place, row in enumerate(rows):
                mention = Mention(number, place, place + 1)
                if row[3].lower() in FIRST_PERSON:
                    found[rows[0][9]].add(chain_of[mention])
                elif row[3].lower() in SECOND_PERSON:
                    found[other].add(chain_of[mention])
                elif row[3] in names:
                    found[row[3]].add(chain_of[mention])
        assert [len(chains) for chains in found.values()] == [1, 1]
        assert len(set.union(*found.values())) == 2


def test_the_pronouns_of_a_chain_agree() -> None:
    for document in ALL:
        for chain in document.chains.values():
            texts = {document.text(mention).lower() for mention in chain}
            assert sum(bool(texts & forms) for forms in THIRD_PERSON) <= 1


def test_all_pronouns_but_a_few_it_are_in_a_chain() -> None:
    for document in ALL:
        chain_of = document.chain_of
        for number, rows in enumerate(document.sentences):
            for place, row in enumerate(rows):
                if row[3].lower() in set.union(*THIRD_PERSON) - {"it"}:
                    assert Mention(number, place, place + 1) in chain_of
    sentences = [" ".join(row[3] for row in rows) for document in ALL for rows in document.sentences]
    assert {"It was cold .", "It rained ."} <= set(sentences)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(the|another) \w+",
        r"the \w+ \w+",
        r"[A-Z]\w+ , an? .*",
        r".* 's [\w-]+",
        r"(his|her) [\w-]+",
        r".* and .*",
        r"himself|herself",
        r"(two|three|four) .*",
        r"it|its",
        r"we|us|our",
    ],
)
def test_both_parts_have_mentions_of_all_kinds(pattern: str) -> None:
    for part in (TRAIN, DEV):
        texts = [document.text(mention) for document in part for mention in document.chain_of]
        assert any(re.fullmatch(pattern, text, re.IGNORECASE) for text in texts)


def test_dev_has_names_and_nouns_that_train_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DATA)
    grammar = importlib.import_module("generator").read_grammar(DATA / "coref_grammar")
    names = {*grammar["name.f"], *grammar["name.m"]}
    train, dev = set(words(TRAIN)) & names, set(words(DEV)) & names
    assert 0.3 < len(dev - train) / len(dev) < 0.7
    for kind in ("person.", "thing.", "project.", "plural", "animal", "relative."):
        nouns = {
            noun.partition("/")[0] for name in grammar if name.startswith(kind) for noun in grammar[name]
        }
        assert (set(words(DEV)) - set(words(TRAIN))) & nouns


def test_every_symbol_of_the_grammar_is_a_list_and_every_list_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(DATA)
    grammar = importlib.import_module("generator").read_grammar(DATA / "coref_grammar")
    text = "\n".join(line for alternatives in grammar.values() for line in alternatives)
    symbols = set(re.findall(r"\{(?:[A-Z]\.)?([a-z]\w*)\}", text)) - {"word", "noun"}
    assert all(any(name.partition(".")[0] == symbol for name in grammar) for symbol in symbols)
    casts = " ".join(
        alternative for name in grammar for alternative in grammar[name] if name.startswith("cast.")
    )
    kinds = {kind.partition(".")[0] for kind in casts.split()[1::2]}
    roots = symbols | kinds | {"cast", "new", "full", "opening", "story", "news", "dialogue", "extra"}
    assert {name.partition(".")[0] for name in grammar} == roots - {"group", "speaker"}
    assert {name.partition(".")[2] for name in grammar if name.startswith("full.")} == kinds | {"extra"}


GRAMMAR = {
    "cast.story": ["A king B cook R relative.A G group.AB"],
    "cast.dialogue": ["A speaker B speaker R relative.A"],
    "king": ["king/ruler"],
    "cook": ["cook"],
    "relative": ["child"],
    "name.f": ["Ada", "Rita"],
    "name.m": ["Max", "Tom"],
    "new.king": ["a {noun} , {detail} ,", "a {noun}"],
    "full.king": ["the {word}", "the {adjective} {word}"],  # the second never, as nothing tells it
    "new.cook": ["a {noun}"],
    "full.cook": ["the {noun}"],
    "new.relative": ["{O ?his} {noun}"],
    "full.relative": ["{O ?his} {noun}"],
    "new.group": ["{A} and {B}"],
    "detail": ["the first"],
}


@pytest.mark.parametrize(
    ("genre", "passage", "chains"),
    [
        ("story", "{A his} child saw {A himself}", ["her, herself"]),
        ("story", "{A ?his} child . / {A} left", ["a king 's, the ruler"]),
        ("story", "{A} saw {B} . / {A ?he} saw {B ?him}", ["a king, the ruler", "a cook, the cook"]),
        ("story", "{R} left", ["a king 's child", "a king 's"]),
        ("story", "[B another {A.noun}] and {B him}", ["another king, her"]),
        ("dialogue", "A: {A I} {A my} {B you} . / B: {A him} {B himself}", ["I, my, you", "you, myself"]),
        ("dialogue", "A: {R} . / B: {R}", ["my child, your child", "my, your"]),
    ],
)
def test_a_mention_is_what_the_grammar_says(
    genre: str, passage: str, chains: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(DATA)
    make_coref = importlib.import_module("make_coref")
    source = make_coref.DocumentSource(GRAMMAR | {"passage": [passage]}, Random(0))
    source.document = make_coref.Document(genre, 0)
    source.draw_cast()
    source.cast["A"].gender = source.cast["B"].gender = "f"
    source.draw_passage("passage")
    found = defaultdict(list)
    for mention, text in source.document.mentions:
        found[mention.entity].append(text)
    assert [", ".join(texts) for texts in found.values()] == chains
