"""A small ESIM of random weights, and pairs for it."""

from pathlib import Path

import torch
from allennlp.common import Lazy
from allennlp.data import Instance, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.modules import Embedding, FeedForward
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from torch import nn

from elmo_plugin.encoders.bidirectional import VariationalBiLstm
from elmo_plugin.encoders.contextual_encoder import ContextualEncoder
from elmo_plugin.tasks.snli import SnliEsim, SnliReader

PAIRS = Path(__file__).parents[2] / "fixtures" / "snli" / "pairs.jsonl"


def instances() -> list[Instance]:
    return list(SnliReader({"tokens": SingleIdTokenIndexer()}).read(PAIRS))


def embedder(vocab: Vocabulary) -> BasicTextFieldEmbedder:
    embedding = Embedding(5, vocab.get_vocab_size("tokens"))
    nn.init.normal_(embedding.weight)
    return BasicTextFieldEmbedder({"tokens": embedding})


def small_esim(vocab: Vocabulary, dropout: float = 0.0) -> SnliEsim:
    torch.manual_seed(0)
    return SnliEsim(
        vocab,
        contextual_encoder=ContextualEncoder(
            embedder(vocab), Lazy(VariationalBiLstm, hidden_sizes=[4], dropout=dropout)
        ),
        projection=Lazy(FeedForward, num_layers=1, hidden_dims=3, activations=nn.ReLU()),
        inference_encoder=Lazy(VariationalBiLstm, hidden_sizes=[6], dropout=dropout),
        classifier=Lazy(FeedForward, num_layers=1, hidden_dims=7, activations=nn.ReLU()),
        dropout=dropout,
    )
