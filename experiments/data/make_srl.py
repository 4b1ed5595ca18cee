"""Draw a small data set for semantic role labelling from the grammar in `srl_grammar/`.

    python experiments/data/make_srl.py --seed 13 --out experiments/data/srl

writes `train.gold_conll` and `dev.gold_conll` in the format of CoNLL-2012 and prints their statistics as a
Markdown table. The same seed gives the same bytes. `README.md` describes the data and the grammar.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from generator import DataSet, Grammar, Row, Source, share
from make_ner import NEEDS_AN

SENTENCE_LENGTHS = range(3, 27)
MOST_PREDICATES = 5
SENTENCES_PER_DOCUMENT = 10
FORMS = ("VB", "VBZ", "VBG", "VBD", "VBN")
FRAMESET = re.compile(r"(\w+)\.(\d\d) (.+)")
GRAMMAR_ITEM = re.compile(r"\{([^}]+?)(?: ([A-Z]+))?\}|\[\S+|\]|[^\s\[\]{}]+")
GAP = "GAP"


class Word(NamedTuple):
    """A word with its part of speech; a predicate also has a lemma and the number of a frameset."""

    text: str
    tag: str
    lemma: str = "-"
    frameset: str = "-"


class Argument(NamedTuple):
    """The words from `start` to before `end`, in their role for the predicate at a place of the sentence."""

    predicate: int
    role: str
    start: int
    end: int


@dataclass
class Sentence:
    words: list[Word] = field(default_factory=list)
    arguments: list[Argument] = field(default_factory=list)

    @property
    def predicates(self) -> list[int]:
        return [place for place, word in enumerate(self.words) if word.lemma != "-"]

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


@dataclass
class Bracket:
    """Words that the grammar gives a role, or none where they are elsewhere."""

    role: str
    start: int
    end: int = 0


@dataclass
class Part:
    """What an alternative of the grammar stands for, as far as the one that draws it has to know."""

    start: int
    verb: int | None = None  # the place of the predicate, if it is nothing else
    heads: list[int] = field(default_factory=list)  # the predicates that words around it can be arguments of
    gaps: list[tuple[int, str]] = field(default_factory=list)  # what it lacks: predicates and their roles
    loose: list[Bracket] = field(default_factory=list)  # roles without a predicate of its own


class SentenceSource(Source[Sentence]):
    """Draws sentences with the arguments of their predicates."""

    def __init__(self, grammar: Grammar, random: Random) -> None:
        super().__init__(grammar, random)
        self.tags = {word: symbol for symbol in tag_lists(grammar) for word in grammar[symbol]}

    def draw_example(self, number: int) -> Sentence:
        while True:
            sentence = Sentence()
            part = self.expand(sentence, "sentence")
            if part.gaps or part.loose:
                raise ValueError(f"the grammar leaves roles open in {sentence.text!r}")
            if is_fine(sentence):
                return fix_spelling(sentence)

    def identity(self, example: Sentence) -> str:
        return example.text

    def expand(self, sentence: Sentence, symbol: str, kind: str = "", form: str = "") -> Part:
        """Adds words for a symbol: for a kind of subject, and with the verb in a form."""
        symbol, _, own_kind = symbol.partition(".")
        kind = own_kind or kind
        alternative = self.deal(f"{symbol}.{kind}" if f"{symbol}.{kind}" in self.grammar else symbol)
        start = len(sentence.words)
        if frameset := FRAMESET.fullmatch(alternative):
            sentence.words.append(inflect(frameset, form))
            return Part(start, verb=start)
        brackets: list[Bracket] = []
        parts: list[Part] = []
        for item in GRAMMAR_ITEM.finditer(alternative):
            here = len(sentence.words)
            if item[1]:
                parts.append(self.expand(sentence, item[1], kind, item[2] or form))
            elif item[0].startswith("["):
                brackets.append(Bracket(item[0][1:], here, end=-1))
            elif item[0] == "]":
                next(bracket for bracket in reversed(brackets) if bracket.end < 0).end = here
            elif item[0] != "~":
                sentence.words.append(self.tagged(item[0]))
        return join(sentence, Part(start), brackets, parts)

    def tagged(self, item: str) -> Word:
        text, _, tag = item.partition("/")
        if text in ("``", "''"):
            return Word('"', text)
        return Word(text, tag or self.tags.get(text) or ("NNP" if text[0].isupper() else "NN"))


def tag_lists(grammar: Grammar) -> Grammar:
    """Returns the lists that are called after parts of speech: `VBD`, but also `,`."""
    return {symbol: words for symbol, words in grammar.items() if symbol == symbol.upper()}


def inflect(frameset: re.Match[str], form: str) -> Word:
    """Returns the form of a verb, or a noun, which has one only."""
    lemma, number, forms = frameset.groups()
    if " " not in forms:
        return Word(forms, "NN", lemma, number)
    return Word(forms.split()[FORMS.index(form)], form, lemma, number)


def join(sentence: Sentence, whole: Part, brackets: list[Bracket], parts: list[Part]) -> Part:
    """Gives the brackets of an alternative to predicates, and says in `whole` what is left to others."""
    verbs = [part.verb for part in parts if part.verb is not None]
    gaps = [gap for part in parts for gap in part.gaps]
    ordinary = [bracket for bracket in brackets if not bracket.role.endswith(GAP)]
    for bracket in brackets:
        if bracket.role.endswith(GAP):
            prefix = bracket.role.removesuffix(GAP)
            give(sentence, whole, bracket, [(predicate, prefix + role) for predicate, role in gaps])
    for bracket in ordinary + [bracket for part in parts for bracket in part.loose]:
        predicates = verbs or [head for part in outside([bracket], parts) for head in part.heads]
        give(sentence, whole, bracket, [(predicate, bracket.role) for predicate in predicates])
        if not predicates:
            whole.loose.append(bracket)
    if not any(bracket.role == GAP for bracket in brackets):
        whole.gaps += gaps
    if whole.gaps:
        whole.heads = verbs or [head for part in outside(ordinary, parts) for head in part.heads]
    return whole


def give(sentence: Sentence, whole: Part, bracket: Bracket, roles: list[tuple[int, str]]) -> None:
    """Makes the words of the bracket arguments, or a gap where there are none."""
    if bracket.start == bracket.end:
        whole.gaps += roles
    else:
        sentence.arguments += [Argument(*role, bracket.start, bracket.end) for role in roles]


def outside(brackets: list[Bracket], parts: list[Part]) -> Iterator[Part]:
    for part in parts:
        if not any(bracket.start <= part.start < bracket.end for bracket in brackets):
            yield part


def is_fine(sentence: Sentence) -> bool:
    """Whether the sentence is neither too long nor too short and tells of nobody and nothing twice."""
    names = [word.text for word in sentence.words if word.tag.startswith("NN") or word.lemma != "-"]
    return (
        len(sentence.words) in SENTENCE_LENGTHS
        and len(sentence.predicates) <= MOST_PREDICATES
        and len(set(names)) == len(names)
    )


def fix_spelling(sentence: Sentence) -> Sentence:
    """Writes "an" where the next word asks for it and capitalises the first word."""
    words = sentence.words
    for i, following in enumerate(words[1:]):
        if words[i].text == "a" and NEEDS_AN.match(following.text):
            words[i] = words[i]._replace(text="an")
    first = 1 if words[0].text == '"' else 0
    words[first] = words[first]._replace(text=words[first].text[0].upper() + words[first].text[1:])
    return sentence


def columns(sentence: Sentence) -> list[list[str]]:
    """Returns a column for each predicate: where it and its arguments begin and end."""
    return [
        column(len(sentence.words), [a for a in sentence.arguments if a.predicate == place], place)
        for place in sentence.predicates
    ]


def column(length: int, arguments: list[Argument], place: int) -> list[str]:
    cells = ["*"] * length
    for _, role, start, end in [*arguments, Argument(place, "V", place, place + 1)]:
        cells[start] = f"({role}{cells[start]}"
        cells[end - 1] += ")"
    return cells


def rows(sentence: Sentence, document: str) -> Iterator[str]:
    """Yields a line for each word, but without a parse, of which there is the outermost bracket only."""
    parse = ["*"] * len(sentence.words)
    parse[0], parse[-1] = f"(TOP{parse[0]}", f"{parse[-1]})"
    for i, (word, *roles) in enumerate(zip(sentence.words, *columns(sentence), strict=True)):
        cells = [document, "0", str(i), word.text, word.tag, parse[i], word.lemma, word.frameset]
        yield " ".join([*cells, "-", "-", "*", *roles, "-"])


class SemanticRoles(DataSet[Sentence]):
    """Draw a small SRL data set from srl_grammar/."""

    name = "srl"
    ending = ".gold_conll"
    train_size = 400
    dev_size = 130
    source = SentenceSource

    def split(self, grammar: Grammar, seed: int) -> dict[str, Grammar]:
        """Leaves the lists of parts of speech as they are."""
        tags = tag_lists(grammar)
        return {part: lists | tags for part, lists in super().split(grammar, seed).items()}

    def to_text(self, examples: list[Sentence]) -> str:
        lines = []
        for number, start in enumerate(range(0, len(examples), SENTENCES_PER_DOCUMENT)):
            document = f"{number:02}"
            lines.append(f"#begin document ({document}); part 000")
            for sentence in examples[start : start + SENTENCES_PER_DOCUMENT]:
                lines += [*rows(sentence, document), ""]
            lines.append("#end document")
        return "\n".join(lines) + "\n"

    def statistics(self, train: list[Sentence], dev: list[Sentence]) -> list[Row]:
        return [*size_rows(train, dev), *novelty_rows(train, dev)]


def predicates(sentences: list[Sentence]) -> list[Word]:
    return [sentence.words[place] for sentence in sentences for place in sentence.predicates]


def size_rows(*parts: list[Sentence]) -> list[Row]:
    lengths = [[len(sentence.words) for sentence in part] for part in parts]
    found = [predicates(part) for part in parts]
    roles = [Counter(argument.role for s in part for argument in s.arguments) for part in parts]
    return [
        ("sentences", *map(len, parts)),
        ("sentences without a predicate", *(sum(not s.predicates for s in part) for part in parts)),
        ("tokens", *map(sum, lengths)),
        ("tokens in a sentence, mean", *(f"{sum(part) / len(part):.1f}" for part in lengths)),
        ("predicates", *map(len, found)),
        ("predicates that are nouns", *(sum(word.tag == "NN" for word in words) for words in found)),
        ("arguments", *(sum(count.values()) for count in roles)),
        *(
            (f"arguments, `{role}`", *(count[role] for count in roles))
            for role in sorted(set().union(*roles))
        ),
    ]


def novelty_rows(train: list[Sentence], dev: list[Sentence]) -> list[Row]:
    lemmas, words = (
        {getattr(word, name).lower() for sentence in train for word in sentence.words}
        for name in ("lemma", "text")
    )
    found = predicates(dev)
    tokens = [word.text.lower() for sentence in dev for word in sentence.words]
    new_predicates = [word for word in found if word.lemma not in lemmas]
    new_tokens = [token for token in tokens if token not in words]
    new_sentences = [s for s in dev if any(word.text.lower() not in words for word in s.words)]
    return [
        ("predicates whose lemma train lacks", "", share(new_predicates, found)),
        ("tokens that train lacks", "", share(new_tokens, tokens)),
        ("sentences with a word that train lacks", "", share(new_sentences, dev)),
    ]


if __name__ == "__main__":
    SemanticRoles().main()
