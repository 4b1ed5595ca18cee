"""`experiments/get_data.py` writes what the readers take, here from small files in the sources' formats."""

import gzip
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader

import elmo_plugin.plugin  # noqa: F401  registers the readers
from tests.conftest import REPOSITORY
from tests.experiments.programs import experiment_module

PROGRAM = REPOSITORY / "experiments" / "get_data.py"


@pytest.fixture
def corpora(monkeypatch: pytest.MonkeyPatch) -> Any:
    return experiment_module("corpora", monkeypatch)


def get_data(*arguments: object, answer: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, PROGRAM, *map(str, arguments)]
    return subprocess.run(command, input=answer, capture_output=True, text=True)


def zipped(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def of_wnut(folder: Path) -> Path:
    folder.mkdir()
    names = ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated")
    for name in names:
        (folder / name).write_text("Empire\tB-location\nState\u200b\tI-location\n.\tO\n\nHi\tO\n\t\n")
    return folder


def test_named_entities_get_four_columns_without_invisible_characters(tmp_path: Path) -> None:
    done = get_data("ner", "--from", of_wnut(tmp_path / "from"), "--to", tmp_path / "data", "--yes")
    assert done.returncode == 0, done.stderr
    for part in ("train", "dev", "test"):
        written = (tmp_path / "data" / "ner" / f"{part}.txt").read_text()
        assert written == "Empire _ _ B-location\nState _ _ I-location\n. _ _ O\n\nHi _ _ O\n\n"
    assert "CC BY 4.0" in done.stderr and "not the file of the published results" in done.stderr
    reader = DatasetReader.from_params(Params({"type": "conll2003"}))
    assert len(list(reader.read(tmp_path / "data" / "ner" / "train.txt"))) == 2


def test_every_fifth_document_of_wikigold_is_dev_and_its_tags_are_bio(tmp_path: Path, corpora: Any) -> None:
    documents = ["Ada I-PER\nRome I-LOC\nParis B-LOC\n\nBonn I-LOC\nmet O\nBonn I-LOC\n\n"]
    documents += [f"Town{place} O\n\n" for place in range(1, 7)]
    path = tmp_path / "wikigold.conll.txt"
    path.write_text("".join(f"{document}-DOCSTART- O\n\n" for document in documents))
    files = dict(corpora.wikigold([path]))
    assert files["train.txt"].startswith(
        "-DOCSTART- -X- _ O\n\nAda _ _ B-PER\nRome _ _ B-LOC\nParis _ _ B-LOC\n\n"
        "Bonn _ _ B-LOC\nmet _ _ O\nBonn _ _ B-LOC\n\n-DOCSTART- -X- _ O\n\nTown1 _ _ O\n\n"
    )
    assert files["test.txt"] == "-DOCSTART- -X- _ O\n\nTown2 _ _ O\n\n"
    assert files["dev.txt"] == "-DOCSTART- -X- _ O\n\nTown4 _ _ O\n\n"


@pytest.mark.parametrize("answer, written", [("n\n", False), ("", False), ("y\n", True)])
def test_nothing_is_written_before_the_licence_is_accepted(
    tmp_path: Path, answer: str, written: bool
) -> None:
    source = of_wnut(tmp_path / "from")
    done = get_data("ner", "--from", source, "--to", tmp_path / "data", answer=answer)
    assert (tmp_path / "data").exists() == written == (done.returncode == 0)
    assert "Licence: CC BY 4.0" in done.stderr


CONLLU = """# newdoc id = weblog-blog_one_ENG_2006
# sent_id = 1
# speaker = Dr. Who
1\tI\tI\tPRON\tPRP\t_\t2\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t0\troot\t_\t_
3\tn't\tnot\tPART\tRB\t_\t2\tadvmod\t_\t_
3.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t_\t_
4\t(\t(\tPUNCT\t-LRB-\t_\t2\tpunct\t_\t_

"""
SKELETON = """google/ewt/weblog/00/blog_one_ENG_2006.xml 0 0 [WORD] PRP (TOP(S(NP*) - - (ARG0*)
google/ewt/weblog/00/blog_one_ENG_2006.xml 0 1 [WORD] VBP (VP* did do.01 (V*)
google/ewt/weblog/00/blog_one_ENG_2006.xml 0 2 [WORD] RB * - - (ARGM-NEG*)
google/ewt/weblog/00/blog_one_ENG_2006.xml 0 3 [WORD] -LRB- *))) - - *

"""


def test_roles_meet_the_words_of_the_same_sentence(corpora: Any) -> None:
    from semantic_roles import semantic_roles

    path = "propbank-release-1/data/google/ewt/weblog/00/blog_one_ENG_2006.xml.gold_skel"
    files = dict(semantic_roles([(path, SKELETON)], [CONLLU, CONLLU, CONLLU.replace("1\tI\t", "1\tI\t", 1)]))
    assert files["train/weblog.gold_conll.gz"] == (
        "#begin document (ewt/weblog/blog_one); part 000\n"
        "ewt/weblog/blog_one 0 0 I PRP (TOP(S(NP*) - - - - * (ARG0*) -\n"
        "ewt/weblog/blog_one 0 1 do VBP (VP* do 01 - - * (V*) -\n"
        "ewt/weblog/blog_one 0 2 n't RB * - - - - * (ARGM-NEG*) -\n"
        "ewt/weblog/blog_one 0 3 -LRB- -LRB- *))) - - - - * * -\n"
        "\n#end document\n"
    )
    other = SKELETON.replace("PRP", "NN").replace("RB", "NN")
    assert dict(semantic_roles([(path, other)], [CONLLU] * 3))["dev/weblog.gold_conll"] == ""


def test_coreference_has_chains_from_0_and_a_span_in_one_chain(corpora: Any) -> None:
    from coreference import coreference, mention_column

    splits = "## dev\n\n  * GUM_bio_a\n  * GUM_reddit_b\n\n## test\n\n## test2\n\n  * GENTLE_x\n\n## train\n"
    parse = "(ROOT\n  (S (NP-SBJ (PRP I))\n (VP (VBP do) (RB n't))\n (-LRB- -LRB-)))\n"
    chains = "# begin document \n0\tI\t(2(1)\n1\tdo\t_\n2\tn't\t2)\n3\t(\t_\n# end document\n"
    of_name = [
        [(f"{folder}/GUM_bio_a.{suffix}", text)]
        for folder, suffix, text in (
            ("dep", "conllu", CONLLU),
            ("const", "ptb", parse),
            ("coref", "conll", chains),
        )
    ]
    files = dict(coreference([("splits.md", splits)], *of_name))
    assert files["dev.gold_conll"] == (
        "#begin document (gum/bio_a); part 000\n"
        "gum/bio_a 0 0 I PRP (TOP(S(NP*) - - - DrWho * (1|(0)\n"
        "gum/bio_a 0 1 do VBP (VP* - - - DrWho * -\n"
        "gum/bio_a 0 2 n't RB *) - - - DrWho * 1)\n"
        "gum/bio_a 0 3 -LRB- -LRB- *)) - - - DrWho * -\n"
        "\n#end document\n"
    )
    assert mention_column("0\ta\t(3(4\n1\tb\t4)3)(5)\n") == ["(3", "3)|(4)"]


def test_senses_are_split_by_document_and_joined_words_become_tokens(tmp_path: Path, corpora: Any) -> None:
    sentence = (
        '<s snum="1"><wf cmd="ignore" pos="DT">The</wf>\n'
        '<wf cmd="done" lemma="group" wnsn="1" lexsn="1:03:00::">Grand_Jury</wf><punc>``</punc></s>'
    )
    texts = {f"semcor/brown1/tagfiles/br-a{place:02}.xml": f"<p>{sentence}</p>" for place in range(10)}
    semcor = zipped(tmp_path / "semcor.zip", texts | {"semcor/brownv/tagfiles/br-b01.xml": sentence})
    index = "good%5:00:00:ample:00 01117042 2 22\ngood%3:00:01:: 01123148 1 190\ngood%1:04:00:: 01 1 3\n"
    wordnet = zipped(tmp_path / "wordnet.zip", {"wordnet/index.sense": index, "wordnet/LICENSE": "free"})
    files = dict(corpora.senses([semcor, wordnet]))
    of_part = {
        name: [json.loads(line)["doc"] for line in text.splitlines()]
        for name, text in files.items()
        if ".jsonl" in name
    }
    assert of_part["test.jsonl.gz"] == ["br-a04"] and of_part["dev.jsonl.gz"] == ["br-a09"]
    assert len(of_part["train.jsonl.gz"]) == 8 and of_part["train-verbs.jsonl.gz"] == ["br-b01"]
    assert json.loads(files["dev.jsonl.gz"]) == {
        "doc": "br-a09",
        "tokens": ["The", "Grand", "Jury", "``"],
        "targets": [{"index": 1, "length": 2, "lemma": "group", "pos": "n", "senses": ["group%1:03:00::"]}],
    }
    assert files["wordnet30_senses.tsv.gz"].splitlines() == [
        "good\ta\t1\tgood%3:00:01::\t190",
        "good\ta\t2\tgood%5:00:00:ample:00\t22",
        "good\tn\t1\tgood%1:04:00::\t3",
    ]


def test_pictures_of_snli_are_in_one_part(tmp_path: Path, corpora: Any) -> None:
    def pair(picture: int, number: int, premise: str = "") -> dict[str, Any]:
        caption = f"{picture}.jpg#0"
        texts = {"sentence1": premise or f"premise {picture}", "sentence2": f"hypothesis {number}"}
        name = {"captionID": caption, "pairID": f"{caption}r{number}"}
        return {"annotator_labels": ["neutral"], "gold_label": "neutral", **name, **texts, "parse": "no"}

    def write(name: str, pairs: list[dict[str, Any]]) -> Path:
        path = tmp_path / name
        path.write_bytes(gzip.compress("".join(f"{json.dumps(each)}\n" for each in pairs).encode()))
        return path

    dev = write("dev.gz", [pair(1000, 1)])
    test = write("test.gz", [pair(picture, number) for picture in range(60) for number in range(2)])
    tiny = write("tiny.gz", [pair(2000, 1), pair(1000, 1)])
    other = tmp_path / "other.tsv"
    known = "premise 2000\thypothesis 1\tneutral\n"
    other.write_text(f'sentence1\tsentence2\tgold_label\nA "b\tc\tneutral\n{known}')
    files = dict(corpora.inference([dev, test, tiny, other]))
    rows = {name: [json.loads(line) for line in text.splitlines()] for name, text in files.items()}
    pictures = {name: {row.get("captionID") for row in of} for name, of in rows.items()}
    assert not pictures["dev.jsonl"] & pictures["test.jsonl"]
    assert sum(map(len, rows.values())) == 120 + 3
    assert rows["train.jsonl.gz"][-1] == {
        "annotator_labels": ["neutral"],
        "gold_label": "neutral",
        "sentence1": 'A "b',
        "sentence2": "c",
    }
    assert all(tuple(row) == tuple(sorted(row)) and "parse" not in row for of in rows.values() for row in of)
