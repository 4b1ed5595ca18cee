"""Natural language inference: pairs of sentences, the ESIM of Chen et al. (2017), and its
predictor.
"""

from collections.abc import Iterable, Iterator
from typing import Any, cast

import torch
from allennlp.common import JsonDict, Lazy
from allennlp.data import DatasetReader, Instance, TextFieldTensors, Vocabulary
from allennlp.data.fields import Field, TextField
from allennlp.data.tokenizers import Token
from allennlp.models import Model
from allennlp.modules import FeedForward, Seq2SeqEncoder
from allennlp.nn.util import masked_max, masked_mean
from allennlp.predictors import Predictor
from overrides import overrides
from torch import BoolTensor, Tensor, nn

from elmo_plugin.bilm import Dropout
from elmo_plugin.common.logs import get_logger
from elmo_plugin.encoders import ContextualEncoder, biattention, construct_encoder
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.labeled_texts import LabeledTextsReader
from elmo_plugin.tasks.labels import KnownLabelField, number_of_labels
from elmo_plugin.tasks.predictor import TaskPredictor
from elmo_plugin.tasks.task_model import Classifier

logger = get_logger(__name__)

STANDARD_LABELS = {
    "entailment": "entailment",
    "neutral": "neutral",
    "contradiction": "contradiction",
    "contradictory": "contradiction",  # in the training data of XNLI
}
"""The label for each label of a file, in small letters. Files such as SICK's have capitals."""
NO_MAJORITY = ("-", "-1")
"""The label of pairs without a majority: in SNLI's own files, and in Hugging Face's."""


@DatasetReader.register("snli_jsonl")
class SnliReader(LabeledTextsReader):
    """
    Reads pairs of sentences with a label, as SNLI and MultiNLI have them: JSON lines with
    `sentence1`, `sentence2` and `gold_label`. `elmo import snli` writes this form, with any labels.

    Pairs without a majority for a label (`-`) are left out, as in the usual training sets, and so
    are pairs with a blank sentence. The log has their number.

    Registered as a `DatasetReader` with name "snli_jsonl".

    # Parameters

    token_indexers, tokenizer
        See `LabeledTextsReader`.

    Raises `ConfigurationError`, naming file and line, if a line is not UTF-8 or not of this form,
    and if a file contains no pair to learn from.
    """

    example_names = "pairs of sentences with a label"
    task = "snli"

    def read_examples(
        self, lines: Iterable[Line]
    ) -> Iterator[tuple[list[Token], list[Token], str]]:
        """
        Yields premise, hypothesis and label of each pair. Pairs without a majority for a label, or
        with a blank sentence, are left out; the log has their number.
        """
        left_out = 0
        file = ""  # the name of the file in the log
        for line in lines:
            if not line.text.strip():
                continue
            file = line.file
            fields = self.parse(line)
            label = self.read_label(line, fields, "gold_label")
            premise = self.tokenize_field(line, fields, "sentence1")
            hypothesis = self.tokenize_field(line, fields, "sentence2")
            if label in NO_MAJORITY or not premise or not hypothesis:
                left_out += 1
                continue
            standard_label = STANDARD_LABELS.get(label.lower(), label)  # or else the label itself
            yield premise, hypothesis, standard_label
        if left_out:
            logger.info("%s: left out %d pairs without a gold label or a text", file, left_out)

    def text_to_instance(
        self, premise: str | list[Token], hypothesis: str | list[Token], label: str | None = None
    ) -> Instance:
        """
        Makes an instance with the fields `premise`, `hypothesis` and, if there is one, `label`.
        Tokenizes texts that are strings.
        """
        fields: dict[str, Field] = {}
        for name, text in (("premise", premise), ("hypothesis", hypothesis)):
            if isinstance(text, str):
                text = self.tokenizer.tokenize(text)
            fields[name] = TextField(text)
        if label is not None:
            fields["label"] = KnownLabelField(label)
        return Instance(fields)


