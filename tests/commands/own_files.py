"""Files such as users have, with the task that each is for, and the reader's options if it needs some."""

import csv
import io
import json
from typing import Any, NamedTuple


class OwnFile(NamedTuple):
    """A file by its name. What `elmo new` says is `message` if it cannot be used."""

    task: str
    name: str
    text: str
    message: str = ""
    reader: dict[str, Any] | None = None


TAGGED = [
    [
        ("Ada", "PROPN", "B-PER"),
        ("Bell", "PROPN", "I-PER"),
        ("moved", "VERB", "O"),
        ("to", "ADP", "O"),
        ("Riga", "PROPN", "B-LOC"),
    ],
    [("The", "DET", "O"), ("shop", "NOUN", "O"), ("is", "AUX", "O"), ("closed", "ADJ", "O")],
    [
        ("Omar", "PROPN", "B-PER"),
        ("sells", "VERB", "O"),
        ("lamps", "NOUN", "O"),
        ("in", "ADP", "O"),
        ("Turin", "PROPN", "B-LOC"),
    ],
]
TEXTS = [
    ("The soup was cold, and late.", "bad"),
    ("A lovely evening.", "good"),
    ("Never again!", "bad"),
    ('They said "welcome".', "good"),
]
PAIRS = [
    ("A girl rows a boat.", "A girl is on the water.", "entailment", 0),
    ("A girl rows a boat.", "The girl likes rowing.", "neutral", 1),
    ("A girl rows a boat.", "Nobody rows.", "contradiction", 2),
]
PASSAGE = "Lena Torv opened the mill in 1911. It stands near Osk."
QUESTIONS = [("Who opened the mill?", "Lena Torv"), ("Where does it stand?", "near Osk")]
SRL_WORDS = ["Lena", "opened", "the", "old", "mill", "yesterday", "."]
SRL_FRAME = {"predicate": 1, "arguments": [[0, 0, "ARG0"], [2, 4, "ARG1"], [5, 5, "ARGM-TMP"]]}
SENTENCES = [["Lena", "opened", "the", "mill", "."], ["She", "sold", "it", "."]]
CLUSTERS = [[[0, 0], [5, 5]], [[2, 3], [7, 7]]]


def table(rows: list[tuple[Any, ...]], delimiter: str = ",") -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return file.getvalue()


def json_lines(objects: list[Any]) -> str:
    return "".join(f"{json.dumps(item)}\n" for item in objects)


def blocks(lines: list[list[str]]) -> str:
    return "\n".join("".join(f"{line}\n" for line in block) for block in lines)


def tagged_conllu() -> str:
    return blocks(
        [
            [f"# text = {' '.join(word for word, *_ in sentence)}"]
            + [
                "\t".join(
                    [
                        str(n),
                        word,
                        word.lower(),
                        tag,
                        "_",
                        "_",
                        str(min(n - 1, 1)),
                        "root" if n == 1 else "dep",
                        "_",
                        "_",
                    ]
                )
                for n, (word, tag, _) in enumerate(sentence, 1)
            ]
            for sentence in TAGGED
        ]
    )


def coreference_conllu() -> str:
    """Entities as Universal Dependencies has them in its last column."""
    lines = ["# newdoc id = mill"]
    for sentence, entities in zip(
        SENTENCES, ({0: "(e1)", 2: "(e2", 3: "e2)"}, {0: "(e1)", 2: "(e2)"}), strict=True
    ):
        lines += [
            "\t".join([str(n + 1), word, *"______", "_", f"Entity={entities[n]}" if n in entities else "_"])
            for n, word in enumerate(sentence)
        ]
        lines.append("")
    return "\n".join(lines) + "\n"


def squad(version: str) -> dict[str, Any]:
    qas: list[dict[str, Any]] = [
        {
            "id": f"q{n}",
            "question": question,
            "answers": [{"text": answer, "answer_start": PASSAGE.index(answer)}],
        }
        for n, (question, answer) in enumerate(QUESTIONS)
    ]
    if version == "v2.0":
        qas = [item | {"is_impossible": False} for item in qas]
        qas.append({"id": "q9", "question": "Who closed the mill?", "answers": [], "is_impossible": True})
    return {"version": version, "data": [{"title": "Mill", "paragraphs": [{"context": PASSAGE, "qas": qas}]}]}


