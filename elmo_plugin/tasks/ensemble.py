"""Several trained models of one task as one model."""

from collections.abc import Sequence
from typing import Any, cast

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Model
from allennlp.predictors import Predictor
from overrides import overrides

from elmo_plugin.tasks.task_model import TaskModel, in_float32


@Model.register("ensemble")
class Ensemble(Model):
    """
    Averages the logits of trained models of one task. The first model makes predictions from the average, and
    has the metrics.

    Registered as a `Model` with name "ensemble". `allennlp elmo-ensemble` writes its archives.

    # Parameters

    vocab : `Vocabulary`
        The vocabulary of all members.
    members : `list[Model]`
        Models of the same class, each a `TaskModel`.
    """

    default_predictor = "elmo_ensemble"

    def __init__(self, vocab: Vocabulary, members: list[Model], **kwargs: Any) -> None:
        super().__init__(vocab, **kwargs)
        classes = {type(member) for member in members}
        names = ", ".join(sorted(member_class.__name__ for member_class in classes)) or "none"
        if len(classes) != 1:
            raise ConfigurationError(f"ensemble: members must be models of one class, not {names}")
        if not isinstance(members[0], TaskModel):
            raise ConfigurationError(f"ensemble: members must be task models, but {names} is not one")
        self.members = torch.nn.ModuleList(members)

    def forward(self, **fields: Any) -> dict[str, Any]:  # type: ignore[override]
        """Returns the output of the first member for the average of the logits."""
        first, members = self.first_member, cast(Sequence[TaskModel], self.members)
        logits = [in_float32(member.compute_logits(**fields)) for member in members]
        return first.decode(first.average_logits(logits), **fields)

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        return self.first_member.make_output_human_readable(output_dict)

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        return self.first_member.get_metrics(reset)

    @property
    def first_member(self) -> TaskModel:
        return cast(TaskModel, self.members[0])


@Predictor.register("elmo_ensemble", constructor="from_members")
class EnsemblePredictor(Predictor):
    """
    Makes the default predictor of the members, to predict with the ensemble.

    Registered as a `Predictor` with name "elmo_ensemble".
    """

    @classmethod
    def from_members(cls, model: Ensemble, dataset_reader: DatasetReader, **kwargs: Any) -> Predictor:
        make_predictor = Predictor.by_name(cast(str, model.first_member.default_predictor))
        return make_predictor(model, dataset_reader, **kwargs)
