"""The base of dataset readers, by a reader of the words of each line."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance, Vocabulary
from allennlp.data.fields import ListField, TextField
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.data.tokenizers import Token

import elmo_plugin.register  # noqa: F401
from elmo_plugin.tasks import Line, TaskDatasetReader, sentence_fields
from elmo_plugin.tasks.sst import SstTreesReader


class WordsReader(TaskDatasetReader):
    example_names = "lines with a word"

    def read_examples(self, lines: Iterable[Line]) -> Iterator[tuple[list[Token]]]:
        for line in lines:
            if "bad" in line.text:
                raise ConfigurationError(f"{line.location}: bad")
            if line.text.strip():
                yield ([Token(word) for word in line.text.split()],)

    def text_to_instance(self, tokens: list[Token]) -> Instance:
        fields = sentence_fields(tokens)
        return Instance(fields | {"sentences": ListField([TextField(tokens), TextField(tokens)])})


def read(path: Path, content: bytes) -> list[Instance]:
    path.write_bytes(content)
    return list(WordsReader({"tokens": SingleIdTokenIndexer()}).read(path))


def test_all_text_fields_are_indexed_even_in_lists(tmp_path: Path) -> None:
    (instance,) = read(tmp_path / "words.txt", b"A dog\n")
    instance.index_fields(Vocabulary.from_instances([instance]))
    tensors = instance.as_tensor_dict()
    assert tensors["tokens"]["tokens"]["tokens"].tolist() == [2, 3]
    assert tensors["sentences"]["tokens"]["tokens"].tolist() == [[2, 3], [2, 3]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b" \n", ": no lines with a word in this file"),
        (b"good\ncaf\xe9\n", ", line 2: not UTF-8 text"),
        (b"good\n\nbad\n", ", line 3: bad"),
    ],
)
def test_errors_name_the_file_and_the_line(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(f"{tmp_path / 'words.txt'}{message}")):
        read(tmp_path / "words.txt", content)


def test_byte_order_marks_are_removed_even_in_the_middle_of_joined_files(tmp_path: Path) -> None:
    instances = read(
        tmp_path / "words.txt", "\ufeff\ufeffone\n\ufeff\ufefftwo \ufeff\n\ufeff\n".encode()
    )
    assert [instance["words"].metadata for instance in instances] == [["one"], ["two"]]


def test_an_unknown_option_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(
        ConfigurationError, match=r"there is no option 'delimiter'; it has .*min_phrase_length"
    ):
        SstTreesReader({}, delimiter=";")
