"""Public formats of words and tags, each with invented text: what is read from them, without any option."""

from pathlib import Path

import pytest
from allennlp.data import DatasetReader

from elmo_plugin.tasks.ner import Conll2003Reader

Sentences = list[tuple[list[str], list[str]]]

MIRA = (["Mira", "Solt", "left", "Varna", "."], ["B-PER", "I-PER", "O", "B-LOC", "O"])
RAIN = (["It", "rained", "."], ["O", "O", "O"])


def read(
    path: Path, content: str | bytes, reader: DatasetReader | None = None, **options: object
) -> Sentences:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    reader = reader or Conll2003Reader({}, tag_encoding="BIO", **options)
    instances = reader.read(path)
    return [([t.text for t in each["tokens"].tokens], list(each["tags"].labels)) for each in instances]


WORDS = ["Mira", "Solt", "left", "Varna", ".", "It", "rained", "."]
CLASSES = ["NNP", "NNP", "VBD", "NNP", ".", "PRP", "VBD", "."]
CHUNKS = ["NP", "NP", "VP", "NP", "O", "NP", "VP", "O"]
BIO = "B-PER I-PER O B-LOC O O O O"
IOB1 = "I-PER I-PER O I-LOC O O O O"
BIOES = "B-PER E-PER O S-LOC O O O O"


def table(row: str, tags: str = BIO, sentence: str = "", blank: str = "") -> str:
    """Two sentences of rows such as "{word} {tag}", after a line `sentence` and before a line `blank`."""
    text = ""
    for number, fields in enumerate(zip(WORDS, CLASSES, CHUNKS, tags.split(), strict=True)):
        within = number if number < 5 else number - 5
        word, word_class, chunk, tag = fields
        chunk = chunk if chunk == "O" else f"I-{chunk}"
        text += sentence.format(number) + "\n" if sentence and within == 0 else ""
        text += row.format(n=within + 1, word=word, pos=word_class, chunk=chunk, tag=tag) + "\n"
        text += f"{blank}\n" if word == "." else ""
    return text


FORMATS = {
    "conll2003.txt": table("{word} {pos} {chunk} {tag}", IOB1, "-DOCSTART- -X- O O\n"),
    "conll2003_german.txt": table("{word} lemma {pos} {chunk} {tag}", BIO, "-DOCSTART- -X- -X- -X- O\n"),
    "conll2003_bare_documents.txt": table("{word} {pos} {chunk} {tag}", BIO, "-DOCSTART-\n"),
    "conll2002.txt": table("{word} {pos} {tag}", BIO, "-DOCSTART- -DOCSTART- O"),
    "wnut16.txt": table("{word}\t{tag}"),
    "wnut17.txt": table("{word}\t{tag}", blank="\t"),
    "wikigold.txt": table("{word} {tag}", IOB1, "-DOCSTART- O\n"),
    "uner.iob2": table("{n}\t{word}\t{tag}\t-\t-", sentence="# sent_id = {}\n# text = Mira left Varna."),
    "multiconer.conll": table("{word} _ _ {tag}", sentence="# id 41-{}\tdomain=dev", blank="\n"),
    "multiconer_spaces.conll": table("{word} _ _ {tag}", sentence="# id 41-{} domain=dev"),
    "hipe.tsv": """TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNE-NESTED\tNEL-LIT\tMISC
# language = xx
# document_id = paper-1
Mira\tB-PER\tO\tB-PER.ind\tO\tQ1\t_
Solt\tI-PER\tO\tI-PER.ind\tO\tQ1\t_
# segment_iiif_link = https://iiif.test/1
left\tO\tO\tO\tO\t_\t_
Varna\tB-LOC\tB-ORG\tB-LOC.adm\tO\tNIL\tNoSpaceAfter
.\tO\tO\tO\tO\t_\tEndOfSentence|EndOfLine
It\tO\tO\tO\tO\t_\t_
rained\tO\tO\tO\tO\t_\tNoSpaceAfter
.\tO\tO\tO\tO\t_\tEndOfSentence
""",
    "gmb.csv": """Sentence #,Word,POS,Tag
Sentence: 1,Mira,NNP,B-PER
,Solt,NNP,I-PER
,left,VBD,O
,Varna,NNP,B-LOC
,.,.,O
Sentence: 2,It,PRP,O
,rained,VBD,O
,.,.,O
""",
    "gmb.txt": table("{word} {pos} {tag}"),
    "gmb_header.txt": "Word\tPOS\tTag\n" + table("{word}\t{pos}\t{tag}"),
    "ncbi_iobes.tsv": table("{word}\t{tag}", BIOES),
    "bc5cdr_bioes.txt": table("{word} {pos} {tag}", BIOES),
    "bioul.conll": table("{word} {tag}", "B-PER L-PER O U-LOC O O O O"),
    "resume.char.bmes": table("{word} {tag}", BIOES),
    "chunk_last.tsv": table("{word}\t{pos}\t{tag}\t{chunk}"),
    "tag_first.txt": table("{tag}\t{word}"),
    "numbered.txt": table("{n} {word} {pos} {tag}"),
    "documents.tsv": table("doc1\t0\t{n}\t{word}\t{tag}"),
    "header.tsv": "word\ttag\n" + table("{word}\t{tag}"),
    "hash_header.tsv": "# token\tlabel\n" + table("{word}\t{tag}"),
    "sentence_ids.csv": """sentence_id,words,labels
0,Mira,B-PER
0,Solt,I-PER
0,left,O
0,Varna,B-LOC
0,.,O
1,It,O
1,rained,O
1,.,O
""",
    "blank_lines.csv": "token,ner\n" + table('"{word}",{tag}'),
    "no_header.csv": table("{word},{tag}"),
    "semicolons.csv": "Token;Tag\n" + table("{word};{tag}", blank=";"),
    "small_letters.txt": table("{word} {tag}", "b_PER i_PER o b_LOC o o o o"),
    "letter_last.txt": table("{word} {tag}", "PER-B PER-I O LOC-B O O O O"),
    "tokens.jsonl": """{"id": "0", "tokens": ["Mira", "Solt", "left", "Varna", "."], "pos_tags": [1, 1, 2, 1]
, "ner_tags": ["B-PER", "I-PER", "O", "B-LOC", "O"]}
{"id": "1", "tokens": ["It", "rained", "."], "pos_tags": [3, 2, 0], "ner_tags": ["O", "O", "O"]}
""".replace("\n,", ","),
    "words.jsonl": """{"words": ["Mira", "Solt", "left", "Varna", "."],
 "labels": ["B-PER", "I-PER", "O", "B-LOC", "O"]}

{"words": ["It", "rained", "."], "labels": ["O", "O", "O"]}

""".replace("\n ", " "),
    "plus.conllup": "# global.columns = ID FORM UPOS NER\n" + table(
        "{n}\t{word}\t{pos}\t{tag}", sentence="# text = Mira Solt left Varna."
    ),
}  # fmt: skip


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("name", FORMATS)
def test_a_public_format_is_read_without_options(tmp_path: Path, name: str, end: str) -> None:
    text = FORMATS[name].replace("\n", end)
    assert read(tmp_path / name, text) == [MIRA, RAIN]
    assert read(tmp_path / name, "\ufeff" + text) == [MIRA, RAIN]


@pytest.mark.parametrize("name", [n for n in FORMATS if not n.endswith(("csv", "jsonl"))])
def test_white_space_at_the_ends_of_lines_is_not_a_column(tmp_path: Path, name: str) -> None:
    spaced = "".join(line + " \n" for line in FORMATS[name].splitlines())
    assert read(tmp_path / name, spaced) == [MIRA, RAIN]
