"""Writes training data for questions: SQuAD, other cases of its questions, and made passages."""

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ner_data import Names, read_names

HERE = Path(__file__).parent
SEED = 13
PASSAGES = 800


class Fact(NamedTuple):
    """sentence: with slots such as `{CITY}`; questions: ways to ask for each answer"""

    sentence: str
    questions: list[tuple[list[str], str]]


class Topic(NamedTuple):
    """name: the subject of the passage; others: words for it later"""

    name: str
    others: list[str]
    facts: list[Fact]


def write(data: Path, folder: Path) -> None:
    """Writes `train.json`."""
    generator = random.Random(SEED)
    articles = json.loads((data / "qa/train.json").read_text(encoding="utf-8"))["data"]
    for change, share in ((without_case, 0.07), (str.upper, 0.03)):
        for paragraph in (each for article in articles for each in article["paragraphs"]):
            paragraph["qas"] += [
                question
                | {
                    "id": f"{question['id']}-{change.__name__}",
                    "question": change(question["question"]),
                }
                for question in paragraph["qas"]
                if "-" not in question["id"] and generator.random() < share
            ]
    slots, topics = read_topics(HERE / "passages.txt")
    slots |= {
        kind: names for kind, names in read_names(HERE / "names.tsv").items() if kind not in slots
    }
    made = [made_paragraph(f"made{number}", slots, topics, generator) for number in range(PASSAGES)]
    articles.append({"title": "made", "paragraphs": made})
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"version": "1.1", "data": articles}, ensure_ascii=False)
    (folder / "train.json").write_text(text, encoding="utf-8")


def without_case(question: str) -> str:
    """Returns a question as typed in haste."""
    return question.lower().rstrip("?").rstrip()


def read_topics(file: Path) -> tuple[Names, list[Topic]]:
    """Returns what may stand in each slot, and the topics."""
    slots: Names = {}
    topics: list[Topic] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        mark, _, rest = line.partition(" ")
        if mark == "=":
            topics.append(Topic(rest.partition(" ")[2], [], []))
        elif mark == "!":
            topics[-1].others.extend(rest.split("|"))
        elif mark == "+":
            questions, answer = rest.split("\t")
            topics[-1].facts[-1].questions.append((questions.split("|"), answer))
        elif topics:
            topics[-1].facts.append(Fact(line, []))
        else:
            kind, values = line.split("\t")
            slots[kind] = values.split("|")
    return slots, topics


def made_paragraph(
    name: str, slots: Names, topics: list[Topic], generator: random.Random
) -> dict[str, Any]:
    """
    Returns a paragraph of SQuAD's JSON about one topic, with a question for most of its facts.
    """
    topic = generator.choice(topics)
    pronoun = generator.choice(("she", "he")) if topic.name == "{PER}" else "she"
    other = {"she": "His", "he": "Her"}[pronoun]
    facts = [fact for fact in topic.facts if not fact.sentence.startswith(other)]
    first = generator.choice([fact for fact in facts if "{X}" in fact.sentence])
    facts = [
        first,
        *generator.sample([fact for fact in facts if fact is not first], generator.randint(1, 3)),
    ]
    others = [pronoun if each == "he or she" else each for each in topic.others]
    values = Values(slots, {"she": "WOMAN", "he": "MAN"}[pronoun], generator)
    values.fixed["X"] = natural(values.fill(topic.name))
    context, questions = "", []
    for fact in facts:
        values.forget()
        sentence = fact.sentence
        if fact is not first and generator.random() < 0.3:
            sentence = with_other(sentence, others, generator)
        start = len(context)
        context += capital(natural(values.fill(sentence))) + " "
        for ways, answer in fact.questions:
            question = generator.choice(ways)
            if generator.random() < 0.4:
                question = with_other(question, others, generator)
            text = natural(values.fill(answer))
            place = context.lower().find(text.lower(), start)
            if place >= 0 and generator.random() < 0.8:  # the sentence may say `she`
                questions.append((natural(values.fill(question)), place, place + len(text)))
    context = context.strip()
    change = generator.choices((str, without_case, str.upper), (0.86, 0.1, 0.04), k=len(questions))
    in_context: Callable[[str], str] = str.lower if generator.random() < 0.04 else str
    qas = [
        {
            "id": f"{name}-{index}",
            "question": change[index](question),
            "answers": [{"answer_start": start, "text": in_context(context[start:end])}],
        }
        for index, (question, start, end) in enumerate(questions)
    ]
    return {"context": in_context(context), "qas": qas}


