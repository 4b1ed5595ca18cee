"""Documents of `make_coref.py`: what they hold, their lines in a file and their statistics."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from generator import Row, share

GENRES = ("story", "news", "dialogue")
PRONOUNS = {  # by gender, "p" for a plural, or by part in a dialogue
    "m": ("he", "him", "his", "himself"),
    "f": ("she", "her", "her", "herself"),
    "n": ("it", "it", "its", "itself"),
    "p": ("they", "them", "their", "themselves"),
    "speaker": ("I", "me", "my", "myself"),
    "hearer": ("you", "you", "your", "yourself"),
    "both": ("we", "us", "our", "ourselves"),
}
PRONOUN_FORMS = {form.lower() for forms in PRONOUNS.values() for form in forms}
KINDS = ("pronouns", "names", "descriptions")  # of mentions
LONG = 5  # words of a long mention


@dataclass(eq=False)
class Entity:
    """Somebody or something that a document tells of."""

    kind: str
    sort: str  # of a person or a thing, as "music" or "food"
    gender: str
    others: str  # the letter of its owner or those of its members
    words: dict[str, str] = field(default_factory=dict)  # by property, as far as they are drawn
    is_known: bool = False


class Mention(NamedTuple):
    """The words from `start` to before `end`."""

    entity: Entity
    start: int
    end: int


@dataclass
class Sentence:
    speaker: Entity | None = None
    words: list[str] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    told_of: list[Entity] = field(default_factory=list)  # in mentions that have not ended too

    def text(self, mention: Mention) -> str:
        return " ".join(self.words[mention.start : mention.end])


@dataclass
class Document:
    genre: str
    number: int
    sentences: list[Sentence] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join(word for sentence in self.sentences for word in sentence.words)

    @property
    def mentions(self) -> list[tuple[Mention, str]]:
        """Returns all mentions in order, the longer one first, with their text."""
        return [
            (mention, sentence.text(mention))
            for sentence in self.sentences
            for mention in sorted(sentence.mentions, key=lambda mention: (mention.start, -mention.end))
        ]

    @property
    def chains(self) -> dict[Entity, list[str]]:
        """Returns the texts of what is mentioned twice or more."""
        found = defaultdict(list)
        for mention, text in self.mentions:
            found[mention.entity].append(text)
        return {entity: texts for entity, texts in found.items() if len(texts) > 1}


def rows(document: Document) -> Iterator[str]:
    """Yields a line for each word, but without what a tagger or a parser would tell."""
    chains = list(document.chains)
    for sentence in document.sentences:
        parse = ["*"] * len(sentence.words)
        parse[0], parse[-1] = f"(TOP{parse[0]}", f"{parse[-1]})"
        speaker = sentence.speaker.words["name"] if sentence.speaker else "-"
        for place, cell in enumerate(coreference(sentence, chains)):
            word = f"{place} {sentence.words[place]} XX {parse[place]}"
            yield f"{document.genre}/{document.number:02} 0 {word} - - - {speaker} * {cell}"
        yield ""


def coreference(sentence: Sentence, chains: list[Entity]) -> list[str]:
    """Returns the last column, in which of two mentions the longer one begins first and ends last."""
    begins: list[list[str]] = [[] for _ in sentence.words]
    ends: list[list[str]] = [[] for _ in sentence.words]
    for entity, start, end in sorted(sentence.mentions, key=lambda mention: mention.start - mention.end):
        if entity in chains:
            number = chains.index(entity)
            if end == start + 1:
                begins[start].append(f"({number})")
            else:
                begins[start].append(f"({number}")
                ends[end - 1].insert(0, f"{number})")
    return ["|".join(first + last) or "-" for first, last in zip(begins, ends, strict=True)]


def linked(documents: list[Document]) -> list[tuple[Mention, str]]:
    """Returns the mentions of what is mentioned twice or more."""
    found = []
    for document in documents:
        chains = document.chains
        found += [(mention, text) for mention, text in document.mentions if mention.entity in chains]
    return found


def kind_of(mention: Mention, text: str) -> str:
    if text.lower() in PRONOUN_FORMS:
        return "pronouns"
    return "names" if text.removesuffix(" 's") == mention.entity.words.get("name") else "descriptions"


def of_kind(kind: str, documents: list[Document]) -> list[str]:
    return [text for mention, text in linked(documents) if kind_of(mention, text) == kind]


def misleading(document: Document) -> Iterator[str]:
    """Yields the pronouns of a gender that somebody or something else had who was mentioned last."""
    last: dict[str, Entity] = {}
    for sentence in document.sentences:
        for mention in sorted(sentence.mentions, key=lambda mention: mention.end):
            entity, text = mention.entity, sentence.text(mention).lower()
            if entity.kind == "speaker":
                continue
            if text in PRONOUNS[entity.gender] and last.get(entity.gender) is not entity:
                yield text
            last[entity.gender] = entity


def size_rows(*parts: list[Document]) -> list[Row]:
    lengths = [[len(document.sentences) for document in part] for part in parts]
    genres = [Counter(document.genre for document in part) for part in parts]
    found = [linked(part) for part in parts]
    kinds = [Counter(kind_of(mention, text) for mention, text in mentions) for mentions in found]
    return [
        ("documents", *map(len, parts)),
        *((f"documents, {genre}", *(count[genre] for count in genres)) for genre in GENRES),
        ("sentences", *map(sum, lengths)),
        ("sentences in a document, range", *(f"{min(part)} to {max(part)}" for part in lengths)),
        ("tokens", *(sum(len(document.text.split()) for document in part) for part in parts)),
        ("chains", *(sum(len(document.chains) for document in part) for part in parts)),
        ("mentions", *map(len, found)),
        *((f"mentions, {kind}", *(count[kind] for count in kinds)) for kind in KINDS),
        (f"mentions of {LONG} or more words", *(sum(m.end - m.start >= LONG for m, _ in f) for f in found)),
    ]


def difficulty_rows(train: list[Document], dev: list[Document]) -> list[Row]:
    known = {word for document in train for word in document.text.lower().split()}
    tokens = [word for document in dev for word in document.text.lower().split()]
    pronouns, names, descriptions = (of_kind(kind, dev) for kind in KINDS)
    tricky = [[text for document in part for text in misleading(document)] for part in (train, dev)]
    return [
        (
            "pronouns after a mention of another of their gender",
            share(tricky[0], of_kind("pronouns", train)),
            share(tricky[1], pronouns),
        ),
        ("tokens that train lacks", "", share(new(tokens, known), tokens)),
        ("names that train lacks", "", share(new(names, known), names)),
        ("descriptions with a word that train lacks", "", share(new(descriptions, known), descriptions)),
    ]


def new(texts: list[str], known: set[str]) -> list[str]:
    return [text for text in texts if not known.issuperset(text.lower().split())]
