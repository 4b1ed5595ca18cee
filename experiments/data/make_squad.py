"""Draw a small data set for question answering from the grammar in `squad_grammar/`.

    python experiments/data/make_squad.py --seed 13 --out experiments/data/squad

writes `train.json` and `dev.json` in the format of SQuAD 1.1 and prints their statistics as a Markdown table.
The same seed gives the same bytes. `README.md` describes the data and the grammar.
"""

import re
from dataclasses import dataclass, field
from random import Random

from generator import DataSet, Grammar, Row, Source
from make_ner import NEEDS_AN
from squad_paragraphs import (
    Answers,
    Paragraph,
    Question,
    difficulty_rows,
    find_answers,
    read_brackets,
    size_rows,
    to_text,
)

SENTENCES = range(4, 9)
QUESTIONS = (3, 4, 5, 5, 6, 6)
FIRST_YEARS = range(1750, 1830)
WHOLE_LISTS = ("title.", "name.", "noun.", "tell.", "ask.", "aside.")  # the same in both parts, however long
OWN_LISTS = ("ending.",)  # what has an alternative in common with the other part is no name of dev
NAMES = ("surname", "town", "river", "lake", "mountain", "island", "country", "university")
COUNTS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
PRONOUNS = {"f": ("she", "her", "her"), "m": ("he", "him", "his"), "n": ("it", "it", "its")}
CASES = {"he": 0, "him": 1, "his": 2}
SYMBOL = re.compile(r"\{([^{}]+)\}")
AN = re.compile(rf"(?<!\[)\b([Aa]) ((?:\[\w+ |\[\? ?)*)(?={NEEDS_AN.pattern})", re.IGNORECASE)


@dataclass(eq=False)
class Subject:
    """What a paragraph tells of; its name has [?...] around what is enough to know it."""

    topic: str
    name: str
    gender: str
    first_year: int  # the birth of a person, the opening of a bridge
    words: dict[str, str] = field(default_factory=dict)  # by property, as far as they are drawn
    named: Answers = field(default_factory=dict)  # where it was last called by its name

    @property
    def short_name(self) -> str:
        part = re.search(r"\[\?(.*)\]", self.name)
        if not part:
            return self.name
        return f"the {part[0]}" if self.name.startswith("the ") else part[1]


@dataclass
class Fact:
    """A sentence that was told, and what may be asked about it."""

    name: str  # of its list, as "bridge.cost"
    cast: dict[str, Subject]
    answers: Answers
    values: dict[str, str]  # what questions call its answers

    def fits(self, question: str) -> bool:
        """Whether the sentence has the answer, and all that the question speaks of."""
        wanted = {question.partition(":")[0], *SYMBOL.findall(question)}
        return all(symbol in self.answers or symbol.split()[0] in self.cast for symbol in wanted)

    @property
    def is_clear(self) -> bool:
        """Whether no two answers are the same words in two places."""
        found = {answers[0].start: answers[0].text.lower() for answers in self.answers.values()}
        return len(set(found.values())) == len(found)


