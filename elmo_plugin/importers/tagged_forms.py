"""The forms of files with tagged words. A file shows its form by its text, its name or its place.

`FORMS` lists them in the order in which they are tried.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from elmo_plugin.importers.brat import is_brat, sentences_of_brat
from elmo_plugin.importers.entities_in_brackets import has_brackets, sentences_with_brackets
from elmo_plugin.importers.inline_entities import (
    has_elements_in_lines,
    has_muc,
    inline_sentences,
)
from elmo_plugin.importers.parallel_lines import has_file_of_tags, parallel_sentences
from elmo_plugin.importers.pubtator import is_pubtator, pubtator_sentences
from elmo_plugin.importers.rasa import (
    is_rasa_markdown,
    is_rasa_yaml,
    sentences_of_markdown,
    sentences_of_yaml,
)
from elmo_plugin.importers.slashed_words import has_tags_behind_marks, slashed_sentences
from elmo_plugin.importers.spacy_documents import (
    is_doc_bin,
    is_training_json,
    sentences_of_doc_bin,
    sentences_of_training_json,
)
from elmo_plugin.importers.tagged_columns import (
    has_binary_table,
    has_quoted_tabs,
    has_separated_values,
    sentences_of_binary_table,
    sentences_of_columns,
    sentences_of_quoted_tabs,
    sentences_of_separated_values,
)
from elmo_plugin.importers.tagged_file import TaggedFile
from elmo_plugin.importers.tagged_json import (
    has_json,
    has_python,
    sentences_of_json,
    sentences_of_python,
)
from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.importers.webanno import is_webanno, webanno_sentences
from elmo_plugin.importers.xml_documents import is_xml, sentences_of_xml


@dataclass(frozen=True)
class Form:
    """A form of files: how it is recognized and read."""

    fits: Callable[[TaggedFile], bool]
    read: Callable[[TaggedFile], Iterator[TaggedSentence]]
    description: str = ""
    """The name of the form in the report; empty if `read` itself reports how it read the file."""


_INLINE = "a text in each line, with elements of XML around its entities"
FORMS = (
    Form(is_brat, sentences_of_brat),
    Form(is_doc_bin, sentences_of_doc_bin),
    Form(has_binary_table, sentences_of_binary_table),
    # All further forms are texts.
    Form(is_training_json, sentences_of_training_json, "the JSON by which spaCy 2 was trained"),
    Form(has_json, sentences_of_json),
    Form(has_python, sentences_of_python, "Python's examples, as spaCy 2 was trained with"),
    Form(has_file_of_tags, parallel_sentences),
    Form(is_webanno, webanno_sentences, "WebAnno TSV 3, as INCEpTION writes"),
    Form(has_muc, inline_sentences, _INLINE),
    Form(is_xml, sentences_of_xml),
    Form(is_rasa_markdown, sentences_of_markdown, "Rasa's examples in Markdown"),
    Form(is_rasa_yaml, sentences_of_yaml, "Rasa's examples in YAML"),
    Form(is_pubtator, pubtator_sentences, "PubTator's titles and abstracts, each a sentence"),
    Form(has_tags_behind_marks, slashed_sentences),
    Form(has_brackets, sentences_with_brackets, "CoNLL-2012 with entities in brackets"),
    Form(has_elements_in_lines, inline_sentences, _INLINE),
    Form(has_separated_values, sentences_of_separated_values),
    Form(has_quoted_tabs, sentences_of_quoted_tabs),
)


def sentences_of_file(source: TaggedFile) -> Iterator[TaggedSentence]:
    """Yields the sentences of a file, in the first of the `FORMS` that fits it, or as columns."""
    for form in FORMS:
        if form.fits(source):
            if form.description:
                source.report.took(form.description)
            yield from form.read(source)
            return
    yield from sentences_of_columns(source)
