"""The scorer of CoNLL-2000 and CoNLL-2003, conlleval.pl: whole chunks, counted from two columns of tags."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.dataset_reader import Line, read_text_lines, sentence_rows
from elmo_plugin.tasks.ner.metrics import NerScores

BOUNDARY = "-X-"  # a line that begins with this word ends a sentence
# The prefixes of a word and the next one between which a chunk of one type ends, and those where one starts.
# conlleval.pl knows no others: in BIOES, "S-X S-X" and "E-X B-X" are one chunk.
_ENDS = {"BB", "BO", "IB", "IO", "EE", "EI", "EO"}
_STARTS = {"BB", "IB", "OB", "OI", "EE", "EI", "OE"}
_SINGLES = {"[", "]"}
_OUTSIDE = {"O", "."}
_PREFIXES = {"B", "I", "E", "S"} | _SINGLES | _OUTSIDE


class Tag(NamedTuple):
    """
    prefix: before the first `-`, or all
    kind: what follows, or nothing
    """

    prefix: str
    kind: str


OUTSIDE = Tag("O", "")


def score_tagged(path: str) -> tuple[list[str], dict[str, Any]]:
    """
    Scores the tags of a system.

    # Parameters

    path : `str`
        A UTF-8 file with one word per line, whose last two columns are the gold tag and the system's tag.
        White space separates columns, blank lines separate sentences. A file whose name ends in `.gz` or
        `.zst` is compressed.

    # Returns

    `tuple[list[str], dict[str, Any]]`
        The lines that conlleval.pl prints; and the same lines as "raw", the percentages "overall", and of
        each type the percentages and how many chunks were found.

    Raises `ConfigurationError`, naming file and line, where there is another number of columns or no tag.
    """
    scores = count_chunks(parse_tagged(read_text_lines(path)))
    if not scores.words:
        raise ConfigurationError(f"{path}: this file has no words")
    table = _table(scores)
    return table, {"raw": table, **_figures(scores)}


def parse_tagged(lines: Iterable[Line]) -> Iterator[list[tuple[Tag, Tag]]]:
    """Yields the gold tag and the system's tag of each word of each sentence, see `score_tagged`."""
    number_of_columns = 0
    for sentence in sentence_rows(lines, lambda columns: columns and columns[0] != BOUNDARY):
        tags = []
        for line, row in sentence:
            number_of_columns = number_of_columns or len(row)
            if len(row) < 2:
                raise ConfigurationError(
                    f"{line.location}: expected a gold tag and a system's tag, found 1 column"
                )
            if len(row) != number_of_columns:
                raise ConfigurationError(
                    f"{line.location}: expected {number_of_columns} columns, as before, found {len(row)}"
                )
            tags.append((_parse_tag(row[-2], line), _parse_tag(row[-1], line)))
        yield tags


def _parse_tag(text: str, line: Line) -> Tag:
    prefix, _, kind = text.partition("-")
    if prefix not in _PREFIXES:
        raise ConfigurationError(
            f"{line.location}: {text!r} is not a tag: its prefix must be B, I, E, S or O"
        )
    return Tag(prefix, kind)


def count_chunks(sentences: Iterable[Sequence[tuple[Tag, Tag]]]) -> NerScores:
    """
    Counts the chunks of sentences whose words have a gold tag and a system's tag. A chunk is correct if it
    begins and ends at the same words, with the same type.
    """
    scores = NerScores()
    alike = False  # in both, a chunk began at the same word, with the same type, and is not over
    before = (OUTSIDE, OUTSIDE)
    for sentence in sentences:
        scores.words += len(sentence)
        scores.correct_tags += sum(right == guess for right, guess in sentence)
        for now in [*sentence, (OUTSIDE, OUTSIDE)]:
            ends = [_is_end(*tags) for tags in zip(before, now, strict=True)]
            starts = [_is_start(*tags) for tags in zip(before, now, strict=True)]
            if alike and all(ends):
                scores.correct[before[0].kind] += 1
            continues = alike and not any(ends)
            alike = (continues or all(starts)) and now[0].kind == now[1].kind
            scores.gold.update([now[0].kind] * starts[0])
            scores.found.update([now[1].kind] * starts[1])
            before = now
    if alike:  # without types, a chunk may continue to the end
        scores.correct[before[0].kind] += 1
    return scores


def _is_end(before: Tag, now: Tag) -> bool:
    """Returns whether a chunk ends between two words."""
    changes = before.prefix not in _OUTSIDE and before.kind != now.kind
    return changes or before.prefix in _SINGLES or before.prefix + now.prefix in _ENDS


def _is_start(before: Tag, now: Tag) -> bool:
    """Returns whether a chunk starts between two words."""
    changes = now.prefix not in _OUTSIDE and before.kind != now.kind
    return changes or now.prefix in _SINGLES or before.prefix + now.prefix in _STARTS


def _figures(scores: NerScores) -> dict[str, dict[str, float]]:
    rows = scores.figures(100)
    figures: dict[str, dict[str, float]] = {
        name: {
            figure: round(value, 2) for figure, value in zip(("precision", "recall", "f1"), row, strict=True)
        }
        for name, row in rows.items()
    }
    for kind in rows.keys() - {"overall"}:
        figures[kind]["found"] = scores.found[kind]
    return figures


def _table(scores: NerScores) -> list[str]:
    rows = scores.figures(100)
    overall = rows.pop("overall")
    return [
        f"processed {scores.words} tokens with {scores.gold.total()} phrases; "
        f"found: {scores.found.total()} phrases; correct: {scores.correct.total()}.",
        f"accuracy: {100 * scores.correct_tags / scores.words:6.2f}%; {_row(*overall)}",
        *(f"{kind:>17}: {_row(*row)}  {scores.found[kind]}" for kind, row in rows.items()),
    ]


def _row(precision: float, recall: float, f1: float) -> str:
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"
