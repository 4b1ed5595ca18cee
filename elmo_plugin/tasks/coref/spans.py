"""All spans of a document as a grid, and the best of them that do not cross."""

from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.tasks.coref.clusters import Mention


class Spans(NamedTuple):
    """Spans by their first word in the document and their number of words, less one."""

    starts: Tensor  # Shape: (spans,)
    widths: Tensor  # Shape: (spans,)

    @property
    def ends(self) -> Tensor:
        """The last word of each span. Shape: (spans,)"""
        return self.starts + self.widths

    def mentions(self, words_before: int) -> list[Mention]:
        """Returns the spans as mentions of a document with more words before the grid's."""
        starts = (self.starts + words_before).tolist()
        return [
            Mention(start, start + width + 1)
            for start, width in zip(starts, self.widths.tolist(), strict=True)
        ]


def spans_in_sentences(sentence: Tensor, max_width: int) -> Tensor:
    """
    Returns whether the span that begins at a word, and has this number of words less one, ends in the same
    sentence, of shape (time, max_width), from the number of the sentence of each word, of shape (time,).
    """
    last = shift_to_ends(sentence, max_width, fill=-1)
    return last == sentence.unsqueeze(1)


def shift_to_ends(values: Tensor, max_width: int, fill: int = 0) -> Tensor:
    """
    Returns the value at the last word of each span, of shape (time, max_width), from values of words, of
    shape (time,). Past the end of the document it is `fill`.
    """
    padding = values.new_full((max_width - 1,), fill)
    return torch.cat([values, padding]).unfold(0, max_width, 1)


def best_spans(scores: Tensor, valid: Tensor, count: int, may_cross: bool = False) -> Spans:
    """
    Selects at most `count` spans by their scores, the highest first, without those that cross a selected one:
    two spans cross if they overlap, and neither is inside the other (Lee et al., 2017, section 5). Of equal
    scores, the span that begins first, and then the shorter one, wins. Returns them from left to right,
    shorter ones first.

    A span can be decided as soon as all better spans that cross it are, so all spans that are better than
    their undecided neighbours are decided at once, in rounds.

    `scores` and `valid` (which spans exist) have the shape (time, max_width).
    """
    order = scores.masked_fill(~valid, float("-inf")).flatten().argsort(descending=True, stable=True)
    ranks = torch.empty_like(order)  # higher is better, and all are different
    ranks[order] = torch.arange(len(order), 0, -1, device=order.device)
    allowed = valid if may_cross else _without_crossing(ranks.view_as(scores), valid)
    best = order[allowed.flatten()[order]][:count].sort().values
    return Spans(best // scores.size(1), best % scores.size(1))


def _without_crossing(ranks: Tensor, valid: Tensor) -> Tensor:
    undecided, selected = valid.clone(), torch.zeros_like(valid)
    while undecided.any():
        selected |= undecided & (ranks > best_crossing(ranks * undecided))
        undecided &= ~selected & (best_crossing(ranks * selected) == 0)
    return selected


def best_crossing(ranks: Tensor) -> Tensor:
    """
    Returns the highest rank of the spans that cross each span, or 0. The shapes are (time, max_width); spans
    of rank 0 do not count.
    """
    from_right = _best_that_begins_inside(ranks)
    from_left = _mirror(_best_that_begins_inside(_mirror(ranks)))
    return torch.maximum(from_right, from_left)


def _best_that_begins_inside(ranks: Tensor) -> Tensor:
    """Returns the highest rank of the spans that begin inside each span, and end past it."""
    at_least_as_wide = ranks.flip(1).cummax(dim=1).values.flip(1)
    following = torch.cat([at_least_as_wide[1:], torch.zeros_like(ranks[:1])])
    best = [torch.zeros_like(ranks[:, 0])]
    for width in range(1, ranks.size(1)):
        # Spans that begin at the second word, or begin in, and end past, the span that begins there.
        from_second = torch.cat([best[-1][1:], best[-1].new_zeros(1)])
        best.append(torch.maximum(following[:, width], from_second))
    return torch.stack(best, dim=1)


def _mirror(ranks: Tensor) -> Tensor:
    """Returns the grid of the same spans in the reversed document."""
    time, max_width = ranks.shape
    widths = torch.arange(max_width, device=ranks.device)
    starts = time - 1 - torch.arange(time, device=ranks.device).unsqueeze(1) - widths
    return ranks[starts.clamp(min=0), widths] * (starts >= 0)
