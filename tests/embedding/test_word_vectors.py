from pathlib import Path

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch, Instance, Token, Vocabulary
from allennlp.data.fields import TextField

from elmo_plugin.embedding.contextual_elmo import ContextualElmo, ElmoPlacement
from elmo_plugin.embedding.word_vectors import WordVectorsEmbedder, WordVectorsIndexer

VECTORS = "the 1 2\nplay 3 4\nPlay 5 6\n"


def text(*words: str) -> Instance:
    return Instance(
        {"text": TextField([Token(word) for word in words], {"words": WordVectorsIndexer()})}
    )


def keys(*sentences: list[str]) -> torch.Tensor:
    batch = Batch([text(*words) for words in sentences])
    batch.index_instances(Vocabulary())
    return batch.as_tensor_dict()["text"]["words"]["word_keys"]


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "vectors.txt").write_text(VECTORS)
    return str(tmp_path / "vectors.txt")


def test_a_word_gets_its_own_vector_or_that_of_its_lower_case_form_or_zeros(file: str) -> None:
    embedder = WordVectorsEmbedder(file)
    embedded = embedder(keys(["the", "The", "Play", "PLAY", "comedy"], ["play"]))
    assert embedded[0].tolist() == [[1, 2], [1, 2], [5, 6], [3, 4], [0, 0]]
    assert embedded[1].tolist() == [[3, 4]] + [[0, 0]] * 4
    assert embedder.get_output_dim() == 2


def test_unknown_words_may_share_a_trained_vector_that_padding_does_not_get(file: str) -> None:
    embedder = WordVectorsEmbedder(file, learn_unknown=True)
    with torch.no_grad():
        embedder.unknown += torch.tensor([7.0, 8.0])
    embedded = embedder(keys(["comedy", "the"], ["tragedy"]))
    assert embedded.tolist() == [[[7, 8], [1, 2]], [[7, 8], [0, 0]]]
    embedded.sum().backward()
    assert embedder.unknown.grad.tolist() == [2, 2]


@pytest.mark.parametrize("num_sentences", [0, 1])
def test_vectors_of_integers_give_floats_for_any_number_of_sentences(num_sentences: int) -> None:
    embedder = WordVectorsEmbedder("english")
    assert embedder.vectors.dtype == torch.int8
    embedded = embedder(torch.zeros(num_sentences, 3, 2, dtype=torch.int64))
    assert embedded.shape == (num_sentences, 3, embedder.get_output_dim())
    assert embedded.dtype == torch.float32


def test_trainable_vectors_get_gradients_from_their_words(file: str) -> None:
    embedder = WordVectorsEmbedder(file, trainable=True)
    embedder(keys(["the", "The", "comedy"])).sum().backward()
    row = embedder.keys.tolist().index(int(keys(["the"])[0, 0, 0]))
    assert embedder.vectors.grad[row].tolist() == [2, 2]
    assert embedder.vectors.grad.sum() == 4


def test_vectors_of_a_file_are_stored_and_need_no_file(file: str, tmp_path: Path) -> None:
    embedder = WordVectorsEmbedder(file)
    torch.save(torch.nn.ModuleDict({"words": embedder}).state_dict(), tmp_path / "weights.th")
    Path(file).unlink()
    loaded = WordVectorsEmbedder(file, serialization_dir=tmp_path)
    loaded.load_state_dict(embedder.state_dict())
    assert loaded(keys(["Play", "PLAY"])).tolist() == [[[5, 6], [3, 4]]]


def test_an_archive_that_lost_its_vectors_reads_no_file(file: str, tmp_path: Path) -> None:
    without_keys = WordVectorsEmbedder(file).state_dict()
    del without_keys["keys"]
    for state in ({"linear": torch.eye(2)}, without_keys):
        torch.save(state, tmp_path / "weights.th")
        with pytest.raises(ConfigurationError, match="not in the weights"):
            WordVectorsEmbedder(file, serialization_dir=tmp_path)


def test_an_archive_of_tensors_without_names_is_a_configuration_error(tmp_path: Path) -> None:
    torch.save([torch.eye(2)], tmp_path / "weights.th")
    with pytest.raises(ConfigurationError, match=r"weights\.th: its weights are not tensors with"):
        WordVectorsEmbedder(serialization_dir=tmp_path)
    with pytest.raises(ConfigurationError, match=r"weights\.th: its weights are not tensors with"):
        ContextualElmo("tiny", input=ElmoPlacement(), serialization_dir=tmp_path)


def test_only_the_digest_of_bundled_vectors_is_stored() -> None:
    embedder = WordVectorsEmbedder()
    assert list(embedder.state_dict()) == ["_extra_state"]
    other = WordVectorsEmbedder()
    other.load_state_dict(embedder.state_dict())
    embedder._digest = "0" * 32
    with pytest.raises(
        ConfigurationError, match="other word vectors 'english': install elmo_plugin=="
    ):
        other.load_state_dict(embedder.state_dict())


def test_trained_bundled_vectors_are_stored(tmp_path: Path) -> None:
    embedder = WordVectorsEmbedder(trainable=True)
    with torch.no_grad():
        embedder.vectors.zero_()
    torch.save(embedder.state_dict(), tmp_path / "weights.th")
    loaded = WordVectorsEmbedder(trainable=True, serialization_dir=tmp_path)
    assert loaded.vectors.abs().max() == 0


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b'{"vectors": "english"}'])
def test_damaged_metadata_is_a_configuration_error(content: bytes) -> None:
    damaged = torch.tensor(list(content), dtype=torch.uint8)
    with pytest.raises(ConfigurationError, match="the metadata of word vectors in the weights"):
        WordVectorsEmbedder("english").set_extra_state(damaged)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("keys", torch.zeros(0, dtype=torch.int64)),
        ("keys", torch.zeros(2, dtype=torch.int64)),
        ("keys", torch.zeros(3)),
        ("vectors", torch.zeros(3)),
        ("vectors", torch.zeros(2, 2)),
        ("vectors", torch.zeros(3, 2, dtype=torch.int8)),
        ("vectors", torch.zeros(3, 2, dtype=torch.complex64)),
        ("scales", torch.zeros(1)),
        ("scales", torch.zeros(0, dtype=torch.int64)),
        ("scales", None),
    ],
)
def test_damaged_vectors_in_an_archive_are_refused(
    file: str, name: str, damage: torch.Tensor | None, tmp_path: Path
) -> None:
    state = WordVectorsEmbedder(file).state_dict()
    torch.save({**state, name: damage}, tmp_path / "weights.th")
    with pytest.raises(ConfigurationError, match=r"the word vectors .* are damaged"):
        WordVectorsEmbedder(file, serialization_dir=tmp_path)
