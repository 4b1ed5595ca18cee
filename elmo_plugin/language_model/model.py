"""Training a biLM: forward and backward language models over one token encoder and one softmax."""

import logging
from collections.abc import Mapping
from contextlib import nullcontext
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
from elmo_plugin.bilm.io import read_checkpoint
from elmo_plugin.common.errors import as_configuration_error, check_choice
from elmo_plugin.common.formats.torch_files import json_to_tensor
from elmo_plugin.language_model.evaluation import perplexities
from elmo_plugin.language_model.vocabulary import WORDS, adapt_softmax, take_options_from_weights
from elmo_plugin.training import bfloat16_autocast

logger = logging.getLogger(__name__)

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
    precision : `str` `float32`, or `bfloat16`: in training, the factors of matrix products are
        rounded to bfloat16, on GPUs and on CPUs that have instructions for it. Weights, sums, cells
        and losses stay float32. (For float16 on a GPU, set `use_amp` of the trainer instead: it
        scales the loss.)
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
        if num_negatives is not None and not 0 < num_negatives <= num_words // 3:
            raise ConfigurationError(
                f"model.num_negatives: expected 1 to {num_words // 3}, a third of the "
                "vocabulary's words, or null (the full softmax, best for a small vocabulary), got "
                f"{num_negatives}"
            )
        check_choice("model.precision", precision, TRAINING_PRECISIONS, ConfigurationError)
        if (options is None) == (initial is None):
            raise ConfigurationError("model `bilm`: expected either options or initial")
        stored = None
        if initial is not None:
            with as_configuration_error("model.initial"):
                stored = read_checkpoint(initial)
            sizes = stored.options
        else:
            with as_configuration_error():
                sizes = BiLmOptions.from_dict(options or {}, "model.options")
        self.bilm = BiLm(sizes, dropout=dropout)
        self.softmax = VocabularySoftmax(num_words, sizes.lstm.projection_dim)
        if stored is not None:
            self.bilm.load_weights(stored.weights)
            if stored.softmax is not None:
                weight, bias, new_words = adapt_softmax(stored.softmax, vocab)
                self.softmax.load_state_dict({"weight": weight, "bias": bias})
                logger.info(
                    "Continues the softmax of %s; %d words are new to it", initial, new_words
                )
        self.num_negatives = num_negatives
        self._loss_scale = loss_scale
        self._precision = precision
        self._warm_up_batches = warm_up_batches
        self._trained_batches = 0
        self._state: LstmState | None = None
        self._reset_losses()
        # Seeds are the same in all processes when the model is made, and so are the negatives.
        self._sampler_seed = torch.initial_seed()
        self._sampler: torch.Generator | None = None  # on the device of the first batch

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
        Returns `loss`, the mean of the two directions' mean losses per token, times `loss_scale`.

        # Parameters

        character_ids : `Tensor`
            Shape (types, characters), the unique words of the batch.
        forward_types, backward_types : `Tensor`
            Shape (batch, time), the index of each word in `character_ids`.
        forward_targets, backward_targets : `Tensor`
            Shape (batch, time), the vocabulary's number of the next word; 0 without one.
        stream_starts : `bool`
            Whether the streams begin here, so that no state is carried over.
        """
        slots = self.bilm.options.char_cnn.max_characters_per_token
        if character_ids.size(1) != slots:
            raise ConfigurationError(
                f"the data loader gives {character_ids.size(1)} characters per word, but the "
                f"model reads {slots}: max_characters_per_token of the two must agree"
            )
        if stream_starts:
            self._state = None
        warms_up = self.training and self._trained_batches < self._warm_up_batches
        is_rounded = self.training and self._precision == "bfloat16"
        with bfloat16_autocast(character_ids.device.type) if is_rounded else nullcontext():
            with torch.no_grad() if warms_up else nullcontext():
                hidden = self._read(character_ids, torch.stack([forward_types, backward_types]))
            loss = self._loss(hidden, torch.stack([forward_targets, backward_targets]))
        self._trained_batches += self.training
        return {"loss": loss}

    def _read(self, character_ids: Tensor, types: Tensor) -> Tensor:
        """
        Returns the last layer's output for `types`, shape (directions, batch, time), as
        (directions, time * batch, projection_dim). Carries the state on.
        """
        _, batch_size, steps = types.shape
        rows = types.transpose(1, 2).flatten(1).unbind()
        packing = pack(torch.full((batch_size,), steps), types.device)
        settings = self.bilm.settings(keep_state=True)._replace(dropout=self.training)
        output = self.bilm.forward_packed(character_ids, rows, packing, settings, self._state)
        self._state = None if output.state is None else output.state.detach()
        return torch.stack(output.layers[-1])

    def _loss(self, hidden: Tensor, targets: Tensor) -> Tensor:
        targets = targets.transpose(1, 2).flatten(1)  # Shape: (directions, time * batch)
        is_target = targets > 0
        counts = is_target.sum(dim=1, keepdim=True).double()
        if is_distributed():  # the mean over processes, as gradients are averaged over them
            counts = dist_reduce_sum(counts) / distributed.get_world_size()
        # In training the few words of an epoch's last batches weigh no more than they would in half
        # a batch.
        least = targets.size(1) / 2 if self.training else 1
        token_weights = (0.5 * is_target / counts.clamp(min=least)).flatten()
        arguments = (hidden.flatten(0, 1), targets.flatten())
        if not self.training:
            loss, losses = self.softmax(*arguments, token_weights, without_padding=True)
        elif self.num_negatives is None:
            loss, losses = self.softmax(*arguments, token_weights)
        else:
            if self._sampler is None:
                self._sampler = torch.Generator(hidden.device).manual_seed(self._sampler_seed)
            loss, losses = self.softmax.sampled(
                *arguments, self.num_negatives, token_weights, self._sampler
            )
        counted = torch.where(is_target, losses.view_as(targets).detach(), 0.0)
        sums = [each.sum(dim=1, dtype=torch.float64) for each in (counted, is_target)]
        # They are not read here, so that nothing waits for a GPU.
        self._losses = self._losses.to(hidden.device) + torch.stack(sums, dim=1)
        return self._loss_scale * loss

    def _reset_losses(self) -> None:
        self._losses = torch.zeros(2, 2, dtype=torch.float64)

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """
        Returns the perplexities of the tokens since the last reset, or, in training with a sampled
        softmax, `sampled_loss`, from which no perplexity follows.
        """
        losses, tokens = dist_reduce_sum(self._losses).unbind(dim=1)
        if reset:
            self._reset_losses()
            if self.training and 0 < self._trained_batches <= self._warm_up_batches:
                logger.warning(
                    "only the softmax has learned: warm_up_batches is %d, and there were %d "
                    "batches",
                    self._warm_up_batches,
                    self._trained_batches,
                )
        forward, backward = (losses / tokens).tolist()
        if self.training and self.num_negatives is not None:
            return {"sampled_loss": 0.5 * (forward + backward)}
        return perplexities(forward, backward)

    def stream_state(self) -> dict[str, Any]:
        """
        Returns the state that the next batch depends on, without the parameters: tensors and
        numbers.
        """
        state: dict[str, Any] = {
            "trained_batches": self._trained_batches,
            "losses": self._losses.tolist(),
        }
        if self._state is not None:
            state |= self._state._asdict()
        if self._sampler is not None:
            state["sampler"] = self._sampler.get_state()
        return state

    def load_stream_state(self, state: dict[str, Any]) -> None:
        """Restores what `stream_state` returned."""
        self._trained_batches = state["trained_batches"]
        self._losses = torch.tensor(state["losses"], dtype=torch.float64)
        self._state = self._sampler = None
        if "sampler" in state:
            self._sampler = torch.Generator(self.softmax.weight.device)
            self._sampler.set_state(state["sampler"].cpu())
        if "hidden" in state:
            self._state = LstmState(state["hidden"], state["cell"])

    @overrides
    def get_extra_state(self) -> Tensor:
        """Returns the sizes of the biLM, to be stored with its weights."""
        return json_to_tensor({"options": self.bilm.options.to_dict()})

    @overrides
    def set_extra_state(self, state: Any) -> None:
        """Does nothing: the sizes were read before, to construct the model."""

    @classmethod
    @overrides
    def _load(
        cls, config: Params, serialization_dir: Any, weights_file: Any = None, cuda_device: int = -1
    ) -> Model:
        """Loads an archive without the biLM that its training started from."""
        weights_file = weights_file or Path(serialization_dir) / "best.th"
        take_options_from_weights(config["model"], weights_file)
        return super()._load(config, serialization_dir, weights_file, cuda_device)
