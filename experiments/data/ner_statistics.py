"""Figures about a data set for named-entity recognition, as a Markdown table."""

from collections import Counter, defaultdict

Sentence = list[tuple[str, str]]  # (word, BIO tag)
Entity = tuple[str, str]  # (text, type)

TYPES = ("PER", "LOC", "ORG", "MISC")


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
    """The entity types that each word form occurs with; "O" is outside of entities."""
    types = defaultdict(set)
    for sentence in sentences:
        for word, tag in sentence:
            types[word].add(tag[2:] or "O")
    return types


def statistics(train: list[Sentence], dev: list[Sentence]) -> str:
    rows = [*_size_rows(train, dev), *_novelty_rows(train, dev), *_ambiguity_rows(train, dev)]
    lines = [("", "train", "dev"), ("---", "---:", "---:"), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _size_rows(*parts: list[Sentence]) -> list[tuple]:
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


def _novelty_rows(train: list[Sentence], dev: list[Sentence]) -> list[tuple]:
    train_entities = set(entities(train))
    train_texts = {text for text, _ in train_entities}
    rows = []
    for label, longest in (("entities", None), ("one-word entities", 1)):
        found = [entity for entity in entities(dev) if len(entity[0].split()) == longest or not longest]
        unseen = [text for text, _ in found if text not in train_texts]
        retyped = [entity for entity in found if entity[0] in train_texts and entity not in train_entities]
        rows.append((f"{label} that train lacks", "", _share(unseen, found)))
        rows.append((f"{label} that train has with other types only", "", _share(retyped, found)))
    return rows


def _ambiguity_rows(*parts: list[Sentence]) -> list[tuple]:
    types = [types_of_words(part).values() for part in parts]
    return [
        (f"word forms with {n} or more types (one may be O)", *(sum(len(t) >= n for t in ts) for ts in types))
        for n in (2, 3, 4)
    ]


def _share(some: list, every: list) -> str:
    return f"{len(some)} ({len(some) / len(every):.0%})"
