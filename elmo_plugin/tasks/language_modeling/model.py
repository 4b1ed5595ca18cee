"""Training a biLM: forward and backward language models over one token encoder and one softmax."""

from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.models import Model
from overrides import overrides
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmError, BiLmOptions
from elmo_plugin.bilm.recurrence import DirectionalLm, LstmState
from elmo_plugin.bilm.softmax import VocabularySoftmax
from elmo_plugin.tasks.language_modeling.metrics import TokenAverage, perplexity


@Model.register("bilm")
class BiLmLanguageModel(Model):
    """
    Maximises the mean of the forward and the backward log-likelihood (section 3.1 of Peters et al., 2018) by
    truncated back-propagation: the state of each stream is carried from one batch to the next, without
    gradient. Batches come from `bilm_stream`.

    # Parameters

    vocab : `Vocabulary`
        Its words in `namespace` are what the model predicts.
    options : `dict`
        The sizes of the biLM, in the layout of a published `options.json`.
    dropout : `float`
        The rate of dropout on the input of every LSTM layer and on the output of the last.
    num_negatives : `int`, optional
        In training, the number of words that each target is told apart from. By default all words: the full
        softmax. Evaluation always takes the full softmax.
    namespace : `str`
        The vocabulary's namespace of the words.
    """

    def __init__(
        self,
        vocab: Vocabulary,
        options: dict[str, Any],
        dropout: float = 0.1,
        num_negatives: int | None = None,
        namespace: str = "words",
        **kwargs,
    ) -> None:
        super().__init__(vocab, **kwargs)
        try:
            self.bilm = BiLm(BiLmOptions.from_dict(options, source="model.options"), dropout=dropout)
        except BiLmError as error:
            raise ConfigurationError(str(error)) from None
        num_words = vocab.get_vocab_size(namespace)
        if num_negatives is not None and not 0 < num_negatives < num_words:
            raise ConfigurationError(
                f"model.num_negatives is {num_negatives}, but must be between 1 and {num_words - 1}, "
                "one less than the vocabulary has words"
            )
        self.softmax = VocabularySoftmax(num_words, self.bilm.options.lstm.projection_dim)
        self._num_negatives = num_negatives
        self._states: dict[str, LstmState] = {}
        self._losses = {direction: TokenAverage() for direction in ("forward", "backward")}

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
        # Parameters

        character_ids : `Tensor`
            Shape (types, characters), the distinct words of the batch.
        forward_types, backward_types : `Tensor`
            Shape (batch, time), which of them stands where in each direction's stream.
        forward_targets, backward_targets : `Tensor`
            Shape (batch, time), the vocabulary's number of the word that follows; 0 where there is none.
        stream_starts : `bool`
            Whether the streams begin here, so that no state is carried over.

        # Returns

        `dict`
            With `loss`, the mean of the two directions' mean losses per token.
        """
        slots = self.bilm.options.char_cnn.max_characters_per_token
        if character_ids.size(1) != slots:
            raise ConfigurationError(
                f"the data loader gives {character_ids.size(1)} characters per word, but the model reads "
                f"{slots}: max_characters_per_token of the two must agree"
            )
        if stream_starts:
            self._states = {}
        vectors = self.bilm.token_encoder.encode_types(character_ids)
        forward_loss = self._loss("forward", self.bilm.forward_lm, vectors[forward_types], forward_targets)
        backward_loss = self._loss(
            "backward", self.bilm.backward_lm, vectors[backward_types], backward_targets
        )
        return {"loss": 0.5 * (forward_loss + backward_loss)}

    def _loss(self, direction: str, language_model: DirectionalLm, inputs: Tensor, targets: Tensor) -> Tensor:
        """The mean loss per token of one direction; carries its state on."""
        batch_size, steps = targets.shape
        rows = inputs.transpose(0, 1).flatten(0, 1)  # Shape: (time * batch, projection_dim)
        layers, state = language_model(rows, [batch_size] * steps, self._states.get(direction))
        self._states[direction] = LstmState(state.hidden.detach(), state.cell.detach())
        targets = targets.t().flatten()
        is_target = targets > 0
        hidden, targets = layers[-1][is_target], targets[is_target]
        if self._samples():
            losses = self.softmax.sampled(hidden, targets, self._num_negatives)
        else:
            losses = self.softmax(hidden, targets)
        self._losses[direction](losses)
        return losses.sum() / max(len(losses), 1)

    def _samples(self) -> bool:
        return self.training and self._num_negatives is not None

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """
        Perplexities over all tokens since the last reset, by direction and for the mean of the two. In
        training with a sampled softmax it is `sampled_loss` instead, from which no perplexity follows.
        """
        forward, backward = (self._losses[name].get_metric(reset) for name in ("forward", "backward"))
        average = 0.5 * (forward + backward)
        if self._samples():
            return {"sampled_loss": average}
        return {
            "forward_perplexity": perplexity(forward),
            "backward_perplexity": perplexity(backward),
            "perplexity": perplexity(average),
        }
