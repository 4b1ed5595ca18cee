"""
The model against `coref` of allennlp-models with the same weights. On purpose the two differ here:

- The weights of a soft head come from the encoded words, as in Lee et al. (2017); in `coref` from
  the embedded ones. Here the attention is zero in both, so that all weights are equal.
- Spans that cross partially are not kept; in `coref` they are. `may_cross` is true here.
- Speakers and genre are features of a pair; `coref` has neither. They are left out here.
- Each sentence is encoded by itself; in `coref` the whole document at once. Nothing is encoded
  here.
- The parts of a span's vector are in another order, which the copied weights allow for.
"""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.data import Batch, Instance, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.models import Model
from allennlp.modules import Embedding, FeedForward
from allennlp.modules.seq2seq_encoders import PassThroughEncoder
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from allennlp.nn import Activation
from torch import Tensor, nn

from elmo_plugin.encoders import ContextualEncoder
from elmo_plugin.tasks.coref import CorefReader, CorefSpanRanking
from elmo_plugin.tasks.coref.links import antecedent_indices
from elmo_plugin.tasks.spans import Span

peer = pytest.importorskip("allennlp_models.coref.models.coref", reason="needs allennlp-models")
make_coref_instance = pytest.importorskip("allennlp_models.coref.util").make_coref_instance

FIXTURE = Path(__file__).parents[2] / "fixtures" / "coref" / "documents.gold_conll"
WORD_DIM, FEATURE_DIM, HIDDEN, MAX_WIDTH = 6, 3, 7, 4
SPAN_DIM = 3 * WORD_DIM + FEATURE_DIM
KEPT = {"spans_per_word": 0.8, "max_antecedents": 3}


def our_instances() -> list[Instance]:
    return list(CorefReader({"tokens": SingleIdTokenIndexer()}).read(FIXTURE))


def our_model(vocab: Vocabulary) -> CorefSpanRanking:
    embedder = BasicTextFieldEmbedder(
        {"tokens": Embedding(WORD_DIM, vocab.get_vocab_size("tokens"))}
    )
    model = CorefSpanRanking(
        vocab,
        contextual_encoder=ContextualEncoder(embedder),
        max_span_width=MAX_WIDTH,
        hidden_dim=HIDDEN,
        feature_dim=FEATURE_DIM,
        min_spans=1,
        use_speakers=False,
        use_genre=False,
        may_cross=True,
        **KEPT,
    )
    nn.init.zeros_(model.span_encoder.head_attention.weight)
    return model.eval()


def their_model(vocab: Vocabulary) -> Model:
    embedder = BasicTextFieldEmbedder(
        {"tokens": Embedding(WORD_DIM, vocab.get_vocab_size("tokens"))}
    )
    relu = Activation.by_name("relu")()
    model = peer.CoreferenceResolver(
        vocab,
        embedder,
        PassThroughEncoder(WORD_DIM),
        FeedForward(SPAN_DIM, 2, HIDDEN, relu),
        FeedForward(3 * SPAN_DIM + FEATURE_DIM, 2, HIDDEN, relu),
        feature_size=FEATURE_DIM,
        max_span_width=MAX_WIDTH,
        lexical_dropout=0.0,
        **KEPT,
    )
    nn.init.zeros_(model._attentive_span_extractor._global_attention._module.weight)
    return model.eval()


def in_their_order(weight: Tensor) -> Tensor:
    """Columns of a span: start, end, head, width, to start, end, width, head."""
    start, end, head, width = weight.split([WORD_DIM, WORD_DIM, WORD_DIM, FEATURE_DIM], dim=1)
    return torch.cat([start, end, width, head], dim=1)


@torch.no_grad()
def copy_weights(ours: CorefSpanRanking, theirs: Any) -> None:
    embedding = ours.contextual_encoder.text_field_embedder.token_embedder_tokens
    theirs._text_field_embedder.token_embedder_tokens.load_state_dict(embedding.state_dict())
    widths = theirs._endpoint_span_extractor._span_width_embedding
    widths.load_state_dict(ours.span_encoder.width_embedding.state_dict())
    scorer = ours.antecedent_scorer
    theirs._distance_embedding.load_state_dict(scorer.distance_embedding.state_dict())
    of_pair = scorer.first_layer.weight.split([SPAN_DIM, SPAN_DIM, SPAN_DIM, FEATURE_DIM], dim=1)
    first_of_pair = torch.cat([*map(in_their_order, of_pair[:3]), of_pair[3]], dim=1)
    for first, bias, further, feedforward, score in (
        (
            in_their_order(ours.mention_first_layer.weight),
            ours.mention_first_layer.bias,
            ours.mention_further_layers,
            theirs._mention_feedforward,
            theirs._mention_scorer,
        ),
        (
            first_of_pair,
            scorer.first_layer.bias,
            scorer.further_layers,
            theirs._antecedent_feedforward,
            theirs._antecedent_scorer,
        ),
    ):
        one, two = feedforward._module._linear_layers
        one.weight.copy_(first)
        one.bias.copy_(bias)
        _, _, hidden, _, _, last = further
        two.load_state_dict(hidden.state_dict())
        score._module.load_state_dict(last.state_dict())


def test_spans_scores_and_loss_equal_allennlps_with_the_same_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    instances = our_instances()
    vocab = Vocabulary.from_instances(instances)
    torch.manual_seed(0)
    ours, theirs = our_model(vocab), their_model(vocab)
    copy_weights(ours, theirs)
    scores: list[Tensor] = []
    compute = theirs._compute_coreference_scores
    monkeypatch.setattr(
        theirs,
        "_compute_coreference_scores",
        lambda *args: scores.append(compute(*args)) or scores[-1],
    )
    for instance in instances:
        document = instance["document"].metadata
        batch = Batch([instance])
        batch.index_instances(vocab)
        tensors = batch.as_tensor_dict()
        (logits,) = ours.compute_logits(tensors["sentences"], tensors["genre"], tensors["document"])
        inclusive = [
            [(start, end - 1) for start, end, _ in cluster] for cluster in document.clusters
        ]
        their_instance = make_coref_instance(
            document.sentences, {"tokens": SingleIdTokenIndexer()}, MAX_WIDTH, inclusive
        )
        their_batch = Batch([their_instance])
        their_batch.index_instances(vocab)
        output = theirs(**their_batch.as_tensor_dict())
        kept = [Span(start, end + 1) for start, end in output["top_spans"][0].tolist()]
        assert kept == logits.spans
        indices = antecedent_indices(logits.logits[:, 1:])
        there = torch.cat([torch.ones_like(indices[:, :1]), indices + 1], dim=1) > 0
        width = min(there.size(1), scores[-1].size(2))
        torch.testing.assert_close(
            scores[-1][0][:, :width][there[:, :width]],
            logits.logits[:, :width][there[:, :width]],
            atol=1e-5,
            rtol=0,
        )
        loss = ours(**tensors)["loss"]
        torch.testing.assert_close(loss, output["loss"], atol=1e-5, rtol=1e-5)