@Model.register("snli_esim")
class SnliEsim(Classifier):
    """
    Classifies whether a premise entails or contradicts a hypothesis, by the sequential model of
    Chen et al. (2017):

        words > contextual encoder > biattention between the sentences > projection > inference
              encoder > mean and maximum over the words > classifier > label

    Premise and hypothesis share all layers. The input size of a layer may be left out of its
    configuration, because it follows from the layer before it.

    Registered as a `Model` with name "snli_esim".

    # Parameters

    vocab : `Vocabulary`
        With the labels in the namespace "labels".
    contextual_encoder : `ContextualEncoder`
        From the words to vectors in context.
    projection : `Lazy[FeedForward]`
        From a word and its attended vector to the input of `inference_encoder`.
    inference_encoder : `Lazy[Seq2SeqEncoder]`
        Encodes the words and their attended vectors.
    classifier : `Lazy[FeedForward]`
        Hidden layers from the vector of both sentences to the input of the logits.
    dropout : `float`, optional (default = `0.0`)
        The rate of dropout on the inputs of `projection`, of `classifier` and of the logits.
    """

    default_predictor = "elmo_snli"

    def __init__(
        self,
        vocab: Vocabulary,
        *,
        contextual_encoder: ContextualEncoder,
        projection: Lazy[FeedForward],
        inference_encoder: Lazy[Seq2SeqEncoder],
        classifier: Lazy[FeedForward],
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, **kwargs)
        self.contextual_encoder = contextual_encoder
        # Its input is a word, the attended vector, their difference and their product.
        self.projection = projection.construct(input_dim=4 * contextual_encoder.get_output_dim())
        self.inference_encoder = construct_encoder(
            inference_encoder, self.projection.get_output_dim()
        )
        # Its input is the mean and the maximum of each of the two sentences.
        self.classifier = classifier.construct(
            input_dim=4 * self.inference_encoder.get_output_dim()
        )
        self.output_logits = nn.Linear(self.classifier.get_output_dim(), number_of_labels(vocab))
        self.dropout = Dropout(dropout)
        self.initialize()

    def compute_logits(
        self, premise: TextFieldTensors, hypothesis: TextFieldTensors, **_: Any
    ) -> Tensor:
        """
        Returns the logits of the labels, shape (batch, labels), for texts of shape (batch, time).
        """
        # As in the paper, `a` is for the premise and `b` for the hypothesis.
        (a, a_mask), (b, b_mask) = self.contextual_encoder.encode_together([premise, hypothesis])
        # `b_for_a` has, for each word of the premise, what it attends to in the hypothesis.
        b_for_a, a_for_b = biattention(a, b, a_mask, b_mask)  # Shapes: (batch, time, dim)
        inferred_a = self._infer(a, b_for_a, a_mask)  # Shape: (batch, 2 * inference_dim)
        inferred_b = self._infer(b, a_for_b, b_mask)  # Shape: (batch, 2 * inference_dim)
        pair = torch.cat([inferred_a, inferred_b], dim=-1)  # Shape: (batch, 4 * inference_dim)
        hidden = self.classifier(self.dropout(pair))  # Shape: (batch, hidden_dim)
        return self.output_logits(self.dropout(hidden))

    def _infer(self, words: Tensor, attended: Tensor, mask: BoolTensor) -> Tensor:
        """
        Returns one vector for each sentence, shape (batch, 2 * inference_dim), from its words and
        what they attend to in the other sentence, both of shape (batch, time, dim).
        """
        compared = torch.cat([words, attended, words - attended, words * attended], dim=-1)
        projected = self.projection(self.dropout(compared))  # Shape: (batch, time, projected_dim)
        composed = self.inference_encoder(projected, mask)  # Shape: (batch, time, inference_dim)
        mask = cast(BoolTensor, mask.unsqueeze(-1))  # Shape: (batch, time, 1)
        mean = masked_mean(composed, mask, dim=1)  # Shape: (batch, inference_dim)
        maximum = masked_max(composed, mask, dim=1)  # Shape: (batch, inference_dim)
        return torch.cat([mean, maximum], dim=-1)


@Predictor.register("elmo_snli")
class SnliPredictor(TaskPredictor):
    """
    Predicts whether the premise of `{"premise": "A man sleeps.", "hypothesis": "A man is awake."}`
    entails or contradicts the hypothesis, or neither. The keys may be SNLI's `sentence1` and
    `sentence2`. The dataset reader tokenizes the sentences. A prediction has the `label`, the
    `probabilities` by label, and the `logits`.

    Registered as a `Predictor` with name "elmo_snli".
    """

    name = "elmo_snli"

    def predict(self, premise: str, hypothesis: str) -> JsonDict:
        """Returns the prediction for one pair of sentences."""
        return self.predict_json({"premise": premise, "hypothesis": hypothesis})

    @overrides
    def to_instance(self, json_dict: JsonDict) -> Instance:
        premise = self.text_in(json_dict, ["premise", "sentence1"])
        hypothesis = self.text_in(json_dict, ["hypothesis", "sentence2"])
        return self._dataset_reader.text_to_instance(premise, hypothesis)
