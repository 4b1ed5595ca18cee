"""Writes the data of the bundled sentiment model: rated sentences, phrases, made and neutral
sentences.
"""

import csv
import gzip
import html
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

from ner_data import read_tagged
from sentiment_patterns import sentences
from shared_sentences import TrainingSentences

HERE = Path(__file__).parent
SEED = 13
COPIES = 2  # of the sentences that were written for this
Labeled = list[tuple[str, str]]  # texts with "positive", "negative" or "neutral"
HELD_OUT = {"movies": 800, "tweets": 500, "products": 500, "yelp": 500, "written": 500, "ewt": 400}
PATTERNS = {"business": 7_500, "everyday": 3_000}  # files of patterns, and sentences made of them
REPEATED = 15_000  # texts of the first training, in the second one too
KINDS = (*HELD_OUT, "pros_cons", *PATTERNS)
_NOUNS = (
    "movie film book song story food meal hotel room service staff place phone camera screen "
    "product game show team weather idea city car day concert teacher answer news"
)
NOUNS = _NOUNS.split()
ADJECTIVES = (
    "It was {}.",
    "The {n} is {}.",
    "This {n} was really {}!",
    "What a {} {n}!",
    "{}!",
    "a very {} {n}",
)
NEGATED = (
    "The {n} was not {}.",
    "It isn't {}.",
    "This {n} is not very {}.",
    "I don't think the {n} was {}.",
)
VERBS = ("I {} it.", "I {} this {n}.", "We {} the {n}!", "They really {} this {n}.")
NEGATED_VERBS = (
    "I don't {} it.",
    "I do not {} this {n}.",
    "We didn't {} the {n}.",
    "Nobody will {} this {n}.",
)
OPPOSITE = {"positive": "negative", "negative": "positive"}


def write(data: Path, folder: Path) -> None:
    """
    Writes `train.jsonl` and `dev.jsonl`, `more.jsonl` and `dev_more.jsonl` for the second training,
    a file of each kind in them, and `test.jsonl`, of the treebank, with `test_clean.jsonl`, its
    sentences that share nothing with the training data.
    """
    generator = random.Random(SEED)
    dev: dict[str, Labeled] = {}
    train: Labeled = []
    for name, number in HELD_OUT.items():
        texts = texts_of(name, data)
        generator.shuffle(texts)
        dev[name] = texts[:number]
        train += texts[number:] * (COPIES if name == "written" else 1)
    phrases = [
        each for each in rated(data / "sentiment/pros_cons.tsv") if len(each[0].split()) >= 2
    ]
    generator.shuffle(phrases)
    dev["pros_cons"], phrases = phrases[:200], phrases[500:12_500]
    ratings = read_lexicon(data / "vader_lexicon.txt")
    adjectives, verbs = (
        wordnet_words(data / f"wordnet/index.{kind}") & ratings.keys() for kind in ("adj", "verb")
    )
    made = list(lexicon_sentences(ratings, adjectives, verbs - adjectives, generator))
    write_labeled(folder / "sample.jsonl", generator.sample(made, 30))  # to look at
    neutral = [(text, "neutral") for text in plain_sentences(data, set(ratings), generator)]
    cased = [
        (change(text), label)
        for change in (str.upper, str.lower)
        for text, label in generator.sample(train, 1200)
    ]
    train += phrases + made + neutral + cased
    write_labeled(folder / "train.jsonl", train)
    write_labeled(folder / "dev.jsonl", [each for texts in dev.values() for each in texts])
    more = generator.sample(train, REPEATED)
    for name, number in PATTERNS.items():
        dev[name] = rated(HERE / f"dev_{name}.tsv")
        more += sentences(HERE / f"{name}.txt", number, generator)
    write_labeled(folder / "more.jsonl", more)
    write_labeled(folder / "dev_more.jsonl", [each for texts in dev.values() for each in texts])
    for name, texts in dev.items():
        write_labeled(folder / f"dev_{name}.jsonl", texts)
    test = list(treebank(data / "sst/test.txt"))
    seen = TrainingSentences(text for text, _ in train)
    clean = [
        (text, label)
        for text, label in test
        if not seen.has(text) and not seen.shares_words_with(text)
    ]
    write_labeled(folder / "test.jsonl", test)
    write_labeled(folder / "test_clean.jsonl", clean)


