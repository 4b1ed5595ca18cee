"""Entities of brat, GLiNER, SpERT, DyGIE++, Rasa, PubTator and XML, in the forms of their tools."""

import json
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from tests.importers.reading import read, read_tags

TEXT = "Ola Bay met Uma in Oslo."
WORDS = ["Ola", "Bay", "met", "Uma", "in", "Oslo", "."]
TAGS = ["B-PER", "I-PER", "O", "B-PER", "O", "B-LOC", "O"]
MARKED = "{Ola Bay|PER} met {Uma|PER} in {Oslo|LOC}."
COLUMNS = "Ola B-PER\nmet O\n\nUma B-PER\nran O\n"


def marked(form: str) -> str:
    """Returns the text with its entities in a form such as `[TEXT](TYPE)`."""
    text = MARKED
    for part in ("Ola Bay|PER", "Uma|PER", "Oslo|LOC"):
        words, kind = part.split("|")
        text = text.replace("{" + part + "}", form.replace("TEXT", words).replace("TYPE", kind))
    return text


GATE = """<?xml version="1.0" encoding="UTF-8"?>
<GateDocument version="3"><TextWithNodes><Node id="0"/>Ola Bay<Node id="7"/> met <Node id="12"/>Uma\
<Node id="15"/> in <Node id="19"/>Oslo<Node id="23"/>.</TextWithNodes>
<AnnotationSet>
<Annotation Id="1" Type="PER" StartNode="0" EndNode="7"></Annotation>
<Annotation Id="2" Type="PER" StartNode="12" EndNode="15"></Annotation>
<Annotation Id="3" Type="LOC" StartNode="19" EndNode="23"></Annotation>
<Annotation Id="4" Type="Token" StartNode="0" EndNode="7"></Annotation>
</AnnotationSet>
<AnnotationSet Name="Original markups">
<Annotation Id="5" Type="p" StartNode="0" EndNode="23"></Annotation>
</AnnotationSet></GateDocument>
"""
BIOC_ENTITY = (
    '<annotation id="1"><infon key="type">{kind}</infon><location offset="{start}" '
    'length="{length}"/></annotation>'
)
BIOC = (
    '<?xml version="1.0"?>\n<collection><document><id>9</id>\n<passage><offset>100</offset><text>'
    + TEXT
    + "</text>"
    + BIOC_ENTITY.format(kind="PER", start=100, length=7)
    + BIOC_ENTITY.format(kind="PER", start=112, length=3)
    + BIOC_ENTITY.format(kind="LOC", start=119, length=4)
    + "</passage></document></collection>"
)
I2B2 = f"""<?xml version="1.0" encoding="UTF-8" ?>
<deIdi2b2>
<TEXT><![CDATA[{TEXT}]]></TEXT>
<TAGS>
<NAME id="P0" start="0" end="7" text="Ola Bay" TYPE="PER" comment="" />
<NAME id="P1" start="12" end="15" text="Uma" TYPE="PER" comment="" />
<LOC id="P2" start="19" end="23" text="Oslo" comment="" />
</TAGS>
</deIdi2b2>
"""
RASA_MARKDOWN = (
    "## intent:tell\n- " + marked("[TEXT](TYPE)") + "\n\n## synonym:oslo\n- Christiania\n"
)
RASA_YAML = """version: "3.1"
nlu:
- intent: tell
  examples: |
    - {text}
- lookup: city
  examples: |
    - Rome
"""
PUBTATOR = (
    f"7|t|{TEXT}\n7|a|\n7\t0\t7\tOla Bay\tPER\tX1\n7\t12\t15\tUma\tPER\n7\t19\t23\tOslo\tLOC\n"
)
FORMS = {
    "gliner.json": json.dumps(
        [{"tokenized_text": WORDS, "ner": [[0, 1, "PER"], [3, 3, "PER"], [5, 5, "LOC"]]}]
    ),
    "gliner.jsonl": json.dumps(
        {"tokenized_text": WORDS, "ner": [[0, 1, "PER"], [3, 3, "PER"], [5, 5, "LOC"]]}
    ),
    "spert.json": json.dumps(
        [
            {
                "tokens": WORDS,
                "entities": [
                    {"type": "PER", "start": 0, "end": 2},
                    {"type": "PER", "start": 3, "end": 4},
                    {"type": "LOC", "start": 5, "end": 6},
                ],
                "relations": [],
            }
        ]
    ),
    "rasa.md": RASA_MARKDOWN,
    "rasa.yml": RASA_YAML.format(text=marked("[TEXT](TYPE)")),
    "objects.yml": RASA_YAML.format(text=marked('[TEXT]{"entity": "TYPE", "value": "x"}')),
    "gate.xml": GATE,
    "bioc.xml": BIOC,
    "i2b2.xml": I2B2,
    "inline.xml": f"<doc>\n<s>{marked('<TYPE>TEXT</TYPE>')}</s>\n</doc>\n",
    "attribute.xml": "<doc><p><hi/>" + marked("<name type='TYPE'>TEXT</name>") + "</p></doc>",
    "lines.txt": marked("<TYPE>TEXT</TYPE>") + "\n",
    "pubtator.txt": PUBTATOR,
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("name", FORMS)
def test_the_entities_of_one_example_are_found(
    tmp_path: Path, name: str, encoding: str, end: str
) -> None:
    content = FORMS[name].replace("\n", end).encode(encoding)
    assert read_tags(tmp_path / name, content) == [(WORDS, TAGS)]


@pytest.mark.parametrize("name", sorted(set(FORMS) - {"i2b2.xml", "inline.xml", "lines.txt"}))
def test_a_type_of_several_words_has_underscores(tmp_path: Path, name: str) -> None:
    tags = [tag.replace("LOC", "big_city") for tag in TAGS]
    assert read_tags(tmp_path / name, FORMS[name].replace("LOC", "big city")) == [(WORDS, tags)]


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ('TYPE="big city"', "big_city"),
        ("TYPE='big city' id=\"1\"", "big_city"),
        ("TYPE=city id=1", "city"),
        ('TYPE="city|person"', "city"),
    ],
)
def test_a_type_of_muc_is_all_words_between_its_quotation_marks(
    tmp_path: Path, attribute: str, expected: str
) -> None:
    text = f"<ENAMEX {attribute}>Oslo</ENAMEX> is far.\n"
    tags = [f"B-{expected}", "O", "O", "O"]
    assert read_tags(tmp_path / "f.txt", text) == [(["Oslo", "is", "far", "."], tags)]


