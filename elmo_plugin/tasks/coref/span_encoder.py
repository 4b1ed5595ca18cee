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
    Spans by the index of their first word and their width: the number of their words, less one.
    Words are counted from the beginning of the document or, in training, of a window of it.
    """

    starts: Tensor  # Shape: (spans,)
    widths: Tensor  # Shape: (spans,)

    @property
    def ends(self) -> Tensor:
        """The last word of each span. Shape: (spans,)"""
        return self.starts + self.widths

    def to_mentions(self, words_before: int) -> list[Span]:
        """
        Returns the spans as mentions. Their words are counted from the beginning of the document,
        so `words_before`, the number of words before the window, is added.
        """
        starts = (self.starts + words_before).tolist()
        last_words = (self.ends + words_before).tolist()
        return [Span(start, last + 1) for start, last in zip(starts, last_words, strict=True)]


def is_within_sentence(sentence_of_word: Tensor, max_width: int) -> Tensor:
    """
    Returns whether each span ends in the sentence in which it begins, of shape (time, max_width). A
    row is for the first word of a span, and a column for its width. `sentence_of_word` has the
    number of each word's sentence, of shape (time,).
    """
    # -1 is no sentence's number, so a span that ends past the document is not within a sentence.
    sentence_of_end = values_at_ends(sentence_of_word, max_width, past_document=-1)
    return sentence_of_end == sentence_of_word.unsqueeze(1)


def values_at_ends(values: Tensor, max_width: int, past_document: int = 0) -> Tensor:
    """
    Returns the value at the last word of each span, of shape (time, max_width, ...), from values of
    words, of shape (time, ...). A span that ends past the document gets the value `past_document`.
    """
    padding = values.new_full((max_width - 1, *values.shape[1:]), past_document)
    # The spans that begin at a word end at this word or at one of the next words, so their values
    # are a window of `max_width` words. Shape of windows: (time, ..., max_width)
    windows = torch.cat([values, padding]).unfold(0, max_width, 1)
    return windows.movedim(-1, 1)


class SpanEncoder(nn.Module):
    """
    Represents a span by the encoded words at both ends, the mean of its embedded words under a
    learned attention, and a vector of its width.

    A document has many more spans than words, so `project` never makes the vectors of all spans.
    A linear layer of a vector is the sum of linear layers of its parts, and those for the ends and
    the head are computed only once for each word. The vector of the width is computed for each
    span, with a dropout mask of its own.
    """

    def __init__(
        self, *, encoded_dim: int, embedded_dim: int, max_width: int, width_dim: int, dropout: float
    ) -> None:
        super().__init__()
        self.head_attention = nn.Linear(encoded_dim, 1)
        self.width_embedding = nn.Embedding(max_width, width_dim)
        self._max_width = max_width
        self.dropout = Dropout(dropout)
        # The parts are the start, the end, the head and the width.
        self._sizes_of_parts = [encoded_dim, encoded_dim, embedded_dim, width_dim]

    def get_output_dim(self) -> int:
        return sum(self._sizes_of_parts)

    def width_vectors(self, num_words: int) -> Tensor:
        """
        Returns a vector of the width of each span of a document, after dropout. The shape is
        (words, max_width, width_dim). `forward` and `project` take these vectors as an argument, so
        that both use the same dropout mask for a span.
        """
        weight = self.width_embedding.weight  # Shape: (max_width, width_dim)
        return self.dropout(weight.expand(num_words, *weight.shape))

    def forward(self, encoded: Tensor, embedded: Tensor, widths: Tensor, spans: Spans) -> Tensor:
        """
        Returns the vectors of spans, of shape (spans, output_dim). Each is a concatenation of the
        vectors of start, end, head and width. `encoded` are the encoded words of the document, of
        shape (time, encoded_dim), `embedded` its embedded words, of shape (time, embedded_dim), and
        `widths` the result of `width_vectors`.
        """
        attention_of_all_spans = self._head_attention_weights(encoded)
        # Shape of attention and word_indices: (spans, max_width)
        attention = attention_of_all_spans[spans.starts, spans.widths]
        offsets = torch.arange(self._max_width, device=encoded.device)
        word_indices = spans.starts.unsqueeze(1) + offsets
        # An index past the document may be any other, because words after a span have weight 0.
        word_indices = word_indices.clamp(max=len(encoded) - 1)
        heads = torch.bmm(attention.unsqueeze(1), embedded[word_indices]).squeeze(1)
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
        Applies `linear` to the vectors of all spans of a document. Yields the results for blocks of
        consecutive first words, of shape (words, max_width, out_features). The values of spans that
        end past the document have no meaning.
        """
        start_weight, end_weight, head_weight, width_weight = linear.weight.split(
            self._sizes_of_parts, dim=1
        )
        # Each word is projected only once as a start, once as an end and once as a word of a head.
        # Shape of starts: (time, out_features)
        starts = functional.linear(encoded, start_weight, linear.bias)
        # Shape of ends and head_words: (time, max_width, out_features)
        ends = values_at_ends(functional.linear(encoded, end_weight), self._max_width)
        head_words = values_at_ends(functional.linear(embedded, head_weight), self._max_width)
        attention = self._head_attention_weights(encoded)  # Shape: (time, max_width, max_width)
        for start in range(0, len(encoded), BLOCK):
            block = slice(start, start + BLOCK)
            heads = torch.bmm(attention[block], head_words[block])
            projected_widths = functional.linear(widths[block], width_weight)
            yield starts[block].unsqueeze(1) + ends[block] + heads + projected_widths

    def _head_attention_weights(self, encoded: Tensor) -> Tensor:
        """
        Returns the attention of each span to its words, of shape (time, max_width, max_width). The
        first index is the first word of the span, the second one its width, and the last one a
        word, counted from the first word of the span. Words after the span have weight 0.
        """
        logits_of_words = self.head_attention(encoded).squeeze(1)  # Shape: (time,)
        # The logits of the `max_width` words that begin with each word. Shape: (time, max_width)
        logits = values_at_ends(logits_of_words, self._max_width)
        # A span of width 0 contains word 0, a span of width 1 the words 0 and 1, and so on.
        square = torch.ones(self._max_width, self._max_width, device=logits.device)
        is_in_span = square.tril().bool()
        return logits.unsqueeze(1).masked_fill(~is_in_span, float("-inf")).softmax(dim=-1)