class Values:
    """Fills slots: no two of a kind in a passage are the same."""

    def __init__(self, slots: Names, first_names: str, generator: random.Random) -> None:
        self._slots = slots
        self._first_names = first_names
        self._generator = generator
        self._used: set[str] = set()
        self._values: dict[str, str] = {}
        self.fixed: dict[str, str] = {}

    def forget(self) -> None:
        """Lets the next sentence have others."""
        self._values = {}

    def fill(self, text: str) -> str:
        return re.sub(r"{([A-Z]+\d?)}", lambda found: self._value(found[1]), text)

    def _value(self, slot: str) -> str:
        values = self.fixed if slot in self.fixed else self._values
        if slot not in values:
            values[slot] = next(
                value for value in self._draws(slot.rstrip("0123456789")) if value not in self._used
            )
            self._used.add(values[slot])
            if slot in ("PER", "LAST") and not self.fixed:  # the topic's
                self.fixed["LAST"] = values[slot].split()[-1]
        return values[slot]

    def _draws(self, kind: str) -> Iterator[str]:
        draw = self._generator
        while True:
            if kind == "PER":
                first = self._first_names if not self.fixed else draw.choice(("WOMAN", "MAN"))
                yield f"{draw.choice(self._slots[first])} {draw.choice(self._slots['LAST'])}"
            elif kind in self._slots:
                yield draw.choice(self._slots[kind])
            else:
                yield number(kind, draw)


def number(kind: str, draw: random.Random) -> str:
    """Returns a date, an amount or a measure."""
    year, few, many = draw.randint(1790, 2024), draw.randint(2, 99), draw.randint(2, 950)
    month = draw.choice(("January", "March", "May", "June", "August", "October", "December"))
    ways = {
        "YEAR": [f"{year}"],
        "DATE": [f"{few % 28 + 1} {month} {year}", f"{month} {few % 28 + 1} , {year}"],
        "MONEY": [
            f"{many} million dollars",
            f"{few / 10} billion euros",
            f"${many} million",
            f"£{many},000",
            f"{few} million pounds",
        ],
        "PRICE": [f"{few} dollars", f"{few} euros", f"${few / 4:.2f}", f"{few} cents", f"£{few}"],
        "PCT": [f"{few} percent", f"{few} %", f"{few / 10} percent", f"{few} per cent"],
        "COUNT": [f"{many}", f"{many},000", f"{few},{many % 900 + 100}"],
        "LENGTH": [f"{many} metres", f"{few / 10} kilometres", f"{few} miles", f"{many} feet"],
        "HEIGHT": [f"{many} metres", f"{many} feet"],
        "TIME": [
            f"{few % 12 + 1} am",
            f"{few % 12 + 1}:30",
            f"{few % 12 + 1} o'clock",
            f"{few % 12 + 1} pm",
        ],
        "SCORE": [f"{few % 4 + 2}-{many % 2}", f"{few % 4 + 2} to {many % 2}"],
        "NUMBER": [f"{few % 20 + 25}"],
    }
    return draw.choice(ways[kind])


def with_other(text: str, others: list[str], draw: random.Random) -> str:
    """Returns a text in which a word such as `it` or `the company` stands for the topic."""
    other = draw.choice(others)
    if " " in other:
        return text.replace("{X}", other)
    if text.startswith("{X}"):
        return re.sub(r"^{X}(?! 's)", other, text)
    return re.sub(r"\b(did|was|does|is) {X}(?! 's)", rf"\1 {other}", text)


def natural(text: str) -> str:
    """Returns a text with the spaces that people type."""
    return re.sub(r" (?=[.,?%]|'s\b)", "", text)


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
