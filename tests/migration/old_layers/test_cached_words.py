"""The characters of a vocabulary's words, against AllenNLP's ELMo with `vocab_to_cache`."""

from pathlib import Path

import allennlp.modules.elmo as peer
import pytest
import torch
from allennlp.common import Params
from allennlp.data import Batch, Instance, Token, Vocabulary
from allennlp.data.fields import TextField
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer, TokenIndexer

import elmo_plugin.register  # noqa: F401
from tests.migration.allennlp_api.conftest import write_bilm

WORDS = ["the", "play", "Ended"]
SENTENCES = [["The", "play", "Ended"], ["A", "the"]]


def vocabulary() -> Vocabulary:
    return Vocabulary({"words": dict.fromkeys(WORDS, 1)}, non_padded_namespaces=())


def character_ids(indexer: TokenIndexer, sentences: list[list[str]]) -> torch.Tensor:
    instances = []
    for sentence in sentences:
        tokens = [Token(word) for word in sentence]
        instances.append(Instance({"text": TextField(tokens, {"elmo": indexer})}))
    batch = Batch(instances)
    batch.index_instances(vocabulary())
    return batch.as_tensor_dict()["text"]["elmo"]["elmo_tokens"]  # type: ignore[index, return-value]


@pytest.mark.parametrize(
    ("is_lowercased", "seen"),
    [
        (False, [["@@UNKNOWN@@", "play", "Ended"], ["@@UNKNOWN@@", "the"]]),
        (True, [["the", "play", "@@UNKNOWN@@"], ["@@UNKNOWN@@", "the"]]),
    ],
)
def test_vectors_equal_elmos_with_cached_words(
    is_lowercased: bool, seen: list[list[str]], tmp_path: Path
) -> None:
    params = {"type": "old_cached_elmo_characters", "vocabulary_namespace": "words"}
    indexer = TokenIndexer.from_params(Params({**params, "lowercase_tokens": is_lowercased}))
    ids = character_ids(indexer, SENTENCES)
    assert torch.equal(ids, character_ids(ELMoTokenCharactersIndexer(), seen))

    cached = list(vocabulary().get_token_to_index_vocabulary("words"))
    elmo = peer.Elmo(*write_bilm(tmp_path), 1, vocab_to_cache=cached).eval()
    numbers = torch.zeros(2, 3, dtype=torch.long)
    for row, sentence in enumerate(SENTENCES):
        for column, word in enumerate(sentence):
            text = word.lower() if is_lowercased else word
            numbers[row, column] = vocabulary().get_token_index(text, "words")
    with_cache = elmo(character_ids(ELMoTokenCharactersIndexer(), SENTENCES), numbers)
    elmo._elmo_lstm._elmo_lstm.reset_states()
    without = elmo(ids)
    torch.testing.assert_close(
        without["elmo_representations"][0], with_cache["elmo_representations"][0]
    )
