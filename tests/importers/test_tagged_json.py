"""Tagged words in the exports of tools for annotation, in spaCy's files, and within text."""

import json
from pathlib import Path
from typing import Any

import pytest
import spacy
from allennlp.common.checks import ConfigurationError
from spacy.tokens import DocBin

from tests.importers.reading import read, read_tags

TEXT = "Ola Bay met Uma in Oslo."
WORDS = ["Ola", "Bay", "met", "Uma", "in", "Oslo", "."]
TAGS = ["B-PER", "I-PER", "O", "B-PER", "O", "B-LOC", "O"]
SPANS = [(0, 7, "PER"), (12, 15, "PER"), (19, 23, "LOC")]
DRY = ("It is dry.", ["It", "is", "dry", "."], ["O"] * 4)
LABELS = [{"start": a, "end": b, "text": TEXT[a:b], "labels": [kind]} for a, b, kind in SPANS]


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def test_tasks_of_label_studio_count_if_somebody_annotated_them(tmp_path: Path) -> None:
    relation = {"from_id": "a", "to_id": "b", "type": "relation"}
    choice = {"value": {"choices": ["fine"]}, "type": "choices"}
    results = [{"value": label, "type": "labels"} for label in LABELS]
    items = [
        {"data": {"text": TEXT}, "annotations": [{"result": [*results, relation, choice]}]},
        {"data": {"text": DRY[0]}, "annotations": []},
    ]
    examples, report = read("ner", tmp_path / "f.json", json.dumps(items))
    assert [list(each.tags) for each in examples] == [TAGS]
    assert report.left_out == {"that nobody annotated": ["item 2"]}


@pytest.mark.parametrize("separator", [",", "\t"])
def test_json_in_a_column_may_be_missing_in_the_first_row(tmp_path: Path, separator: str) -> None:
    quoted = json.dumps(LABELS).replace('"', '""')
    rows = [["id", "text", "label"], ["1", DRY[0], ""], ["2", TEXT, f'"{quoted}"']]
    text = "\n".join(separator.join(row) for row in rows)
    name = "f.csv" if separator == "," else "f.tsv"
    assert read_tags(tmp_path / name, text) == [(DRY[1], DRY[2]), (WORDS, TAGS)]


def test_words_are_those_that_the_annotator_saw(tmp_path: Path) -> None:
    record = {
        "text": "foo-bar Oslo",
        "tokens": [
            {"text": "foo-bar", "start": 0, "end": 7},
            {"text": "Oslo", "start": 8, "end": 12},
        ],
        "spans": [{"start": 0, "end": 7, "label": "X"}],
    }
    assert read_tags(tmp_path / "f.jsonl", lines(record)) == [(["foo-bar", "Oslo"], ["B-X", "O"])]


@pytest.mark.parametrize("rest", ["", "\n{}"])
def test_json_that_is_nested_too_deeply_is_an_error(tmp_path: Path, rest: str) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    with pytest.raises(ConfigurationError, match=r"f\.json.*: .* nested too deeply"):
        read("ner", tmp_path / "f.json", deep + rest)


@pytest.mark.parametrize("points", [5, {"x": 5}, [5], []])
def test_points_are_dataturks_only_if_they_are_objects(tmp_path: Path, points: Any) -> None:
    span = {"start": 0, "end": 7, "label": "PER", "points": points}
    record = {"text": "Ola Bay left", "spans": [span]}
    assert read_tags(tmp_path / "f.jsonl", lines(record)) == [
        (["Ola", "Bay", "left"], ["B-PER", "I-PER", "O"])
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.jsonl", lines({"sentence": "Ola ran", "ner": "B-PER O"})),
        ("f.csv", 'sentence,tags\nOla ran,"B-PER,O"\n'),
        (
            "f.csv",
            "Sentence #,Sentence,POS,Tag\nSentence: 1,Ola ran,\"['N', 'V']\",\"['B-PER', 'O']\"\n",
        ),
        (
            "f.json",
            json.dumps({"rows": [{"row": {"tokens": ["Ola", "ran"], "ner": ["B-PER", "O"]}}]}),
        ),
    ],
)
def test_words_and_tags_may_be_texts_with_spaces(tmp_path: Path, name: str, text: str) -> None:
    assert read_tags(tmp_path / name, text) == [(["Ola", "ran"], ["B-PER", "O"])]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("f.csv", 'satz,marken\n"Ada left","B-PER O"\n"Bo ran","B-PER O"\n'),
        ("f.jsonl", '{"satz": ["Ada", "left"], "marken": ["B-PER", "O"]}\n'),
    ],
)
def test_keys_of_whole_sentences_are_chosen_by_their_names_or_numbers(
    tmp_path: Path, name: str, content: str
) -> None:
    by_name = read_tags(tmp_path / name, content, columns={"word": "satz", "tag": "marken"})
    by_number = read_tags(tmp_path / name, content, columns={"word": "0", "tag": "1"})
    assert by_number == by_name
    assert by_name[0] == (["Ada", "left"], ["B-PER", "O"])


