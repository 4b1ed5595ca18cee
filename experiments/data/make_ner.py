"""Draw a small data set for named-entity recognition from the grammar in `ner_grammar/`.

    python experiments/data/make_ner.py --seed 13 --out experiments/data/ner

writes `train.txt` and `dev.txt` in the format of CoNLL-2003 and prints their statistics as a Markdown table.
The same seed gives the same bytes. `README.md` describes the data and the format of the grammar.
"""

import re
from collections import Counter, defaultdict

from generator import DataSet, Row, Source, share

SENTENCE_LENGTHS = range(5, 36)
SENTENCES_PER_DOCUMENT = 10
TYPES = ("PER", "LOC", "ORG", "MISC")
GRAMMAR_ITEM = re.compile(r"\{[^}]+\}|\[[A-Z]+|\]|[^\s\[\]{}]+")
NEEDS_AN = re.compile(r"(?!euro|one\b|uni)[aeiou]", re.IGNORECASE)

Sentence = list[tuple[str, str]]  # (word, BIO tag)
Entity = tuple[str, str]  # (text, type)


class SentenceSource(Source[Sentence]):
    """Draws sentences."""

    def draw_example(self, number: int) -> Sentence:
        while True:
            sentence = tag(self.expand("sentence", gender=self.random.choice("fm")))
            if len(sentence) in SENTENCE_LENGTHS and not repeats_a_name(sentence):
                return fix_spelling(sentence)

    def identity(self, example: Sentence) -> str:
        return " ".join(word for word, _ in example)

    def expand(self, symbol: str, gender: str) -> list[str]:
        """Returns the words and the entity brackets, `[PER` and `]`, of one alternative of the symbol."""
        symbol, _, own_gender = symbol.partition(".")
        gender = own_gender or gender
        items = []
        for item in GRAMMAR_ITEM.findall(
            self.deal(symbol if symbol in self.grammar else f"{symbol}.{gender}")
        ):
            items += self.expand(item[1:-1], gender) if item.startswith("{") else [item]
        return items


def tag(items: list[str]) -> Sentence:
    """Turns entity brackets into BIO tags."""
    sentence, next_tag = [], "O"
    for item in items:
        if item.startswith("["):
            next_tag = f"B-{item[1:]}"
        elif item == "]":
            next_tag = "O"
        else:
            sentence.append((item, next_tag))
            next_tag = next_tag.replace("B-", "I-")
    return sentence


def repeats_a_name(sentence: Sentence) -> bool:
    names = [word for word, tag in sentence if tag != "O" and word[0].isupper()]
    return len(set(names)) < len(names)


def fix_spelling(sentence: Sentence) -> Sentence:
    """Writes "an" where the next word asks for it and capitalises the first word."""
    words = [word for word, _ in sentence]
    for i, following in enumerate(words[1:]):
        if words[i] in ("a", "A") and NEEDS_AN.match(following):
            words[i] += "n"
    first = 1 if words[0] == '"' else 0
    words[first] = words[first][0].upper() + words[first][1:]
    return [(word, tag) for word, (_, tag) in zip(words, sentence, strict=True)]


class NamedEntities(DataSet[Sentence]):
    """Draw a small NER data set from ner_grammar/."""

    name = "ner"
    ending = ".txt"
    train_size = 400
    dev_size = 150
    source = SentenceSource

    def to_text(self, examples: list[Sentence]) -> str:
        lines = []
        for i, sentence in enumerate(examples):
            if i % SENTENCES_PER_DOCUMENT == 0:
                lines += ["-DOCSTART- -X- -X- O", ""]
            lines += [f"{word} _ _ {tag}" for word, tag in sentence] + [""]
        return "\n".join(lines) + "\n"

    def statistics(self, train: list[Sentence], dev: list[Sentence]) -> list[Row]:
        return [*size_rows(train, dev), *novelty_rows(train, dev), *ambiguity_rows(train, dev)]


def entities(sentences: list[Sentence]) -> list[Entity]:
    found: list[Entity] = []
    for sentence in sentences:
        for word, tag in sentence:
            if tag.startswith("B-"):
                found.append((word, tag[2:]))
            elif tag.startswith("I-"):
                found[-1] = (f"{found[-1][0]} {word}", tag[2:])
    return found


def types_of_words(sentences: list[Sentence]) -> dict[str, set[str]]:
    """Returns the entity types that each word form occurs with; "O" is outside of entities."""
    types = defaultdict(set)
    for sentence in sentences:
        for word, tag in sentence:
            types[word].add(tag[2:] or "O")
    return types


def size_rows(*parts: list[Sentence]) -> list[Row]:
    lengths = [[len(sentence) for sentence in part] for part in parts]
    counts = [Counter(entity_type for _, entity_type in entities(part)) for part in parts]
    return [
        ("sentences", *map(len, parts)),
        ("sentences without an entity", *(sum(not entities([s]) for s in part) for part in parts)),
        ("tokens", *map(sum, lengths)),
        ("tokens in a sentence, mean", *(f"{sum(part) / len(part):.1f}" for part in lengths)),
        ("tokens in a sentence, range", *(f"{min(part)} to {max(part)}" for part in lengths)),
        ("entities", *(sum(count.values()) for count in counts)),
        *((f"entities, {name}", *(count[name] for count in counts)) for name in TYPES),
    ]


def novelty_rows(train: list[Sentence], dev: list[Sentence]) -> list[Row]:
    train_entities = set(entities(train))
    train_texts = {text for text, _ in train_entities}
    rows = []
    for label, longest in (("entities", None), ("one-word entities", 1)):
        found = [entity for entity in entities(dev) if len(entity[0].split()) == longest or not longest]
        unseen = [text for text, _ in found if text not in train_texts]
        retyped = [entity for entity in found if entity[0] in train_texts and entity not in train_entities]
        rows.append((f"{label} that train lacks", "", share(unseen, found)))
        rows.append((f"{label} that train has with other types only", "", share(retyped, found)))
    return rows


def ambiguity_rows(*parts: list[Sentence]) -> list[Row]:
    types = [types_of_words(part).values() for part in parts]
    return [
        (f"word forms with {n} or more types (one may be O)", *(sum(len(t) >= n for t in ts) for ts in types))
        for n in (2, 3, 4)
    ]


if __name__ == "__main__":
    NamedEntities().main()
