"""The base of all task models: running, metrics, initialization, loading and new labels;
ensembles.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, TypeVar, cast

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Model
from allennlp.nn import InitializerApplicator
from allennlp.predictors import Predictor
from allennlp.training.metrics import CategoricalAccuracy
from overrides import overrides
from torch import LongTensor, Tensor, nn
from torch.nn import functional

from elmo_plugin.bilm import BiLm
from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.formats.torch_files import FiniteModule
from elmo_plugin.common.logs import get_logger
from elmo_plugin.tasks.labels import UNKNOWN_LABEL, check_labels

logger = get_logger(__name__)

Layer = TypeVar("Layer", bound=nn.Module)


class TaskModel(FiniteModule, Model):
    """
    The base of the task models. Its `forward` is `decode(compute_logits(…), …)`. Both methods get
    all fields of a batch by name; a parameter `**_` takes the fields that they do not use. An
    `Ensemble` computes the logits of each model, averages them, and then decodes once.

    A subclass has these three methods, and ends its constructor with `self.initialize()`:

    - `compute_logits` returns all that an ensemble averages, in any form.
    - `average_logits` takes a list of these logits, one entry for each model of an ensemble, and
      returns their average in the same form. It is often `average_probabilities`.
    - `decode` returns the output for logits, and updates `self.metric` if the batch has the correct
      answers.

    Training computes no metrics, since it predicts nothing. The progress bar shows only the
    figures whose names end in one of `progress_figures`; the names of the others begin with `_`.

    # Parameters

    vocab : `Vocabulary`
        The vocabulary.
    initializer : `InitializerApplicator`, optional (default = `None`)
        Initial values of parameters, see `initialize`. All task models have it.
    """

    compute_logits: Callable[..., Any]
    average_logits: Callable[..., Any]
    decode: Callable[..., dict[str, Any]]
    metric: Any  # a `Metric`; each task calls its own in its own way
    progress_figures: ClassVar[tuple[str, ...]] = ("",)  # all, as any name ends in ""

    def __init__(
        self, vocab: Vocabulary, initializer: InitializerApplicator = None, **kwargs: Any
    ) -> None:
        super().__init__(vocab, **kwargs)
        self._initializer = initializer

    def forward(self, **fields: Any) -> dict[str, Any]:  # type: ignore[override]
        """Returns the output of `decode` for the fields of a batch."""
        return self.decode(in_float32(self.compute_logits(**fields)), **fields)

    def _is_training_step(self) -> bool:
        """
        Returns whether the model is being trained. `self.training` does not suffice: it is also
        true if a model predicts before `eval()` was called. Predictions compute no gradients.
        """
        return self.training and torch.is_grad_enabled()

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """
        Returns the figures since the last reset. In training there are none, since nothing is
        predicted.
        """
        if self.training:
            return {}
        figures = {}
        for name, figure in self.metric.get_metric(reset).items():
            if not name.endswith(self.progress_figures):
                name = f"_{name}"  # AllenNLP's progress bar leaves these out
            figures[name] = figure
        return figures

    def initialize(self) -> None:
        """
        Initializes the parameters whose names match a regex of the `initializer`, such as
        "contextual_encoder.encoder.*weight_hh" or "output_logits.weight". `named_parameters()` has
        the names.

        The parameters of a biLM and frozen parameters, such as word vectors with `trainable:
        false`, keep their values.
        """
        if self._initializer is None:
            return
        pretrained_ids: set[int] = set()  # by `id`, because `==` would compare values
        for module in self.modules():
            if isinstance(module, BiLm):
                pretrained_ids.update(id(parameter) for parameter in module.parameters())
        parameters = [
            (name, parameter)
            for name, parameter in self.named_parameters()
            if parameter.requires_grad and id(parameter) not in pretrained_ids
        ]
        self._initializer(_ModuleWith(parameters))

    def extend_vocab(self, vocab: Vocabulary, *_: Any, **__: Any) -> None:
        """
        Adds the new labels of the vocabulary to the layers that have a part for each label. The
        base class does not have such layers; a subclass that has some overrides this method.
        AllenNLP calls it for a model `from_archive`, and for `allennlp evaluate --extend-vocab`.
        """

    def _load_from_state_dict(self, *args: Any) -> None:
        with as_configuration_error():
            super()._load_from_state_dict(*args)


class _ModuleWith(nn.Module):
    """
    A module with the given parameters, for an initializer: it takes a module, but reads only its
    `named_parameters`.
    """

    def __init__(self, parameters: Sequence[tuple[str, nn.Parameter]]) -> None:
        super().__init__()
        self._chosen = parameters

    @overrides(check_signature=False)
    def named_parameters(self, *_: Any, **__: Any) -> Iterator[tuple[str, nn.Parameter]]:
        return iter(self._chosen)


def extend_output_layer(layer: nn.Linear, vocab: Vocabulary) -> nn.Linear:
    """
    Returns an output layer with a row for each label of the vocabulary. If `layer` has them all, it
    is returned unchanged. Otherwise a larger one is returned, with new rows after the rows of
    `layer`, and the new labels are logged.
    """
    labels = list(vocab.get_token_to_index_vocabulary("labels"))
    num_old = layer.out_features
    if num_old == len(labels):
        return layer
    logger.warning(
        "the output layer of the archive grows from %d to %d labels: %s",
        num_old,
        len(labels),
        ", ".join(labels[num_old:]),
    )
    has_bias = layer.bias is not None
    larger = nn.Linear(layer.in_features, len(labels), bias=has_bias)
    return copy_old_labels(larger, layer, num_old)


def copy_old_labels(new: Layer, old: Layer, num_old: int) -> Layer:
    """
    Copies the parameters of a module `old` into `new`, a module of the same class with more labels
    (or genres). `old` has only the first `num_old` of them. The parts of `new` for the other labels
    keep their values. Returns `new`, on the device of `old` and frozen where `old` is.
    """
    with torch.no_grad():
        for name, new_parameter in new.named_parameters():
            # A new module has frozen parameters only if they follow from its labels, such as the
            # transitions that a CRF allows. They are already right.
            if not new_parameter.requires_grad:
                continue
            old_parameter = old.get_parameter(name)
            old_part = []  # the slice of each dimension that both parameters have
            for old_size, new_size in zip(old_parameter.shape, new_parameter.shape, strict=True):
                if old_size == new_size:
                    old_part.append(slice(old_size))
                else:  # a dimension of labels
                    old_part.append(slice(num_old))
            new_parameter[tuple(old_part)] = old_parameter[tuple(old_part)]
            new_parameter.requires_grad_(old_parameter.requires_grad)
    return new.to(next(old.parameters()).device)


def in_float32(logits: Any) -> Any:
    """
    Converts 16-bit logits to float32; other types stay. The logits are a tensor, a named tuple with
    tensors and other fields, or a list of either.

    Under autocast, layers compute logits in 16 bits. That is too coarse for the sums in losses and
    decoders, and numpy does not know bfloat16.
    """
    if isinstance(logits, list):
        return [in_float32(each) for each in logits]
    if hasattr(logits, "_asdict"):
        converted = {}
        for name, field in logits._asdict().items():
            if isinstance(field, Tensor):
                converted[name] = in_float32(field)
        return logits._replace(**converted)
    if isinstance(logits, Tensor) and logits.is_floating_point():
        return logits.to(torch.promote_types(logits.dtype, torch.float32))  # float64 stays
    return logits


def average_probabilities(logits: Sequence[Tensor]) -> Tensor:
    """
    Averages the probabilities of several models, and returns the logarithm of the average, to be
    used as logits. Each tensor has the logits of one model, with the classes in the last dimension.
    """
    log_probabilities = torch.stack(list(logits)).log_softmax(dim=-1)  # Shape: (models, ...)
    return log_probabilities.logsumexp(dim=0) - math.log(len(logits))


class Classifier(TaskModel):
    """
    The base of models that choose one label for each instance, from the namespace "labels" of the
    vocabulary. A subclass has `compute_logits`; it returns a tensor of shape (batch, labels).
    """

    average_logits = staticmethod(average_probabilities)

    def __init__(self, vocab: Vocabulary, **kwargs: Any) -> None:
        super().__init__(vocab, **kwargs)
        self.metric = CategoricalAccuracy()

    def extend_vocab(self, vocab: Vocabulary, *_: Any, **__: Any) -> None:
        check_labels(vocab)
        layer = getattr(self, "output_logits", None)
        if not isinstance(layer, nn.Linear):
            raise ConfigurationError(
                f"{type(self).__name__} needs a layer output_logits, to which labels can be added"
            )
        self.output_logits = extend_output_layer(layer, vocab)

    def decode(
        self,
        logits: Tensor,
        label: LongTensor | None = None,
        words: list[list[str]] | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """
        Returns `logits` and `probs`, both of shape (batch, labels), the `words` of the batch if it
        has them, and `loss`, the mean cross entropy, if it has the correct labels, of shape
        (batch,).
        """
        output: dict[str, Any] = {}
        if words is not None:
            output["words"] = words
        output["logits"] = logits
        output["probs"] = logits.softmax(dim=-1)
        if label is not None:
            output["loss"] = self._loss(logits, label)
            self.metric(logits, label)
        return output

    def _loss(self, logits: Tensor, label: LongTensor) -> Tensor:
        """
        Returns the mean cross entropy of the instances whose label is in the vocabulary, or 0 if
        the batch has none. While the model is being trained, any other label is a
        `ConfigurationError`.
        """
        known = label != UNKNOWN_LABEL
        if self._is_training_step() and not known.all():
            labels = ", ".join(self.vocab.get_token_to_index_vocabulary("labels"))
            # `KnownLabelField` has warned of the label by its name; here only its index is known.
            raise ConfigurationError(
                "a label of the training data, named in the warning above, is none of the model's, "
                f"{labels:.300}: the vocabulary's type 'extend', with the directory of the old "
                "one, adds it"
            )
        if not known.any():
            return logits.sum() * 0.0  # a zero that `backward` accepts
        return functional.cross_entropy(logits[known], label[known])

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        Adds `label`, the most probable one, and replaces `probs` by `probabilities`, with the
        probability of each label by its name.
        """
        labels = self.vocab.get_index_to_token_vocabulary("labels")
        probabilities_by_label = []
        best_labels = []
        for probabilities in output_dict.pop("probs").tolist():
            probabilities_by_label.append(
                {labels[index]: value for index, value in enumerate(probabilities)}
            )
            best_index = probabilities.index(max(probabilities))
            best_labels.append(labels[best_index])
        output_dict["probabilities"] = probabilities_by_label
        output_dict["label"] = best_labels
        return output_dict

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Returns the accuracy since the last reset, also in training."""
        return {"accuracy": self.metric.get_metric(reset)}


@Model.register("ensemble")
class Ensemble(Model):
    """
    Averages the logits of trained models of one task. The first model makes predictions from the
    average, and has the metrics.

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
        if len(classes) != 1 or not isinstance(members[0], TaskModel):
            raise ConfigurationError(
                f"ensemble.members: expected task models of one class, got {names}"
            )
        self.members = torch.nn.ModuleList(members)

    def forward(self, **fields: Any) -> dict[str, Any]:  # type: ignore[override]
        """Returns the output of the first member for the average of the logits."""
        first = self.first_member
        members = cast(Sequence[TaskModel], self.members)
        logits = [in_float32(member.compute_logits(**fields)) for member in members]
        return first.decode(first.average_logits(logits), **fields)

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        return self.first_member.make_output_human_readable(output_dict)

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        return self.first_member.get_metrics(reset)

    @property
    def first_member(self) -> TaskModel:
        """The model that makes the predictions, and has the metrics."""
        return cast(TaskModel, self.members[0])


@Predictor.register("elmo_ensemble", constructor="from_members")
class EnsemblePredictor(Predictor):
    """
    Predicts with an ensemble. It is not itself a predictor: it constructs the default predictor of
    the members, with the ensemble as its model.

    Registered as a `Predictor` with name "elmo_ensemble".
    """

    @classmethod
    def from_members(
        cls, model: Ensemble, dataset_reader: DatasetReader, **kwargs: Any
    ) -> Predictor:
        predictor_of_task = Predictor.by_name(cast(str, model.first_member.default_predictor))
        return predictor_of_task(model, dataset_reader, **kwargs)