def make_further_layers(hidden_dim: int, dropout: float) -> nn.Sequential:
    """
    Makes the layers of a scorer that follow its first linear layer. They compute a score, of shape
    (..., 1), from the output of that layer, of shape (..., hidden_dim).
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
    Selects at most `count` spans, the highest scores first. Unless `may_cross` is set, a span that
    crosses a selected one is left out. Two spans cross if they overlap and neither is inside the
    other (Lee et al., 2017, section 5). If scores are equal, the span that begins first wins, and
    then the shorter one. Returns the selected spans from left to right, shorter ones first.

    `scores` and `valid` (whether a span can be selected) have the shape (time, max_width).
    """
    max_width = scores.size(1)
    # Spans are numbered as in the flattened scores: by their first word, and then by their width,
    # 0 for one word.
    best_first = scores.flatten().argsort(descending=True, stable=True)
    is_valid = valid.flatten()[best_first]
    valid_best_first = best_first[is_valid]
    selected: list[int] = []
    selected_spans = _SelectedSpans()
    for number in valid_best_first.tolist():
        if len(selected) == count:
            break
        start, width = divmod(number, max_width)
        last_word = start + width
        if may_cross or not selected_spans.any_crosses(start, last_word):
            selected.append(number)
            selected_spans.add(start, last_word)
    from_left = torch.tensor(sorted(selected), dtype=torch.long, device=scores.device)
    return Spans(starts=from_left // max_width, widths=from_left % max_width)


class _SelectedSpans:
    """
    The spans that are selected already, to find out whether any of them crosses another span. Only
    the longest one that begins at each word, and the longest one that ends at each word, are kept:
    if any selected span crosses the other one, so does one of these.
    """

    def __init__(self) -> None:
        # The last word of the longest span that begins at a word.
        self._last_words: dict[int, int] = {}
        # The first word of the longest span that ends at a word.
        self._first_words: dict[int, int] = {}

    def add(self, start: int, last_word: int) -> None:
        """Adds the span from the word `start` to the word `last_word`."""
        longest_end = self._last_words.get(start, last_word)
        self._last_words[start] = max(last_word, longest_end)
        longest_start = self._first_words.get(last_word, start)
        self._first_words[last_word] = min(start, longest_start)

    def any_crosses(self, start: int, last_word: int) -> bool:
        """Returns whether any selected span crosses the one from `start` to `last_word`."""
        for word in range(start + 1, last_word + 1):
            # A span that begins inside the given one and ends behind it.
            if word in self._last_words and self._last_words[word] > last_word:
                return True
        for word in range(start, last_word):
            # A span that begins before the given one and ends inside it.
            if word in self._first_words and self._first_words[word] < start:
                return True
        return False
