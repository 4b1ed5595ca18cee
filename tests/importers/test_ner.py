"""Which columns are words and tags, which lines are comments, and what is refused by line and
option.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError

from tests.experiments.configs import each_file
from tests.importers.reading import read, read_tags

MIRA = (["Mira", "Solt", "left", "Varna", "."], ["B-PER", "I-PER", "O", "B-LOC", "O"])
RAIN = (["It", "rained", "."], ["O", "O", "O"])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@each_file("ner/formats")
def test_public_formats_are_read_without_options(tmp_path: Path, file: Path, end: str) -> None:
    text = file.read_text("utf-8").replace("\n", end)
    assert read_tags(tmp_path / file.name, text) == [MIRA, RAIN]
    assert read_tags(tmp_path / file.name, "\ufeff" + text) == [MIRA, RAIN]
    assert read_tags(tmp_path / file.name, text.encode("utf-16")) == [MIRA, RAIN]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#\tO\nVarna\tB-LOC\n\n#rain\tO\n", [("# Varna", "O B-LOC"), ("#rain", "O")]),
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
        ("a\u00a0b B-X\n\u00a0c O\n", [("a\u00a0b \u00a0c", "B-X O")]),
        ("Mira person\nleft O\nit O\n. O\n", [("Mira left it .", "B-person O O O")]),
        (
            "doc1 Mira NNP B-PER\ndoc1 left VBD O\n\ndoc2 It PRP O\n",
            [("Mira left", "B-PER O"), ("It", "O")],
        ),
        ("1-2\tdel\t_\t_\t_\n1\tde\tADP\tIN\tO\n2\tel\tDET\tDT\tB-X\n", [("de el", "O B-X")]),
        ("a I-X\nb I-X\n\nc O\nd B-X\n", None),
    ],
)
def test_words_and_entities_are_found(
    tmp_path: Path, text: str, expected: list[tuple[str, str]] | None
) -> None:
    if expected is None:
        with pytest.raises(ConfigurationError, match=r"f.txt, line \d: expected tags in .* --tags"):
            read_tags(tmp_path / "f.txt", text)
        return
    found = read_tags(tmp_path / "f.txt", text)
    assert [(" ".join(words), " ".join(tags)) for words, tags in found] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the DT\n# #\n5 CD\n", [("the # 5", "DT # CD")]),
        (
            "#rain\tHT\nit\tPRP\nfell\tV\n\n#sun\t#\n",
            [("#rain it fell", "HT PRP V"), ("#sun", "#")],
        ),
        ("The/DT dog/NN\nsleeps/VBZ ./.\n", [("The dog", "DT NN"), ("sleeps .", "VBZ .")]),
        ("The|DT dog|NN\nsleeps|VBZ .|.\n", [("The dog", "DT NN"), ("sleeps .", "VBZ .")]),
        ("The|DT|x dog|NN|y\nsleeps|VBZ|x .|.|y\n", [("The dog", "x y"), ("sleeps .", "x y")]),
        ("1/2/CD of/IN\nit/PRP ./.\n", [("1/2 of", "CD IN"), ("it .", "PRP .")]),
    ],
)
def test_words_and_other_tags_are_found(
    tmp_path: Path, text: str, expected: list[tuple[str, str]]
) -> None:
    found = read_tags(tmp_path / "f.txt", text, task="tag")
    assert [(" ".join(words), " ".join(tags)) for words, tags in found] == expected


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        (
            "Wort\tKlasse\nMira\tB-PER\n",
            {"columns": {"word": "Wort", "tag": "Klasse"}},
            ("Mira", "B-PER"),
        ),
        ("the DT B-NP O\ndog NN I-NP B-X\n", {"columns": {"tag": "2"}}, ("the dog", "B-NP I-NP")),
        ("A|B-X\nb|O\n", {"separator": "|"}, ("A b", "B-X O")),
        ("A/B-X b/O\n", {"separator": "/"}, ("A b", "B-X O")),
        (
            "Mira PER\nSolt PER\nleft O\n",
            {"tag_encoding": "IO"},
            ("Mira Solt left", "B-PER I-PER O"),
        ),
        ("a O\nb I-X\nc O\nd B-X\n", {"tag_encoding": "mixed"}, ("a b c d", "O B-X O B-X")),
        (
            '{"tokens": ["a", "b"], "ner_tags": [0, 1]}\n',
            {"labels": ["O", "B-X"]},
            ("a b", "O B-X"),
        ),
        (
            '{"s": ["a", "b"], "t": ["O", "B-X"]}\n',
            {"columns": {"word": "s", "tag": "t"}},
            ("a b", "O B-X"),
        ),
    ],
)
def test_options_choose_the_columns(
    tmp_path: Path, text: str, options: dict[str, Any], expected: tuple[str, str]
) -> None:
    ((words, tags),) = read_tags(tmp_path / "f.txt", text, **options)
    assert (" ".join(words), " ".join(tags)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1 Mira B-PER O\n2 of I-PER O\n3 Varna I-PER B-LOC\n",
            "1: columns '2' and '3' .*--column tag=NAME chooses",
        ),
        (
            "DT the B-X\nNN dog O\nNN dogs O\n",
            "1: columns '0' and '1' may all have words; --column word=NAME",
        ),
        ("Mira\nleft\n", "1: expected a word and its tag, got one column; --separator"),
        ("Mira _ _ _\nleft _ _ _\n", "1: no column has tags; --column tag=NAME"),
        ("Mira B-PER\nSolt I-PER\nVarna LOC\n", "3: expected a tag .* B-PER, got 'LOC'; --tags"),
        ("Mira (PER*\nSolt *)\nleft *\n", "1: no column has tags; --column tag"),
        ("New York B-LOC\nis O\n", r"\d: expected . columns as in most lines, got"),
        ("Mira B-PER\n" * 2000, "1: a sentence of 2,000 words"),
        (
            "米拉一九一一年离开了瓦尔纳搬到了河边 B-PER\n雨 O\n",
            "1: expected words, got a whole text",
        ),
    ],
)
def test_ambiguous_input_is_an_error_naming_line_and_option(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"f.txt, line {message}") as error:
        read_tags(tmp_path / "f.txt", text)
    assert "\n" not in str(error.value)


def test_a_tag_cannot_be_chosen_from_the_only_column(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"f\.txt, line 1: expected a word and its tag"):
        read_tags(tmp_path / "f.txt", "O\nB-PER\n", columns={"tag": "0"})


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Satz;Wort;Etikett\n1;Mira;persona\n;Solt;persona\n;ging;\n2;Köln;lugar\n", "cp1252"),
        (
            "Frase\tPalabra\tEntidad\n1\tMira\tpersona\n1\tSolt\tpersona\n1\tging\tO\n2\tKöln\tlugar\n",
            "utf-16",
        ),
        ("वाक्य,शब्द,टैग\n1,Mira,persona\n,Solt,persona\n,ging,\n2,Köln,lugar\n", "utf-8-sig"),
    ],
)
def test_spreadsheets_without_standard_headers_are_recognized_by_content(
    tmp_path: Path, text: str, encoding: str
) -> None:
    found = read_tags(tmp_path / "f.csv", text.encode(encoding), tag_encoding="IO")
    assert found == [
        (["Mira", "Solt", "ging"], ["B-persona", "I-persona", "O"]),
        (["Köln"], ["B-lugar"]),
    ]


def test_conllu_gives_universal_parts_of_speech_or_the_chosen_column(tmp_path: Path) -> None:
    text = "# text = vamos\n1\tvamos\tir\tVERB\tVB\t_\t0\troot\t_\t_\n2\tya\tya\tADV\tRB\t_\t1\tadvmod\t_\t_\n"
    file = tmp_path / "f.conllu"
    assert read_tags(file, text, "tag") == [(["vamos", "ya"], ["VERB", "ADV"])]
    assert read_tags(file, text, "tag", columns={"tag": "XPOS"}) == [
        (["vamos", "ya"], ["VB", "RB"])
    ]


def test_lemmas_are_not_read_as_tags(tmp_path: Path) -> None:
    text = "1\tBirds\tbird\t_\t_\t_\t_\t_\t_\t_\n2\tsang\tsing\t_\t_\t_\t_\t_\t_\t_\n"
    with pytest.raises(ConfigurationError, match="no column has tags; --column tag=NAME"):
        read_tags(tmp_path / "f.conllu", text, "tag")


def test_entities_under_a_key_in_a_column_are_read(tmp_path: Path) -> None:
    text = "1\tOla\t_\tPROPN\t_\t_\t2\tnsubj\t_\tname=B-PER\n2\tran\t_\tVERB\t_\t_\t0\troot\t_\tGloss=x|name=O\n"
    assert read_tags(tmp_path / "f.conllu", text) == [(["Ola", "ran"], ["B-PER", "O"])]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("de:Ola B-PER\nde:: O\n", ["Ola", ":"]),
        ("de:Ola B-PER\nen:ran O\n", ["Ola", "ran"]),
        ("w[0]=Ola B-PER\nw[0]=ran O\nw[0]=. O\n", ["Ola", "ran", "."]),
        ("http://a B-X\nhttp://b O\n", ["http://a", "http://b"]),
        ("at:Ola B-PER\nand/or O\n", ["at:Ola", "and/or"]),
    ],
)
def test_a_prefix_shared_by_all_words_is_removed_and_reported(
    tmp_path: Path, text: str, words: list[str]
) -> None:
    examples, report = read("ner", tmp_path / "f.txt", text)
    assert list(examples[0].words) == words
    assert ("lose their prefix" in "".join(report.findings)) == (words[0] == "Ola")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.csv", "tokens,tags\n\"['Ola', 'ran']\",\"['B-PER', 'O']\"\n"),
        ("f.csv", "tokens,tags\n\"['Ola' 'ran']\",\"['B-PER'\n 'O']\"\n"),
        ("f.tsv", "tokens\ttags\n['Ola', 'ran']\t['B-PER', 'O']\n"),
        ("f.in", "Ola ran\n"),
    ],
)
def test_sentences_in_rows_and_in_parallel_files_are_read(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / "f.out").write_text("B-PER O\n")
    assert read_tags(tmp_path / name, text) == [(["Ola", "ran"], ["B-PER", "O"])]


@pytest.mark.parametrize("end_of_words", ["", "\n", "\n\n", "\n \n\n"])
@pytest.mark.parametrize("end_of_tags", ["", "\n", "\n\n"])
def test_parallel_files_may_end_in_blank_lines(
    tmp_path: Path, end_of_words: str, end_of_tags: str
) -> None:
    (tmp_path / "f.out").write_text("O\n\nB-PER O" + end_of_tags)
    assert read_tags(tmp_path / "f.in", "It\n\nOla ran" + end_of_words) == [
        (["It"], ["O"]),
        (["Ola", "ran"], ["B-PER", "O"]),
    ]


@pytest.mark.parametrize("numbers", [[""] * 7, ["0,", "1,", "2,", "3,", ",", "4,", "5,"]])
def test_marks_of_documents_in_tables_are_no_words(tmp_path: Path, numbers: list[str]) -> None:
    rows = ["-DOCSTART-,O", "Ola,B-PER", "ran,O", "-DOCSTART-,O", ",", "Ann,B-PER", "ate,O"]
    text = "".join(f"{number}{row}\n" for number, row in zip(numbers, rows, strict=True))
    examples, _ = read("ner", tmp_path / "f.csv", text)
    assert [example.words for example in examples] == [["Ola", "ran"], ["Ann", "ate"]]
    assert [example.document for example in examples] == [
        "that begins in line 1",
        "that begins in line 4",
    ]


def test_words_that_contain_the_mark_of_documents_are_words(tmp_path: Path) -> None:
    examples, _ = read("ner", tmp_path / "f.csv", "word,tag\nOla,B-PER\n2-DOCSTARTER,O\n")
    assert [example.words for example in examples] == [["Ola", "2-DOCSTARTER"]]


def test_spans_of_webanno_are_read_as_entities(tmp_path: Path) -> None:
    text = (
        "#FORMAT=WebAnno TSV 3.3\n#T_SP=custom.Span|label\n\n#Text=Ola Bay ran\n"
        "1-1\t0-3\tOla\tPER[1]\t\n1-2\t4-7\tBay\tPER[1]\t\n1-3\t8-11\tran\t_\t\n\n"
        "2-1\t12-15\tUma\tPER[2]\t\n2-2\t16-19\tEli\tPER\t\n"
    )
    assert read_tags(tmp_path / "f.tsv", text) == [
        (["Ola", "Bay", "ran"], ["B-PER", "I-PER", "O"]),
        (["Uma", "Eli"], ["B-PER", "B-PER"]),
    ]


def test_entities_are_read_from_the_brackets_of_conll2012(tmp_path: Path) -> None:
    def row(word: str, entity: str) -> str:
        return f"nw/a 0 0 {word} NN * - - - - {entity} -\n"

    text = "#begin document (nw/a); part 000\n" + row("Ola", "(PER*") + row("Bay", "*)")
    text += row("-LRB-", "*") + "\n" + row("Oslo", "(GPE)") + "\n#end document\n"
    examples, _ = read("ner", tmp_path / "f.conll", text)
    assert [(list(each.words), list(each.tags), each.document) for each in examples] == [
        (["Ola", "Bay", "("], ["B-PER", "I-PER", "O"], ""),
        (["Oslo"], ["B-GPE"], ""),  # the only document
    ]


@pytest.mark.parametrize("speaker", ["Ruth_Bay", "Ruth Bay"])
@pytest.mark.parametrize("document", ["nw/a", "#a"])
def test_words_and_speakers_between_tabs_may_have_spaces(
    tmp_path: Path, speaker: str, document: str
) -> None:
    def row(number: int, word: str, entity: str) -> str:
        cells = [document, "0", str(number), word, "NN", "*", "-", "-", "-", speaker, entity, "-"]
        return "\t".join(cells) + "\n"

    text = f"#begin document ({document}); part 000\n" + row(0, "10 000", "(CARDINAL)")
    text += row(1, "men", "*") + row(2, "#", "*") + "\n#end document\n"
    expected = [(["10 000", "men", "#"], ["B-CARDINAL", "O", "O"])]
    assert read_tags(tmp_path / "f.conll", text) == expected


@pytest.mark.parametrize(
    "comment",
    ["# OntoNotes (5.0)", "# made with -", "# The licenses of all the files below are in (a file)"],
)
def test_a_comment_above_the_documents_does_not_hide_the_entities(
    tmp_path: Path, comment: str
) -> None:
    row = "nw/a 0 0 Oslo NNP * - - - Ruth_Bay (GPE) -\n"
    text = f"{comment}\n\n#begin document (nw/a); part 000\n{row}\n#end document\n"
    assert read_tags(tmp_path / "f.conll", text) == [(["Oslo"], ["B-GPE"])]


TEXT = "Ola met Ruth Bay in Oslo."
WORDS = ["Ola", "met", "Ruth", "Bay", "in", "Oslo", "."]
TAGS = ["B-PER", "O", "B-PER", "I-PER", "O", "B-LOC", "O"]
SPANS = [[0, 3, "PER"], [8, 16, "PER"], [20, 24, "LOC"]]
RASA = {"text": TEXT, "entities": [{"start": s, "end": e, "entity": t} for s, e, t in SPANS]}


@each_file("ner/offsets")
def test_entities_given_as_character_offsets_are_read(tmp_path: Path, file: Path) -> None:
    item = file.read_text()
    assert read_tags(tmp_path / "f.jsonl", f"\ufeff{item}\r\n") == [(WORDS, TAGS)]
    for text in (item * 2, json.dumps([json.loads(item)] * 2, indent=1)):
        assert read_tags(tmp_path / "f.json", text) == [(WORDS, TAGS)] * 2


@pytest.mark.parametrize(
    ("whole", "number"),
    [
        ({"rasa_nlu_data": {"common_examples": [RASA]}}, 1),
        ({"classes": ["PER"], "annotations": [[TEXT, {"entities": SPANS}]] * 2}, 2),
        ({"version": 1, "data": [{"tokens": WORDS, "ner_tags": TAGS}]}, 1),
    ],
)
def test_a_list_inside_a_json_object_is_read(tmp_path: Path, whole: Any, number: int) -> None:
    assert read_tags(tmp_path / "f.json", json.dumps(whole)) == [(WORDS, TAGS)] * number


@pytest.mark.parametrize(
    ("spans", "reason"),
    [
        ([[0, 2, "PER"]], "begin or end within a word"),
        ([[0, 3, "PER"], [0, 7, "X"]], "overlap"),
        ([[20, 99, "LOC"]], "not in the text"),
        ([{"start": 1, "end": 4, "label": "PER", "text": "Ola"}], "not in the text"),
        (["PER"], "malformed"),
        ([[0, 3]], "malformed"),
    ],
)
def test_entities_that_match_no_words_are_skipped_naming_the_line(
    tmp_path: Path, spans: list[Any], reason: str
) -> None:
    text = "".join(json.dumps({"text": TEXT, "spans": each}) + "\n" for each in (SPANS, spans))
    examples, report = read("ner", tmp_path / "f.jsonl", text)
    assert [list(each.words) for each in examples] == [WORDS]
    ((found, places),) = report.left_out.items()
    assert reason in found and len(places) == 1 and places[0].startswith("line 2 (")


def test_rejected_examples_are_left_out_and_the_first_may_have_no_entities(tmp_path: Path) -> None:
    items = [
        {"text": "It rained", "answer": "accept"},
        {"text": "Ola ran", "spans": [[0, 4, "Full Name"]], "answer": "accept"},
        {"text": "x", "spans": [], "answer": "reject"},
    ]
    examples, report = read("ner", tmp_path / "f.jsonl", "\n".join(map(json.dumps, items)))
    assert [list(each.tags) for each in examples] == [["O", "O"], ["B-Full_Name", "O"]]
    assert report.left_out == {"that an annotator rejected": ["line 3"]}


def test_entities_of_two_annotators_are_merged_and_cancelled_ones_are_dropped(
    tmp_path: Path,
) -> None:
    done = {"result": [{"value": {"start": 0, "end": 3, "labels": ["PER"]}}]}
    cancelled = {
        "result": [{"value": {"start": 4, "end": 7, "labels": ["LOC"]}}],
        "was_cancelled": True,
    }
    annotations = ([cancelled, done, done], [cancelled])
    items = [{"data": {"text": "Ola ran"}, "annotations": each} for each in annotations]
    assert read_tags(tmp_path / "f.json", json.dumps(items)) == [(["Ola", "ran"], ["B-PER", "O"])]


def test_tags_that_mark_no_entities_suggest_the_task_tag(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="mark no entities: `elmo import tag`"):
        read_tags(tmp_path / "f.txt", "the DT\ndog NN\n")


@pytest.mark.parametrize(
    "text",
    [
        "-DOCSTART- -X- O\n\na X O\n\nb X O\n\n-DOCSTART- -X- O\n\nc X B-L\n",
        "# newdoc id = x\na X O\n\nb X O\n\n# newdoc id = y\nc X B-L\n",
    ],
)
def test_sentences_know_their_documents_if_there_are_several(tmp_path: Path, text: str) -> None:
    examples, _ = read("ner", tmp_path / "f.txt", text)
    first, second, third = [example.document for example in examples]
    assert first == second != third and first and third


def test_one_document_may_be_split(tmp_path: Path) -> None:
    examples, _ = read("ner", tmp_path / "f.txt", "-DOCSTART- O\n\na O\n\nb B-X\n")
    assert [example.document for example in examples] == ["", ""]


def test_the_words_are_in_the_column_with_their_capitals(tmp_path: Path) -> None:
    rows = "B-PER\tola\tOla\nO\tran\tran\nO\t.\t.\n"
    assert read_tags(tmp_path / "f.tsv", rows) == [(["Ola", "ran", "."], ["B-PER", "O", "O"])]
