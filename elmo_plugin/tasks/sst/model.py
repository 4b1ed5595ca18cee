"""The biattentive classification network of McCann et al. (2017)."""

from typing import Any

from allennlp.common import Lazy
from allennlp.common.checks import ConfigurationError
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import FeedForward, Maxout, Seq2SeqEncoder
from allennlp.nn import InitializerApplicator
from torch import Tensor, nn

from elmo_plugin.bilm import Dropout
from elmo_plugin.encoders import ContextualEncoder, construct_encoder, pool, self_biattention
from elmo_plugin.tasks.classifier import Classifier


@Model.register("sst_bcn")
class SstBcn(Classifier):
    """
    Classifies the sentiment of a sentence by the network of McCann et al. (2017), section 5, whose two
    sequences are here one and the same:

        words > contextual encoder > biattention of the sentence with itself > integrator
              > maximum, mean, minimum and weighted mean over the words > classifier > label

    It fills in all sizes that follow from others.

    Registered as a `Model` with name "sst_bcn".

    # Parameters

    vocab : `Vocabulary`
        With the labels in the namespace "labels".
    contextual_encoder : `ContextualEncoder`
        From the words to vectors in context.
    integrator : `Lazy[Seq2SeqEncoder]`
        Encodes the words and what they attend to.
    classifier : `Lazy[FeedForward]`, optional (default = `None`)
        Hidden layers between the sentence as one vector and the logits of the labels, as in Peters et al.
        (2018).
    maxout : `Lazy[Maxout]`, optional (default = `None`)
        Maxout layers in their place, as in McCann et al. (2017). One of the two must be given.
    dropout : `float`, optional (default = `0.0`)
        The rate of dropout on the sentence as one vector.
    initializer : `InitializerApplicator`, optional (default = `None`)
        Initial values of parameters, see `TaskModel.initialize`.

    Raises `ConfigurationError` where `classifier` and `maxout` are both given, or neither.
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
            raise ConfigurationError("sst_bcn: give either classifier or maxout")
        self.contextual_encoder = contextual_encoder
        self.integrator = construct_encoder(integrator, 3 * contextual_encoder.get_output_dim())
        # A bias would have no effect: softmax is the same with it and without.
        self.pooling_scores = nn.Linear(self.integrator.get_output_dim(), 1, bias=False)
        self.dropout = Dropout(dropout)
        self.classifier = layers[0].construct(input_dim=4 * self.integrator.get_output_dim())
        self.output_logits = nn.Linear(self.classifier.get_output_dim(), vocab.get_vocab_size("labels"))
        self.initialize(initializer)

    def compute_logits(self, tokens: TextFieldTensors) -> Tensor:
        """Returns the logits of the labels, shape (batch, labels), for sentences of shape (batch, time)."""
        encoded, mask = self.contextual_encoder(tokens)  # Shape: (batch, time, dim)
        integrated = self.integrator(self_biattention(encoded, mask), mask)
        scores = self.pooling_scores(integrated).squeeze(-1)  # Shape: (batch, time)
        pooled = pool(integrated, scores, mask)  # Shape: (batch, 4 * integrator's output)
        return self.output_logits(self.classifier(self.dropout(pooled)))
