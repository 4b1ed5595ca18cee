"""Which columns are words and tags, which lines are comments, and what is refused by line and
option.
"""

import logging
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader

from elmo_plugin.tasks.ner import Conll2003Reader
from tests.experiments.configs import FIXTURES, each_file


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#\tO\nVarna\tB-LOC\n\n#rain\tO\n", [("# Varna", "O B-LOC"), ("#rain", "O")]),
        ("# SYM I-NP O\n5 CD I-NP B-X\n", [("# 5", "O B-X")]),
        ("the DT\n# #\n5 CD\n", [("the # 5", "DT # CD")]),
        ("# text = O\nO _ _ O\n\n# text = Mira\nMira _ _ B-PER\n", [("O", "O"), ("Mira", "B-PER")]),
        ("# s1\nMira B-PER\n# s2\nSolt B-PER\n", [("Mira", "B-PER"), ("Solt", "B-PER")]),
        ("#\thttp://x.test [2001]\n1\tMira\tB-PER\n2\tleft\tO\n", [("Mira left", "B-PER O")]),
        ("1 O\n2 O\n3 B-X\n", [("1 2 3", "O O B-X")]),
        ("1 Mira NNP B-PER\n2 left VBD O\n", [("Mira left", "B-PER O")]),
        ("Mira\tB\nSolt\tI\nleft\tO\n", [("Mira Solt left", "B I O")]),
        ("Mira O O B-PER\nleft O O O\n", [("Mira left", "B-PER O")]),
        ("the DT B-NP O\ndog NN I-NP O\n", [("the dog", "O O")]),
        ("the DT B-NP\ndog NN I-NP\n", [("the dog", "B-NP I-NP")]),
        ("Mira\t\tB-X\nSolt\tNN\tI-X\n", [("Mira Solt", "B-X I-X")]),
        ("a\u00a0b B-X\n\u00a0 O\n", [("a\u00a0b \u00a0", "B-X O")]),
        ("Mira\tB-PER\t\nleft\tO\n", [("Mira left", "B-PER O")]),
        (
            "#rain\tHT\nit\tPRP\nfell\tV\n\n#sun\t#\n",
            [("#rain it fell", "HT PRP V"), ("#sun", "#")],
        ),
        ("Mira person\nleft O\nit O\n. O\n", [("Mira left it .", "B-person O O O")]),
        ("O Pron\nit O\nran V\nfar A\nran V\n", [("O it ran far ran", "Pron O V A V")]),
        (
            "doc1 Mira NNP B-PER\ndoc1 left VBD O\n\ndoc2 It PRP O\n",
            [("Mira left", "B-PER O"), ("It", "O")],
        ),
        ("1-2\tdel\t_\t_\t_\n1\tde\tADP\tIN\tO\n2\tel\tDET\tDT\tB-X\n", [("de el", "O B-X")]),
    ],
)
def test_words_and_tags_are_found(
    tmp_path: Path, text: str, expected: list[tuple[str, str]]
) -> None:
    found = read(tmp_path / "f.txt", text)
    assert [(" ".join(words), " ".join(tags)) for words, tags in found] == expected


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("the the DT\ndogs dog NNS\n", {"tag_column": -1}, ("the dogs", "DT NNS")),
        ("the DT B-NP O\ndog NN I-NP B-X\n", {"tag_column": 1}, ("the dog", "DT NN")),
        (
            "Wort\tKlasse\nMira\tB-PER\n",
            {"word_column": "Wort", "tag_column": "Klasse"},
            ("Mira", "B-PER"),
        ),
        ("A|B-X\n|\n", {"separator": "|"}, ("A", "B-X")),
        (
            "Mira PER\nSolt PER\nleft O\n",
            {"source_encoding": "IO"},
            ("Mira Solt left", "B-PER I-PER O"),
        ),
        ("a O\nb I-X\nc O\nd B-X\n", {"source_encoding": "mixed"}, ("a b c d", "O B-X O B-X")),
        ("a B-X\nb NN\n", {"source_encoding": "plain"}, ("a b", "B-X NN")),
        ("caf\xe9 B-X\n", {"file_encoding": "latin-1"}, ("caf\xe9", "B-X")),
        (
            '{"tokens": ["a", "b"], "ner_tags": [0, 1]}\n',
            {"label_names": ["O", "B-X"]},
            ("a b", "O B-X"),
        ),
        (
            '{"s": ["a", "b"], "t": ["O", "B-X"]}\n',
            {"word_column": "s", "tag_column": "t"},
            ("a b", "O B-X"),
        ),
    ],
)
def test_options_choose(
    tmp_path: Path, text: str, options: dict, expected: tuple[str, str]
) -> None:
    content = text.encode(options.get("file_encoding", "utf-8"))
    ((words, tags),) = read(tmp_path / "f.txt", content, **options)
    assert (" ".join(words), " ".join(tags)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1 Mira B-PER O\n2 of I-PER O\n3 Varna I-PER B-LOC\n",
            "1: columns 2 and 3 .* tag_column of the reader chooses",
        ),
        (
            "the the DT\ndogs dog NNS\n",
            "1: columns 1 and 2 may all have tags; the option tag_column",
        ),
        (
            "DT the B-X\nNN dog O\nNN dogs O\n",
            "1: columns 0 and 1 may all have words; the option word_",
        ),
        ("Mira\nleft\n", "1: expected a word and its tag, got one column; the option separator"),
        ("Mira _ _ _\nleft _ _ _\n", "1: no column has tags; the option tag_column"),
        (
            "Mira B-PER\nSolt I-PER\nVarna LOC\n",
            "3: expected a tag .* B-PER, got 'LOC'; source_encoding",
        ),
        ("Mira B:PER\nleft O\nit O\n", "1: expected a tag such as O or B-PER, got 'B:PER'"),
        (
            "Wort\tArt\nMira\tB-PER\nleft\tO\n",
            "1: expected a tag .*, got 'Art'; .* tag_column .* a header",
        ),
        (
            "Mira (PER*\nSolt *)\nleft *\n",
            "1: expected a word and its tag .*; separator or tag_column",
        ),
        (
            "words\tner\n['a' 'b']\t['O' ... 'X']\n",
            "2: expected a list of words as 'words' and of as many",
        ),
        ("Mira\tNN B-PER\nleft\tVB O\n", "1: expected a word and its tag .* 'NN B-PER'; separator"),
        (
            "New York B-LOC\nis O\n",
            "2: expected 3 columns .as in line 1., got 2; the option separator",
        ),
        ("Mira B-PER\rleft O\r", r"1: expected lines that end in \\n"),
        (
            b"Mira O\nSolt\x92s B-X\n",
            "2: not UTF-8 text .*; the option file_encoding names .*'latin-1'",
        ),
        (
            '{"tokens": ["a"], "ner_tags": [3]}\n',
            "1: expected words and tags, got 3; the option label_names",
        ),
        (
            '{"tokens": ["a"], "ner_tags": []}\n',
            "1: expected a list of words as 'tokens' and of as many",
        ),
        (
            '{"tokens": ["a"], "x": ["O"]}\n',
            "1: expected a field such as 'ner_tags' .option tag_column",
        ),
        (
            '{"tokens": ["a"], "tags": ["O"]}\n{"tokens": ["a"], "pos": ["N"]}\n',
            "2: expected a field 'tags'",
        ),
    ],
)
def test_what_is_uncertain_is_refused_by_line_and_option(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"f.txt, line {message}") as error:
        read(tmp_path / "f.txt", text)
    assert "\n" not in str(error.value)


