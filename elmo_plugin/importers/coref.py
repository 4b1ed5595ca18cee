"""The importer of coreference: columns like CoNLL-2012's, CorefUD, and JSON."""

from collections.abc import Container, Iterator, Sequence

from overrides import overrides

from elmo_plugin.common.integers import is_whole_number
from elmo_plugin.importers.coref_columns import (
    read_coref_columns,
    rows_of_sentences,
    without_comments,
)
from elmo_plugin.importers.coref_json import document_in
from elmo_plugin.importers.coref_litbank import is_litbank, read_litbank
from elmo_plugin.importers.coref_universal import is_universal, read_coref_universal
from elmo_plugin.importers.json_records import is_json, read_objects
from elmo_plugin.importers.lines import files_in, first_text, numbered_lines
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report, Unusable
from elmo_plugin.importers.task_importer import TaskImporter
from elmo_plugin.tasks.conll2012 import FOLDER_PATTERNS, DocumentLines, split_documents
from elmo_plugin.tasks.coref.conll import (
    format_clusters,
    format_document,
    parse_clusters,
    parse_clusters_in_lines,
    parse_title,
)
from elmo_plugin.tasks.coref.documents import NO_SPEAKER, CorefDocument, genre_in
from elmo_plugin.tasks.dataset_reader import Line, read_text_lines

# The names of files in a folder. e2e-coref has ".jsonlines".
_PATTERNS = (*FOLDER_PATTERNS, "*.conllu", "*.jsonl*", "*.json", "*.ann")


class CorefImporter(TaskImporter[CorefDocument]):
    """Imports documents with clusters of mentions, and writes them in CoNLL-2012's columns."""

    examples = "documents"
    suffix = ".gold_conll"

    @overrides
    def read(self, file: str, options: ImportOptions, report: Report) -> Iterator[CorefDocument]:
        titles: set[str] = set()  # of the documents so far
        for path in files_in(file, _PATTERNS):
            for document in _read_file(path, options, report):
                try:
                    cleaned = _clean_document(document)
                except Unusable as error:
                    report.leave_out(error.reason, document.title)
                    continue
                if cleaned.title in titles:
                    cleaned = _with_new_part(cleaned, titles)
                    report.took("documents named like an earlier one are further parts of it")
                titles.add(cleaned.title)
                yield cleaned

    @overrides
    def write(self, examples: Sequence[CorefDocument]) -> Iterator[str]:
        for document in examples:
            yield format_document(document)

    @overrides
    def document(self, example: CorefDocument) -> str:
        return example.name  # without the part: all parts of a document stay together

    @overrides
    def text(self, example: CorefDocument) -> str:
        return " ".join(word for words in example.sentences for word in words)

    @overrides
    def check(self, file: str, examples: Sequence[CorefDocument]) -> list[str]:
        clusters = [cluster for document in examples for cluster in document.clusters]
        if not clusters:
            return [f"{file}: no clusters to learn or to score"]
        num_mentions = sum(len(cluster) for cluster in clusters)
        return [f"{file}: {num_mentions:,} mentions in {len(clusters):,} clusters"]


def _read_file(path: str, options: ImportOptions, report: Report) -> Iterator[CorefDocument]:
    """Yields the documents of a file in any of the known forms."""
    lines = numbered_lines(path, options, report)
    text = "".join(line.text + "\n" for line in lines)
    if is_json(text):
        report.took("JSON with sentences and clusters")
        for record in read_objects(path, text):
            yield document_in(record)
    elif is_litbank(path, text):
        report.took("LitBank's annotations, beside the words")
        yield read_litbank(path, text, options, report)
    elif is_universal(text):
        report.took("CorefUD in CoNLL-U")
        yield from read_coref_universal(path, text, report)
    else:
        report.took("the columns of CoNLL-2012, or some of them")
        yield from read_coref_columns(lines, report)


def _clean_document(document: CorefDocument) -> CorefDocument:
    """
    Returns a document that the columns of CoNLL-2012 can hold: without tabs and line ends in its
    texts, and without a part that is not a number.

    Raises `Unusable` for a document that they cannot hold: it lacks words, a word is blank, or
    mentions of one cluster cross.
    """
    sentences = [[_one_line(word) for word in words] for words in document.sentences]
    speakers = [[_one_line(name) or NO_SPEAKER for name in row] for row in document.speakers]
    if not sentences:
        raise Unusable("without a word")
    if any("" in words for words in sentences):
        raise Unusable("with a blank word")
    if _has_crossing_mentions(document):
        raise Unusable("in which mentions of one cluster cross")
    part = document.part
    if not is_whole_number(part):
        part = ""
    name = _one_line(document.name)
    return document._replace(name=name, part=part, sentences=sentences, speakers=speakers)


def _with_new_part(document: CorefDocument, titles: Container[str]) -> CorefDocument:
    """
    Returns a document as a part that its name does not have yet: scorers tell documents apart by
    their titles, and `--split` keeps the parts of a document together.
    """
    number = 1
    renumbered = document
    while renumbered.title in titles:
        renumbered = document._replace(part=f"{number:03}")
        number += 1
    return renumbered


def _has_crossing_mentions(document: CorefDocument) -> bool:
    """
    Returns whether mentions of one cluster cross, such as the words 0 to 2 and 1 to 3. If they are
    written in a column, their brackets stand for other mentions: 1 to 2, inside 0 to 3.
    """
    clusters = sorted(sorted(cluster) for cluster in document.clusters if cluster)
    labels = format_clusters(document.clusters, document.length)
    clusters_read_again = sorted(parse_clusters(labels))
    return clusters_read_again != clusters


def _one_line(text: str) -> str:
    """Returns a text with single spaces in place of tabs, line ends and other white space."""
    return " ".join(text.split())


def read_scored_coref(path: str) -> Iterator[CorefDocument]:
    """
    Yields the documents of a file to score. The file has JSON, or columns; only the last column is
    read. Like the reference scorer, this function accepts lines of different lengths, empty
    documents, and a last document without its end mark.

    Raises `ConfigurationError`, naming file and line, if brackets are malformed.
    """
    lines = list(read_text_lines(path))
    if is_json(first_text(lines)):
        for record in read_objects(path, "".join(line.text for line in lines)):
            yield document_in(record)
        return
    for document in split_documents(without_comments(lines)):
        yield _scored_document(document)


def _scored_document(document: DocumentLines) -> CorefDocument:
    """
    Returns a document with the clusters in the last column of its lines. Its words are empty, and
    it lacks speakers, because the file may lack both and scores do not need them.
    """
    name, part = parse_title(document.begin)
    sentences = rows_of_sentences(document)
    labels = [row.columns[-1] for rows in sentences for row in rows]
    lines: list[Line] = [row.line for rows in sentences for row in rows]
    return CorefDocument(
        name=name,
        part=part,
        sentences=[[""] * len(rows) for rows in sentences],
        speakers=[[NO_SPEAKER] * len(rows) for rows in sentences],
        genre=genre_in(name),
        clusters=parse_clusters_in_lines(labels, lines),
        file=document.begin.file,
        first_line=document.begin.number,
    )
