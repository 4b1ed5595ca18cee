import gzip
import json
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary

from elmo_plugin.language_model import corpus as corpus_module
from elmo_plugin.language_model.corpus import prepare_corpus
from elmo_plugin.language_model.reader import BiLmTextReader
from tests.commands.run import run

SENTENCES = ["a b a", "c b a", "d ' a\u200bb b", "@@UNKNOWN@@ \ufeffx"]


@pytest.fixture
def text(tmp_path: Path) -> str:
    (tmp_path / "text-0.txt").write_text("\n".join(SENTENCES[:2]), encoding="utf-8")
    (tmp_path / "text-1.txt.gz").write_bytes(gzip.compress("\n".join(SENTENCES[2:]).encode()))
    return str(tmp_path / "text-*")


def words_of(directory: Path) -> list[str]:
    vocabulary = Vocabulary.from_files(directory).get_index_to_token_vocabulary("words")
    assert sorted(vocabulary) == list(range(len(vocabulary)))
    return [vocabulary[number] for number in sorted(vocabulary)]


def test_the_command_writes_a_vocabulary_and_the_figures_of_the_text(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    out = tmp_path / "out" / "vocabulary"
    cache = tmp_path / "cache"
    run("vocab", text, "-o", out, "--min-count", 2, "--cache", cache)
    assert words_of(out) == ["@@PADDING@@", "@@UNKNOWN@@", "<S>", "</S>", "a", "b"]
    figures = {"tokens": 12, "sentences": 4, "types": 8, "words": 2, "coverage": 6 / 12}
    assert json.loads((tmp_path / "out" / "vocabulary.corpus.json").read_text()) == figures
    assert sorted(path.name for path in out.parent.iterdir()) == ["vocabulary", "vocabulary.corpus.json"]
    assert "tokens: 12\n" in capsys.readouterr().out
    monkeypatch.setattr(
        corpus_module, "write_corpus_chunk", lambda *args: pytest.fail("the text is not prepared yet")
    )
    prepare_corpus(BiLmTextReader().shards(text), cache)


@pytest.mark.parametrize("limits", [(1, None), (2, None), (1, 3), (2, 7)])
def test_it_is_the_vocabulary_that_allennlp_makes_of_the_instances(
    text: str, tmp_path: Path, limits: tuple[int, int | None]
) -> None:
    min_count, max_size = limits
    limits_given = ["--min-count", min_count, *([] if max_size is None else ["--max-size", max_size])]
    run("vocab", text, "-o", tmp_path / "out", *limits_given, "--cache", tmp_path / "cache")
    expected = Vocabulary.from_instances(
        BiLmTextReader().read(text), min_count={"words": min_count}, max_vocab_size={"words": max_size}
    )
    numbers = expected.get_index_to_token_vocabulary("words")
    assert words_of(tmp_path / "out") == [numbers[number] for number in range(len(numbers))]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--min-count", 5], r"leave out <S> or </S> .they occur 4 times"),
        (["--max-size", 1], "leave out <S> or </S>"),
    ],
)
def test_limits_that_cannot_be_are_refused(text: str, tmp_path: Path, options: list, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        run("vocab", text, "-o", tmp_path / "out", "--cache", tmp_path / "cache", *options)
    assert not (tmp_path / "out").exists() and not (tmp_path / "out.corpus.json").exists()


def test_what_is_there_already_is_kept(text: str, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(ConfigurationError, match=f"{tmp_path / 'out'} already exists"):
        run("vocab", text, "-o", tmp_path / "out", "--cache", tmp_path / "cache")
    assert not any((tmp_path / "out").iterdir())
