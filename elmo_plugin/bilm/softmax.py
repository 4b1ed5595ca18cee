"""The distribution over the next word: over the whole vocabulary, or over a sample of it to train
on.
"""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd import Function

from elmo_plugin.bilm.autograd import first_derivative_only
from elmo_plugin.bilm.products import autocast_dtype, pack_for_training
from elmo_plugin.common.errors import BiLmError

# The most logits that are in memory at a time
LOGITS_AT_A_TIME = 1 << 26
LOGITS_AT_A_TIME_ON_CPU = 1 << 21
# On a CPU, so many of them are exponentiated at a time, because they fit into the cache of a core.
LOGITS_IN_CACHE = 1 << 18


class Candidates(NamedTuple):
    """
    The words that the target of each token is compared with.

    weight, bias: the candidates' rows, shapes (candidates, dim) and (candidates,)
    target_weight, target_bias: the row of each token's target, shapes (tokens, dim) and (tokens,)
    columns: the number of each target among the candidates, or -1, shape (tokens,)
    """

    weight: Tensor
    bias: Tensor
    target_weight: Tensor
    target_bias: Tensor
    columns: Tensor


class VocabularySoftmax(nn.Module):
    """
    A softmax over a vocabulary in the order of descending frequency, shared by both directions.
    Row 0 is the padding of AllenNLP's vocabularies, a word that never occurs. Training treats it
    like any word, so that it becomes improbable; scoring leaves it out.

    Losses and their gradients are computed for a slice of the tokens at a time, so that the logits
    of all tokens are never in memory at once, however large the vocabulary is.
    """

    def __init__(self, num_words: int, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(num_words, dim))
        self.bias = nn.Parameter(torch.zeros(num_words))
        nn.init.normal_(self.weight, std=dim**-0.5)

    def forward(
        self,
        hidden: Tensor,
        targets: Tensor,
        token_weights: Tensor | None = None,
        *,
        without_padding: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """
        Computes the full softmax of hidden states, shape (tokens, dim), for the words `targets`,
        shape (tokens,). `without_padding` leaves row 0 out of the distribution.

        Returns the loss, `sum(token_weights * losses)`, by default the mean, and, without gradient,
        the losses, `-log p(target | hidden)` in nats, shape (tokens,).
        """
        target_weight = nn.functional.embedding(targets, self.weight)  # Shape: (tokens, dim)
        target_bias = self.bias[targets]  # Shape: (tokens,)
        if without_padding:
            # Without row 0, the column of each word is one less than its number. A token without a
            # word has the target 0 and so gets the column -1: the target is not a candidate.
            weight = self.weight[1:]
            bias = self.bias[1:]
            columns = targets - 1
        else:
            weight = self.weight
            bias = self.bias
            columns = targets
        candidates = Candidates(weight, bias, target_weight, target_bias, columns)
        return self._loss(hidden, token_weights, candidates)

    def sampled(
        self,
        hidden: Tensor,
        targets: Tensor,
        num_negatives: int,
        token_weights: Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> tuple[Tensor, Tensor]:
        """
        Computes the sampled softmax of Jean et al. (2015): all targets are compared with the same
        random sample of `num_negatives` distinct words. Frequent words are drawn more often, see
        `sample_log_uniform`. To correct for that, the logarithm of how often a word is expected in
        the sample is subtracted from its logits. The loss is not a likelihood, so no perplexity can
        be computed from it.
        """
        negatives, draws = sample_log_uniform(
            num_negatives, len(self.weight), targets.device, generator
        )
        words = torch.cat([negatives, targets])
        sizes = [len(negatives), len(targets)]
        weight, target_weight = nn.functional.embedding(words, self.weight).split(sizes)
        correction = log_expected_count(words, draws, len(self.weight)).to(self.bias.dtype)
        corrected_bias = self.bias[words] - correction
        bias, target_bias = corrected_bias.split(sizes)
        # For each word of the vocabulary, its column in the sample; -1 if it was not drawn.
        column_of_word = torch.full_like(self.bias, -1, dtype=torch.long)
        column_of_word[negatives] = torch.arange(len(negatives), device=self.bias.device)
        columns = column_of_word[targets]
        candidates = Candidates(weight, bias, target_weight, target_bias, columns)
        return self._loss(hidden, token_weights, candidates)

    def _loss(
        self, hidden: Tensor, token_weights: Tensor | None, candidates: Candidates
    ) -> tuple[Tensor, Tensor]:
        """
        Returns the weighted sum of the losses, and the loss of each token, see `_Loss`. By default
        all tokens have the same weight, so that the sum is the mean.
        """
        if token_weights is None:
            token_weights = self.weight.new_full((len(hidden),), 1 / max(len(hidden), 1))
        return _Loss.apply(hidden, *candidates, token_weights, torch.is_grad_enabled())


class _Loss(Function):
    """
    Computes the loss of each token, `log(sum over the candidates and the target of exp(logit)) -
    logit of the target`, and the weighted sum of these losses. The forward pass computes the
    gradients as well, while the logits of a slice of the tokens are in memory; the weights of the
    tokens get none.

    A target that is also a candidate (an "accidental hit") counts only once, as the target. The
    logit of a target is not rounded to autocast's type: the gradient of a word that is predicted
    well is the small difference of two numbers.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor,
        target_weight: Tensor,
        target_bias: Tensor,
        columns: Tensor,
        token_weights: Tensor,
        is_grad_enabled: bool,
    ) -> tuple[Tensor, Tensor]:
        """
        Returns the weighted sum, and the loss of each token, shape (tokens,).

        `hidden` has the shape (tokens, dim), and the arguments from `weight` to `columns` are those
        of `Candidates`. `is_grad_enabled` says whether the caller needs gradients: within an
        autograd function they are always disabled.
        """
        dtype = autocast_dtype(weight)
        candidates = Candidates(weight, bias, target_weight, target_bias, columns)
        # float16 cannot represent numbers as small as a token's weight. So the gradients are
        # computed for `scale` times the loss, and `backward` divides them by the scale.
        ctx.scale = max(len(hidden), 1)
        gradients = None
        with torch.autocast(weight.device.type, enabled=False):
            hidden = hidden.to(weight.dtype)
            token_weights = token_weights.to(weight.dtype)
            if is_grad_enabled and any(ctx.needs_input_grad):
                scaled_weights = token_weights * ctx.scale
                gradients = _Gradients(hidden, candidates, scaled_weights, dtype)
            losses = _token_losses(hidden, candidates, dtype, gradients)
        if gradients is not None:
            gradients.add_targets(losses)
            ctx.save_for_backward(
                gradients.d_hidden,
                gradients.d_weight,
                gradients.d_bias,
                gradients.d_target_weight,
                gradients.d_target_bias,
            )
        ctx.mark_non_differentiable(losses)
        return (losses * token_weights).sum(), losses

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        """
        Multiplies the gradients that `forward` has computed by the gradient of its first result,
        the loss. The second one, the losses, has none.
        """
        factor = d_loss / ctx.scale
        gradients = [gradient * factor for gradient in ctx.saved_tensors]
        return *gradients, None, None, None  # none for columns, token_weights, is_grad_enabled


def _token_losses(
    hidden: Tensor, candidates: Candidates, dtype: torch.dtype, gradients: "_Gradients | None"
) -> Tensor:
    """
    Returns the loss of each token, shape (tokens,). Computes the logits of a slice of the tokens at
    a time, with products of the type `dtype`, and adds their gradients to `gradients`, if given.
    """
    target_logits = (hidden * candidates.target_weight).sum(dim=1) + candidates.target_bias
    losses = torch.empty_like(target_logits)
    product = pack_for_training(candidates.weight, dtype)
    if hidden.device.type == "cpu":
        logits_at_a_time = LOGITS_AT_A_TIME_ON_CPU
    else:
        logits_at_a_time = LOGITS_AT_A_TIME
    for tokens in _row_slices(len(hidden), len(candidates.weight), logits_at_a_time):
        logits = product(hidden[tokens])  # without the bias: `_exp_logits_` adds it
        _exclude_targets_(logits, candidates.columns[tokens, None])
        greatest, log_sum = _exp_logits_(logits, candidates.bias)
        exp_logits = logits  # they were replaced by `exp(logit - greatest)`
        # The logarithm of the sum over the candidates and the target.
        log_total = torch.logaddexp(log_sum, target_logits[tokens])
        losses[tokens] = log_total - target_logits[tokens]
        if gradients is not None:
            # The probability of a candidate is exp(logit - log_total).
            to_probabilities = torch.exp(greatest - log_total)
            gradients.add_candidates(tokens, exp_logits, to_probabilities)
    return losses


class _Gradients:
    """
    Adds up the gradients of the hidden states, of the candidates' weight and bias, and of the
    targets' weight and bias: first those that come through the logits of the candidates, for a
    slice of the tokens at a time, then those that come through the logits of the targets.
    """

    def __init__(
        self,
        hidden: Tensor,
        candidates: Candidates,
        token_weights: Tensor,
        dtype: torch.dtype,
    ) -> None:
        """`token_weights` multiply the losses, and `dtype` is the type of products."""
        self._hidden = hidden
        self._target_weight = candidates.target_weight
        self._token_weights = token_weights
        self._dtype = dtype
        self._back_product = pack_for_training(candidates.weight.t(), dtype)
        self.d_hidden = torch.zeros_like(hidden)
        self.d_weight = torch.zeros_like(candidates.weight)
        self.d_bias = torch.zeros_like(candidates.bias)

    def add_candidates(self, tokens: slice, exp_logits: Tensor, to_probabilities: Tensor) -> None:
        """
        Adds the gradients that come through the logits of the candidates of these tokens. The
        gradient of a logit is the candidate's probability, times the weight of the token. The
        probabilities are `exp_logits`, shape (tokens, candidates), times `to_probabilities`, shape
        (tokens,).

        `exp_logits` is the largest matrix by far. So the factors of the tokens are not multiplied
        with it, but with the smaller matrices of its products: the other factor, or the result.
        """
        factors = (self._token_weights[tokens] * to_probabilities)[:, None]
        # Written, not added: each token is in one slice only.
        torch.mul(self._back_product(exp_logits), factors, out=self.d_hidden[tokens])
        weighted_hidden = self._hidden[tokens] * factors
        self.d_weight += exp_logits.t() @ weighted_hidden.to(self._dtype)
        self.d_bias += (factors.to(self._dtype).t() @ exp_logits).squeeze(0)

    def add_targets(self, losses: Tensor) -> None:
        """
        Adds the gradients that come through the logits of the targets. The gradient of a logit is
        the target's probability minus 1, `exp(-loss) - 1`, times the weight of the token.
        """
        self.d_target_bias = torch.expm1(-losses).mul_(self._token_weights)
        self.d_target_weight = self._hidden * self.d_target_bias[:, None]
        self.d_hidden.addcmul_(self.d_target_bias[:, None], self._target_weight)


def _exclude_targets_(logits: Tensor, columns: Tensor) -> None:
    """
    Excludes from the candidates of each token its own target: the least possible logit gives it no
    probability. `columns`, shape (tokens, 1), is the column of the target, or -1 if the target is
    not among the candidates.
    """
    is_candidate = columns >= 0
    # If the target is not a candidate, the logit of column 0 is read and written back unchanged.
    read_columns = columns.clamp(min=0)
    least = torch.finfo(logits.dtype).min
    replaced = logits.gather(1, read_columns).masked_fill_(is_candidate, least)
    logits.scatter_(1, read_columns, replaced)


def _exp_logits_(logits: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """
    Adds the bias to logits of shape (tokens, candidates), and replaces them by `exp(logit -
    greatest)`, where `greatest` is the greatest logit of the token. Returns, both of shape
    (tokens,), the greatest logit of each token, and the logarithm of the sum of `exp(logit)`.
    """
    tokens, candidates = logits.shape
    greatest = bias.new_empty(tokens)
    total = bias.new_empty(tokens)
    if logits.device.type == "cpu":
        logits_at_a_time = LOGITS_IN_CACHE
    else:
        logits_at_a_time = LOGITS_AT_A_TIME
    for rows in _row_slices(tokens, candidates, logits_at_a_time):
        exp_logits = logits[rows].to(bias.dtype).add_(bias)
        torch.amax(exp_logits, dim=1, out=greatest[rows])
        exp_logits.sub_(greatest[rows, None]).exp_()
        torch.sum(exp_logits, dim=1, out=total[rows])
        is_copy = exp_logits.dtype != logits.dtype  # in the same type, it is a view of `logits`
        if is_copy:
            logits[rows] = exp_logits
    return greatest, total.log_().add_(greatest)


def _row_slices(tokens: int, candidates: int, logits_at_a_time: int) -> list[slice]:
    """Cuts the tokens into slices of at most `logits_at_a_time` logits, but at least one token."""
    rows = max(1, logits_at_a_time // candidates)
    return [slice(start, start + rows) for start in range(0, tokens, rows)]


def sample_log_uniform(
    num_samples: int,
    num_words: int,
    device: torch.device | None = None,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """
    Draws words by Zipf's law, `p(k) = log((k + 2) / (k + 1)) / log(num_words + 1)` for rank k from
    0, until there are `num_samples` distinct ones. It never waits for a GPU.

    Nothing is drawn word by word. Imagine instead that words are drawn at random times, on average
    one per unit of time (a Poisson process). Then the time at which a word comes first is
    exponentially distributed, independently of all other words. So one random time is enough for
    each word, and the sample is the words with the earliest times.

    Returns distinct ranks, shape (num_samples,), and the number of draws. With one draw per unit of
    time, this number is the time at which a further new word comes. If the sample has all words,
    none comes, and the number is infinite.

    Raises `BiLmError` if `num_samples` is not between 1 and `num_words`.
    """
    if not 0 < num_samples <= num_words:
        raise BiLmError(
            f"cannot sample {num_samples} negative words from a vocabulary of {num_words}: "
            "give a smaller number, or none to use the full softmax"
        )
    probability = _zipf(torch.arange(num_words, device=device), num_words)
    first_time = torch.empty_like(probability).exponential_(generator=generator) / probability
    if num_samples == num_words:
        return torch.arange(num_words, device=device), first_time.new_tensor(math.inf)
    times, ranks = first_time.topk(num_samples + 1, largest=False)
    return ranks[:-1], times[-1]


def log_expected_count(words: Tensor, draws: Tensor, num_words: int) -> Tensor:
    """
    Returns the logarithm of how often each word is expected in a sample of distinct words, given
    the number of draws that it took (both as `sample_log_uniform` returns them).

    A sample contains a word once or not at all, so this is the logarithm of the probability that
    the word is drawn at all. A word that is expected n times among the draws is missing with
    probability exp(-n), so the result is log(1 - exp(-n)).
    """
    expected_draws = draws * _zipf(words, num_words)
    probability_in_sample = -torch.expm1(-expected_draws)
    return torch.log(probability_in_sample)


def _zipf(ranks: Tensor, num_words: int) -> Tensor:
    """Returns the probability of the words with these ranks, from 0, by Zipf's law."""
    return torch.log1p(1 / (ranks.double() + 1)) / math.log(num_words + 1)
