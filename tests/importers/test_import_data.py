"""`elmo import`: what it writes, what it says, and how data are split."""

from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.commands.main import main
from elmo_plugin.importers import IMPORTERS
from elmo_plugin.importers.import_data import split_examples
from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.tasks.ner import Conll2003Reader
from tests.importers.reading import read, read_tags

COLUMNS = "1 Mira NNP I-PER\n2 ran VBD O\n\n1 It PRP O\n2 fell VBD O\n"


def test_a_folder_is_converted_to_the_readers_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.txt").write_text(COLUMNS)
    (tmp_path / "dev.txt").write_text(COLUMNS)
    main(["import", "ner", str(tmp_path), "-o", str(tmp_path / "data")])
    assert (tmp_path / "data" / "train.txt").read_text() == (
        "Mira\tB-PER\nran\tO\n\nIt\tO\nfell\tO\n\n"
    )
    assert len(list(Conll2003Reader({}).read(tmp_path / "data" / "dev.txt"))) == 2
    said = capsys.readouterr().out
    assert "the words are in column '1', the tags in column '3'" in said
    assert "train: 2 sentences; entities: PER (1)" in said


def test_a_dry_run_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text(COLUMNS)
    main(["import", "ner", str(tmp_path / "a.txt"), "--dry-run"])
    assert "train: 2 sentences" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == [tmp_path / "a.txt"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected --output FOLDER, or --dry-run"),
        (["-o", "old"], "already exists; name a new folder"),
        (
            ["--dry-run", "--column", "text=a"],
            "--column: expected word=NAME, tag=NAME, got 'text=a'",
        ),
        (["--dry-run", "--column", "tag=9"], "--column tag: expected one of 4 columns"),
        (["--dry-run", "--encoding", "none"], "--encoding: Python knows no 'none'"),
        (["--dry-run", "--separator", "ab"], "--separator: expected one character"),
        (["--dry-run", "--tags", "BOI"], "--tags"),
        (["--dry-run", "--split", "2"], "--split: expected a number between 0 and 1"),
    ],
)
def test_mistakes_are_reported_in_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(COLUMNS)
    Path("old").mkdir()
    with pytest.raises(SystemExit) as end:
        main(["import", "ner", "a.txt", *arguments])
    assert message in str(end.value) + capsys.readouterr().err


def sentence(number: int, document: str | None) -> TaggedSentence:
    return TaggedSentence([f"line {number}"], [f"w{number}"], ["O"], document)


@given(st.lists(st.sampled_from([None, "a", "b", "c"]), min_size=8), st.floats(0.05, 0.95))
def test_a_split_keeps_documents_whole_and_every_example(
    documents: list[str | None], share: float
) -> None:
    examples = [sentence(number, document) for number, document in enumerate(documents)]
    importer = IMPORTERS["ner"]
    if len(set(documents)) < 2 and None not in documents:
        with pytest.raises(ConfigurationError, match="--split"):
            split_examples(importer, examples, share)
        return
    train, dev = split_examples(importer, examples, share)
    assert train and dev
    assert sorted(train + dev, key=lambda each: int(each.words[0][1:])) == examples
    both = {each.document for each in train} & {each.document for each in dev}
    assert both <= {None}
    assert split_examples(importer, examples, share) == (train, dev)


def test_a_label_missing_from_the_training_data_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("text,label\nNever again!,bad\nSo good.,good\n")
    (tmp_path / "dev.csv").write_text("text,label\nNever again!,bad\nNever again!,Bad\n")
    with pytest.raises(SystemExit, match="'Bad' is not in the training data; did you mean 'bad'"):
        main(["import", "classify", str(tmp_path), "--dry-run"])


@pytest.mark.parametrize("task", [name for name in IMPORTERS if name != "srl"])
def test_a_table_of_blank_rows_has_no_rows(
    task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text(",,\n,,\n")
    with pytest.raises(SystemExit):
        main(["import", task, str(tmp_path / "a.csv"), "--dry-run"])
    assert "a.csv" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["predict", "sst", str(tmp_path / "a.csv")])
    assert "a.csv: no rows in this file" in capsys.readouterr().err


def test_quotation_marks_enclose_lines_of_a_text_and_stand_alone_as_words(tmp_path: Path) -> None:
    # In both files each line has one comma.
    reviews = 'text,label\n"He came, and\nsaw",pos\n"It rains, so\nwe stay",neg\n'
    texts, _ = read("classify", tmp_path / "reviews.csv", reviews)
    assert [(each.text, each.label) for each in texts] == [
        ("He came, and saw", "pos"),
        ("It rains, so we stay", "neg"),
    ]
    words = 'word,tag\n",O\nHi,O\n",O\nsaid,O\nAda,B-PER\n.,O\n'
    [(found, tags)] = read_tags(tmp_path / "words.csv", words)
    assert found == ['"', "Hi", '"', "said", "Ada", "."]
    assert tags == ["O", "O", "O", "O", "B-PER", "O"]
    last = 'tag,word\nO,"\nO,Hi\nO,"\nO,said\nB-PER,Ada\nO,.\n'
    assert read_tags(tmp_path / "last.csv", last) == [(found, tags)]