class ParagraphSource(Source[Paragraph]):
    """Draws paragraphs and questions about them."""

    def __init__(self, grammar: Grammar, random: Random) -> None:
        super().__init__(grammar, random)
        self.topics = [name.partition(".")[2] for name in grammar if name.startswith("title.")]
        self.cast: dict[str, Subject] = {}  # A, of whom a sentence tells, and B
        self.told_of: Subject | None = None  # in the last sentence
        self.names: list[str] = []  # in the paragraph
        self.order: list[str] = []  # of subjects and others in the sentence

    def draw_example(self, number: int) -> Paragraph:
        topic = self.topics[number % len(self.topics)]
        while True:
            self.told_of, self.names = None, []
            paragraph = Paragraph(topic, self.deal(f"title.{topic}"))
            facts = [self.tell(paragraph, *step) for step in self.draw_plan(topic)]
            if all(fact.is_clear for fact in facts) and self.is_fine(paragraph):
                paragraph.questions = self.ask([fact for fact in facts if not fact.name.startswith("aside.")])
                return paragraph

    def identity(self, example: Paragraph) -> str:
        return example.context

    def is_fine(self, paragraph: Paragraph) -> bool:
        """Whether no name was drawn twice, no number occurs twice, and the length is right."""
        numbers = re.findall(r"\d+(?:,\d{3})*", paragraph.context)
        unique = len(set(numbers)) == len(numbers) and len(set(self.names)) == len(self.names)
        return unique and len(paragraph.sentences) in SENTENCES

    def draw_plan(self, topic: str) -> list[tuple[str, Subject, Subject]]:
        """Returns the lists to draw sentences from, each with its subject and the other one.

        A paragraph tells of one subject, of one after the other or of both by turns; of the second, what it
        has told of the first.
        """
        one = self.draw_subject(topic, self.random.choice(FIRST_YEARS))
        other = self.draw_subject(topic, one.first_year + self.random.randint(-15, 15))
        shape = self.random.choice(("one", "blocks", "turns"))
        facts = self.draw_facts(topic, {"one": 5, "blocks": 3, "turns": 2}[shape] - self.random.randint(0, 1))
        plan = [(f"tell.{topic}.first", one, other)]
        second = (f"tell.{topic}.second", other, one)
        if shape == "turns":
            plan += [second]
            for fact in facts:
                plan += [(fact, one, other), (fact, other, one)]
        else:
            plan += [(fact, one, other) for fact in facts]
        if shape == "blocks":
            plan += [second, *((fact, other, one) for fact in facts[:2])]
        for _ in range(self.random.randint(0, 1) + (shape == "one")):
            plan.insert(self.random.randint(1, len(plan)), (f"aside.{topic}", one, other))
        return plan

    def draw_facts(self, topic: str, number: int) -> list[str]:
        """Returns some lists of facts, in the order of the grammar."""
        names = [name for name in self.grammar if name.startswith(f"tell.{topic}.")]
        names = [name for name in names if not name.endswith((".first", ".second"))]
        return sorted(self.random.sample(names, number), key=names.index)

    def draw_subject(self, topic: str, first_year: int) -> Subject:
        is_thing = f"name.{topic}" in self.grammar
        gender = "n" if is_thing else self.random.choice("fm")
        name = self.expand(f"{{name.{topic if is_thing else gender}}}")
        return Subject(topic, name, gender, first_year)

    def tell(self, paragraph: Paragraph, name: str, subject: Subject, other: Subject) -> Fact:
        """Adds a sentence."""
        self.cast, self.order = {"A": subject, "B": other}, []
        sentence, answers = find_answers(AN.sub(r"\1n \2", self.expand(self.deal(name))))
        values = {slot: re.sub(r"^an? ", "the ", found[0].text) for slot, found in answers.items()}
        answers = paragraph.add(sentence, answers)
        subject.named = {slot: answers[slot] for slot in answers if slot == "A"} or subject.named
        self.told_of = None if is_passing(name) or self.begins_with_another() else subject
        return Fact(name, self.cast, answers | subject.named, values)

    def begins_with_another(self) -> bool:
        """Whether "she" in the next sentence could be somebody else."""
        return self.cast["A"].gender != "n" and self.order[:1] != ["A"]

    def expand(self, text: str) -> str:
        """Returns the text with words for its symbols, and for those in the words."""
        while symbol := SYMBOL.search(text):
            text = text[: symbol.start()] + self.draw(symbol[1]) + text[symbol.end() :]
        return text

    def draw(self, symbol: str) -> str:
        name, *rest = symbol.split()
        letter, _, word = name.partition(".")
        self.order += [name] if name in (*self.cast, "person") else []
        if name in self.cast:
            return self.refer(name, *rest)
        if letter in self.cast:
            words = self.cast[letter].words
            if word not in words:
                words[word] = self.draw(word)
            return words[word]
        if rest:
            return self.draw_number(name, *map(int, rest))
        text = self.expand(self.deal(name))
        self.names += [text] if name in NAMES else []
        return text

    def draw_number(self, kind: str, least: int, most: int, step: int = 1) -> str:
        """Returns a number, or a year so long after the first year of the subject."""
        number = self.random.randrange(least, most + 1, step)
        if kind == "year":
            return str(self.cast["A"].first_year + number)
        return COUNTS[number] if kind == "count" else f"{number:,}"

    def refer(self, letter: str, pronoun: str = "") -> str:
        """Returns a pronoun, after a ? only where the last sentence told of the same, or a name or a noun."""
        subject = self.cast[letter]
        case = pronoun.removeprefix("?")
        is_clear = subject is self.told_of
        if pronoun and (pronoun == case or (is_clear and self.random.random() < 0.6)):
            return PRONOUNS[subject.gender][CASES[case]]
        ending = "'s" if case == "his" else ""
        if is_clear and self.random.random() < 0.5:
            return f"the {self.deal(f'noun.{subject.topic}')}{ending}"
        name = self.random.choice((subject.name, subject.short_name)) if subject.named else subject.name
        return f"[{letter} {name}]{ending}"

    def ask(self, facts: list[Fact]) -> list[Question]:
        """Draws questions, in the order of the facts and none twice for the same words."""
        found = []
        for fact in facts:
            questions = [text for text in self.grammar[fact.name.replace("tell.", "ask.")] if fact.fits(text)]
            for slot in dict.fromkeys(text.partition(": ")[0] for text in questions):
                text = self.random.choice([text for text in questions if text.startswith(f"{slot}: ")])
                found.append(Question(self.fill_in(text.partition(": ")[2], fact), fact.answers[slot]))
        number = min(self.random.choice(QUESTIONS), len(found))
        return [found[place] for place in sorted(self.random.sample(range(len(found)), number))]

    def fill_in(self, question: str, fact: Fact) -> str:
        """Returns a question with names and with what the sentence told."""

        def words(symbol: re.Match[str]) -> str:
            name, *pronoun = symbol[1].split()
            if name not in fact.cast:
                return fact.values[name]
            subject = fact.cast[name]
            if pronoun:
                return PRONOUNS[subject.gender][CASES[pronoun[0]]]
            return read_brackets(self.random.choice((subject.name, subject.short_name)))[0]

        text = SYMBOL.sub(words, question)
        return text[0].upper() + text[1:]


