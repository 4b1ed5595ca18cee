"""What the tests of the small models of all tasks share."""

from collections.abc import Sequence
from typing import Any

from allennlp.data import Batch, Instance, Vocabulary
from allennlp.modules import Embedding
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder


def word_embedder(vocab: Vocabulary, dim: int = 8) -> BasicTextFieldEmbedder:
    return BasicTextFieldEmbedder({"tokens": Embedding(dim, vocab.get_vocab_size("tokens"))})


def tensors_of(instances: Sequence[Instance], vocab: Vocabulary) -> dict[str, Any]:
    """Returns all instances as one batch."""
    batch = Batch(instances)
    batch.index_instances(vocab)
    return batch.as_tensor_dict()
