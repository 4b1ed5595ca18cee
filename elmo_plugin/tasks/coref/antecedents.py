"""Scores of pairs of spans: whether a span refers to the same as an earlier one."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_plugin.bilm import Dropout, autocast_dtype, first_derivative_only
from elmo_plugin.common.logs import get_logger
from elmo_plugin.tasks.coref.span_encoder import further_layers
from elmo_plugin.tasks.task_model import copy_old_labels

logger = get_logger(__name__)

# Spans whose antecedents are scored together, so that their scaled weights fit into a CPU's cache.
BLOCK = 8
# The smallest distance of each bucket, in spans.
FIRST_OF_BUCKET = [1, 2, 3, 4, 5, 8, 16, 32, 64]


class AntecedentScorer(nn.Module):
    """
    Scores each span with the spans before it, by feed-forward layers over the vectors of both,
    their product and features of the pair: distance, in buckets, whether the speakers are the same,
    and the genre (Lee et al., 2017, section 4).

    The first layer is a sum over these parts, so the vectors of pairs are never made: the parts of
    one span are computed once for each span, and the product by `ProductLayer`. Only the features
    are specific to a pair, with a dropout mask for each pair. If `num_genres` is 0, the genre is
    not a feature.
    """

    def __init__(
        self,
        *,
        span_dim: int,
        hidden_dim: int,
        max_antecedents: int,
        feature_dim: int,
        num_genres: int,
        use_speakers: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        num_buckets = len(FIRST_OF_BUCKET) + 1  # with bucket 0, see `bucket`
        self.distance_embedding = nn.Embedding(num_buckets, feature_dim)
        num_features = 1  # the distance
        self.speaker_embedding = None
        if use_speakers:
            # Row 0 is for different speakers, and row 1 for the same speaker.
            self.speaker_embedding = nn.Embedding(2, feature_dim)
            num_features += 1
        self.genre_embedding = None
        if num_genres:
            self.genre_embedding = _genre_embedding(num_genres, feature_dim)
            num_features += 1
        self.dropout = Dropout(dropout)
        # The span, its antecedent, their product, and the features of the pair.
        self._sizes_of_parts = [span_dim, span_dim, span_dim, num_features * feature_dim]
        self.first_layer = nn.Linear(sum(self._sizes_of_parts), hidden_dim)
        self.further_layers = further_layers(hidden_dim, dropout)
        self._max_antecedents = max_antecedents

    def add_genres(self, num_genres: int) -> None:
        """
        Adds vectors for new genres, up to `num_genres` in all, and keeps the vectors of the old
        ones. Does nothing if the genre is not a feature.
        """
        old = self.genre_embedding
        if old is None:
            return
        num_old = old.num_embeddings - 1  # the last row is for an unknown genre
        if num_genres > num_old:
            logger.warning("the genres of the archive grow from %d to %d", num_old, num_genres)
            new = _genre_embedding(num_genres, old.embedding_dim)
            self.genre_embedding = copy_old_labels(new, old, num_old)

    def forward(self, spans: Tensor, speakers: Tensor, genre: Tensor) -> Tensor:
        """
        Returns the scores of the spans before each span, the nearest one first, of shape
        (spans, max_antecedents), with fewer columns if there are fewer spans. A span with fewer
        spans before it has `-inf` in its last columns.

        # Parameters

        spans : `Tensor`
            The vectors of the spans in their order in the document, of shape (spans, span_dim).
        speakers : `Tensor`
            The number of each span's speaker, of shape (spans,).
        genre : `Tensor`
            The index of the genre, of shape (). An unknown genre, `num_genres`, has a vector of
            zeros.
        """
        # The first layer is a sum over the parts of a pair.
        weights = self.first_layer.weight.split(self._sizes_of_parts, dim=1)
        span_weight, antecedent_weight, product_weight, feature_weight = weights
        from_spans = functional.linear(spans, span_weight, self.first_layer.bias)
        from_antecedents = functional.linear(spans, antecedent_weight)  # Shape: (spans, hidden_dim)
        # The last span has all others before it. A single span still gets a column, of -inf.
        num_antecedents = min(self._max_antecedents, max(len(spans) - 1, 1))
        index = torch.arange(len(spans), device=spans.device)
        scores_of_blocks = []
        for block, candidates in _blocks(len(spans), num_antecedents):
            # Shape of distances and same_speaker: (candidates, block)
            distances = index[block] - index[candidates].unsqueeze(1)
            same_speaker = speakers[block] == speakers[candidates].unsqueeze(1)
            # Shape of hidden: (candidates, block, hidden_dim)
            hidden = product_layer(spans[candidates], spans[block], product_weight)
            hidden = hidden + from_spans[block] + from_antecedents[candidates].unsqueeze(1)
            features = self._features(distances, same_speaker, genre)
            hidden = hidden + functional.linear(features, feature_weight)
            pair_scores = self.further_layers(hidden).squeeze(-1)  # Shape: (candidates, block)
            index_among_candidates = index[block] - candidates.start
            scores = _nearest_first(pair_scores, index_among_candidates, num_antecedents)
            scores_of_blocks.append(scores)
        return torch.cat(scores_of_blocks)  # Shape: (spans, num_antecedents)

    def _features(self, distances: Tensor, same_speaker: Tensor, genre: Tensor) -> Tensor:
        """
        Returns the vectors of the features of pairs of spans, one after the other, of shape
        (candidates, block, features), after dropout.
        """
        features = [self.distance_embedding(bucket(distances))]
        if self.speaker_embedding is not None:
            features.append(self.speaker_embedding(same_speaker.long()))
        if self.genre_embedding is not None:
            vector = self.genre_embedding(genre)  # Shape: (feature_dim,), the same for all pairs
            features.append(vector.expand_as(features[0]))
        return self.dropout(torch.cat(features, dim=-1))


class _Block(NamedTuple):
    """
    Consecutive spans of a document, and the spans among which their antecedents are. The last
    slices may end past the last span.
    """

    spans: slice
    candidates: slice


def _blocks(num_spans: int, num_antecedents: int) -> Iterator[_Block]:
    """
    Yields the spans of a document in blocks of `BLOCK`. The candidates of a block are the
    `num_antecedents` spans before it, and the block itself, because its first spans come before its
    last ones.
    """
    for start in range(0, num_spans, BLOCK):
        end = start + BLOCK
        yield _Block(slice(start, end), slice(max(0, start - num_antecedents), end))


def _genre_embedding(num_genres: int, dim: int) -> nn.Embedding:
    """Returns vectors of genres, and zeros for an unknown one, behind the others."""
    return nn.Embedding(num_genres + 1, dim, padding_idx=num_genres)


def bucket(distances: Tensor) -> Tensor:
    """
    Returns the bucket of each distance: 1 to 4 have one each, then 5 to 7, 8 to 15, … 64 and more.
    Bucket 0 is for distances below 1, from a span to itself or to a later one. Such pairs are in
    the blocks, but their scores are not used.
    """
    return torch.bucketize(distances, distances.new_tensor(FIRST_OF_BUCKET), right=True)


def _nearest_first(
    pair_scores: Tensor, index_among_candidates: Tensor, num_antecedents: int
) -> Tensor:
    """
    Selects the scores of the `num_antecedents` candidates before each span of a block, the nearest
    one first, from the scores of all pairs, of shape (candidates, block). The candidates end with
    the block, and `index_among_candidates`, of shape (block,), says where each of its spans is. The
    score of a missing antecedent is `-inf`.
    """
    spans_between = torch.arange(num_antecedents, device=pair_scores.device).unsqueeze(1)
    # Shape of antecedents: (num_antecedents, block); negative if there is none
    antecedents = index_among_candidates - 1 - spans_between
    scores = pair_scores.gather(0, antecedents.clamp(min=0))
    scores = scores.masked_fill(antecedents < 0, float("-inf"))
    return scores.T  # Shape: (block, num_antecedents)


class ProductLayer(torch.autograd.Function):
    """
    A linear layer over the products of all pairs of two sets of vectors, as one matrix product:
    `weight` is scaled by each vector on the right. Only the three arguments are saved for the
    gradient, because the products and the scaled weights are much larger.
    """

    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(left, right, weight)
        products = left @ _scaled(right, weight).T  # Shape: (left, right * hidden_dim)
        return products.view(len(left), len(right), len(weight))

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_products: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        left, right, weight = ctx.saved_tensors
        d_products = d_products.reshape(len(left), -1)  # Shape: (left, right * hidden_dim)
        d_left = d_products @ _scaled(right, weight)
        # The gradients of the scaled weights. Shape: (right, hidden_dim, dim)
        d_scaled = (d_products.T @ left).view(len(right), *weight.shape)
        d_right = (d_scaled * weight).sum(dim=1)
        # In place, because `d_scaled` is large, and not needed after this.
        d_weight = d_scaled.mul_(right.unsqueeze(1)).sum(dim=0)
        return d_left, d_right, d_weight


def product_layer(left: Tensor, right: Tensor, weight: Tensor) -> Tensor:
    """
    Applies a `ProductLayer` to all pairs of vectors, shapes (left, dim) and (right, dim), with a
    weight of shape (hidden_dim, dim). Returns shape (left, right, hidden_dim); under autocast, the
    layer is computed in autocast's type.
    """
    dtype = autocast_dtype(left)
    return ProductLayer.apply(left.to(dtype), right.to(dtype), weight.to(dtype))


def _scaled(right: Tensor, weight: Tensor) -> Tensor:
    """Returns the weight scaled by each vector, of shape (right * hidden_dim, dim)."""
    return (right.unsqueeze(1) * weight).flatten(0, 1)
