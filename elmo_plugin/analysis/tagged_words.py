"""Sentences of words with tags, guesses without vectors, and tags of a control task."""

import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks import read_text_lines, sentence_rows


class TaggedSentence(NamedTuple):
    """Words, and a tag for each."""

    words: list[str]
    tags: list[str]


def read_tagged(path: str | os.PathLike[str]) -> Iterator[TaggedSentence]:
    """
    Reads a word and its tag, the first and last column, from each line; blank lines separate sentences. The
    file may be compressed. Raises `ConfigurationError`, naming file and line, if a line has one column.
    """
    for sentence in sentence_rows(read_text_lines(str(path))):
        for line, columns in sentence:
            if len(columns) == 1:
                raise ConfigurationError(
                    f"{line.location}: expected a word and its tag, found {columns[0]!r}"
                )
        words, tags = ([columns[place] for _, columns in sentence] for place in (0, -1))
        yield TaggedSentence(words, tags)


def guess_tags(train: Sequence[TaggedSentence], test: Sequence[TaggedSentence]) -> dict[str, float]:
    """
    Returns the accuracies of guesses without vectors: the most frequent tag of the training data
    (`majority`), and the most frequent tag of each `word`.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in train:
        for word, tag in zip(sentence.words, sentence.tags, strict=True):
            counts[word][tag] += 1
    majority = sum(counts.values(), Counter()).most_common(1)[0][0]
    best_tag = {word: tags.most_common(1)[0][0] for word, tags in counts.items()}
    pairs = [pair for each in test for pair in zip(each.words, each.tags, strict=True)]
    return {
        "majority": sum(majority == tag for _, tag in pairs) / len(pairs),
        "word": sum(best_tag.get(word, majority) == tag for word, tag in pairs) / len(pairs),
    }


def with_control_tags(
    train: Sequence[TaggedSentence], test: Sequence[TaggedSentence], seed: int
) -> tuple[list[TaggedSentence], list[TaggedSentence]]:
    """
    Returns the same sentences with the tags of a control task (Hewitt and Liang, 2019): each distinct word
    has one tag, drawn at random by the tags' frequencies in the training data. Vectors can predict such tags
    only by identifying the word.
    """
    counts = Counter(tag for sentence in train for tag in sentence.tags)
    words = sorted({word for sentence in [*train, *test] for word in sentence.words})
    drawn = random.Random(seed).choices(list(counts), weights=list(counts.values()), k=len(words))
    tag_of = dict(zip(words, drawn, strict=True))
    control_train, control_test = (
        [TaggedSentence(each.words, [tag_of[word] for word in each.words]) for each in sentences]
        for sentences in (train, test)
    )
    return control_train, control_test
