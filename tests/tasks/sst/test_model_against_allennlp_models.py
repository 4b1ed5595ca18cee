"""
The classifier against `bcn` of allennlp-models with the same weights. On purpose the two differ
here:

- ELMo at the output stands beside what goes into the biattention, as in Peters et al. (2018); in
  `bcn` beside what comes out of the integrator.
- Padding never takes part in a weighted mean; in `bcn` it does where all scores are far below zero.
  Without that the bias of its pooling scores does nothing: there is none here.
- The parts of a pooled sentence are in the order of McCann et al. (2017), and a linear layer behind
  the maxout layers gives the scores of the labels. The copied weights allow for both: the functions
  are the same.
"""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Lazy
from allennlp.data import Batch, Vocabulary
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer, SingleIdTokenIndexer
from allennlp.models import Model
from allennlp.modules import Elmo, Embedding, FeedForward, Maxout
from allennlp.modules.seq2seq_encoders import LstmSeq2SeqEncoder
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from allennlp.nn import Activation

from elmo_plugin.embedding.contextual_elmo import ContextualElmo, ElmoPlacement
from elmo_plugin.encoders.contextual_encoder import ContextualEncoder
from elmo_plugin.tasks.sst import SstBcn, SstTreesReader

peer = pytest.importorskip(
    "allennlp_models.classification.models.biattentive_classification_network"
)

FIXTURES = Path(__file__).parents[2] / "fixtures"
OPTIONS, WEIGHTS = (str(FIXTURES / "bilm" / name) for name in ("options.json", "weights.hdf5"))
WORD_DIM, ELMO_DIM, HIDDEN, CELLS, LABELS = 5, 12, 6, 4, 5
RELU, LINEAR = Activation.by_name("relu")(), Activation.by_name("linear")()
EMBEDDER = "text_field_embedder.token_embedder_tokens"
# Our modules, and theirs.
NAMES = {
    f"contextual_encoder.{EMBEDDER}": f"_{EMBEDDER}",
    "contextual_encoder.feedforward": "_pre_encode_feedforward",
    "contextual_encoder.encoder": "_encoder",
    "integrator": "_integrator",
    "pooling_scores": "_self_attentive_pooling_projection",
    "classifier": "_output_layer",
    "output_logits": "_output_layer._linear_layers.2",
}


def our_model(vocab: Vocabulary, elmo_at: str | None, maxout: bool) -> SstBcn:
    embedders = {"tokens": Embedding(WORD_DIM, vocab.get_vocab_size("tokens"))}
    files = {"options": OPTIONS, "weights": WEIGHTS}
    bilstm = Lazy(LstmSeq2SeqEncoder, hidden_size=CELLS, bidirectional=True)
    encoder = ContextualEncoder(
        BasicTextFieldEmbedder(embedders),
        bilstm,
        elmo=ContextualElmo(files, **{elmo_at: ElmoPlacement(dropout=0.0)}) if elmo_at else None,
        feedforward=Lazy(FeedForward, num_layers=1, hidden_dims=HIDDEN, activations=RELU),
    )
    feedforward = Lazy(FeedForward, num_layers=2, hidden_dims=HIDDEN, activations=RELU)
    layers = Lazy(Maxout, num_layers=2, output_dims=HIDDEN, pool_sizes=3) if maxout else feedforward
    return SstBcn(
        vocab,
        contextual_encoder=encoder,
        integrator=bilstm,
        **{"maxout" if maxout else "classifier": layers},
    )


def their_model(vocab: Vocabulary, elmo_at: str | None, maxout: bool) -> Model:
    input_dim = WORD_DIM + (ELMO_DIM if elmo_at == "input" else 0)
    pooled_dim = 4 * (2 * CELLS + (ELMO_DIM if elmo_at == "output" else 0))
    dims = [HIDDEN, HIDDEN, LABELS]
    elmo = {
        "elmo": Elmo(OPTIONS, WEIGHTS, num_output_representations=1, dropout=0.0),
        "use_input_elmo": elmo_at == "input",
        "use_integrator_output_elmo": elmo_at == "output",
    }
    return peer.BiattentiveClassificationNetwork(
        vocab,
        BasicTextFieldEmbedder({"tokens": Embedding(WORD_DIM, vocab.get_vocab_size("tokens"))}),
        embedding_dropout=0.0,
        pre_encode_feedforward=FeedForward(input_dim, 1, HIDDEN, RELU),
        encoder=LstmSeq2SeqEncoder(HIDDEN, CELLS, bidirectional=True),
        integrator=LstmSeq2SeqEncoder(6 * CELLS, CELLS, bidirectional=True),
        integrator_dropout=0.0,
        output_layer=Maxout(pooled_dim, 3, dims, [3, 3, 1])
        if maxout
        else FeedForward(pooled_dim, 3, dims, [RELU, RELU, LINEAR]),
        **(elmo if elmo_at else {}),
    )