@pytest.mark.parametrize("name", [*FORMS, "f.ann"])
def test_columns_under_the_name_of_another_form_are_columns(tmp_path: Path, name: str) -> None:
    (tmp_path / "f.txt").write_text(COLUMNS)
    if name == "f.ann":
        with pytest.raises(ConfigurationError, match=r"f.ann, line 1: expected such as T1"):
            read_tags(tmp_path / name, "T1 PER 0 3")
    else:
        assert read_tags(tmp_path / name, COLUMNS) == [
            (["Ola", "met"], ["B-PER", "O"]),
            (["Uma", "ran"], ["B-PER", "O"]),
        ]


@pytest.mark.parametrize("form", ["folder", "f.txt", "f.ann"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_the_entities_of_brat_stand_beside_its_texts(
    tmp_path: Path, form: str, encoding: str
) -> None:
    text = "It is dry.\r\n" + TEXT + "\r\n"
    marks = "T1\tPER 11 18\tOla Bay\nT2\tPER 23 26\tUma\nR1\tknows Arg1:T1 Arg2:T2\t\n"
    marks += "T3\tLOC 30 34\tOslo\n#1\tAnnotatorNotes T3\tsure\n"
    (tmp_path / "f.txt").write_bytes(text.encode(encoding))
    (tmp_path / "f.ann").write_bytes(marks.encode(encoding))
    path = tmp_path if form == "folder" else tmp_path / form
    assert read_tags(path) == [(["It", "is", "dry", "."], ["O"] * 4), (WORDS, TAGS)]


def test_brat_counts_the_end_of_a_line_as_two_characters_in_files_of_windows(
    tmp_path: Path,
) -> None:
    (tmp_path / "f.txt").write_bytes(b"Ola ran.\r\nUma ran.\r\nBo and Al Bay.\r\n")
    marks = "T1\tPER 0 3\tOla\nT2\tPER 10 13\tUma\nT3\tPER 20 22;30 33\tBo Bay\n"
    (tmp_path / "f.ann").write_text(marks)
    examples, report = read("ner", tmp_path / "f.txt")
    assert [list(each.tags) for each in examples] == [["B-PER", "O", "O"]] * 2
    assert list(report.left_out) == ["with entities in several pieces"]


def test_the_next_title_ends_a_document_of_pubtator(tmp_path: Path) -> None:
    text = PUBTATOR + PUBTATOR.replace("7|", "8|").replace("\n7\t", "\n8\t")
    assert read_tags(tmp_path / "f.txt", text) == [(WORDS, TAGS), (WORDS, TAGS)]


MOVED = "Ola met Uma Uma."  # the second one is meant
MOVED_BIOC = BIOC_ENTITY.format(kind="PER", start=0, length=3).replace(
    "</annotation>", "<text>Uma</text></annotation>"
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.ann", "T1\tPER 0 3\tUma\n"),
        ("pubtator.txt", f"1|t|{MOVED}\n1|a|\n1\t0\t3\tUma\tPER\n"),
        (
            "i2b2.xml",
            f'<d><TEXT>{MOVED}</TEXT><TAGS><NAME start="0" end="3" text="Uma"/></TAGS></d>',
        ),
        (
            "bioc.xml",
            f"<collection><document><passage><text>{MOVED}</text>{MOVED_BIOC}</passage></document>"
            "</collection>",
        ),
    ],
)
def test_an_entity_whose_places_enclose_other_words_leaves_its_line_out(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / "f.txt").write_text(MOVED)
    examples, report = read("ner", tmp_path / name, text)
    assert list(examples) == []
    [(reason, places)] = report.left_out.items()
    assert reason == "with entities that are not in the text"
    assert "'Uma' is not at characters 0 to 3" in places[0]


def test_an_entity_in_two_pieces_or_over_two_lines_leaves_its_lines_out(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("Ola and Uma Bay ran.\nNew\nYork is far.\nOla ran.\n")
    marks = "T1\tPER 0 3;12 15\tOla Bay\nT2\tLOC 21 29\tNew York\nT3\tPER 38 41\tOla\n"
    (tmp_path / "f.ann").write_text(marks)
    examples, report = read("ner", tmp_path / "f.txt")
    assert [" ".join(each.words) for each in examples] == ["Ola ran ."]
    assert sum(map(len, report.left_out.values())) == 3


def test_annotations_without_their_text_are_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"f.ann: expected the text .* beside it, .*f.txt"):
        read_tags(tmp_path / "f.ann", "T1\tPER 0 3\tOla\n")


def test_the_entities_of_a_document_are_counted_from_its_beginning(tmp_path: Path) -> None:
    record = {
        "doc_key": "d1",
        "sentences": [["It", "is", "dry", "."], WORDS],
        "ner": [[], [[4, 5, "PER"], [7, 7, "PER"], [9, 9, "LOC"]]],
        "relations": [[], []],
    }
    other = {"doc_key": "d2", "sentences": [["No", "."]], "ner": [[]]}
    text = json.dumps(record) + "\n" + json.dumps(other)
    examples, _ = read("ner", tmp_path / "f.jsonl", text)
    assert [(each.words, each.tags, each.document) for each in examples] == [
        (["It", "is", "dry", "."], ["O"] * 4, "d1"),
        (WORDS, TAGS, "d1"),
        (["No", "."], ["O"] * 2, "d2"),
    ]


@pytest.mark.parametrize(
    ("spans", "tags", "about"),
    [
        ([[0, 1, "X"], [3, 3, "X"]], ["B-X", "I-X", "O", "B-X"], "its last word"),
        ([[0, 1, "X"], [3, 4, "X"]], ["B-X", "O", "O", "B-X"], "the word behind it"),
        ([{"start": 0, "end": 1, "type": "X"}], ["B-X", "O", "O", "O"], "the word behind it"),
        ([{"start": 1, "end": 1, "type": "X"}], ["O", "B-X", "O", "O"], "its last word"),
        ([[0, 1, "X y"]], ["B-X_y", "I-X_y", "O", "O"], "its last word"),
    ],
)
def test_an_entity_ends_as_the_file_shows_and_the_report_says(
    tmp_path: Path, spans: list[object], tags: list[str], about: str
) -> None:
    records = [{"tokens": ["a", "b", "c", "d"], "ner": spans}, {"tokens": ["e"], "ner": []}]
    examples, report = read("ner", tmp_path / "f.json", json.dumps(records))
    assert [list(each.tags) for each in examples] == [tags, ["O"]]
    assert any(about in finding for finding in report.findings)


def test_entities_outside_of_the_sentence_and_overlaps_are_left_out(tmp_path: Path) -> None:
    records = [
        {"tokens": ["a", "b"], "ner": [[0, 0, "X"]]},
        {"tokens": ["a", "b"], "ner": [[1, 2, "X"]]},
        {"tokens": ["a", "b"], "ner": [[0, 1, "X"], [1, 1, "Y"]]},
    ]
    examples, report = read("ner", tmp_path / "f.json", json.dumps(records))
    assert [list(each.tags) for each in examples] == [["B-X", "O"]]
    assert list(report.left_out) == [
        "with entities that are not in the sentence",
        "with entities that overlap",
    ]


def test_the_lines_of_a_single_document_may_be_split_apart(tmp_path: Path) -> None:
    examples, _ = read("ner", tmp_path / "f.xml", GATE)
    assert [each.document for each in examples] == [""]


def test_nested_elements_leave_their_sentence_out(tmp_path: Path) -> None:
    text = "<d><s><ORG>Bank of <LOC>Oslo</LOC></ORG> fell.</s><s><LOC>Oslo</LOC></s></d>"
    examples, report = read("ner", tmp_path / "f.xml", text)
    assert [(each.words, each.tags) for each in examples] == [(["Oslo"], ["B-LOC"])]
    assert report.left_out["with entities that overlap"]


EXTERNAL = (
    '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY e SYSTEM "file:///etc/hosts">]>'
    "<d><s>&e; <PER>Ola</PER> ran.</s></d>"
)
BOMB = '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY e0 "aaaaaaaaaa">'
for number in range(1, 10):
    BOMB += f'<!ENTITY e{number} "' + f"&e{number - 1};" * 10 + '">'
BOMB += "]><d><s>&e9; <PER>Ola</PER> ran.</s></d>"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("f.xml", "<?xml version='1.0'?><d><s>Ola ran.</d>", "f.xml: not XML that can be read"),
        ("f.xml", "<d><w>Ola</w><w>ran</w></d>", "f.xml: no entities: expected elements"),
        ("f.yml", "nlu:\n- intent: [\n  examples: |\n", "f.yml: not YAML that can be read"),
        ("f.yml", "nlu:\n- intent: a\n  examples: " + "[" * 5000, "f.yml: not YAML"),
        ("f.yml", "- |\n  x\nnlu:\n- examples: x\n", "f.yml: not YAML"),
        ("f.yml", "nlu:\n  intent: a\n  examples: b\n", "f.yml: expected a list of intents"),
        ("f.yml", "nlu:\n- examples: a\n- b\n", "f.yml: expected a list of intents"),
        ("f.yml", "nlu:\n- intent: [a]\n  examples: a\n", "f.yml: expected the name of an"),
        ("f.xml", "<d>" * 5000 + "<s><PER>Ola</PER> ran.</s>" + "</d>" * 5000, "at most 200"),
        ("f.xml", "<d>" + "x <e>" * 5000 + "Ola" + "</e>" * 5000 + "</d>", "at most 200"),
        ("f.xml", EXTERNAL, "f.xml: not XML that can be read .undefined entity"),
        ("f.xml", BOMB, "f.xml: not XML that can be read"),
        ("f.ann", "T1\tPER 0 " + "9" * 5000 + "\tOla\n", "f.ann, line 1: expected such as T1"),
        ("f.md", '## intent:x\n- in [Oslo]{"role": "a"}\n', "f.md, line 2: expected"),
    ],
)
def test_damaged_files_are_errors_that_name_them(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    if name == "f.ann":
        (tmp_path / "f.txt").write_text("Ola ran.")
    with pytest.raises(ConfigurationError, match=message):
        read_tags(tmp_path / name, text)


def test_places_of_thousands_of_digits_are_no_places(tmp_path: Path) -> None:
    digits = "9" * 5000
    text = f"<d><TEXT>Ola ran.</TEXT><TAGS><NAME start='0' end='{digits}'/></TAGS></d>"
    with pytest.raises(ConfigurationError, match=r"f.xml: no entities"):
        read_tags(tmp_path / "f.xml", text)


def test_it_is_an_error_if_all_sentences_with_entities_must_be_left_out(tmp_path: Path) -> None:
    records = [
        {"text": "Ola ran.", "annotations": [{"label": 7, "start_offset": 0, "end_offset": 3}]},
        {"text": "It is dry.", "annotations": []},
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    with pytest.raises(ConfigurationError, match="no sentence with entities can be used: 1 with"):
        read_tags(tmp_path / "f.jsonl", lines)


def test_an_entity_of_mae_in_two_pieces_leaves_its_line_out(tmp_path: Path) -> None:
    text = "<d><TEXT>Ola and Uma Bay ran.\nOla ran.</TEXT><TAGS><PER spans='0~3,12~15'/>"
    text += "<PER spans='21~24'/></TAGS></d>"
    examples, report = read("ner", tmp_path / "f.xml", text)
    assert [list(example.words) for example in examples] == [["Ola", "ran", "."]]
    assert len(report.left_out) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rasa.yml", RASA_YAML.format(text='[Ola]{"entity": ' + "[" * 5000 + "}")),
        ("pubtator.txt", f"1|t|Ola ran.\n1|a|\n1\t0\t{'9' * 5000}\tOla\tPER\n"),
    ],
)
def test_thousands_of_brackets_or_digits_end_in_a_sentence(
    tmp_path: Path, name: str, text: str
) -> None:
    with pytest.raises(ConfigurationError):
        read_tags(tmp_path / name, text)
