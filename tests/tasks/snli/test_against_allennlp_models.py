"""The ESIM of allennlp-models with the same weights, where it is installed."""

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.modules import FeedForward
from allennlp.modules.matrix_attention import DotProductMatrixAttention
from allennlp.modules.seq2seq_encoders import LstmSeq2SeqEncoder
from allennlp.nn import Activation
from torch import nn

from elmo_plugin.encoders import masked_attention
from elmo_plugin.tasks.snli import SnliEsim
from tests.tasks.small_models import tensors_of
from tests.tasks.snli.test_model import embedder, instances, small_esim

esim = pytest.importorskip(
    "allennlp_models.pair_classification.models.esim", reason="needs allennlp-models"
)

NAMES = {  # ours: theirs
    "contextual_encoder.text_field_embedder": "_text_field_embedder",
    "contextual_encoder.encoder.layers.0": "_encoder._module",
    "projection": "_projection_feedforward",
    "inference_encoder.layers.0": "_inference_encoder._module",
    "classifier": "_output_feedforward",
    "output_logits": "_output_logit",
}


def with_the_same_weights(vocab: Vocabulary) -> tuple[SnliEsim, nn.Module]:
    ours, relu = small_esim(vocab), Activation.by_name("relu")()
    theirs = esim.ESIM(
        vocab,
        embedder(vocab),
        LstmSeq2SeqEncoder(5, 4, bidirectional=True),
        DotProductMatrixAttention(),
        FeedForward(4 * 8, 1, 3, relu),
        LstmSeq2SeqEncoder(3, 6, bidirectional=True),
        FeedForward(4 * 12, 1, 7, relu),
        FeedForward(7, 1, 3, Activation.by_name("linear")()),
        dropout=0.5,
    )
    weights = {}
    for name, weight in ours.state_dict().items():
        prefix = next(prefix for prefix in NAMES if name.startswith(f"{prefix}."))
        weights[NAMES[prefix] + name.removeprefix(prefix)] = weight
    for kind in ("weight", "bias"):  # theirs is a feed-forward layer
        weights[f"_output_logit._linear_layers.0.{kind}"] = weights.pop(f"_output_logit.{kind}")
    theirs.load_state_dict(weights)
    return ours.eval(), theirs.eval()


def test_logits_and_loss_equal_allennlps() -> None:
    vocab = Vocabulary.from_instances(instances())
    ours, theirs = with_the_same_weights(vocab)
    tensors = tensors_of(instances(), vocab)
    output, expected = ours(**tensors), theirs(**tensors)
    torch.testing.assert_close(output["logits"], expected["label_logits"], rtol=0, atol=1e-5)
    torch.testing.assert_close(output["probs"], expected["label_probs"], rtol=0, atol=1e-5)
    torch.testing.assert_close(output["loss"], expected["loss"], rtol=0, atol=1e-5)


def test_words_unlike_all_others_keep_their_attention_on_purpose() -> None:
    """Theirs loses it where every similarity is far below zero and there is padding."""
    similarity, mask = torch.tensor([[[-200.0, -201.0, 0.0]]]), torch.tensor([[True, True, False]])
    others = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]]])
    theirs = esim.weighted_sum(others, esim.masked_softmax(similarity, mask))
    torch.testing.assert_close(theirs, torch.zeros(1, 1, 2))
    weights = torch.tensor([0.0, -1.0]).softmax(dim=0)
    torch.testing.assert_close(
        masked_attention(similarity, others, mask), (weights @ others[:, :2])[:, None]
    )


def test_dropout_is_placed_as_in_the_elmo_paper_on_purpose() -> None:
    """
    Theirs has none behind the attention, and leaves that of the hidden layer to `FeedForward`.
    """
    vocab = Vocabulary.from_instances(instances())
    dropped: tuple[list[int], list[int]] = ([], [])
    for model, widths in zip(with_the_same_weights(vocab), dropped, strict=True):
        model.dropout.register_forward_hook(
            lambda _, inputs, output, widths=widths: widths.append(output.size(-1))
        )
        model(**tensors_of(instances(), vocab))
    enhanced, pooled, hidden = 4 * 8, 4 * 12, 7
    assert dropped == ([enhanced, enhanced, pooled, hidden], [pooled])
