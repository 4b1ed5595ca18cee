"""All spans of a document as a grid: which there are, and which of them cross partially."""

from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.tasks.coref.clusters import Mention


class Spans(NamedTuple):
    """
    starts: the first word of each span, counted from the beginning of the document. Shape: (spans,)
    widths: its number of words, less one. Shape: (spans,)
    """

    starts: Tensor
    widths: Tensor

    @property
    def ends(self) -> Tensor:
        """The last word of each span. Shape: (spans,)"""
        return self.starts + self.widths

    def mentions(self, words_before: int) -> list[Mention]:
        """Returns them as mentions of a document of which the grid leaves out the first words."""
        starts = (self.starts + words_before).tolist()
        return [
            Mention(start, start + width + 1)
            for start, width in zip(starts, self.widths.tolist(), strict=True)
        ]


def spans_in_sentences(sentence: Tensor, max_width: int) -> Tensor:
    """
    Finds the spans that are inside a sentence.

    # Parameters

    sentence : `Tensor`
        The number of the sentence of each word. Shape (time,).
    max_width : `int`
        The words of the longest spans.

    # Returns

    `Tensor`
        Shape (time, max_width): whether the span that begins at a word, and has this number of words less
        one, ends in the same sentence.
    """
    last = shift_to_ends(sentence, max_width, fill=-1)
    return last == sentence.unsqueeze(1)


def shift_to_ends(values: Tensor, max_width: int, fill: int = 0) -> Tensor:
    """
    Returns the value of the last word of each span, from those of words, of shape (time,), to
    (time, max_width). Past the end of the document it is `fill`.
    """
    padding = values.new_full((max_width - 1,), fill)
    return torch.cat([values, padding]).unfold(0, max_width, 1)


def best_spans(scores: Tensor, valid: Tensor, count: int, may_cross: bool = False) -> Spans:
    """
    Takes the spans with the highest scores, one after the other, but none that crosses one that is taken
    already: two spans cross where they overlap, and neither is inside the other (Lee et al., 2017,
    section 5). Of equal scores, the span that begins first, and then the shorter one, wins.

    A span can be decided as soon as all better ones that cross it are, so all spans that are better than
    their undecided neighbours are decided at once, in rounds.

    # Parameters

    scores : `Tensor`
        Shape (time, max_width), of all spans, see `spans_in_sentences`.
    valid : `Tensor`
        Shape (time, max_width), which spans there are.
    count : `int`
        How many are taken, at most.
    may_cross : `bool`, optional (default = `False`)
        Whether spans that cross others are taken, too.

    # Returns

    `Spans`
        From left to right, and of those that begin at the same word, the shorter ones first.
    """
    order = scores.masked_fill(~valid, float("-inf")).flatten().argsort(descending=True, stable=True)
    ranks = torch.empty_like(order)  # higher is better, and all are different
    ranks[order] = torch.arange(len(order), 0, -1, device=order.device)
    taken = valid if may_cross else _without_crossing(ranks.view_as(scores), valid)
    best = order[taken.flatten()[order]][:count].sort().values
    return Spans(best // scores.size(1), best % scores.size(1))


def _without_crossing(ranks: Tensor, valid: Tensor) -> Tensor:
    undecided, taken = valid.clone(), torch.zeros_like(valid)
    while undecided.any():
        taken |= undecided & (ranks > best_crossing(ranks * undecided))
        undecided &= ~taken & (best_crossing(ranks * taken) == 0)
    return taken


def best_crossing(ranks: Tensor) -> Tensor:
    """
    Returns, for each span, the highest rank of those that cross it; 0 where there are none. `ranks` have the
    shape (time, max_width); 0 is for spans that do not count.
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
        # What begins at the second word, or begins in, and ends past, the span that begins there.
        of_rest = torch.cat([best[-1][1:], best[-1].new_zeros(1)])
        best.append(torch.maximum(following[:, width], of_rest))
    return torch.stack(best, dim=1)


def _mirror(ranks: Tensor) -> Tensor:
    """Returns the grid of the same spans in a document that is read from its end to its beginning."""
    time, max_width = ranks.shape
    widths = torch.arange(max_width, device=ranks.device)
    starts = time - 1 - torch.arange(time, device=ranks.device).unsqueeze(1) - widths
    return ranks[starts.clamp(min=0), widths] * (starts >= 0)
