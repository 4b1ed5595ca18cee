"""Draw a small data set for coreference resolution from the grammar in `coref_grammar/`.

    python experiments/data/make_coref.py --seed 13 --out experiments/data/coref

writes `train.gold_conll` and `dev.gold_conll` in the format of CoNLL-2012 and prints their statistics as a
Markdown table. The same seed gives the same bytes. `README.md` describes the data and the grammar.
"""

import re
from random import Random

from coref_documents import (
    GENRES,
    PRONOUNS,
    Document,
    Entity,
    Mention,
    Sentence,
    difficulty_rows,
    rows,
    size_rows,
)
from generator import DataSet, Grammar, Row, Source
from make_ner import NEEDS_AN

DOCUMENT_LENGTHS = range(5, 13)
SENTENCE_LENGTHS = range(2, 27)
WHOLE_LISTS = ("cast.", "new.", "full.")  # the same in both parts, however long
PROPERTIES = ("name", "noun", "word", "adjective", "detail")  # the same in all of a document
UNTOLD = ("name", "adjective", "detail")  # those that nobody can know before they are told
GENDERS = {
    "thing": "n",
    "box": "n",
    "animal": "n",
    "project": "n",
    "company": "n",
    "plural": "p",
    "group": "p",
}
CASES = {form: forms.index(form) for forms in PRONOUNS.values() for form in forms}
POSSESSIVE = 2
GRAMMAR_ITEM = re.compile(
    r"\{(?P<who>[A-Z])(?:\.(?P<property>\w+)| (?P<maybe>\??)(?P<pronoun>\w+))?\}"
    r"|\{(?P<symbol>[^}]+)\}|\[(?P<open>[A-Z])|(?P<speaker>[A-Z]):(?= )|[^\s\[\]{}]+|\]"
)


