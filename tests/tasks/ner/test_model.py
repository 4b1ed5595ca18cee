"""The tagger: what it predicts, measures and saves."""

from itertools import pairwise, product
from operator import getitem
from pathlib import Path

import pytest
import torch
from allennlp.common import Lazy
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.data.tokenizers import Token

from elmo_plugin.encoders.bidirectional import VariationalBiLstm
from elmo_plugin.encoders.contextual_encoder import ContextualEncoder
from elmo_plugin.tasks.ner import Conll2003Reader, NerBiLstmCrf
from elmo_plugin.tasks.spans import tags_to_spans
from tests.tasks.ner.test_tags import are_legal
from tests.tasks.small_models import tensors_of, word_embedder

REPOSITORY = Path(__file__).parents[3]
SENTENCES = REPOSITORY / "tests" / "fixtures" / "ner" / "sentences.txt"
ENCODINGS = pytest.mark.parametrize("encoding", ["BIO", "BIOUL"])


def instances_in(encoding: str) -> list[Instance]:
    return list(
        Conll2003Reader({"tokens": SingleIdTokenIndexer()}, tag_encoding=encoding).read(SENTENCES)
    )


def tagger(vocab: Vocabulary, encoding: str | None, dropout: float = 0.0) -> NerBiLstmCrf:
    torch.manual_seed(0)
    bilstm = Lazy(VariationalBiLstm, hidden_sizes=[6], dropout=dropout)
    encoder = ContextualEncoder(word_embedder(vocab), bilstm)
    return NerBiLstmCrf(vocab, contextual_encoder=encoder, tag_encoding=encoding)


@ENCODINGS
def test_predictions_are_legal_tags_with_their_entities(encoding: str) -> None:
    instances = instances_in(encoding)
    model = tagger(Vocabulary.from_instances(instances), encoding).eval()
    for seed in range(5):
        torch.manual_seed(seed)
        torch.nn.init.normal_(model.tag_projection.weight, std=20)
        for instance, output in zip(instances, model.forward_on_instances(instances), strict=True):
            assert output["words"] == instance["words"].metadata
            assert len(output["tags"]) == len(output["words"])
            assert are_legal(output["tags"], encoding)
            assert [
                (e["start_word"], e["end_word"], e["type"]) for e in output["entities"]
            ] == tags_to_spans(output["tags"])
            assert all(
                e["text"] == " ".join(output["words"][e["start_word"] : e["end_word"]])
                for e in output["entities"]
            )


@torch.no_grad()
@ENCODINGS
def test_an_entitys_probability_is_its_share_over_all_legal_sequences(encoding: str) -> None:
    reader = Conll2003Reader({"tokens": SingleIdTokenIndexer()}, tag_encoding=encoding)
    tags = {"BIO": ["B-X", "I-X", "B-Y", "O"], "BIOUL": ["B-X", "L-X", "U-Y", "O", "I-X"]}[encoding]
    instance = reader.text_to_instance(list(map(Token, "abcde"[: len(tags)])), tags)
    reader.apply_token_indexers(instance)
    vocab = Vocabulary.from_instances([instance])
    model = tagger(vocab, encoding).double().eval()
    labels = vocab.get_index_to_token_vocabulary("labels")
    for seed in range(5):
        torch.manual_seed(seed)
        torch.nn.init.normal_(model.tag_projection.weight, std=4)
        torch.nn.init.normal_(model.crf.transitions)
        (scores,) = model.compute_logits(**tensors_of([instance], vocab)).emissions
        weights: dict[tuple[str, ...], float] = {}
        for path in product(labels, repeat=len(tags)):
            names = tuple(labels[index] for index in path)
            if are_legal(names, encoding):
                steps = sum(model.crf.transitions[pair] for pair in pairwise(path))
                ends = model.crf.start_transitions[path[0]] + model.crf.end_transitions[path[-1]]
                weights[names] = float((steps + ends + sum(map(getitem, scores, path))).exp())
        for entity in model.forward_on_instance(instance)["entities"]:
            span = entity["start_word"], entity["end_word"], entity["type"]
            share = sum(weight for names, weight in weights.items() if span in tags_to_spans(names))
            assert entity["probability"] == pytest.approx(share / sum(weights.values()))


@ENCODINGS
def test_a_batch_is_decoded_at_once_like_each_sentence_by_allennlps_crf(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    instances = instances_in(encoding)
    vocab = Vocabulary.from_instances(instances)
    model = tagger(vocab, encoding).eval()
    labels = vocab.get_index_to_token_vocabulary("labels")
    tensors = tensors_of(instances, vocab)
    for seed in range(5):
        torch.manual_seed(seed)
        for parameter in [*model.tag_projection.parameters(), *model.crf.parameters()]:
            if parameter.requires_grad:
                torch.nn.init.normal_(parameter)
        emissions, mask, crf = model.compute_logits(tensors["tokens"])
        expected = [[labels[tag] for tag in path] for path, _ in crf.viterbi_tags(emissions, mask)]
        with monkeypatch.context() as patch:
            patch.delattr(type(crf), "viterbi_tags")  # which has a loop over sentences
            assert model(**tensors)["tags"] == expected


@pytest.mark.parametrize("encoding", ["BIO", "BIOUL", None])
@pytest.mark.parametrize("tags", [["B-X", "I-X", "E-X"], ["S-X"], ["B-X", "M-X", "S-X"]])
def test_tags_that_no_sequence_could_have_are_an_error(
    encoding: str | None, tags: list[str]
) -> None:
    vocab = Vocabulary(tokens_to_add={"labels": ["O", *tags]})
    with pytest.raises(ConfigurationError, match=r"expected tags in BIO or BIOUL .* '[ESM]-X"):
        tagger(vocab, encoding)


def test_a_label_that_keeps_tags_from_being_entities_is_named() -> None:
    message = "expected tags of entities, got '{}'; metric='\\+accuracy'"
    for labels, named in ((["O", "B-X", "L-X", "U"], "U"), (["O", "U", "U-X", "NOUN"], "NOUN")):
        vocab = Vocabulary(tokens_to_add={"labels": labels})
        with pytest.raises(ConfigurationError, match=message.format(named)):
            tagger(vocab, "BIOUL")


@pytest.mark.parametrize(("encoding", "other"), [("BIO", "BIOUL"), ("BIOUL", "BIO")])
def test_tags_in_another_encoding_are_an_error(encoding: str, other: str) -> None:
    vocab = Vocabulary.from_instances(instances_in(encoding))
    message = f"tag_encoding is {other}, but the dataset reader's is {encoding}"
    with pytest.raises(ConfigurationError, match=message):
        tagger(vocab, other)
