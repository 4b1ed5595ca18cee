"""Words and their tags, such as named entities, from the files of public data sets and tools."""

from collections.abc import Iterable, Iterator, Sequence

from allennlp.common.checks import ConfigurationError
from overrides import overrides

from elmo_plugin.common.errors import check_choice
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.tag_encodings import (
    CHOICES,
    PLAIN,
    kind_without_letters,
    outside_tag,
    to_bio,
    with_usual_outside,
)
from elmo_plugin.importers.tagged_file import TaggedFile
from elmo_plugin.importers.tagged_forms import sentences_of_file
from elmo_plugin.importers.tagged_sentence import TaggedSentence, entity_types
from elmo_plugin.importers.task_importer import TaskImporter
from elmo_plugin.importers.usable_sentences import usable_sentences
from elmo_plugin.importers.word_prefixes import without_prefixes

_MOST_TAGS = 5  # that a message lists


class TagImporter(TaskImporter[TaggedSentence]):
    """Imports sentences whose words have tags of any kind."""

    examples = "sentences"
    suffix = ".txt"
    roles = ("word", "tag")
    kind_of_labels = "tags"
    needs_two_labels = True
    prefers_entities = False
    """Whether types of entities without letters are the tags, if a file has other tags too."""

    @overrides
    def read(self, file: str, options: ImportOptions, report: Report) -> Iterator[TaggedSentence]:
        if options.tag_encoding is not None:
            check_choice("--tags", options.tag_encoding, CHOICES, ConfigurationError)
        source = TaggedFile(file, options, report, self.prefers_entities)
        found = list(sentences_of_file(source))
        if len({sentence.document for sentence in found}) == 1:
            # When data are split, documents are kept whole. That cannot be done with only one.
            found = [sentence._replace(document="") for sentence in found]
        usable = list(usable_sentences(file, found, report))
        if usable:
            yield from self.convert(file, without_prefixes(usable, report), options, report)

    def convert(
        self,
        file: str,
        sentences: Sequence[TaggedSentence],
        options: ImportOptions,
        report: Report,
    ) -> Iterable[TaggedSentence]:
        """Returns the sentences with the tags that are to be written: unchanged in this class."""
        return sentences

    @overrides
    def write(self, examples: Sequence[TaggedSentence]) -> Iterator[str]:
        """Yields a word and its tag in each line, with a tab between them."""
        for sentence in examples:
            for word, tag in zip(sentence.words, sentence.tags, strict=True):
                yield f"{word}\t{tag}\n"
            yield "\n"

    @overrides
    def labels(self, example: TaggedSentence) -> Iterable[str]:
        return example.tags

    @overrides
    def document(self, example: TaggedSentence) -> str:
        return example.document

    @overrides
    def text(self, example: TaggedSentence) -> str:
        return " ".join(example.words)


class NerImporter(TagImporter):
    """Imports sentences with named entities, or other chunks, in any usual encoding, as BIO."""

    kind_of_labels = "entities"
    needs_two_labels = False
    prefers_entities = True

    @overrides
    def convert(
        self,
        file: str,
        sentences: Sequence[TaggedSentence],
        options: ImportOptions,
        report: Report,
    ) -> Iterable[TaggedSentence]:
        sentences = with_usual_outside(sentences)
        tags = [tag for sentence in sentences for tag in sentence.tags]
        # The sentences that are left out may be the only ones with entities.
        if set(tags) == {"O"} and report.left_out:
            raise ConfigurationError(
                f"{file}: no sentence with entities can be used: {report.reasons()}"
            )
        encoding = options.tag_encoding
        if encoding is None:
            encoding = kind_without_letters(tags)
        if encoding == PLAIN:
            raise _no_entities_error(file, tags)
        converted, found = to_bio(file, sentences, encoding)
        report.took(f"the tags are {found}")
        return converted

    @overrides
    def labels(self, example: TaggedSentence) -> Iterable[str]:
        return entity_types(example.tags)


def _no_entities_error(file: str, tags: Sequence[str]) -> ConfigurationError:
    """Returns the error that tags mark no entities, with the options that may help."""
    shown = ", ".join(sorted(set(tags))[:_MOST_TAGS])
    hint = ""
    # With `--tags IO`, words with the tag `outside` are in no entity. This surprises nobody if the
    # tag is O, and a tag in capitals, such as NOUN, is a part of speech that the option is not for.
    outside = outside_tag(tags)
    if not outside.isupper():
        hint = f", and {outside!r} as no entity"
    return ConfigurationError(
        f"{file}: tags such as {shown} mark no entities: `elmo import tag` takes tags of any kind, "
        f"--column tag=NAME another column, and --tags IO types without a letter{hint}"
    )
