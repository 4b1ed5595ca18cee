"""Files such as users have, each with its task and name, and what `elmo new` says if it cannot be used."""

import json
from typing import NamedTuple


class OwnFile(NamedTuple):
    """A file by its name. What `elmo new` says is `message` if it cannot be used."""

    task: str
    name: str
    text: str
    message: str = ""


COLUMNS = """\
Ada PROPN B-PER
moved VERB O
to ADP O
Riga PROPN B-LOC

The DET O
shop NOUN O
closed VERB O
"""
CONLLU = """\
# text = Lena sold it
1\tLena\tlena\tPROPN\t_\t_\t2\tnsubj\t_\tEntity=(e1)
2\tsold\tsell\tVERB\t_\t_\t0\troot\t_\t_
3\tit\tit\tPRON\t_\t_\t2\tobj\t_\tEntity=(e2)

"""
TAGS = """\
{"id": "0", "tokens": ["Ada", "moved", "to", "Riga"], "ner_tags": ["B-PER", "O", "O", "B-LOC"]}
{"id": "1", "tokens": ["The", "shop", "closed"], "ner_tags": ["O", "O", "O"]}
"""
TAG_TABLE = "sentence_id,word,pos,tag\n1,Ada,PROPN,B-PER\n1,sleeps,VERB,O\n2,Riga,PROPN,B-LOC\n"
TEXTS = 'text,label\n"The soup was cold, and late.",bad\n"They said ""welcome"".",good\n'
PAIR = '{"premise": "A girl rows.", "hypothesis": "%s", "label": %s}\n'
TABLE_OF_PAIRS = (
    "premise,hypothesis,label\nA girl rows.,She is out.,entailment\nA girl rows.,Nobody rows.,neutral\n"
)
QUESTION = {"id": "q0", "question": "Who opened the mill?"}
CONTEXT = "Lena Torv opened the mill in 1911."
FLAT = QUESTION | {"context": CONTEXT, "answers": {"text": ["Lena Torv"], "answer_start": [0]}}
ANSWERED = QUESTION | {"is_impossible": False, "answers": [{"text": "Lena Torv", "answer_start": 0}]}
IMPOSSIBLE = {"id": "q1", "question": "Who closed it?", "is_impossible": True, "answers": []}
SQUAD_2 = {"data": [{"title": "Mill", "paragraphs": [{"context": CONTEXT, "qas": [ANSWERED, IMPOSSIBLE]}]}]}
FRAMES = '{"words": ["Lena", "sold", "it"], "frames": [{"index": 1, "tags": ["B-ARG0", "B-V", "O"]}]}\n'
CLUSTERS = '{"sentences": [["Lena", "left", "."], ["She", "sang", "."]], "clusters": [[[0, 0], [3, 3]]]}\n'

OWN_FILES = {
    "word tab tag": OwnFile("ner", "train.txt", "Ada\tB-PER\nmoved\tO\n\nRiga\tB-LOC\n"),
    "CoNLL-U": OwnFile("tag", "train.conllu", CONLLU),
    "three columns": OwnFile("ner", "train.conll", COLUMNS),
    "JSON lines of tags": OwnFile("ner", "train.jsonl", TAGS),
    "CSV of tags": OwnFile("ner", "train.csv", TAG_TABLE),
    "CSV of texts": OwnFile("classify", "train.csv", TEXTS),
    "TSV of texts": OwnFile(
        "classify", "train.tsv", "label\ttext\nbad\tNever again!\ngood\tA fine evening.\n"
    ),
    "JSON lines of texts": OwnFile("classify", "train.jsonl", '{"text": "Never again!", "label": false}\n'),
    "trees without brackets around words": OwnFile("sst", "train.txt", "(1 A dull film .)\n(4 Fine .)\n"),
    "words as labels": OwnFile("sst", "train.txt", "(bad A dull film .)\n(good A fine film .)\n"),
    "CSV of pairs": OwnFile("snli", "train.csv", TABLE_OF_PAIRS),
    "Hugging Face's JSON lines of pairs": OwnFile("snli", "train.jsonl", PAIR % ("A girl moves.", 0)),
    "pairs with two labels": OwnFile("snli", "train.jsonl", PAIR % ("She sits.", '"not_entailment"')),
    "paraphrases": OwnFile("snli", "train.jsonl", PAIR % ("A girl is rowing.", '"paraphrase"')),
    "JSON lines of questions": OwnFile("squad", "train.jsonl", json.dumps(FLAT)),
    "CSV of questions": OwnFile("squad", "train.csv", "context,question,answer\nIt rained.,What?,rained\n"),
    "SQuAD 2.0": OwnFile("squad", "train.json", json.dumps(SQUAD_2), "skip_unanswerable"),
    "SRL in CoNLL-U": OwnFile("srl", "train.conllu", CONLLU, "train.conllu, line "),
    "SRL in JSON lines": OwnFile("srl", "train.jsonl", FRAMES),
    "coreference in JSON lines": OwnFile("coref", "train.jsonl", CLUSTERS),
    "coreference in CoNLL-U": OwnFile("coref", "train.conllu", CONLLU, "train.conllu, line "),
}