def copy_weights(ours: SstBcn, theirs: Model, elmo_at: str | None) -> None:
    """Gives our model random weights, and theirs the same."""
    torch.manual_seed(0)
    with torch.no_grad():
        for weight in ours.parameters():
            if weight.requires_grad:
                weight.normal_(std=0.5)
    weights = {
        name.replace(our_part, their_part): weight
        for our_part, their_part in NAMES.items()
        for name, weight in ours.state_dict().items()
        if name.startswith(f"{our_part}.")
    }
    # Theirs are in the order of maximum, minimum, mean, weighted mean ...
    maximum, mean, minimum, weighted = weights["_output_layer._linear_layers.0.weight"].chunk(
        4, dim=1
    )
    weights["_output_layer._linear_layers.0.weight"] = torch.cat(
        [maximum, minimum, mean, weighted], dim=1
    )
    if elmo_at == "input":  # ... and of words, ELMo.
        first = "_pre_encode_feedforward._linear_layers.0.weight"
        elmo, words = weights[first].split([ELMO_DIM, WORD_DIM], dim=1)
        weights[first] = torch.cat([words, elmo], dim=1)
        mix = ours.contextual_encoder.elmo.mixes["input"].scalar_mix
        weights["_elmo.scalar_mix_0.gamma"] = mix.gamma.view(1)
        for layer, weight in enumerate(mix.weights):
            weights[f"_elmo.scalar_mix_0.scalar_parameters.{layer}"] = weight.view(1)
    weights["_self_attentive_pooling_projection.bias"] = torch.tensor([0.5])
    loaded = theirs.load_state_dict(weights, strict=False)
    assert not loaded.unexpected_keys
    assert all(name.startswith("_elmo._elmo_lstm.") for name in loaded.missing_keys)


def data(elmo_at: str | None) -> tuple[Vocabulary, dict[str, Any]]:
    indexers = {"tokens": SingleIdTokenIndexer()} | (
        {"elmo": ELMoTokenCharactersIndexer()} if elmo_at else {}
    )
    batch = Batch(SstTreesReader(indexers).read(FIXTURES / "sst" / "trees.txt"))
    vocab = Vocabulary.from_instances(batch.instances)
    batch.index_instances(vocab)
    return vocab, batch.as_tensor_dict()


def outputs(ours: SstBcn, theirs: Model, tensors: dict[str, Any]) -> tuple[dict, dict]:
    return ours.eval()(**tensors), theirs.eval()(tensors["tokens"], tensors["label"])


@pytest.mark.parametrize("maxout", [False, True], ids=["feed-forward", "maxout"])
@pytest.mark.parametrize("elmo_at", [None, "input"])
def test_the_same_weights_give_the_same_predictions(elmo_at: str | None, maxout: bool) -> None:
    vocab, tensors = data(elmo_at)
    ours, theirs = our_model(vocab, elmo_at, maxout), their_model(vocab, elmo_at, maxout)
    copy_weights(ours, theirs, elmo_at)
    found, expected = outputs(ours, theirs, tensors)
    torch.testing.assert_close(found["logits"], expected["logits"], atol=1e-5, rtol=0)
    torch.testing.assert_close(found["probs"], expected["class_probabilities"], atol=1e-5, rtol=0)
    torch.testing.assert_close(found["loss"], expected["loss"], atol=1e-5, rtol=0)
    assert (
        found["logits"].std(dim=0).min() > 0.01
    )  # sentences differ: there is something to agree on


def test_output_elmo_enters_the_biattention_instead_of_following_the_integrator() -> None:
    vocab, _ = data("output")
    ours, theirs = (
        our_model(vocab, "output", maxout=False),
        their_model(vocab, "output", maxout=False),
    )
    assert ours.integrator.get_input_dim() == 3 * (2 * CELLS + ELMO_DIM)
    assert theirs._integrator.get_input_dim() == 3 * 2 * CELLS
    assert ours.classifier.get_input_dim() == 4 * 2 * CELLS
    assert theirs._output_layer.get_input_dim() == 4 * (2 * CELLS + ELMO_DIM)


def test_allennlps_pooling_changes_with_a_constant_because_padding_takes_part() -> None:
    vocab, tensors = data(None)
    ours, theirs = our_model(vocab, None, maxout=False), their_model(vocab, None, maxout=False)
    copy_weights(ours, theirs, None)
    with torch.no_grad():
        theirs._self_attentive_pooling_projection.bias.fill_(-200.0)
    found, expected = outputs(ours, theirs, tensors)
    differences = (found["logits"] - expected["logits"]).abs().amax(dim=1)
    lengths = [len(words) for words in tensors["words"]]
    for difference, length in zip(differences, lengths, strict=True):
        assert (difference > 0.01) == (length < max(lengths))