def test_tags_that_are_numbers_ask_for_their_names(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="line 1: the tag is a number, 1; --label-names"):
        read_tags(tmp_path / "f.jsonl", lines({"tokens": ["Ola", "ran"], "ner_tags": [1, 0]}))


@pytest.mark.parametrize("name", ["f.py", "f.txt"])
@pytest.mark.parametrize("beginning", ["TRAIN_DATA = ", "# my data\nDATA=", ""])
def test_examples_in_python_are_read_as_data(tmp_path: Path, name: str, beginning: str) -> None:
    examples = [(TEXT, {"entities": SPANS}), (DRY[0], {"entities": []})]
    found = read_tags(tmp_path / name, f"{beginning}{examples!r}\n")
    assert found == [(WORDS, TAGS), (DRY[1], DRY[2])]


def test_other_programs_are_not_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"got other Python \(malformed .* line 1\)$"):
        read_tags(tmp_path / "f.py", 'DATA = [("a", {"entities": open("x")})]\n')


def test_documents_of_spacy_are_read(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    doc = nlp(TEXT)
    doc.ents = [doc.char_span(start, end, kind) for start, end, kind in SPANS]
    content = DocBin(docs=[doc, nlp(DRY[0])]).to_bytes()
    assert read_tags(tmp_path / "f.spacy", content) == [(WORDS, TAGS), (DRY[1], DRY[2])]
    with pytest.raises(ConfigurationError, match=r"f.spacy: not a .spacy file that can be read"):
        read_tags(tmp_path / "f.spacy", b"text")


def test_a_type_of_several_words_in_spacy_has_underscores(tmp_path: Path) -> None:
    doc = spacy.blank("en")("Oslo is far.")
    doc.ents = [doc.char_span(0, 4, "big city")]
    expected = [(["Oslo", "is", "far", "."], ["B-big_city", "O", "O", "O"])]
    assert read_tags(tmp_path / "f.spacy", DocBin(docs=[doc]).to_bytes()) == expected


def test_the_json_that_trained_spacy_2_is_read(tmp_path: Path) -> None:
    encoded = ["B-PER", "L-PER", "O", "U-PER", "O", "U-LOC", "O"]
    pairs = zip(WORDS, encoded, strict=True)
    tokens = [{"id": n, "orth": word, "ner": tag} for n, (word, tag) in enumerate(pairs)]
    content = [{"id": 0, "paragraphs": [{"sentences": [{"tokens": tokens, "brackets": []}]}]}]
    assert read_tags(tmp_path / "f.json", json.dumps(content)) == [(WORDS, TAGS)]


@pytest.mark.parametrize("part", [slice(0, -9), slice(0, 0)])
def test_malformed_json_that_trained_spacy_2_is_an_error(tmp_path: Path, part: slice) -> None:
    token = {"id": 0, "orth": "Ada", "ner": "U-PER"}
    document = {"id": 0, "paragraphs": [{"sentences": [{"tokens": [token], "brackets": []}]}]}
    text = json.dumps([document, document])
    malformed = text[part] or text.replace("U-PER", "Q-PER")
    with pytest.raises(ConfigurationError, match=r"f\.json: not JSON by which spaCy 2"):
        read_tags(tmp_path / "f.json", malformed)


def test_elements_around_entities_are_read(tmp_path: Path) -> None:
    ontonotes = (
        '<DOC DOCNO="bn/abc@en@on">\n<ENAMEX TYPE="ORG" S_OFF="1">A &amp; B</ENAMEX> -LRB- in '
        '<ENAMEX TYPE="GPE">Oslo</ENAMEX> -RRB-\nIt is dry .\n</DOC>\n'
    )
    assert read_tags(tmp_path / "f.name", ontonotes) == [
        (
            ["A", "&", "B", "(", "in", "Oslo", ")"],
            ["B-ORG", "I-ORG", "I-ORG", "O", "O", "B-GPE", "O"],
        ),
        (["It", "is", "dry", "."], ["O"] * 4),
    ]
    text = 'He saw <ENAMEX TYPE="PERSON">Ola Bay</ENAMEX>.\n<ENAMEX TYPE="X">a <TIMEX TYPE="Y">b'
    examples, report = read("ner", tmp_path / "f.txt", text)
    assert [list(each.tags) for each in examples] == [["O", "O", "B-PERSON", "I-PERSON", "O"]]
    assert report.left_out.keys() == {"with entities that overlap"}


@pytest.mark.parametrize(
    ("before", "after"), [('<ENAMEX TYPE="ORG">', "</ENAMEX>"), ("<ORG>", "</ORG>")]
)
def test_no_line_of_an_entity_in_several_lines_is_used(
    tmp_path: Path, before: str, after: str
) -> None:
    whole = f"{before}Bay{after} is dry .\n"
    text = f"<p>\n{whole}The {before}Bay\nof\nOslo{after} is dry .\n</p>\n{whole}It is dry .\n"
    examples, report = read("ner", tmp_path / "f.txt", text)
    assert [" ".join(each.words) for each in examples] == [
        "Bay is dry .",
        "Bay is dry .",
        "It is dry .",
    ]
    assert report.left_out["with entities that begin in another line"] == ["line 4", "line 5"]


HEAD = "#FORMAT=WebAnno TSV 3.3\n#T_SP=a.b.POS|PosValue\n#T_SP=a.b.NamedEntity|identifier|value\n\n"


def test_named_entities_of_webanno_are_preferred_and_unescaped(tmp_path: Path) -> None:
    rows = ["1-1\t0-1\tA\\_b\tNN\t*[1]\tX\\_Y[1]\t", "1-1.1\t0-1\tA\t_\t_\tZ\t"]
    rows.append("1-2\t2-3\tc\tNN\t*[1]\tX\\_Y[1]\t")
    examples, report = read("ner", tmp_path / "f.tsv", HEAD + "\n".join(rows))
    assert [(each.words, each.tags) for each in examples] == [(["A_b", "c"], ["B-X_Y", "I-X_Y"])]
    assert "annotations of parts of words are left out" in report.findings


def test_a_column_of_webanno_is_chosen_by_its_number_or_name_or_refused(tmp_path: Path) -> None:
    text = HEAD + "1-1\t0-1\tA\tNN\t*\tX\t\n"
    for chosen in ("3", "POS PosValue"):
        found = read_tags(tmp_path / "f.tsv", text, columns={"tag": chosen})
        assert found == [(["A"], ["B-NN"])]
    for unknown in ("POS", "2", "6"):
        with pytest.raises(ConfigurationError, match=rf"5 \(NamedEntity value\), got '{unknown}'"):
            read_tags(tmp_path / "f.tsv", text, columns={"tag": unknown})


@pytest.mark.parametrize("field", ["*", "*[1]", "_", ""])
def test_spans_of_webanno_without_a_label_are_no_entities(tmp_path: Path, field: str) -> None:
    rows = f"1-1\t0-1\tA\t_\t_\t{field}\t\n1-2\t2-3\tb\t_\t_\t{field}\t\n"
    rows += "1-3\t4-5\tC\t_\t_\t\\*[2]\t\n1-4\t6-7\tD\t_\t_\t\\*[2]\t\n"
    found = read_tags(tmp_path / "f.tsv", HEAD + rows)
    assert found == [(["A", "b", "C", "D"], ["O", "O", "B-*", "I-*"])]


def test_stacked_annotations_are_refused_naming_the_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="line 5: expected one span at each word, got two"):
        read_tags(tmp_path / "f.tsv", HEAD + "1-1\t0-1\tA\t_\t_\tX[1]|Y[2]\t\n")
    for task in ("ner", "tag"):
        with pytest.raises(ConfigurationError, match="line 2: expected one tag for each word"):
            read_tags(tmp_path / "f.txt", "The\tO\nBank\tB-ORG|B-DEPT\nran\tO\n", task)


