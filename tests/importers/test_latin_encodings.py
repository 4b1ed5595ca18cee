"""The encoding of texts in Latin letters, of which several may be legal."""

from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.latin_encodings import latin_encodings
from tests.importers.reading import read

TEXTS = {
    "cp1252": [
        "Der Müller wohnt in Köln und ißt gerne.",
        "La maison où il habite est très belle.",
        "Perché la città è bella e che cosa c'è?",
        "O João não tem coração em São Paulo.",
        "¿Qué día más bonito! El niño está aquí.",
        "Það er ekki gott að vera á Íslandi.",
        "Smörgåsbord och en fågel på taket.",
        "Zoë went to the café with naïve friends of São Paulo.",
        "“Nothing” else … is here — really.",
        "Müller O\nKöln B-LOC\n",
    ],
    "cp1250": [
        "Božena Němcová psala o babičce a o lidech.",
        "Ľubica má štyri mačky a psa.",
        "Petőfi Sándor Kiskőrösön született és meghalt.",
        "Ştefan cel Mare a murit la Suceava şi la Iaşi.",
        "Jan śpi w Gdańsku, a Ewa w Łodzi.",
        "Šibenik i Čakovec su u Hrvatskoj.",
        "Łódź",
    ],
    "cp1254": ["Ayşe Öztürk dün İstanbul'a gitti ve geldi.", "Kuş bir ağaç için gitti."],
    "cp1257": ["Vilnius yra Lietuvos sostinė, kur aš gyvenu ir dirbu."],
}


@pytest.mark.parametrize(
    ("encoding", "text"), [(encoding, text) for encoding, texts in TEXTS.items() for text in texts]
)
def test_the_language_shows_the_encoding(encoding: str, text: str) -> None:
    content = text.encode(encoding)
    (found,) = latin_encodings(content)
    assert content.decode(found) == text


@pytest.mark.parametrize("text", ["København", "Němec", "élève"])
def test_a_name_that_several_languages_may_have_shows_several(text: str) -> None:
    for encoding in ("cp1252", "cp1250"):
        try:
            content = text.encode(encoding)
        except UnicodeEncodeError:
            continue
        found = latin_encodings(content)
        assert len(found) > 1
        assert text in [content.decode(each) for each in found]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1251", "Привет, как дела?"),
        ("koi8_r", "Привет, как дела?"),
        ("cp1253", "Καλημέρα σας"),
        ("gb18030", "我在北京工作。天气很好"),
        ("shift_jis", "東京に行きました"),
        ("cp1256", "مرحبا بكم في القاهرة"),
    ],
)
def test_other_alphabets_are_no_latin_letters(encoding: str, text: str) -> None:
    assert latin_encodings(text.encode(encoding)) == []


def test_the_report_names_the_encoding_or_one_question_asks(tmp_path: Path) -> None:
    text = "Vatan\tB-LOC\nAyşe\tB-PER\nve\tO\nŞule\tB-PER\ngeldi\tO\n"
    (sentence,), report = read("ner", tmp_path / "f.txt", text.encode("cp1254"))
    assert list(sentence.words) == ["Vatan", "Ayşe", "ve", "Şule", "geldi"]
    assert any("was read as cp1254 (--encoding" in finding for finding in report.findings)
    with pytest.raises(ConfigurationError, match=r"may be cp1252 or .*; --encoding names one"):
        read("ner", tmp_path / "f.txt", "København\tB-LOC\n".encode("cp1252"))