def flat_questions() -> list[dict[str, Any]]:
    return [
        {
            "id": f"q{n}",
            "context": PASSAGE,
            "question": question,
            "answers": {"text": [answer], "answer_start": [PASSAGE.index(answer)]},
        }
        for n, (question, answer) in enumerate(QUESTIONS)
    ]


def question_table() -> str:
    rows = [
        (item["context"], item["question"], *item["answers"]["text"], *item["answers"]["answer_start"])
        for item in flat_questions()
    ]
    return table([("context", "question", "answer", "answer_start"), *rows])


def hf_pairs(labels: tuple[Any, ...]) -> str:
    return json_lines(
        [
            {"premise": a, "hypothesis": b, "label": label}
            for (a, b, *_), label in zip(PAIRS, labels, strict=True)
        ]
    )


OWN_FILES = {
    "word tab tag": OwnFile(
        "ner", "train.txt", blocks([[f"{word}\t{tag}" for word, _, tag in sentence] for sentence in TAGGED])
    ),
    "CoNLL-U": OwnFile("tag", "train.conllu", tagged_conllu()),
    "three columns": OwnFile(
        "ner",
        "train.conll",
        blocks([[f"{word} {pos} {tag}" for word, pos, tag in sentence] for sentence in TAGGED]),
    ),
    "JSON lines of tags": OwnFile(
        "ner",
        "train.jsonl",
        json_lines(
            [
                {"id": str(n), "tokens": [w for w, *_ in s], "ner_tags": [t for *_, t in s]}
                for n, s in enumerate(TAGGED)
            ]
        ),
    ),
    "CSV of tags": OwnFile(
        "ner",
        "train.csv",
        table(
            [
                ("sentence_id", "word", "pos", "tag"),
                *((n, *row) for n, sentence in enumerate(TAGGED, 1) for row in sentence),
            ]
        ),
    ),
    "CSV of texts": OwnFile("classify", "train.csv", table([("text", "label"), *TEXTS])),
    "TSV of texts": OwnFile(
        "classify", "train.tsv", table([("label", "text"), *((label, text) for text, label in TEXTS)], "\t")
    ),
    "JSON lines of texts": OwnFile(
        "classify",
        "train.jsonl",
        json_lines([{"text": text, "label": label == "good"} for text, label in TEXTS]),
    ),
    "trees without brackets around words": OwnFile(
        "sst", "train.txt", "(1 A dull film .)\n(4 A fine film .)\n"
    ),
    "words as labels": OwnFile("sst", "train.txt", "(bad A dull film .)\n(good A fine film .)\n"),
    "CSV of pairs": OwnFile(
        "snli", "train.csv", table([("premise", "hypothesis", "label"), *(pair[:3] for pair in PAIRS)])
    ),
    "Hugging Face's JSON lines of pairs": OwnFile("snli", "train.jsonl", hf_pairs((0, 1, 2))),
    "pairs with two labels": OwnFile(
        "snli", "train.jsonl", hf_pairs(("entailment", "not_entailment", "not_entailment"))
    ),
    "paraphrases": OwnFile("snli", "train.jsonl", hf_pairs(("paraphrase", "other", "other"))),
    "JSON lines of questions": OwnFile("squad", "train.jsonl", json_lines(flat_questions())),
    "CSV of questions": OwnFile("squad", "train.csv", question_table()),
    "SQuAD 2.0": OwnFile("squad", "train.json", json.dumps(squad("v2.0")), "skip_unanswerable"),
    "SRL in CoNLL-U": OwnFile("srl", "train.conllu", tagged_conllu(), "train.conllu, line "),
    "SRL in JSON lines": OwnFile(
        "srl", "train.jsonl", json_lines([{"words": SRL_WORDS, "frames": [SRL_FRAME]}])
    ),
    "coreference in JSON lines": OwnFile(
        "coref", "train.jsonl", json_lines([{"sentences": SENTENCES, "clusters": CLUSTERS}])
    ),
    "coreference in CoNLL-U": OwnFile("coref", "train.conllu", coreference_conllu(), "train.conllu, line "),
}
