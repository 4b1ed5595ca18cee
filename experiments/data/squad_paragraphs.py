"""Paragraphs of `make_squad.py`: what they hold, the answers in them, their JSON and their statistics."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from generator import Row, share

BRACKET = re.compile(r"\[(?P<name>\?|\w+) ?|\]")
WORD = re.compile(r"\w+")
COMMON_WORDS = frozenset(
    WORD.findall(
        "a an and as by did do does for from how in is it of on the to was what when where which who"
    )
)
CAPITALS = rf"\b(?!(?i:{'|'.join(sorted(COMMON_WORDS))})\b)[A-Z]"
KINDS = {  # of answers, and what they look like
    "years and dates": re.compile(r"(\d+ [A-Z]\w+ )?\b\d{4}\b"),
    "numbers": re.compile(
        r"\b(\d{1,3}(,\d{3})*|(?i:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))\b"
        r"(?! [A-Z])( [a-z]+)?"
    ),
    "names": re.compile(rf"{CAPITALS}\w+( (and |of )?{CAPITALS}\w+)*"),
    "other words": re.compile(r""),
}


class Answer(NamedTuple):
    """Words of a text and the place where they begin."""

    text: str
    start: int


Answers = dict[str, list[Answer]]  # to what a question may ask for, the best one first


class Question(NamedTuple):
    text: str
    answers: list[Answer]


@dataclass
class Paragraph:
    topic: str
    title: str
    sentences: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    @property
    def context(self) -> str:
        return " ".join(self.sentences)

    def add(self, sentence: str, answers: Answers) -> Answers:
        """Adds a sentence with its capital, and returns the answers in it by their places in the context."""
        start = len(f"{self.context} ") if self.sentences else 0
        self.sentences.append(sentence[0].upper() + sentence[1:])
        return {
            name: [Answer(self.context[start + place :][: len(text)], start + place) for text, place in found]
            for name, found in answers.items()
        }

    def without_variants(self) -> "Paragraph":
        """Returns the paragraph with one answer to a question, as SQuAD has them for training."""
        questions = [Question(question.text, question.answers[:1]) for question in self.questions]
        return Paragraph(self.topic, self.title, self.sentences, questions)


@dataclass
class Bracket:
    name: str
    start: int
    end: int = 0
    outer: "Bracket | None" = None


def read_brackets(text: str) -> tuple[str, list[Bracket]]:
    """Returns the text without brackets, and where they were."""
    plain, last = "", 0
    found: list[Bracket] = []
    opened: list[Bracket] = []
    for item in BRACKET.finditer(text):
        plain += text[last : item.start()]
        last = item.end()
        if item["name"]:
            opened.append(Bracket(item["name"], len(plain), outer=opened[-1] if opened else None))
            found.append(opened[-1])
        else:
            opened.pop().end = len(plain)
    return plain + text[last:], found


def find_answers(text: str) -> tuple[str, Answers]:
    """Returns the text without brackets, and what may be answered with them, with less or with more."""
    plain, brackets = read_brackets(text)
    answers: Answers = {}
    for bracket in brackets:
        if bracket.name != "?" and bracket.name not in answers:
            less = [
                b for b in brackets if b.name == "?" and bracket.start <= b.start and b.end <= bracket.end
            ]
            more = [bracket.outer] if bracket.outer else []
            places = dict.fromkeys((b.start, b.end) for b in (bracket, *less, *more))
            answers[bracket.name] = [Answer(plain[start:end], start) for start, end in places]
    return plain, answers


def to_json(paragraph: Paragraph) -> dict[str, Any]:
    """Returns what SQuAD has for a paragraph."""
    return {
        "context": paragraph.context,
        "qas": [
            {
                "id": identifier(paragraph, question),
                "question": question.text,
                "answers": [{"text": text, "answer_start": start} for text, start in question.answers],
            }
            for question in paragraph.questions
        ],
    }


def identifier(paragraph: Paragraph, question: Question) -> str:
    """Returns 24 hexadecimal digits, as SQuAD has them, which stay the same when other paragraphs change."""
    return hashlib.sha256(f"{paragraph.context}\n{question.text}".encode()).hexdigest()[:24]


def to_text(paragraphs: list[Paragraph]) -> str:
    """Returns JSON with an article for each topic and a line for each paragraph."""
    articles = []
    for title in dict.fromkeys(paragraph.title for paragraph in paragraphs):
        lines = ",\n".join(json.dumps(to_json(p)) for p in paragraphs if p.title == title)
        articles.append(f'{{"title": {json.dumps(title)}, "paragraphs": [\n{lines}\n]}}')
    all_articles = ",\n".join(articles)
    return f'{{"version": "1.1", "data": [\n{all_articles}\n]}}\n'


def kind_of(question: Question) -> str:
    """Returns what the answer looks like, which most questions tell."""
    text = question.answers[0].text.removeprefix("the ").removeprefix("The ")
    return next(kind for kind, pattern in KINDS.items() if pattern.match(text))


def first_of_kind(kind: str, text: str, question: str) -> str:
    """Returns the first words of a kind that are not in the question, as a poor reader would."""
    found = (match[0] for match in KINDS[kind].finditer(text))
    return next((words for words in found if words and words not in question), "")


def closest_sentence(paragraph: Paragraph, question: str) -> str:
    """Returns the sentence that has most words of the question."""
    wanted = content_words(question)
    return max(paragraph.sentences, key=lambda sentence: len(content_words(sentence) & wanted))


def content_words(text: str) -> set[str]:
    return set(WORD.findall(text.lower())) - COMMON_WORDS


def is_right(words: str, question: Question) -> bool:
    """Whether all the words are in an answer, or all words of an answer are among them."""
    given = set(words.split())
    wanted = [set(answer.text.split()) for answer in question.answers]
    return any(given and (given <= answer or answer <= given) for answer in wanted)


def questions_of(paragraphs: list[Paragraph]) -> Iterator[tuple[Paragraph, Question]]:
    for paragraph in paragraphs:
        for question in paragraph.questions:
            yield paragraph, question


def size_rows(*parts: list[Paragraph]) -> list[Row]:
    lengths = [[len(paragraph.sentences) for paragraph in part] for part in parts]
    tokens = [[len(WORD.findall(paragraph.context)) for paragraph in part] for part in parts]
    questions = [[question for _, question in questions_of(part)] for part in parts]
    kinds = [Counter(map(kind_of, part)) for part in questions]
    answers = [[len(question.answers) for question in part] for part in questions]
    return [
        ("paragraphs", *map(len, parts)),
        ("sentences in a paragraph, range", *(f"{min(part)} to {max(part)}" for part in lengths)),
        ("words in a paragraph, mean", *(f"{sum(part) / len(part):.1f}" for part in tokens)),
        ("questions", *map(len, questions)),
        *((f"questions whose answer is of {kind}", *(count[kind] for count in kinds)) for kind in KINDS),
        ("answers to a question, mean", *(f"{sum(part) / len(part):.1f}" for part in answers)),
    ]


def difficulty_rows(train: list[Paragraph], dev: list[Paragraph]) -> list[Row]:
    everything = [list(questions_of(part)) for part in (train, dev)]
    known = {question.answers[0].text for _, question in everything[0]}
    new = [question for _, question in everything[1] if question.answers[0].text not in known]
    return [
        ("answers that the first words of their kind are", *(share(firsts(e), e) for e in everything)),
        ("the same, in the sentence closest to the question", *(share(closest(e), e) for e in everything)),
        ("answers that train lacks", "", share(new, everything[1])),
    ]


def firsts(pairs: list[tuple[Paragraph, Question]]) -> list[Question]:
    """Returns the questions that are answered by the first words of the right kind."""
    return [q for p, q in pairs if is_right(first_of_kind(kind_of(q), p.context, q.text), q)]


def closest(pairs: list[tuple[Paragraph, Question]]) -> list[Question]:
    """Returns those answered by the first words of the right kind in the sentence most like the question."""
    return [
        q for p, q in pairs if is_right(first_of_kind(kind_of(q), closest_sentence(p, q.text), q.text), q)
    ]
