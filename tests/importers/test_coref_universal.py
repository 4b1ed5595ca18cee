"""CorefUD's documents in CoNLL-U."""

from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.coref_universal import is_universal, read_coref_universal
from elmo_plugin.importers.report import Report
from elmo_plugin.tasks.coref import CorefReader
from elmo_plugin.tasks.spans import Span
from tests.importers.imported import import_file


def row(number: str, word: str, entity: str = "") -> str:
    misc = f"SpaceAfter=No|Entity={entity}" if entity else "_"
    return "\t".join([number, word, *["_"] * 7, misc])


TWO = "\n".join(
    [
        "# newdoc id = web/one",
        "# global.Entity = eid-etype-head-other",
        "# sent_id = 1",
        "# speaker = Bo",
        row("1-2", "Vom"),
        row("1", "Von", "(e1-person-1-(e2-place-1-)"),
        row("2", "dem", "e1)"),
        row("2.1", "_", "(e1-person-1-)"),
        row("3", "Haus", "(e3-x-1-(e1-person-2-"),
        row("4", "dort", "e1)e3)"),
        "",
        "# sent_id = 2",
        row("1", "Sie", "(e1-person-1-)"),
        row("2", "ging", "(e4[1/2]-x-1-)"),
        "",
        "# newdoc",
        row("1", "Ja"),
        "",
    ]
)


@pytest.mark.parametrize("end_of_line", ["\n", "\r\n"])
def test_words_and_clusters_are_read_without_dropped_words(
    tmp_path: Path, end_of_line: str
) -> None:
    path = tmp_path / "a.conllu"
    path.write_bytes(("\ufeff" + TWO.replace("\n", end_of_line)).encode())
    written, lines = import_file("coref", path)
    first, second = (each["document"].metadata for each in CorefReader({}).read(written))
    assert first.sentences == [["Von", "dem", "Haus", "dort"], ["Sie", "ging"]]
    assert first.speakers == [["Bo"] * 4, ["-", "-"]]
    clusters = [[Span(0, 2), Span(2, 4), Span(4, 5)], [Span(0, 1)], [Span(2, 4)]]
    assert sorted(first.clusters) == sorted(clusters)
    assert (first.name, first.genre, second.name, second.sentences) == (
        "web/one",
        "web",
        "a",
        [["Ja"]],
    )
    said = "\n".join(lines)
    assert "CorefUD" in said and "several parts" in said and "without a written word" in said


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("e1)e3)", "e1)", "word 3: a mention of 'e3' begins here that never ends"),
        ("e1)e3)", "e1)e3)e5)", "word 4: a mention of 'e5' ends, but none has begun"),
    ],
)
def test_an_unmatched_bracket_is_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^f, document web/one, {message}"):
        list(read_coref_universal("f", TWO.replace(old, new), Report("f")))


def test_other_columns_are_not_mistaken_for_corefud() -> None:
    assert is_universal(TWO)
    assert not is_universal(TWO.replace("Entity=", "NamedEntity="))
    assert not is_universal("#begin document (d);\nd 0 0 Entity= (0)\n")


@pytest.mark.parametrize("fields", ["GRP-etype", "etype-GRP", "eid-etype", "etype-eid"])
def test_the_declared_field_names_the_cluster(fields: str) -> None:
    labels = []
    for cluster in ("7", "8"):
        parts = ["person", cluster] if fields.startswith("etype") else [cluster, "person"]
        labels.append("-".join(parts))
    content = (
        f"# global.Entity = {fields}\n"
        f"1\tAda\tx\tPROPN\t_\t_\t2\tnsubj\t_\tEntity=({labels[0]})\n"
        f"2\tBob\tx\tPROPN\t_\t_\t0\troot\t_\tEntity=({labels[1]})\n\n"
    )
    (document,) = read_coref_universal("f.conllu", content, Report("f.conllu"))
    assert document.clusters == [[Span(0, 1)], [Span(1, 2)]]