@pytest.mark.parametrize(
    "text",
    [
        "He left\nShe came\nThey slept\n",
        "Birds bird\nsang sing\ntrees tree\n",
        "The/DT dog/NN barks/VBZ .\nA/DT cat/NN sleeps/VBZ ./.\n",
    ],
)
def test_words_and_lemmas_are_not_taken_for_tags(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"line 1: .* --column tag=NAME chooses one"):
        read_tags(tmp_path / "f.txt", text, "tag")


def test_lemmas_beside_parts_of_speech_are_passed_over(tmp_path: Path) -> None:
    text = "Birds\tNNS\tbird\nsang\tVVD\tsing\nin\tIN\tin\ntrees\tNNS\ttree\n.\tSENT\t.\n"
    ((words, tags),) = read_tags(tmp_path / "f.txt", text, "tag")
    assert (words[0], tags) == ("Birds", ["NNS", "VVD", "IN", "NNS", "SENT"])


@pytest.mark.parametrize("content", ["", "\n", "[]", "[]\n", "-DOCSTART- -X- O O\n\n"])
def test_nothing_comes_out_of_nothing(tmp_path: Path, content: str) -> None:
    assert read_tags(tmp_path / "f.json", content) == []


def test_bytes_that_several_alphabets_share_are_a_question(tmp_path: Path) -> None:
    content = bytes([0xE9, 0xF8, 0xE5, 0xF9, 0xEC, 0xE9, 0xED, 0x20, 0x4F, 0x0A])  # Hebrew
    with pytest.raises(ConfigurationError, match=r"it may be .* or .*; --encoding names one"):
        read_tags(tmp_path / "f.txt", content)


