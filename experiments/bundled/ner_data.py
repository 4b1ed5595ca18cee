"""Writes the training data of the bundled tagger: Wikigold, PUD, tweets, EWT, and filled
patterns.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

HERE = Path(__file__).parent
SEED = 13
COPIES = 5  # of each pattern, with other names
LABELS = {"COMPANY": "ORG", "TEAM": "ORG", "BODY": "ORG"} | dict.fromkeys(
    ("CITY", "COUNTRY", "PLACE", "RIVER"), "LOC"
)
Tagged = list[tuple[str, str]]  # the words of a sentence with their BIO tags
# By kind: ORG, LOC, the kinds in LABELS, LAST, and the first names WOMAN, MAN, EITHER
Names = dict[str, list[str]]


def write(data: Path, folder: Path) -> None:
    """Writes `train.txt` and `dev.txt`."""
    generator = random.Random(SEED)
    wikigold = list(read_tagged(data / "ner_wikigold/train.txt"))
    pud = list(read_tagged(data / "ner_more/pud/train.txt"))
    pud = list((dict(enumerate(pud)) | with_names(pud, HERE / "pud_misc.tsv")).values())
    tweets = [
        each
        for part in "abfh"
        for each in read_tagged(data / f"ner_more/btc/{part}.txt")
        if is_prose(each)
    ]
    generator.shuffle(tweets)
    dev_tweets, tweets = tweets[:400], tweets[400:]
    untagged = [[(word, "O") for word, _ in each] for each in read_tagged(data / "pos/train.txt")]
    ewt = list(with_names(untagged, HERE / "ewt_names.tsv").values())
    generator.shuffle(ewt)
    dev_ewt, ewt = ewt[:400], ewt[400:]
    names, patterns = read_all_names(), (HERE / "patterns.txt").read_text().splitlines()
    filled = [fill(pattern, names, generator) for pattern in patterns for _ in range(COPIES)]
    has_names = [
        each for each in wikigold + pud + ewt if any(tag.startswith("B-") for _, tag in each)
    ]
    renamed = [
        with_other_names(each, names, 0.7, generator) for each in generator.sample(has_names, 2000)
    ]
    shares = {str.lower: 0.2, str.upper: 0.35, capitalize: 0.1}
    cased = list(
        case_variants(wikigold + pud + tweets[:500] + ewt[:1000] + filled, shares, generator)
    )
    write_tagged(
        folder / "train.txt", 2 * (wikigold + pud) + tweets + ewt + filled + renamed + cased
    )
    dev = [
        *read_tagged(data / "ner_wikigold/dev.txt"),
        *read_tagged(data / "ner_more/pud/dev.txt"),
        *dev_tweets,
        *dev_ewt,
    ]
    write_tagged(folder / "dev.txt", dev)


def read_tagged(file: Path) -> Iterator[Tagged]:
    """Yields the sentences of a file of columns, words first and tags last."""
    sentence: Tagged = []
    for line in [*file.read_text(encoding="utf-8").splitlines(), ""]:
        columns = line.split()
        if columns and columns[0] != "-DOCSTART-":
            sentence.append((columns[0], columns[-1]))
        elif sentence:
            yield sentence
            sentence = []


def write_tagged(file: Path, sentences: Iterable[Tagged]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    blocks = ("".join(f"{word} _ _ {tag}\n" for word, tag in sentence) for sentence in sentences)
    file.write_text("\n".join(blocks), encoding="utf-8")


def with_names(sentences: list[Tagged], file: Path) -> dict[int, Tagged]:
    """
    Returns the sentences of a file by number, with its names: in each line a number and names in
    order.
    """
    found = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        number, names = line.split("\t")
        found[int(number)] = tagged = list(sentences[int(number)])
        words, start = [word for word, _ in tagged], 0
        for kind, *name in [each.split() for each in names.split("; ") if each != "-"]:
            while words[start : start + len(name)] != name:
                start += 1
                if start == len(words):
                    raise ValueError(
                        f"{file}: sentence {number} does not have {' '.join(name)}: {words}"
                    )
            tagged[start : start + len(name)] = tags_of(name, kind)
            start += len(name)
    return found


def is_prose(sentence: Tagged) -> bool:
    """Returns whether a tweet is a sentence, without handles and links."""
    words = [word for word, _ in sentence]
    marks = ("@", "#", "http", "www.", "''", "*", "|", "RT")
    lower = sum(word.isalpha() and word.islower() for word in words)
    return (
        len(words) >= 6
        and 2 * lower >= len(words)
        and not any(word.startswith(marks) for word in words)
    )


def in_case(sentence: Tagged, change: Callable[[str], str]) -> Tagged:
    return [(change(word), tag) for word, tag in sentence]


def case_variants(
    sentences: list[Tagged], shares: dict[Callable[[str], str], float], generator: random.Random
) -> Iterator[Tagged]:
    """Yields copies of a share of the sentences for each change, such as `str.lower`."""
    for change, share in shares.items():
        for sentence in generator.sample(sentences, int(share * len(sentences))):
            yield in_case(sentence, change)


def capitalize(word: str) -> str:
    return word[:1].upper() + word[1:]


def read_names(file: Path) -> Names:
    names: Names = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        kind, name = line.split("\t")
        names.setdefault(kind, []).append(name)
    return names


def read_all_names() -> Names:
    """Returns the names of both files, a company also as an ORG and a city also as a LOC."""
    names = read_names(HERE / "names.tsv")
    for kind, more in read_names(HERE / "more_names.tsv").items():
        for each in {kind, LABELS.get(kind, kind)}:
            names.setdefault(each, []).extend(more)
    return names


def draw_name(kind: str, names: Names, generator: random.Random) -> list[str]:
    """Returns the words of a name; a person has a first name, a last name or both."""
    if kind != "PER":
        return words_of(generator.choice(names[kind]))
    firsts = names["WOMAN"] + names["MAN"] + names["EITHER"]
    first, last = words_of(generator.choice(firsts)), words_of(generator.choice(names["LAST"]))
    return generator.choice([first, last, first + last, first + last])


def words_of(name: str) -> list[str]:
    return name.replace("'s", " 's").replace("-", " - ").split()


def tags_of(words: list[str], kind: str) -> Tagged:
    return [(word, ("I-" if index else "B-") + kind) for index, word in enumerate(words)]


def fill(pattern: str, names: Names, generator: random.Random) -> Tagged:
    """Returns a pattern's words, with names in the places of their kinds."""
    sentence: Tagged = []
    for word in pattern.split():
        kind = word.strip("{}")
        label = LABELS.get(kind, kind)
        sentence += (
            tags_of(draw_name(kind, names, generator), label) if kind != word else [(word, "O")]
        )
    return sentence


def with_other_names(
    sentence: Tagged, names: Names, share: float, generator: random.Random
) -> Tagged:
    """Returns a sentence in which a share of persons, places and organizations has other names."""
    changed: Tagged = []
    drops = False
    for word, tag in sentence:
        if tag.startswith("B-"):
            kind = tag[2:]
            drops = kind in ("PER", "LOC", "ORG") and generator.random() < share
            changed += tags_of(draw_name(kind, names, generator), kind) if drops else [(word, tag)]
        elif not (drops and tag.startswith("I-")):
            changed.append((word, tag))
    return changed
