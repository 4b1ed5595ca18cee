"""All spans of a document: the best that do not cross, and their vectors (Lee et al., 2017, section
4).
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_plugin.bilm import Dropout
from elmo_plugin.tasks.spans import Span

BLOCK = 1024  # words whose spans are scored together


class Spans(NamedTuple):
    """
    Spans by the index of their first word and their width: the number of their words, less one. The
    words are all words of a document, or of a window of it in training.
    """

    starts: Tensor  # Shape: (spans,)
    widths: Tensor  # Shape: (spans,)

    @property
    def ends(self) -> Tensor:
        """The last word of each span. Shape: (spans,)"""
        return self.starts + self.widths

    def mentions(self, words_before: int) -> list[Span]:
        """
        Returns the spans as mentions, counted from the beginning of the document. Its first
        `words_before` words are before the window.
        """
        starts = (self.starts + words_before).tolist()
        last_words = (self.ends + words_before).tolist()
        return [Span(start, last + 1) for start, last in zip(starts, last_words, strict=True)]


def spans_in_sentences(sentence: Tensor, max_width: int) -> Tensor:
    """
    Returns whether a span ends in the sentence in which it begins, of shape (time, max_width): the
    row is its first word, the column its number of words, less one. `sentence` has the number of
    each word's sentence, of shape (time,).
    """
    # A span that ends past the document is in none: -1 is the number of no sentence.
    sentence_of_end = shift_to_ends(sentence, max_width, fill=-1)  # Shape: (time, max_width)
    return sentence_of_end == sentence.unsqueeze(1)


def shift_to_ends(values: Tensor, max_width: int, fill: int = 0) -> Tensor:
    """
    Returns the value at the last word of each span, of shape (time, max_width, ...), from values of
    words, of shape (time, ...). It is `fill` for a span that ends past the document.
    """
    behind = values.new_full((max_width - 1, *values.shape[1:]), fill)
    # The spans that begin at a word end at this word and the next ones.
    windows = torch.cat([values, behind]).unfold(0, max_width, 1)  # Shape: (time, ..., max_width)
    return windows.movedim(-1, 1)


class SpanEncoder(nn.Module):
    """
    Represents a span by the encoded words at both ends, the mean of its embedded words under a
    learned attention, and a vector of its width.

    There are many more spans than words, so `project` never makes the vectors of all spans: a
    linear layer of them is the sum of a linear layer of each part, and the parts of the ends and of
    the head are computed once for each word. Only the vector of the width is specific to a span,
    with a dropout mask for each span.
    """

    def __init__(
        self, *, encoded_dim: int, embedded_dim: int, max_width: int, width_dim: int, dropout: float
    ) -> None:
        super().__init__()
        self.head_attention = nn.Linear(encoded_dim, 1)
        self.width_embedding = nn.Embedding(max_width, width_dim)
        self._max_width = max_width
        self.dropout = Dropout(dropout)
        # The start, the end, the head and the width.
        self._sizes_of_parts = [encoded_dim, encoded_dim, embedded_dim, width_dim]

    def get_output_dim(self) -> int:
        return sum(self._sizes_of_parts)

    def width_vectors(self, num_words: int) -> Tensor:
        """
        Returns the vectors of the widths of all spans of a document after dropout, of shape (words,
        max_width, width_dim). `forward` and `project` take them as an argument, so that a span has
        the same mask of dropout in both.
        """
        weight = self.width_embedding.weight
        return self.dropout(weight.expand(num_words, *weight.shape))

    def forward(self, encoded: Tensor, embedded: Tensor, widths: Tensor, spans: Spans) -> Tensor:
        """
        Returns start, end, head and width of spans, of shape (spans, output_dim), from the encoded
        words of a document, (time, encoded_dim), its embedded words, (time, embedded_dim), and
        `width_vectors`.
        """
        weights_of_all = self._head_weights(encoded)
        attention = weights_of_all[spans.starts, spans.widths]  # Shape: (spans, max_width)
        words = spans.starts.unsqueeze(1) + torch.arange(self._max_width, device=encoded.device)
        # Words after the end of a span have weight 0, so any index will do past the document.
        words = words.clamp(max=len(encoded) - 1)  # Shape: (spans, max_width)
        heads = torch.bmm(attention.unsqueeze(1), embedded[words]).squeeze(1)
        parts = [
            encoded[spans.starts],
            encoded[spans.ends],
            heads,
            widths[spans.starts, spans.widths],
        ]
        return torch.cat(parts, dim=1)  # Shape: (spans, output_dim)

    def project(
        self, encoded: Tensor, embedded: Tensor, widths: Tensor, linear: nn.Linear
    ) -> Iterator[Tensor]:
        """
        Applies `linear` to the vectors of all spans of a document. Yields the results in
        consecutive blocks of words, of shape (words, max_width, out_features). The values of spans
        that end past the document have no meaning.
        """
        start_weight, end_weight, head_weight, width_weight = linear.weight.split(
            self._sizes_of_parts, dim=1
        )
        # Shape of starts: (time, out_features); of ends and heads: (time, max_width, out_features)
        starts = functional.linear(encoded, start_weight, linear.bias)
        ends = shift_to_ends(functional.linear(encoded, end_weight), self._max_width)
        heads = shift_to_ends(functional.linear(embedded, head_weight), self._max_width)
        attention = self._head_weights(encoded)  # Shape: (time, max_width, max_width)
        for start in range(0, len(encoded), BLOCK):
            block = slice(start, start + BLOCK)
            projected_heads = torch.bmm(attention[block], heads[block])
            projected_widths = functional.linear(widths[block], width_weight)
            yield starts[block].unsqueeze(1) + ends[block] + projected_heads + projected_widths

    def _head_weights(self, encoded: Tensor) -> Tensor:
        """
        Returns the attention of each span to its words, of shape (time, widths, words). A span is
        found by its first word and its width; its words are counted from its first one. Words after
        the end of the span have weight 0.
        """
        logits_of_words = self.head_attention(encoded).squeeze(1)  # Shape: (time,)
        # The logits of the words from each first word on. Shape: (time, words)
        logits = shift_to_ends(logits_of_words, self._max_width)
        square = torch.ones(self._max_width, self._max_width, device=logits.device)
        inside = square.tril().bool()  # Shape: (widths, words): width 0 has word 0, 1 has 0 and 1
        return logits.unsqueeze(1).masked_fill(~inside, float("-inf")).softmax(dim=-1)


def further_layers(hidden_dim: int, dropout: float) -> nn.Sequential:
    """
    Returns the layers of a scorer after its first linear layer: they compute a score, of shape
    (..., 1), from its output, of shape (..., hidden_dim).
    """
    return nn.Sequential(
        nn.ReLU(),
        Dropout(dropout),
        nn.Linear(hidden_dim, hidden_dim),
        nn.ReLU(),
        Dropout(dropout),
        nn.Linear(hidden_dim, 1),
    )


def best_spans(scores: Tensor, valid: Tensor, count: int, may_cross: bool) -> Spans:
    """
    Selects at most `count` spans by their scores, the highest first, without those that cross a
    selected one: two spans cross if they overlap, and neither is inside the other (Lee et al.,
    2017, section 5). Of equal scores, the span that begins first, and then the shorter one, wins.
    Returns them from left to right, shorter ones first.

    `scores` and `valid` (which spans exist) have the shape (time, max_width).
    """
    max_width = scores.size(1)
    # Indices of spans in the flattened scores, by their first word and then by their width.
    best_first = scores.flatten().argsort(descending=True, stable=True)
    valid_best_first = best_first[valid.flatten()[best_first]]
    selected: list[int] = []
    longest = _LongestSpans()  # of those that are selected
    for index in valid_best_first.tolist():
        if len(selected) == count:
            break
        start, width = divmod(index, max_width)
        end = start + width
        if may_cross or not longest.cross(start, end):
            selected.append(index)
            longest.add(start, end)
    from_left = torch.tensor(sorted(selected), dtype=torch.long, device=scores.device)
    return Spans(from_left // max_width, from_left % max_width)


class _LongestSpans:
    """
    The longest of some spans that begins at each word, and that ends there: if a span crosses any
    of them, it crosses one of these.
    """

    def __init__(self) -> None:
        # The last word of the longest span that begins at a word.
        self._last_words: dict[int, int] = {}
        # The first word of the longest span that ends at a word.
        self._first_words: dict[int, int] = {}

    def add(self, start: int, end: int) -> None:
        """Adds a span by its first and its last word."""
        self._last_words[start] = max(end, self._last_words.get(start, end))
        self._first_words[end] = min(start, self._first_words.get(end, start))

    def cross(self, start: int, end: int) -> bool:
        """Returns whether one of the spans crosses the one from `start` to `end`, its last word."""
        for inner_start in range(start + 1, end + 1):
            if self._last_words.get(inner_start, end) > end:  # begins inside, ends behind
                return True
        for inner_end in range(start, end):
            if self._first_words.get(inner_end, start) < start:  # begins before, ends inside
                return True
        return False
