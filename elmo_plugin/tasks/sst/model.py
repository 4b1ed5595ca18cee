"""The biattentive classification network of McCann et al. (2017), and its predictor."""

from typing import Any

from allennlp.common import Lazy
from allennlp.common.checks import ConfigurationError
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import FeedForward, Maxout, Seq2SeqEncoder
from allennlp.nn import InitializerApplicator
from allennlp.predictors import Predictor
from torch import Tensor, nn

from elmo_plugin.bilm import Dropout
from elmo_plugin.encoders import ContextualEncoder, construct_encoder, pool, self_biattention
from elmo_plugin.tasks.labeled_texts import number_of_labels
from elmo_plugin.tasks.predictor import SentencePredictor
from elmo_plugin.tasks.task_model import Classifier


@Model.register("sst_bcn")
class SstBcn(Classifier):
    """
    Classifies the sentiment of a sentence by the network of McCann et al. (2017), section 5, with the
    sentence as both sequences:

        words > contextual encoder > biattention of the sentence with itself > integrator
              > maximum, mean, minimum and weighted mean over the words > classifier > label

    Sizes that follow from others are filled in.

    Registered as a `Model` with name "sst_bcn".

    # Parameters

    vocab : `Vocabulary`
        With the labels in the namespace "labels".
    contextual_encoder : `ContextualEncoder`
        From the words to vectors in context.
    integrator : `Lazy[Seq2SeqEncoder]`
        Encodes the words and their attended vectors.
    classifier : `Lazy[FeedForward]`, optional (default = `None`)
        Hidden layers between the sentence as one vector and the logits of the labels, as in Peters et al.
        (2018).
    maxout : `Lazy[Maxout]`, optional (default = `None`)
        Maxout layers instead, as in McCann et al. (2017). Exactly one of the two is required.
    dropout : `float`, optional (default = `0.0`)
        The rate of dropout on the sentence as one vector.
    initializer : `InitializerApplicator`, optional (default = `None`)
        Initial values of parameters.
    """

    default_predictor = "elmo_sst"

    def __init__(
        self,
        vocab: Vocabulary,
        *,
        contextual_encoder: ContextualEncoder,
        integrator: Lazy[Seq2SeqEncoder],
        classifier: Lazy[FeedForward] = None,
        maxout: Lazy[Maxout] = None,
        dropout: float = 0.0,
        initializer: InitializerApplicator = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, **kwargs)
        layers = [part for part in (classifier, maxout) if part is not None]
        if len(layers) != 1:
            raise ConfigurationError("sst_bcn: set exactly one of `classifier` and `maxout`")
        self.contextual_encoder = contextual_encoder
        self.integrator = construct_encoder(integrator, 3 * contextual_encoder.get_output_dim())
        # A bias would have no effect: softmax is the same with it and without.
        self.pooling_scores = nn.Linear(self.integrator.get_output_dim(), 1, bias=False)
        self.dropout = Dropout(dropout)
        self.classifier = layers[0].construct(input_dim=4 * self.integrator.get_output_dim())
        self.output_logits = nn.Linear(self.classifier.get_output_dim(), number_of_labels(vocab))
        self.initialize(initializer)

    def compute_logits(self, tokens: TextFieldTensors, **_: Any) -> Tensor:
        """Returns the logits of the labels, shape (batch, labels), for sentences of shape (batch, time)."""
        encoded, mask = self.contextual_encoder(tokens)  # Shape: (batch, time, dim)
        integrated = self.integrator(self_biattention(encoded, mask), mask)
        scores = self.pooling_scores(integrated).squeeze(-1)  # Shape: (batch, time)
        pooled = pool(integrated, scores, mask)  # Shape: (batch, 4 * dim)
        return self.output_logits(self.classifier(self.dropout(pooled)))


@Predictor.register("elmo_sst")
class SstPredictor(SentencePredictor):
    """
    Predicts the sentiment of `{"sentence": "It isn't bad."}`, tokenized like the treebank, or of a list of
    words. `SentencePredictor` has the details and the parameters. A prediction has the `words`, their
    `label`, its `probabilities` by label, and the `logits` behind them:

        {"words": ["It", "is", "n't", "bad", "."], "label": "positive",
         "probabilities": {"positive": 0.62, "neutral": 0.2, …}, "logits": […]}

    Registered as a `Predictor` with name "elmo_sst".
    """

    name = "elmo_sst"
