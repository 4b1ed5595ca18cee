"""The coreference model: what it keeps, what it trains on, and what it measures."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Lazy
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer

from elmo_plugin.encoders import ContextualEncoder, VariationalBiLstm
from elmo_plugin.tasks.coref import CorefDocument, CorefReader, CorefSpanRanking
from elmo_plugin.tasks.coref.links import AntecedentLogits
from elmo_plugin.tasks.spans import Span
from tests.tasks.small_models import tensors_of, word_embedder

FIXTURE = Path(__file__).parents[2] / "fixtures" / "coref" / "documents.gold_conll"


@pytest.fixture
def instances() -> list[Instance]:
    return list(CorefReader({"tokens": SingleIdTokenIndexer()}).read(FIXTURE))


def model_of(vocab: Vocabulary, **options: Any) -> CorefSpanRanking:
    torch.manual_seed(0)
    contextual = ContextualEncoder(word_embedder(vocab), Lazy(VariationalBiLstm, hidden_sizes=[5]))
    options = {"hidden_dim": 7, "feature_dim": 3, "dropout": 0.0, **options}
    return CorefSpanRanking(vocab, contextual_encoder=contextual, **options)


def logits_of(model: CorefSpanRanking, tensors: dict[str, Any]) -> list[AntecedentLogits]:
    return model.compute_logits(tensors["sentences"], tensors["genre"], tensors["document"])


def instance_of(sentences: list[list[str]]) -> Instance:
    """A document without clusters, speakers or a genre."""
    speakers = [["-"] * len(words) for words in sentences]
    reader = CorefReader({"tokens": SingleIdTokenIndexer()})
    instance = reader.text_to_instance(CorefDocument("name", "000", sentences, speakers, "", []))
    reader.apply_token_indexers(instance)
    return instance


def test_a_share_of_spans_is_kept_and_none_crosses_sentences(
    instances: list[Instance],
) -> None:
    vocab = Vocabulary.from_instances(instances)
    model = model_of(vocab, spans_per_word=0.5, min_spans=1, max_span_width=3).eval()
    for logits, instance in zip(
        logits_of(model, tensors_of(instances, vocab)), instances, strict=True
    ):
        document = instance["document"].metadata
        assert len(logits.spans) == int(0.5 * document.length)
        sentence_of = [n for n, sentence in enumerate(document.sentences) for _ in sentence]
        for start, end, _ in logits.spans:
            assert 1 <= end - start <= 3
            assert sentence_of[start] == sentence_of[end - 1]


@pytest.mark.parametrize(
    "name",
    ["max_span_width", "min_spans", "max_antecedents", "max_training_sentences", "spans_per_word"],
)
def test_limits_of_zero_are_refused(name: str, instances: list[Instance]) -> None:
    with pytest.raises(ConfigurationError, match=name):
        model_of(Vocabulary.from_instances(instances), **{name: 0})


def test_a_document_of_a_single_word_has_no_clusters(instances: list[Instance]) -> None:
    model = model_of(Vocabulary.from_instances(instances)).eval()
    output = model.forward_on_instance(instance_of([["Yes"]]))
    assert (output["clusters"], output["antecedents"]) == ([], [])


def test_training_reads_a_window_of_sentences_at_its_place_in_the_document() -> None:
    sentences = [["w"] * length for length in (3, 1, 4, 2, 5)]
    instance = instance_of(sentences)
    vocab = Vocabulary.from_instances([instance])
    model = model_of(vocab, max_training_sentences=2, spans_per_word=10.0, may_cross=True)
    tensors = tensors_of([instance], vocab)
    windows = set()
    for _ in range(60):
        (logits,) = logits_of(model, tensors)
        windows.add((logits.spans[0].start, max(span.end for span in logits.spans)))
    assert windows == {(0, 4), (3, 8), (4, 10), (8, 15)}
    (whole,) = logits_of(model.eval(), tensors)
    assert (whole.spans[0].start, max(span.end for span in whole.spans)) == (0, 15)


def test_scores_are_counted_in_evaluation_and_not_in_training(instances: list[Instance]) -> None:
    vocab = Vocabulary.from_instances(instances)
    model, tensors = model_of(vocab), tensors_of(instances, vocab)
    assert "clusters" not in model(**tensors)
    assert model.get_metrics() == {}
    output = model.eval()(**tensors)
    expected = {"coref_f1", "muc_f1", "bcub_f1", "ceafe_f1", "mention_f1", "_mention_recall"}
    assert expected < model.get_metrics(reset=True).keys()
    gold = [instance["document"].metadata.clusters for instance in instances]
    right = [
        _with_right_antecedents(each, clusters)
        for each, clusters in zip(logits_of(model, tensors), gold, strict=True)
    ]
    output = model.decode(right, tensors["document"], tensors["clusters"])
    assert output["clusters"] == gold
    assert model.get_metrics()["coref_f1"] == pytest.approx(1.0)
    assert output["loss"] < 1e-6


def _with_right_antecedents(
    logits: AntecedentLogits, clusters: list[list[Span]]
) -> AntecedentLogits:
    """
    Spans that are the mentions, and logits that link each to the one before it in its cluster.
    """
    spans = sorted(mention for cluster in clusters for mention in cluster) or logits.spans[:1]
    scores = torch.full((len(spans), len(spans) + 1), -50.0)
    scores[:, 0] = 0.0
    for cluster in clusters:
        for one, other in pairwise(cluster):
            scores[spans.index(other), spans.index(other) - spans.index(one)] = 50.0
    return AntecedentLogits(spans, scores)