class DocumentSource(Source[Document]):
    """Draws documents and knows what their words refer to."""

    def __init__(self, grammar: Grammar, random: Random) -> None:
        super().__init__(grammar, random)
        self.document = Document("", 0)
        self.cast: dict[str, Entity] = {}  # by the letter that the grammar has for it
        self.entities: list[Entity] = []
        self.genders = "fm"
        self.passages: list[str] = []

    def draw_example(self, number: int) -> Document:
        while True:
            self.document = Document(GENRES[number % len(GENRES)], number // len(GENRES))
            self.draw_cast()
            length = min(self.random.choices(DOCUMENT_LENGTHS, k=3))
            self.draw_passage(f"opening.{self.document.genre}")
            while len(self.document.sentences) < length:
                self.draw_passage(self.document.genre)
            if is_fine(self.document):
                for sentence in self.document.sentences:
                    fix_spelling(sentence.words)
                return self.document

    def identity(self, example: Document) -> str:
        return example.text

    def draw_cast(self) -> None:
        """Reads "A person R relative.A": the relative is one of the person. Often, all have one gender."""
        self.cast, self.entities, self.passages = {}, [], []
        self.genders = self.random.choice(["f", "m", "fm", "fm"])
        cast = self.deal(f"cast.{self.document.genre}").split()
        for letter, kind in zip(cast[::2], cast[1::2], strict=True):
            self.cast[letter] = self.draw_entity(*kind.partition(".")[::2])

    def draw_entity(self, kind: str, others: str = "") -> Entity:
        gender = GENDERS.get(kind) or self.random.choice(self.genders)
        names = [name for name in self.grammar if name.partition(".")[0] == kind]
        names = [name for name in names if name.endswith(f".{gender}")] or names
        sorts = {name.partition(".")[2] or kind: name for name in names}
        taken = {entity.sort for entity in self.entities if len(sorts) > 1}
        sort = self.random.choice([sort for sort in sorts if sort not in taken] or [kind])
        entity = Entity(kind, sort, gender, others)
        if sort in sorts:
            noun, _, word = self.deal_new(sorts[sort], "noun").partition("/")
            entity.words = {"noun": noun, "word": word or noun}
        if kind == "speaker":
            entity.words["name"] = self.deal_new(f"name.{gender}", "name")
        self.entities.append(entity)
        return entity

    def deal_new(self, name: str, symbol: str) -> str:
        """Deals what no other entity of the document has."""
        taken = [entity.words.get(symbol) for entity in self.entities]
        while (word := self.deal(name)).partition("/")[0] in taken:
            pass
        return re.sub(r"\{(\w+)\}", lambda item: self.deal(item[1]), word)

    def draw_passage(self, symbol: str) -> None:
        """Adds a few sentences on X and Y, who are A and B in any order, and perhaps on E, who is new."""
        self.cast["X"], self.cast["Y"] = self.random.sample([self.cast["A"], self.cast["B"]], 2)
        while (passage := self.deal(symbol)) in self.passages:
            pass
        self.passages.append(passage)
        if re.search("[{[]E", passage):
            self.cast["E"] = self.draw_entity("extra")
        self.document.sentences.append(Sentence())
        self.expand(passage)

    def expand(self, alternative: str, entity: Entity | None = None) -> None:
        """Adds the words of an alternative, and the mentions in it; some alternatives are for an entity."""
        cast = self.cast | ({"O": self.cast[entity.others[0]]} if entity and entity.others else {})
        brackets: list[tuple[Entity, int]] = []
        for item in GRAMMAR_ITEM.finditer(alternative):
            sentence = self.document.sentences[-1]
            if item["property"]:
                self.add_property(item["property"], cast[item["who"]])
            elif item["who"]:
                self.refer(cast[item["who"]], item["pronoun"], maybe=item["maybe"] == "?")
            elif item["symbol"]:
                self.add_property(item["symbol"], entity)
            elif item["open"]:
                brackets.append((cast[item["open"]], len(sentence.words)))
                sentence.told_of.append(cast[item["open"]])
            elif item[0] == "]":
                add_mention(sentence, *brackets.pop())
            elif item["speaker"]:
                sentence.speaker = cast[item["speaker"]]
            elif item[0] == "/":
                self.document.sentences.append(Sentence(sentence.speaker))
            else:
                add_word(sentence.words, item[0])

    def add_property(self, symbol: str, entity: Entity | None) -> None:
        """Adds the words that an entity has for a symbol, or that anything has."""
        variants = [entity.gender, entity.sort, entity.kind] if entity else []
        names = [f"{symbol}.{variant}" for variant in variants]
        name = next((name for name in names if name in self.grammar), symbol)
        if entity and symbol in PROPERTIES:
            if symbol not in entity.words:
                entity.words[symbol] = self.deal_new(name, symbol)
            self.expand(entity.words[symbol])
        else:
            self.expand(self.deal(name), entity)

    def refer(self, entity: Entity, pronoun: str | None, maybe: bool) -> None:
        """Adds a mention: a pronoun, if `maybe` only where it is clear, or else a name or a description."""
        sentence = self.document.sentences[-1]
        case = CASES[pronoun or "he"]
        start = len(sentence.words)
        person = self.person(entity, sentence.speaker)
        if person != entity.gender or (pronoun and (not maybe or self.is_clear(entity))):
            sentence.told_of.append(entity)
            sentence.words.append(PRONOUNS[person][case])
        else:
            self.expand(self.deal_form(entity, short=case == POSSESSIVE), entity)
            sentence.told_of.append(entity)
            if case == POSSESSIVE:
                add_word(sentence.words, "'s")
        add_mention(sentence, entity, start)

    def person(self, entity: Entity, speaker: Entity | None) -> str:
        """Returns which pronouns it has, which in a dialogue depends on who speaks."""
        if speaker and entity.kind == "group":
            return "both"
        if entity.kind == "speaker":
            return "speaker" if entity is speaker else "hearer"
        return entity.gender

    def is_clear(self, entity: Entity) -> bool:
        """Whether no other of its gender was mentioned lately; even then, not always, for variety."""
        recent = [other for sentence in self.document.sentences[-2:] for other in sentence.told_of]
        same = {other for other in recent if other.gender == entity.gender and other.kind != "speaker"}
        return same == {entity} and self.random.random() < 0.75

    def deal_form(self, entity: Entity, short: bool) -> str:
        """Deals how to call what is new, or known by what was told of it."""
        name = f"full.{entity.kind}" if entity.is_known else f"new.{entity.kind}"
        while True:
            form = self.deal(name)
            untold = [symbol for symbol in UNTOLD if f"{{{symbol}}}" in form and symbol not in entity.words]
            if not (entity.is_known and untold) and not (short and ("," in form or "detail" in form)):
                return form


def add_word(words: list[str], word: str) -> None:
    """Adds a word, or what needs no comma before it."""
    if words and words[-1] == "," and word in (",", ".", "?", "!", "'s"):
        words.pop()
    words.append(word)


def add_mention(sentence: Sentence, entity: Entity, start: int) -> None:
    """Ends a mention, but without the last comma of "Ruth, a cook,"."""
    end = len(sentence.words) - (sentence.words[-1] == ",")
    sentence.mentions.append(Mention(entity, start, end))
    entity.is_known = True


def is_fine(document: Document) -> bool:
    """Whether nothing is too long or too short, and all who speak are told of twice or more."""
    speakers = {sentence.speaker for sentence in document.sentences if sentence.speaker}
    return (
        len(document.sentences) in DOCUMENT_LENGTHS
        and all(len(sentence.words) in SENTENCE_LENGTHS for sentence in document.sentences)
        and speakers <= set(document.chains)
    )


def fix_spelling(words: list[str]) -> None:
    """Writes "an" where the next word asks for it, quotation marks, and the first word with its capital."""
    first = 1 if words[0] == "``" else 0
    words[first] = words[first][0].upper() + words[first][1:]
    for place, word in enumerate(words):
        if word in ("a", "A") and NEEDS_AN.match(words[place + 1]):
            words[place] += "n"
        elif word in ("``", "''"):
            words[place] = '"'


class Coreference(DataSet[Document]):
    """Draw a small data set for coreference from coref_grammar/."""

    name = "coref"
    ending = ".gold_conll"
    train_size = 111
    dev_size = 36
    source = DocumentSource

    def split(self, grammar: Grammar, seed: int) -> dict[str, Grammar]:
        """Leaves the ways to refer to somebody as they are."""
        whole = {name: forms for name, forms in grammar.items() if name.startswith(WHOLE_LISTS)}
        return {part: lists | whole for part, lists in super().split(grammar, seed).items()}

    def to_text(self, examples: list[Document]) -> str:
        lines = []
        for document in examples:
            lines.append(f"#begin document ({document.genre}/{document.number:02}); part 000")
            lines += [*rows(document), "#end document"]
        return "\n".join(lines) + "\n"

    def statistics(self, train: list[Document], dev: list[Document]) -> list[Row]:
        return [*size_rows(train, dev), *difficulty_rows(train, dev)]


if __name__ == "__main__":
    Coreference().main()
