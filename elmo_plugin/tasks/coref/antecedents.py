"""Scores of pairs of spans: whether a span refers to the same as an earlier one."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_plugin.bilm import Dropout, autocast_dtype, first_derivative_only
from elmo_plugin.common.logs import get_logger
from elmo_plugin.tasks.coref.span_encoder import make_further_layers
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
    and the genre (Lee et al., 2017, section 4). If `num_genres` is 0, the genre is not a feature.

    The output of the first layer is a sum over these four parts, so the vector of a pair is never
    made. The parts of the two spans are computed once for each span, and the part of the product by
    `ProductLayer`. Only the features are computed for each pair, with a dropout mask of its own.
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
        num_buckets = len(FIRST_OF_BUCKET) + 1  # bucket 0 is for distances below the first one
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
        self.further_layers = make_further_layers(hidden_dim, dropout)
        self._max_antecedents = max_antecedents

    def add_genres(self, num_genres: int) -> None:
        """
        Adds vectors for new genres, up to `num_genres` in all, and keeps the vectors of the old
        genres. Does nothing if the genre is not a feature.
        """
        old_embedding = self.genre_embedding
        if old_embedding is None:
            return
        num_old = old_embedding.num_embeddings - 1  # the last row is for an unknown genre
        if num_genres > num_old:
            logger.warning("the genres of the archive grow from %d to %d", num_old, num_genres)
            new_embedding = _genre_embedding(num_genres, old_embedding.embedding_dim)
            self.genre_embedding = copy_old_labels(new_embedding, old_embedding, num_old)

    def forward(self, spans: Tensor, speakers: Tensor, genre: Tensor) -> Tensor:
        """
        Scores the spans before each span as its antecedents, the nearest one first. Returns shape
        (spans, max_antecedents), or fewer columns for a short document. A span with fewer spans
        before it has `-inf` in its last columns.

        # Parameters

        spans : `Tensor`
            The vectors of the spans, in their order in the document, of shape (spans, span_dim).
        speakers : `Tensor`
            The number of each span's speaker, of shape (spans,).
        genre : `Tensor`
            The index of the genre, of shape (). An unknown genre has the index `num_genres`, and a
            vector of zeros.
        """
        # The output of the first layer is a sum over the parts of a pair. The parts of the two
        # spans are computed here for all pairs.
        weights = self.first_layer.weight.split(self._sizes_of_parts, dim=1)
        span_weight, antecedent_weight, product_weight, feature_weight = weights
        # Shape of from_spans and from_antecedents: (spans, hidden_dim)
        from_spans = functional.linear(spans, span_weight, self.first_layer.bias)
        from_antecedents = functional.linear(spans, antecedent_weight)
        num_antecedents = min(self._max_antecedents, len(spans) - 1)
        num_antecedents = max(num_antecedents, 1)  # a single span gets a column, of -inf
        indices = torch.arange(len(spans), device=spans.device)
        scores_of_blocks = []
        for block, candidates in _blocks(len(spans), num_antecedents):
            # Shape of distances and same_speaker: (candidates, block)
            distances = indices[block] - indices[candidates].unsqueeze(1)
            same_speaker = speakers[block] == speakers[candidates].unsqueeze(1)
            features = self._features(distances, same_speaker, genre)
            # Shape of hidden: (candidates, block, hidden_dim)
            hidden = product_layer(spans[candidates], spans[block], product_weight)
            hidden = hidden + from_spans[block] + from_antecedents[candidates].unsqueeze(1)
            hidden = hidden + functional.linear(features, feature_weight)
            pair_scores = self.further_layers(hidden).squeeze(-1)  # Shape: (candidates, block)
            indices_among_candidates = indices[block] - candidates.start
            scores_of_blocks.append(
                _select_nearest(pair_scores, indices_among_candidates, num_antecedents)
            )
        return torch.cat(scores_of_blocks)  # Shape: (spans, num_antecedents)

    def _features(self, distances: Tensor, same_speaker: Tensor, genre: Tensor) -> Tensor:
        """
        Returns the features of pairs of spans after dropout, of shape (candidates, block,
        num_features * feature_dim): the vectors of distance, speakers and genre, concatenated.
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
    The indices of consecutive spans of a document, and of the spans among which their antecedents
    are. Both slices of the last block may end past the last span.
    """

    spans: slice
    candidates: slice


def _blocks(num_spans: int, num_antecedents: int) -> Iterator[_Block]:
    """
    Divides the spans of a document into blocks of `BLOCK`. The candidates of a block are the
    `num_antecedents` spans before its first span, and also the spans of the block itself, because
    each of them may be the antecedent of a later one.
    """
    for start in range(0, num_spans, BLOCK):
        end = start + BLOCK
        first_candidate = max(0, start - num_antecedents)
        yield _Block(spans=slice(start, end), candidates=slice(first_candidate, end))


def _genre_embedding(num_genres: int, dim: int) -> nn.Embedding:
    """Makes random vectors of genres. A last row of zeros is for an unknown genre."""
    return nn.Embedding(num_genres + 1, dim, padding_idx=num_genres)


def bucket(distances: Tensor) -> Tensor:
    """
    Returns the bucket of each distance. Each distance from 1 to 4 has a bucket of its own; the
    other buckets are 5 to 7, 8 to 15, … 64 and more. Bucket 0 is for a span with itself or with a
    later span. `AntecedentScorer` computes scores of such pairs, but does not use them.
    """
    return torch.bucketize(distances, distances.new_tensor(FIRST_OF_BUCKET), right=True)


def _select_nearest(
    pair_scores: Tensor, indices_among_candidates: Tensor, num_antecedents: int
) -> Tensor:
    """
    Selects, for each span of a block, the scores of the `num_antecedents` candidates just before
    it. Returns shape (block, num_antecedents), the nearest candidate first. If fewer candidates are
    before a span, its last scores are `-inf`.

    `pair_scores` are the scores of all pairs, of shape (candidates, block). The spans of the block
    are candidates themselves; `indices_among_candidates`, of shape (block,), says which ones.
    """
    distances = torch.arange(1, num_antecedents + 1, device=pair_scores.device).unsqueeze(1)
    # Shape of antecedents: (num_antecedents, block); negative if no such candidate exists
    antecedents = indices_among_candidates - distances
    scores = pair_scores.gather(0, antecedents.clamp(min=0))
    scores = scores.masked_fill(antecedents < 0, float("-inf"))
    return scores.T  # Shape: (block, num_antecedents)


class ProductLayer(torch.autograd.Function):
    """
    A linear layer over the elementwise products of all pairs of two sets of vectors. The products
    are never made: `weight` is scaled by each vector on the right, and then one matrix product with
    the vectors on the left is the result.

    Only the three arguments are saved for the gradient, because the scaled weights are much larger.
    """

    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(left, right, weight)
        outputs = left @ _scaled_weights(right, weight).T  # Shape: (left, right * hidden_dim)
        return outputs.view(len(left), len(right), len(weight))

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_outputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        left, right, weight = ctx.saved_tensors
        d_outputs = d_outputs.reshape(len(left), -1)  # Shape: (left, right * hidden_dim)
        d_left = d_outputs @ _scaled_weights(right, weight)
        # Shape of d_scaled_weights: (right, hidden_dim, dim)
        d_scaled_weights = (d_outputs.T @ left).view(len(right), *weight.shape)
        d_right = (d_scaled_weights * weight).sum(dim=1)
        # In place, because `d_scaled_weights` is large, and not needed after this.
        d_weight = d_scaled_weights.mul_(right.unsqueeze(1)).sum(dim=0)
        return d_left, d_right, d_weight


def product_layer(left: Tensor, right: Tensor, weight: Tensor) -> Tensor:
    """
    Applies a `ProductLayer` to all pairs of vectors. `left` has the shape (left, dim), `right`
    (right, dim) and `weight` (hidden_dim, dim). Returns shape (left, right, hidden_dim). Under
    autocast, computes in autocast's type.
    """
    dtype = autocast_dtype(left)
    return ProductLayer.apply(left.to(dtype), right.to(dtype), weight.to(dtype))


def _scaled_weights(right: Tensor, weight: Tensor) -> Tensor:
    """Returns the weight scaled by each vector, of shape (right * hidden_dim, dim)."""
    return (right.unsqueeze(1) * weight).flatten(0, 1)