def test_an_element_of_the_layout_does_not_end_an_entity(tmp_path: Path) -> None:
    text = '<ENAMEX TYPE="PERSON">Ola <b>Bay</b> Li</ENAMEX> ran\n'
    expected = (["Ola", "Bay", "Li", "ran"], ["B-PERSON", "I-PERSON", "I-PERSON", "O"])
    assert read_tags(tmp_path / "f.txt", text) == [expected]


def test_a_second_list_of_examples_in_python_is_an_error(tmp_path: Path) -> None:
    text = 'TRAIN = [("Ada left.", {"entities": [(0, 3, "PER")]})]\nprint(TRAIN)\nDEV = [("Bo",)]\n'
    with pytest.raises(ConfigurationError, match=r"f.py, line 3: expected one list of examples"):
        read_tags(tmp_path / "f.py", text)


def test_examples_in_python_that_json_lacks_are_an_error(tmp_path: Path) -> None:
    text = 'TRAIN_DATA = [("Ada left.", {"entities": {(0, 3, "PER")}})]\n'
    with pytest.raises(ConfigurationError, match="expected a list such as"):
        read_tags(tmp_path / "f.py", text)


@pytest.mark.parametrize(
    ("last", "message"),
    [
        ("a 0 1 ran", "line 1002: expected the columns of CoNLL-2012, at least 12, got 4"),
        ("a 0 1 ran VBD * - - - - (PER* -", "line 1002: expected the closing bracket of 'PER'"),
        ("a 0 1 ran VBD * - - - - *) -", r"line 1002: expected an entity in brackets, got '\*\)'"),
    ],
)
def test_wrong_rows_of_conll_2012_are_an_error_wherever_they_stand(
    tmp_path: Path, last: str, message: str
) -> None:
    rows = ["a 0 0 Ola NNP * - - - - (PER) -"] * 1000
    text = "\n".join([*rows, "", last, ""])
    with pytest.raises(ConfigurationError, match=message):
        read_tags(tmp_path / "f.conll", text)


def test_tabs_and_line_ends_within_words_do_not_break_the_columns(tmp_path: Path) -> None:
    record = {"words": ["a\tb", "c\r\nd", "\te\n", "f"], "tags": ["O", "B-X", "O", "O"]}
    for task in ("ner", "tag"):
        examples, report = read(task, tmp_path / "f.jsonl", lines(record, record))
        assert [example.words for example in examples] == [["a b", "c d", "e", "f"]] * 2
        assert report.findings.count("tabs and line ends within words become spaces") == 1
    record = {"words": ["a", "\u3000\t", "\xa0\n"], "tags": ["B-X", "O", "O"]}
    assert read_tags(tmp_path / "f.jsonl", lines(record))[0][0] == ["a", "\u3000", "\xa0"]
    record = {"words": ["a", "b"], "tags": ["NN", "N\tN"]}
    with pytest.raises(ConfigurationError, match=r"line 1: .* got the tag 'N\\tN'"):
        read("tag", tmp_path / "f.jsonl", lines(record))
