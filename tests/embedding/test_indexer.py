import torch
from allennlp.common import Params
from allennlp.data import Batch, Instance, Token, TokenIndexer, Vocabulary
from allennlp.data.fields import TextField
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer
from allennlp.nn.util import get_text_field_mask
from hypothesis import example, given
from hypothesis import strategies as st

from elmo_plugin.embedding.token_embedder import ElmoTokenIndexer

WORDS = st.lists(st.text(max_size=60), max_size=5)


def text_field(words: list[str], indexer: TokenIndexer | None = None) -> TextField:
    field = TextField([Token(word) for word in words], {"elmo": indexer or ElmoTokenIndexer()})
    field.index(Vocabulary())
    return field


def tensor(field: TextField) -> torch.Tensor:
    return field.as_tensor(field.get_padding_lengths())["elmo"]["elmo_tokens"]


@given(WORDS)
@example([])
@example(["", " ", "<S>", "</S>", "x" * 48, "x" * 49, "日" * 17, "🙂" * 12 + "é", "\ud800"])
def test_ids_equal_allennlps(words: list[str]) -> None:
    ours = tensor(text_field(words))
    theirs = tensor(text_field(words, ELMoTokenCharactersIndexer()))
    assert ours.dtype == torch.int16
    assert torch.equal(ours.long(), theirs.view(len(words), 50))


def test_batches_are_padded_with_zeros_that_the_mask_excludes() -> None:
    batch = Batch(
        [Instance({"tokens": text_field(words)}) for words in (["A", "play"], [], ["Hi", "!", "?"])]
    )
    tokens = batch.as_tensor_dict()["tokens"]
    assert tokens["elmo"]["elmo_tokens"].shape == (3, 3, 50)
    assert get_text_field_mask(tokens).tolist() == [[True, True, False], [False] * 3, [True] * 3]


def test_an_indexer_is_made_from_params_and_counts_no_vocabulary() -> None:
    indexer = TokenIndexer.from_params(Params({"type": "elmo", "token_min_padding_length": 2}))
    assert indexer == ElmoTokenIndexer(token_min_padding_length=2)
    counter: dict[str, dict[str, int]] = {}
    indexer.count_vocab_items(Token("play"), counter)
    assert counter == {}
