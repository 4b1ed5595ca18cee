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
    """Spans by their first word in the document and their number of words, less one."""

    starts: Tensor  # Shape: (spans,)
    widths: Tensor  # Shape: (spans,)

    @property
    def ends(self) -> Tensor:
        """The last word of each span. Shape: (spans,)"""
        return self.starts + self.widths

    def mentions(self, words_before: int) -> list[Span]:
        """Returns the spans as mentions of a document with more words before the grid's."""
        starts, ends = self.starts + words_before, self.ends + words_before + 1
        return list(map(Span, starts.tolist(), ends.tolist()))


def spans_in_sentences(sentence: Tensor, max_width: int) -> Tensor:
    """
    Returns whether the span that begins at a word, and has this number of words less one, ends in
    the same sentence, of shape (time, max_width), from the number of the sentence of each word, of
    shape (time,).
    """
    return shift_to_ends(sentence, max_width, fill=-1) == sentence.unsqueeze(1)


def shift_to_ends(values: Tensor, max_width: int, fill: int = 0) -> Tensor:
    """
    Returns the value at the last word of each span, of shape (time, max_width, ...), from values of
    words, of shape (time, ...). Past the end of the document it is `fill`.
    """
    behind = values.new_full((max_width - 1, *values.shape[1:]), fill)
    return torch.cat([values, behind]).unfold(0, max_width, 1).movedim(-1, 1)


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
        self._sizes = [encoded_dim, encoded_dim, embedded_dim, width_dim]

    def get_output_dim(self) -> int:
        return sum(self._sizes)

    def width_vectors(self, num_words: int) -> Tensor:
        """
        Returns the vectors of the widths of all spans of a document after dropout, of shape (words,
        max_width, width_dim), shared by `forward` and `project`.
        """
        weight = self.width_embedding.weight
        return self.dropout(weight.expand(num_words, *weight.shape))

    def forward(self, encoded: Tensor, embedded: Tensor, widths: Tensor, spans: Spans) -> Tensor:
        """
        Returns start, end, head and width of spans, of shape (spans, output_dim), from the encoded
        words of a document, (time, encoded_dim), its embedded words, (time, embedded_dim), and
        `width_vectors`.
        """
        # Shape: (spans, max_width)
        attention = self._head_weights(encoded)[spans.starts, spans.widths]
        words = spans.starts.unsqueeze(1) + torch.arange(self._max_width, device=encoded.device)
        words = words.clamp(max=len(encoded) - 1)  # Shape: (spans, max_width); weight 0 past a span
        heads = torch.bmm(attention.unsqueeze(1), embedded[words]).squeeze(1)
        parts = [
            encoded[spans.starts],
            encoded[spans.ends],
            heads,
            widths[spans.starts, spans.widths],
        ]
        return torch.cat(parts, dim=1)

    def project(
        self, encoded: Tensor, embedded: Tensor, widths: Tensor, linear: nn.Linear
    ) -> Iterator[Tensor]:
        """
        Yields `linear` of the vectors of all spans, in consecutive blocks of shape (words,
        max_width, out_features). The values of spans that end past the document have no meaning.
        """
        start_weight, end_weight, head_weight, width_weight = linear.weight.split(
            self._sizes, dim=1
        )
        # Shape: (time, out_features)
        starts = functional.linear(encoded, start_weight, linear.bias)
        ends = shift_to_ends(functional.linear(encoded, end_weight), self._max_width)
        heads = shift_to_ends(functional.linear(embedded, head_weight), self._max_width)
        attention = self._head_weights(encoded)
        for start in range(0, len(encoded), BLOCK):
            block = slice(start, start + BLOCK)
            projected_heads = torch.bmm(attention[block], heads[block])
            projected_widths = functional.linear(widths[block], width_weight)
            yield starts[block].unsqueeze(1) + ends[block] + projected_heads + projected_widths

    def _head_weights(self, encoded: Tensor) -> Tensor:
        """Returns the weights of the words of each span, of shape (time, max_width, max_width)."""
        logits = shift_to_ends(self.head_attention(encoded).squeeze(1), self._max_width)
        inside: Tensor = (
            torch.ones(self._max_width, self._max_width, device=logits.device).tril().bool()
        )
        return logits.unsqueeze(1).masked_fill(~inside, float("-inf")).softmax(dim=-1)


def further_layers(hidden_dim: int, dropout: float) -> nn.Sequential:
    """Returns the layers of a scorer after its first linear layer, up to the score."""
    hidden = [
        nn.ReLU(),
        Dropout(dropout),
        nn.Linear(hidden_dim, hidden_dim),
        nn.ReLU(),
        Dropout(dropout),
    ]
    return nn.Sequential(*hidden, nn.Linear(hidden_dim, 1))


def best_spans(scores: Tensor, valid: Tensor, count: int, may_cross: bool = False) -> Spans:
    """
    Selects at most `count` spans by their scores, the highest first, without those that cross a
    selected one: two spans cross if they overlap, and neither is inside the other (Lee et al.,
    2017, section 5). Of equal scores, the span that begins first, and then the shorter one, wins.
    Returns them from left to right, shorter ones first.

    `scores` and `valid` (which spans exist) have the shape (time, max_width).
    """
    order = (
        scores.masked_fill(~valid, float("-inf")).flatten().argsort(descending=True, stable=True)
    )
    selected: list[int] = []
    first_word: dict[int, int] = {}  # the start of the longest selected span that ends at a word
    last_word: dict[int, int] = {}  # the end of the longest selected span that starts at a word
    for index in order[valid.flatten()[order]].tolist():
        if len(selected) == count:
            break
        start, width = divmod(index, scores.size(1))
        end = start + width
        if not may_cross and (
            any(last_word.get(word, end) > end for word in range(start + 1, end + 1))
            or any(first_word.get(word, start) < start for word in range(start, end))
        ):
            continue
        selected.append(index)
        first_word[end] = min(start, first_word.get(end, start))
        last_word[start] = max(end, last_word.get(start, end))
    best = torch.tensor(sorted(selected), dtype=torch.long, device=scores.device)
    return Spans(best // scores.size(1), best % scores.size(1))
