"""Several trained models of one task as one model."""

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast, runtime_checkable

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Model
from allennlp.predictors import Predictor
from overrides import overrides
from torch import Tensor


@runtime_checkable
class EnsembleMember(Protocol):
    """
    What a model offers that may be a member of an ensemble. Its `forward` is `decode(scores(…), …)`, where
    each of the two takes those fields of a batch that its parameters are named after.

    scores: all that is averaged, in whatever form
    average_scores: one such form from that of each member; often `average_probabilities`
    decode: from scores to the output of `forward`; it also measures
    """

    scores: Callable[..., Any]
    average_scores: Callable[[Sequence[Any]], Any]
    decode: Callable[..., dict[str, Any]]


@Model.register("ensemble")
class Ensemble(Model):
    """
    Averages the scores of trained models of one task. The first of them makes predictions from the average,
    and measures them.

    Registered as a `Model` with name "ensemble". `allennlp elmo-ensemble` writes its archives.

    # Parameters

    vocab : `Vocabulary`
        That of all members.
    members : `list[Model]`
        Models of the same class, each an `EnsembleMember`.

    Raises `ConfigurationError` where they are not.
    """

    default_predictor = "elmo_ensemble"

    def __init__(self, vocab: Vocabulary, members: list[Model], **kwargs: Any) -> None:
        super().__init__(vocab, **kwargs)
        _check(members)
        self.members = torch.nn.ModuleList(members)

    def forward(self, **fields: Any) -> dict[str, Any]:  # type: ignore[override]
        """
        # Parameters

        fields : `Any`
            Those of a batch, as the members take them.

        # Returns

        `dict[str, Any]`
            What a member returns, for the average of the scores.
        """
        members = [cast(EnsembleMember, member) for member in self.members]
        scores = [member.scores(**_taken_by(member.scores, fields)) for member in members]
        first = members[0]
        return first.decode(first.average_scores(scores), **_taken_by(first.decode, fields))

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """As a member does it."""
        return self.first_member.make_output_human_readable(output_dict)

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        return self.first_member.get_metrics(reset)

    @property
    def first_member(self) -> Model:
        return cast(Model, self.members[0])


@Predictor.register("elmo_ensemble", constructor="of_members")
class EnsemblePredictor(Predictor):
    """
    The default predictor of the members, which predicts with the ensemble.

    Registered as a `Predictor` with name "elmo_ensemble".
    """

    @classmethod
    def of_members(cls, model: Ensemble, dataset_reader: DatasetReader, **kwargs: Any) -> Predictor:
        make_predictor = Predictor.by_name(cast(str, model.first_member.default_predictor))
        return make_predictor(model, dataset_reader, **kwargs)


def average_probabilities(logits: Sequence[Tensor]) -> Tensor:
    """
    # Parameters

    logits : `Sequence[Tensor]`
        Of each member, of the same shape; probabilities are their softmax over the last dimension.

    # Returns

    `Tensor`
        Logits of the mean of the probabilities: its logarithm.
    """
    return torch.stack(list(logits)).log_softmax(dim=-1).logsumexp(dim=0) - math.log(len(logits))


def _check(members: Sequence[Model]) -> None:
    classes = {type(member) for member in members}
    names = ", ".join(sorted(member_class.__name__ for member_class in classes))
    if len(classes) != 1:
        raise ConfigurationError(f"ensemble: members must be models of one class, not {names or 'none'}")
    if not isinstance(members[0], EnsembleMember):
        raise ConfigurationError(f"ensemble: {names} lacks scores, average_scores or decode of a member")


def _taken_by(function: Callable[..., Any], fields: dict[str, Any]) -> dict[str, Any]:
    return {name: fields[name] for name in inspect.signature(function).parameters if name in fields}
