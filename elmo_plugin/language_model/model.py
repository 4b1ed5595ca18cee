"""Training a biLM: forward and backward language models over one token encoder and one softmax."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import is_distributed
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.nn.util import dist_reduce_sum
from overrides import overrides
from torch import Tensor, distributed

from elmo_plugin.bilm import BiLm, BiLmOptions, LstmState, VocabularySoftmax, pack
from elmo_plugin.bilm.io import Checkpoint, options_from_state, read_checkpoint
from elmo_plugin.common.errors import as_configuration_error, check_choice
from elmo_plugin.common.formats.torch_files import json_to_tensor, load_state
from elmo_plugin.common.logs import get_logger
from elmo_plugin.language_model.evaluation import perplexities
from elmo_plugin.language_model.vocabulary import WORDS, adapt_softmax
from elmo_plugin.training import bfloat16_autocast

logger = get_logger(__name__)

TRAINING_PRECISIONS = ("float32", "bfloat16")


@Model.register("bilm")
class BiLmLanguageModel(Model):
    """
    Maximises the mean of the forward and the backward log-likelihood (section 3.1 of Peters et al.,
    2018) by truncated back-propagation: the state of each stream is carried from one batch to the
    next, without gradient. Batches come from `bilm_stream`.

    # Parameters

    vocab : `Vocabulary`
        The model predicts the words of its namespace "words".
    options : `dict`, optional
        The sizes of a biLM that starts from random weights, in the layout of
        a published `options.json`.
    initial : `str | dict`, optional
        Instead of `options`: the biLM to start from, see
        `BiLm.from_pretrained`. If it has a softmax, this is adapted to the words of `vocab`;
        otherwise the softmax is new.
    warm_up_batches : `int`
        The number of batches, at the beginning of training, in which only the softmax learns.
        (Distributed training then needs `ddp_accelerator: {type: "torch", find_unused_parameters:
        true}`.)
    dropout : `float`
        The rate of dropout on the input of every LSTM layer and on the output of the last.
    num_negatives : `int`, optional
        In training, the number of words that each target is scored
        against, at most a third of the vocabulary; by default all words, the full softmax.
        Evaluation always takes the full softmax, without the padding. The words are drawn from a
        separate random state, the same in all processes of a distributed training.
    loss_scale : `float`
        The factor of the loss. bilm-tf descends on `unroll_steps` times the mean loss per token;
        this matters to Adagrad and to the clipping of gradients.
    precision : `str`
        `float32`, or `bfloat16`: in training, the factors of matrix products are rounded to
        bfloat16, on GPUs and on CPUs that have instructions for it. Weights, sums, cells and losses
        stay float32. (For float16 on a GPU, set `use_amp` of the trainer instead: it scales the
        loss.)
    """

    # Shape: (directions, 2), the sum of the losses and the number of tokens since the last reset.
    _losses: Tensor

    def __init__(
        self,
        vocab: Vocabulary,
        options: dict[str, Any] | None = None,
        initial: str | Mapping[str, str] | None = None,
        warm_up_batches: int = 0,
        dropout: float = 0.1,
        num_negatives: int | None = None,
        loss_scale: float = 1.0,
        precision: str = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, **kwargs)
        num_words = vocab.get_vocab_size(WORDS)
        _check_negatives(num_negatives, num_words)
        check_choice("model.precision", precision, TRAINING_PRECISIONS, ConfigurationError)
        stored = None
        if options is not None and initial is None:
            with as_configuration_error():
                bilm_options = BiLmOptions.from_dict(options, "model.options")
        elif initial is not None and options is None:
            with as_configuration_error("model.initial"):
                stored = read_checkpoint(initial)
            bilm_options = stored.options
        else:
            raise ConfigurationError("model `bilm`: expected either options or initial")
        self.bilm = BiLm(bilm_options, dropout=dropout)
        self.softmax = VocabularySoftmax(num_words, bilm_options.lstm.projection_dim)
        if stored is not None:
            self._load_initial(stored, str(initial))
        self.num_negatives = num_negatives
        self._loss_scale = loss_scale
        self._precision = precision
        self._warm_up_batches = warm_up_batches
        self._trained_batches = 0  # how many batches the model was trained on
        self._state: LstmState | None = None  # after the last batch; `None` for zero
        self._reset_losses()
        # Negatives are drawn from a random state of their own. It is made at the first batch, on
        # the device of that batch. Its seed is taken from torch now, while all processes have the
        # same one.
        self._sampler_seed = torch.initial_seed()
        self._sampler: torch.Generator | None = None

    def _load_initial(self, stored: Checkpoint, source: str) -> None:
        """
        Loads the weights of the biLM from which the training starts. If it has a softmax, this is
        loaded as well, adapted to the vocabulary. `source` names the biLM in the log.
        """
        self.bilm.load_weights(stored.weights)
        if stored.softmax is None:
            return
        adapted = adapt_softmax(stored.softmax, self.vocab)
        self.softmax.load_state_dict({"weight": adapted.weight, "bias": adapted.bias})
        logger.info(
            "Continues the softmax of %s; %d words are new to it", source, adapted.num_new_words
        )

    def forward(
        self,
        character_ids: Tensor,
        forward_types: Tensor,
        forward_targets: Tensor,
        backward_types: Tensor,
        backward_targets: Tensor,
        stream_starts: bool,
    ) -> dict[str, Tensor]:
        """
        Returns `loss`: the mean of the two directions' mean losses per token, times `loss_scale`.
        In training, it is less for a batch with few tokens: see `_target_weights`. Keeps the state
        for the next batch, and adds the losses to the sums for the metrics.

        # Parameters

        character_ids : `Tensor`
            Shape (types, characters), the distinct words of the batch.
        forward_types, backward_types : `Tensor`
            Shape (batch, time), the row of each word in `character_ids`.
        forward_targets, backward_targets : `Tensor`
            Shape (batch, time), the vocabulary's number of the next word; 0 without one.
        stream_starts : `bool`
            Whether the streams begin here, so that no state is carried over.
        """
        max_characters = self.bilm.options.char_cnn.max_characters_per_token
        if character_ids.size(1) != max_characters:
            raise ConfigurationError(
                f"the data loader gives {character_ids.size(1)} characters per word, but the "
                f"model reads {max_characters}: max_characters_per_token of the two must agree"
            )
        if stream_starts:
            self._state = None
        # Shape: (directions, batch, time)
        types = torch.stack([forward_types, backward_types])
        targets = torch.stack([forward_targets, backward_targets])
        # While the softmax warms up, only the softmax learns, so the biLM needs no gradients.
        warms_up = self.training and self._trained_batches < self._warm_up_batches
        bilm_needs_gradients = torch.is_grad_enabled() and not warms_up
        with self._precision_context(character_ids.device):
            with torch.set_grad_enabled(bilm_needs_gradients):
                hidden = self._run_bilm(character_ids, types)
            loss = self._loss(hidden, targets)
        if self.training:
            self._trained_batches += 1
        return {"loss": loss}

    def _precision_context(self, device: torch.device) -> AbstractContextManager[Any]:
        """
        Returns a context that rounds the factors of matrix products to bfloat16, if the model is
        trained in that precision; otherwise a context that changes nothing.
        """
        if self.training and self._precision == "bfloat16":
            return bfloat16_autocast(device.type)
        return nullcontext()

    def _run_bilm(self, character_ids: Tensor, types: Tensor) -> Tensor:
        """
        Returns the last layer's output, shape (directions, time * batch, projection_dim), for the
        words of a batch. `types`, shape (directions, batch, time), has the row of each word in
        `character_ids`. The biLM starts from the state after the batch before. The state after this
        batch is kept, without gradient.
        """
        _, batch_size, steps = types.shape
        # The words are packed: the first time step of all rows, then the second, and so on. No row
        # is shorter than another, so that is a transposition. Shape of each: (time * batch,)
        types_of_directions = types.transpose(1, 2).flatten(1).unbind()
        packing = pack(torch.full((batch_size,), steps), types.device)
        # In training, dropout is needed even if the weights of the biLM are frozen, because the
        # softmax learns.
        settings = self.bilm.forward_settings(keep_state=True, dropout=self.training)
        output = self.bilm.forward_packed(
            character_ids, types_of_directions, packing, settings, self._state
        )
        assert output.state is not None  # because of `keep_state`
        self._state = output.state.detach()
        return torch.stack(output.layers[-1])

    def _loss(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """
        Returns the scaled loss of a batch, and adds the losses of its tokens to the sums for the
        metrics. `hidden` has the shape (directions, time * batch, projection_dim), and `targets`
        has the shape (directions, batch, time).
        """
        targets = targets.transpose(1, 2).flatten(1)  # Shape: (directions, time * batch)
        flat_hidden = hidden.flatten(0, 1)  # Shape: (directions * time * batch, projection_dim)
        flat_targets = targets.flatten()
        weights = self._target_weights(targets).flatten()
        loss, losses = self._apply_softmax(flat_hidden, flat_targets, weights)
        self._add_to_sums(losses.view_as(targets).detach(), targets)
        return self._loss_scale * loss

    def _apply_softmax(
        self, hidden: Tensor, targets: Tensor, weights: Tensor
    ) -> tuple[Tensor, Tensor]:
        """
        Returns the sum of the weighted losses of some tokens, and the loss of each token without
        its weight. `hidden` has the shape (tokens, projection_dim), and all else (tokens,).
        """
        if not self.training:
            # The padding never occurs, so perplexities are measured without it.
            return self.softmax(hidden, targets, weights, without_padding=True)
        if self.num_negatives is None:
            return self.softmax(hidden, targets, weights)
        if self._sampler is None:
            self._sampler = torch.Generator(hidden.device).manual_seed(self._sampler_seed)
        return self.softmax.sampled(hidden, targets, self.num_negatives, weights, self._sampler)

    def _target_weights(self, targets: Tensor) -> Tensor:
        """
        Returns the weight of each target's loss, 0 without a target. `targets` and the weights have
        the shape (directions, time * batch). The sum of the weighted losses is the mean of the two
        directions' means. In training it is less for a batch with few targets.
        """
        is_target = targets > 0
        counts = is_target.sum(dim=1, keepdim=True).double()  # Shape: (directions, 1)
        num_processes = 1
        if is_distributed():
            # The loss and its gradients will be averaged over the processes. So the counts are
            # averages too.
            num_processes = distributed.get_world_size()
            counts = dist_reduce_sum(counts) / num_processes
        if self.training:
            # The last batches of an epoch have few targets. Each of them would have a large weight
            # in a mean, so a batch counts as if at least half of its places had targets.
            least = targets.size(1) / 2
        else:
            # This only prevents a division by zero: the average over the processes is zero, or at
            # least this.
            least = 1 / num_processes
        return 0.5 * is_target / counts.clamp(min=least)

    def _add_to_sums(self, losses: Tensor, targets: Tensor) -> None:
        """
        Adds the losses of a batch, and the number of its targets, to the sums for the metrics. Both
        arguments have the shape (directions, time * batch).
        """
        is_target = targets > 0
        loss_sums = torch.where(is_target, losses, 0.0).sum(dim=1, dtype=torch.float64)
        counts = is_target.sum(dim=1, dtype=torch.float64)
        # The sums stay on the device: to read them would mean to wait for a GPU at each batch.
        self._losses = self._losses.to(losses.device) + torch.stack([loss_sums, counts], dim=1)

    def _reset_losses(self) -> None:
        """Starts the sums for the metrics from zero."""
        self._losses = torch.zeros(2, 2, dtype=torch.float64)

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """
        Returns the perplexities of the tokens since the last reset. In training with a sampled
        softmax, returns `sampled_loss` instead, because its exponential is no perplexity.
        """
        # Shape of each: (directions,)
        loss_sums, num_tokens = dist_reduce_sum(self._losses).unbind(dim=1)
        if reset:  # at the end of an epoch
            self._reset_losses()
            self._warn_if_only_softmax_learned()
        forward_nats, backward_nats = (loss_sums / num_tokens).tolist()
        if self.training and self.num_negatives is not None:
            return {"sampled_loss": 0.5 * (forward_nats + backward_nats)}
        return perplexities(forward_nats, backward_nats)

    def _warn_if_only_softmax_learned(self) -> None:
        """Warns if all training so far was the warm-up, in which the biLM itself does not learn."""
        only_warmed_up = 0 < self._trained_batches <= self._warm_up_batches
        if self.training and only_warmed_up:
            logger.warning(
                "only the softmax has learned: warm_up_batches is %d, and there were %d batches",
                self._warm_up_batches,
                self._trained_batches,
            )

    def stream_state(self) -> dict[str, Any]:
        """
        Returns the state that the next batch and the metrics depend on, apart from the parameters.
        It consists of tensors and numbers, for a checkpoint.
        """
        state: dict[str, Any] = {
            "trained_batches": self._trained_batches,
            "losses": self._losses.tolist(),
        }
        if self._state is not None:
            state["hidden"] = self._state.hidden
            state["cell"] = self._state.cell
        if self._sampler is not None:
            state["sampler"] = self._sampler.get_state()
        return state

    def load_stream_state(self, state: dict[str, Any]) -> None:
        """
        Restores what `stream_state` returned. If the random state of negatives comes from another
        kind of device, it cannot be restored, and a warning says so.
        """
        self._trained_batches = state["trained_batches"]
        self._losses = torch.tensor(state["losses"], dtype=torch.float64)
        self._state = None
        if "hidden" in state:
            self._state = LstmState(state["hidden"], state["cell"])
        self._sampler = None
        if "sampler" in state:
            sampler = torch.Generator(self.softmax.weight.device)
            stored = state["sampler"].cpu()  # torch sets a generator only from a tensor on the CPU
            # The generators of a CPU and of a GPU have states of different sizes.
            if stored.shape == sampler.get_state().shape:
                sampler.set_state(stored)
                self._sampler = sampler
            else:
                logger.warning(
                    "The checkpoint was made on another kind of device: negatives are drawn from "
                    "the seed again, so training does not continue exactly"
                )

    @overrides
    def get_extra_state(self) -> Tensor:
        """Returns the options of the biLM, to be stored with its weights."""
        return json_to_tensor({"options": self.bilm.options.to_dict()})

    @overrides
    def set_extra_state(self, state: Any) -> None:
        """Does nothing: the options were read before, to construct the model."""

    @classmethod
    @overrides
    def _load(
        cls, config: Params, serialization_dir: Any, weights_file: Any = None, cuda_device: int = -1
    ) -> Model:
        """
        Loads an archive. If its training started from another biLM, that biLM is not needed any
        more, because its options are stored with the weights.
        """
        weights_file = weights_file or Path(serialization_dir) / "best.th"
        _take_options_from_weights(config["model"], weights_file)
        return super()._load(config, serialization_dir, weights_file, cuda_device)


def _check_negatives(num_negatives: int | None, num_words: int) -> None:
    """Raises `ConfigurationError` if a vocabulary has too few words for so many negatives."""
    most = num_words // 3
    if num_negatives is not None and not 0 < num_negatives <= most:
        raise ConfigurationError(
            f"model.num_negatives: expected 1 to {most}, a third of the vocabulary's words, or "
            f"null (the full softmax, best for a small vocabulary), got {num_negatives}"
        )


def _take_options_from_weights(model: Params, weights_file: str | PathLike) -> None:
    """
    Changes the section `model` of an archive's configuration so that the model can be constructed
    without the biLM from which its training started: replaces `initial`, the name of that biLM, by
    the options that are stored with the archive's weights. Without `initial`, nothing is changed.

    Raises `ConfigurationError` if no options are stored with the weights.
    """
    if "initial" not in model:
        return
    name = f"weight file {weights_file}"
    with as_configuration_error():
        model["options"] = options_from_state(load_state(Path(weights_file), name), name)
    del model["initial"]
