import pickle

import torch
from allennlp.common import Params
from allennlp.data import Token, TokenIndexer, Vocabulary
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer
from hypothesis import example, given
from hypothesis import strategies as st

from elmo_plugin.migration.allennlp_api.token_embedder import ElmoCharactersIndexer

TO_ADD = {"[MASK]": 1, "<S>": 2}


def tensor(indexer: TokenIndexer, words: list[str], length: int) -> torch.Tensor:
    indexed = indexer.tokens_to_indices([Token(word) for word in words], Vocabulary())
    return indexer.as_padded_tensor_dict(indexed, {"elmo_tokens": length})["elmo_tokens"]


@given(st.lists(st.text(max_size=60), max_size=4))
@example(["", "<S>", "</S>", "[MASK]", "x" * 49, "日" * 17, "\ud800"])
def test_ids_equal_allennlps(words: list[str]) -> None:
    for options in ({}, {"tokens_to_add": TO_ADD}):
        ours, theirs = ElmoCharactersIndexer(**options), ELMoTokenCharactersIndexer(**options)
        for length in (len(words), len(words) + 2):
            ids = tensor(ours, words, length)
            assert ids.dtype == torch.int64
            assert torch.equal(ids, tensor(theirs, words, length).view(length, 50))


def test_an_indexer_can_be_made_from_params_compared_and_pickled() -> None:
    options = {
        "tokens_to_add": dict(TO_ADD),
        "token_min_padding_length": 3,
        "namespace": "characters",
    }
    indexer = ElmoCharactersIndexer.from_params(Params(options))
    assert isinstance(indexer, ELMoTokenCharactersIndexer)
    copied = pickle.loads(pickle.dumps(indexer))
    assert torch.equal(
        tensor(copied, ["[MASK]"], 1),
        tensor(ElmoCharactersIndexer(tokens_to_add=TO_ADD), ["[MASK]"], 1),
    )
    assert copied.get_empty_token_list() == {"elmo_tokens": []}
    assert copied == indexer != ElmoCharactersIndexer()