def test_the_log_says_what_was_found(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        read(tmp_path / "f.txt", "1 Mira NNP B-PER\n2 left VBD O\n")
    assert [r.message for r in caplog.records if "f.txt" in r.message] == [
        f"{tmp_path / 'f.txt'}: words in column 1, tags in column 3, BIO"
    ]


@pytest.mark.parametrize(
    ("train", "dev", "expected"),
    [
        ("the DT B-NP B-PER\ndog NN I-NP O\n", "um UH B-UH O\n", "O"),
        ("it PRP\ndog NN\n", "it O\ndog U\n", "O U"),
        ("Mira B-PER\nleft O\n", "it O\n", "O"),
        ("Mira I-PER\nleft O\n", "Solt B-PER\n", "B-PER"),
    ],
)
def test_another_file_of_a_data_set_has_the_columns_and_the_kind_of_the_first(
    tmp_path: Path, train: str, dev: str, expected: str
) -> None:
    reader: DatasetReader = Conll2003Reader({}, tag_encoding="BIO")
    read(tmp_path / "train.txt", train, reader)
    ((_, tags),) = read(tmp_path / "dev.txt", dev, reader)
    assert " ".join(tags) == expected


def test_conllu_has_universal_parts_of_speech_or_another_column(tmp_path: Path) -> None:
    text = "# text = vamos\n1\tvamos\tir\tVERB\tVB\t_\t0\troot\t_\t_\n2\tya\tya\tADV\tRB\t_\t1\tadvmod\t_\t_\n"
    assert read(tmp_path / "f.conllu", text) == [(["vamos", "ya"], ["VERB", "ADV"])]
    assert read(tmp_path / "f.conllu", text, tag_column="XPOS") == [(["vamos", "ya"], ["VB", "RB"])]


def test_a_file_without_blank_lines_is_one_sentence_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert len(read(tmp_path / "f.txt", "Mira B-PER\n" * 501)) == 1
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == [
        f"{tmp_path}/f.txt: a sentence of 501 words; a blank line ends a sentence"
    ]


Sentences = list[tuple[list[str], list[str]]]

MIRA = (["Mira", "Solt", "left", "Varna", "."], ["B-PER", "I-PER", "O", "B-LOC", "O"])
RAIN = (["It", "rained", "."], ["O", "O", "O"])


def read(
    path: Path, content: str | bytes, reader: DatasetReader | None = None, **options: object
) -> Sentences:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    reader = reader or Conll2003Reader({}, tag_encoding="BIO", **options)
    instances = reader.read(path)
    return [
        ([t.text for t in each["tokens"].tokens], list(each["tags"].labels)) for each in instances
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@each_file("ner/formats")
def test_a_public_format_is_read_without_options(tmp_path: Path, file: Path, end: str) -> None:
    text = file.read_text("utf-8").replace("\n", end)
    assert read(tmp_path / file.name, text) == [MIRA, RAIN]
    assert read(tmp_path / file.name, "\ufeff" + text) == [MIRA, RAIN]
    if not file.name.endswith(("csv", "jsonl")):
        spaced = "".join(line + " \n" for line in text.splitlines())
        assert read(tmp_path / file.name, spaced) == [MIRA, RAIN]


SENTENCES = FIXTURES / "ner" / "sentences.txt"


def test_tags_are_bioul_by_default() -> None:
    first, _, third = Conll2003Reader({}).read(SENTENCES)
    assert first["words"].metadata == ["Ada", "Lovelace", "met", "Charles", "in", "London", "."]
    assert first["tags"].labels == ["B-PER", "L-PER", "O", "U-PER", "O", "U-LOC", "O"]
    assert third["tags"].labels == ["U-LOC", "U-LOC", "O", "B-LOC", "I-LOC", "L-LOC"]


@pytest.mark.parametrize(
    ("tags", "encoding", "message"),
    [
        (
            "O I-PER B-PER O B-PER",
            "auto",
            "line 2: expected tags in BIO, got 'I-PER' .*: 'mixed' reads",
        ),
        (
            "O U-PER B-PER",
            "auto",
            "line 3: expected tags in BIOUL, got 'O' after 'B-PER'; .*: 'mixed'",
        ),
        ("I-PER", "BIO", "line 1: expected tags in BIO, got 'I-PER' after 'O'; .*: 'IOB1' reads"),
        (
            "U-PER",
            "BIO",
            "line 1: expected tags in BIO, got 'U-PER' .*; source_encoding: 'BIOUL' reads",
        ),
        (
            "B-PER O",
            "BIOES",
            "line 2: expected tags in BIOES, got 'O' after 'B-PER'; source_encoding: 'BIO'",
        ),
        (
            "O NNP",
            "BIO",
            "line 2: expected a tag such as O or B-PER, got 'NNP'; source_encoding: 'plain'",
        ),
    ],
)
def test_tags_in_another_encoding_than_chosen_are_an_error_with_the_one_that_reads_them(
    tmp_path: Path, tags: str, encoding: str, message: str
) -> None:
    text = "".join(f"word {tag}\n" for tag in tags.split())
    with pytest.raises(ConfigurationError, match=f"data.txt, {message}"):
        read(tmp_path / "data.txt", text, source_encoding=encoding)


@pytest.mark.parametrize(("part", "sentences"), [("train", 3394), ("dev", 1009), ("test", 1287)])
def test_reads_real_data_whole(shared: Path, part: str, sentences: int) -> None:
    assert (
        sum(1 for _ in Conll2003Reader({}).read(shared / "data" / "ner" / f"{part}.txt"))
        == sentences
    )