def texts_of(name: str, data: Path) -> Labeled:
    """Returns the labelled texts of a source."""
    if name == "written":
        return rated(HERE / "sentiments.tsv")
    if name != "ewt":
        return rated(data / f"sentiment/{name}.tsv")
    sentences = [" ".join(word for word, _ in each) for each in read_tagged(data / "pos/train.txt")]
    lines = (HERE / "ewt_sentiments.tsv").read_text(encoding="utf-8").splitlines()
    return [
        (sentences[int(number)], label) for number, label in (line.split("\t") for line in lines)
    ]


def write_labeled(file: Path, texts: Labeled) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps({"text": text, "label": label}) + "\n" for text, label in texts)
    file.write_text("".join(lines), encoding="utf-8")


def treebank(file: Path) -> Iterator[tuple[str, str]]:
    """Yields the sentences of trees, with one of three labels."""
    for line in file.read_text(encoding="utf-8").splitlines():
        words = " ".join(re.findall(r"\(\d ([^()]+)\)", line))
        text = words.replace("-LRB-", "(").replace("-RRB-", ")").replace("\\/", "/")
        yield text, ("negative", "negative", "neutral", "positive", "positive")[int(line[1])]


def rated(file: Path) -> list[tuple[str, str]]:
    """Returns texts with their side: the label, or that of the mean of ratings from -4 to 4."""
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t"))[1:]
    return [
        (html.unescape(text), label if label.isalpha() else side(float(label)))
        for text, label in rows
    ]


def side(rating: float) -> str:
    return "neutral" if abs(rating) <= 0.5 else "positive" if rating > 0 else "negative"


def read_lexicon(file: Path) -> dict[str, float]:
    """
    Returns the words of VADER's lexicon, without emoticons and abbreviations, with their ratings.
    """
    rows = (line.split("\t")[:2] for line in file.read_text(encoding="utf-8").splitlines())
    return {word: float(rating) for word, rating in rows if word.isalpha() and word.islower()}


def wordnet_words(index: Path) -> set[str]:
    """Returns the words of an index of WordNet."""
    lines = index.read_text(encoding="utf-8").splitlines()
    return {line.split()[0] for line in lines if not line.startswith(" ")}


def plain_sentences(data: Path, rated_words: set[str], generator: random.Random) -> list[str]:
    """Returns captions, and sentences of news and Wikipedia, without a word of the lexicon."""
    with gzip.open(data / "nli/train.jsonl.gz", "rt", encoding="utf-8") as lines:
        captions = sorted({json.loads(line)["sentence1"] for line in lines})
    files = [data / "ner_wikigold/train.txt", data / "ner_more/pud/train.txt"]
    others = [
        " ".join(word for word, _ in each)
        for file in files
        for each in read_tagged(file)
        if 4 <= len(each) <= 25
    ]
    generator.shuffle(captions)
    plain = [text for text in captions if not has_rated(text.replace(".", " "), rated_words)][:500]
    others = [text for text in others if not has_rated(text, rated_words)]
    generator.shuffle(others)
    return plain + others[:700]


def has_rated(text: str, rated_words: set[str]) -> bool:
    return not rated_words.isdisjoint(text.lower().split())


def lexicon_sentences(
    ratings: dict[str, float], adjectives: set[str], verbs: set[str], generator: random.Random
) -> Iterator[tuple[str, str]]:
    """Yields words with a rating, alone and in plain sentences, also negated ones."""
    for word, rating in sorted(ratings.items()):
        if abs(rating) < 1:
            continue
        label = side(rating)
        yield generator.choice((word, word.capitalize() + ".", word.upper(), word + "!")), label
        if abs(rating) < 1.5 or word not in adjectives | verbs:
            continue
        patterns, negated = (ADJECTIVES, NEGATED) if word in adjectives else (VERBS, NEGATED_VERBS)
        for forms, side_of_all in ((patterns, label), (negated, OPPOSITE[label])):
            for form in generator.sample(forms, 2):
                text = form.format(word, n=generator.choice(NOUNS))
                yield generator.choice((text, text, text.lower(), text.upper())), side_of_all