def is_passing(name: str) -> bool:
    """Whether a list is for sentences after which it is not clear who "she" is."""
    return name.startswith("aside.") or name.endswith(".second")


class QuestionAnswering(DataSet[Paragraph]):
    """Draw a small data set for question answering from squad_grammar/."""

    name = "squad"
    ending = ".json"
    train_size = 252
    dev_size = 60
    source = ParagraphSource

    def split(self, grammar: Grammar, seed: int) -> dict[str, Grammar]:
        """Leaves the ways to tell and to ask as they are, and lets no name of one part be in the other."""
        parts = super().split(grammar, seed)
        for name, alternatives in grammar.items():
            if name.startswith(WHOLE_LISTS):
                parts["train"][name] = parts["dev"][name] = alternatives
            elif name.startswith(OWN_LISTS):
                known = parts["train"][name]
                parts["dev"][name] = [word for word in alternatives if word not in known]
        return parts

    def draw_parts(self, seed: int) -> dict[str, list[Paragraph]]:
        """Draws all paragraphs; as in SQuAD, only questions of dev have several answers."""
        parts = super().draw_parts(seed)
        return parts | {"train": [paragraph.without_variants() for paragraph in parts["train"]]}

    def to_text(self, examples: list[Paragraph]) -> str:
        return to_text(examples)

    def statistics(self, train: list[Paragraph], dev: list[Paragraph]) -> list[Row]:
        return [*size_rows(train, dev), *difficulty_rows(train, dev)]


if __name__ == "__main__":
    QuestionAnswering().main()
