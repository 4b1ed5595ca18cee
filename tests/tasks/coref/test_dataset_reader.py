"""Documents as instances: their genre, their clusters, and what is refused."""

import gzip
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer

from elmo_plugin.tasks.coref import CorefReader, Mention
from elmo_plugin.tasks.coref.dataset_reader import GENRES

FIXTURE = Path(__file__).parents[2] / "fixtures" / "coref" / "documents.gold_conll"
INDEXERS = {"tokens": SingleIdTokenIndexer()}


def test_each_document_is_an_instance_of_sentences_and_clusters() -> None:
    first, second, third = CorefReader(INDEXERS).read(FIXTURE)
    assert [[token.text for token in field] for field in first["sentences"]] == [
        ["Anna", "met", "her", "brother", "."], ["He", "waved", "."], ["She", "laughed", "."],
    ]  # fmt: skip
    assert first["clusters"].metadata == [
        [Mention(0, 1), Mention(2, 3), Mention(8, 9)], [Mention(2, 4), Mention(5, 6)],
    ]  # fmt: skip
    assert second["document"].metadata.speakers == [["Tom"] * 3, ["Eve"] * 4]
    assert third["clusters"].metadata == []


def test_the_genre_comes_from_the_name() -> None:
    instances = list(CorefReader(INDEXERS).read(FIXTURE))
    assert [instance["genre"].label for instance in instances] == ["nw", "bc", "bc"]
    by_pattern = CorefReader(INDEXERS, genre_pattern="/(t)").read(FIXTURE)
    assert [instance["genre"].label for instance in by_pattern] == ["", "t", "t"]


def test_a_genre_that_is_unknown_has_an_index_of_its_own() -> None:
    instances = list(CorefReader(INDEXERS).read(FIXTURE))
    vocab = Vocabulary.from_instances(instances[1:])
    assert vocab.get_token_to_index_vocabulary(GENRES) == {"bc": 0}
    for instance in instances:
        instance.index_fields(vocab)
    assert [int(instance["genre"].as_tensor({})) for instance in instances] == [1, 0, 0]


def test_no_genre_is_no_word_of_the_vocabulary() -> None:
    instances = list(CorefReader(INDEXERS, genre_pattern="^(x)").read(FIXTURE))
    assert Vocabulary.from_instances(instances).get_vocab_size(GENRES) == 0


@pytest.mark.parametrize("pattern", ["gum/", "("])
def test_a_pattern_without_a_group_is_refused(pattern: str) -> None:
    with pytest.raises(ConfigurationError, match="genre_pattern"):
        CorefReader(INDEXERS, genre_pattern=pattern)


def test_folders_and_compressed_files_are_read(tmp_path: Path) -> None:
    text = FIXTURE.read_bytes()
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "x.gold_conll.gz").write_bytes(gzip.compress(text))
    (tmp_path / "y.v4_gold_conll").write_bytes(text)
    (tmp_path / "z.txt").write_text("not CoNLL")
    assert len(list(CorefReader(INDEXERS).read(tmp_path))) == 6


ROW = "a 0 {} w XX * - - - - * {}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this file has no documents"),
        ("a 0 0 w XX * - - - - * -\n", "line 1: expected #begin document"),
        ("#begin document (a); part 000\n#end document\n", "line 1: .* has no words"),
        ("#begin document (a); part 000\n" + ROW.format(0, "-"), "line 1: .* has no #end document"),
        ("#begin document (a); part 000\na 0 0 w XX *\n#end document\n", "line 2: expected 12 columns"),
        (
            "#begin document (a); part 000\n" + ROW.format(0, "(0") + ROW.format(1, "-") + "#end document\n",
            "line 2: .* never closed",
        ),
        (
            "#begin document (a); part 000\n" + ROW.format(0, "0)") + "#end document\n",
            "line 2: .* none is open",
        ),
        (
            "#begin document (a); part 000\n" + ROW.format(0, "((0)") + "#end document\n",
            "line 2: .* not a coreference label",
        ),
    ],
)
def test_what_is_malformed_names_file_and_line(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.gold_conll"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=f"bad.gold_conll.*{message}"):
        list(CorefReader(INDEXERS).read(file))


def test_a_sentence_of_two_thousand_words_is_read(tmp_path: Path) -> None:
    rows = "".join(ROW.format(number, "-") for number in range(2000))
    file = tmp_path / "long.gold_conll"
    file.write_text(f"#begin document (a); part 000\n{rows}\n#end document\n")
    (instance,) = CorefReader(INDEXERS).read(file)
    assert len(instance["sentences"][0]) == 2000
