"""Questions about paragraphs as instances, and batches of them."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, cast

from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TokenIndexer
from allennlp.data.fields import Field, ListField, MetadataField, SpanField, TextField
from allennlp.data.tokenizers import Token, Tokenizer
from overrides import overrides

from elmo_plugin.common.errors import check_at_least
from elmo_plugin.tasks.dataset_reader import Line, TaskDatasetReader, read_text_lines
from elmo_plugin.tasks.records import Skipped, UnusableExample
from elmo_plugin.tasks.squad.articles import Answer, Question, parse_squad
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer, raw_text_tokenizer


class TokenizedParagraph(NamedTuple):
    """A paragraph, its words, and the start and end of each in its text."""

    text: str
    tokens: list[Token]
    places: list[tuple[int, int]]

    def characters(self, first: int, last: int) -> tuple[int, int]:
        """Returns start and end of the words from `first` to `last`."""
        return self.places[first][0], self.places[last][1]


@DatasetReader.register("squad_v1")
class SquadReader(TaskDatasetReader):
    """
    Makes an instance of each question of a file (see `read_squad`). An answer is trained as the
    words that its characters touch, and scored by its own text.

    Registered as a `DatasetReader` with name "squad_v1".

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    tokenizer : `Tokenizer`, optional (default = `SpacyRulesTokenizer()`)
        How paragraphs and questions become words; it must set their places in the text. The default
        is for languages with spaces between words, and makes each Han or Kana character a word.
    max_paragraph_words : `int`, optional (default = `None`)
        Skip longer paragraphs, as is usual in training. The log has their number.
    skip_unanswerable, skip_bad : `bool`, optional (default = `False`)
        Skip the questions without an answer of SQuAD 2.0; skip the questions that cannot be used.
        The log has their numbers and the first ids.
    answers_required : `bool`, optional (default = `False`)
        Raise an error for a question without an answer, as in training.

    Raises `ConfigurationError`, naming file, article and question, if something is malformed.
    """

    example_names = "questions"

    def __init__(
        self,
        token_indexers: dict[str, TokenIndexer],
        *,
        tokenizer: Tokenizer = None,
        max_paragraph_words: int | None = None,
        skip_unanswerable: bool = False,
        skip_bad: bool = False,
        answers_required: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        if max_paragraph_words is not None:
            check_at_least(
                "squad_v1: max_paragraph_words", max_paragraph_words, error=ConfigurationError
            )
        self.tokenizer = raw_text_tokenizer(tokenizer, SpacyRulesTokenizer)
        self._max_paragraph_words = max_paragraph_words
        self._skip_unanswerable = skip_unanswerable
        self._skip_bad = skip_bad
        self._answers_required = answers_required

    @overrides
    def read_lines(self, file_path: str) -> Iterable[Line]:
        return read_text_lines(file_path, keep_marks=True)  # answers count them

    def read_examples(
        self, lines: Iterable[Line]
    ) -> Iterator[tuple[TokenizedParagraph, Question, list[Token]]]:
        """Yields each question with its paragraph and its words. Logs the skipped ones."""
        skipped = Skipped(self._skip_bad)
        limit = self._max_paragraph_words
        answered = True if self._answers_required else None  # whether the questions of the file are
        tokenized: TokenizedParagraph | None = None
        for paragraph in parse_squad(lines, skipped, self._skip_unanswerable):
            if tokenized is None or tokenized.text != paragraph.text:
                try:
                    tokenized = self.tokenize(paragraph.text)
                except ConfigurationError as error:
                    skipped.skip_or_raise(error, paragraph.location, paragraph.location)
                    continue
            for question in paragraph.questions:
                name, place = str(question.id), f"{paragraph.location}, question {question.id}"
                if limit is not None and len(tokenized.tokens) > limit:
                    skipped.add(f"about a paragraph of more than {limit} words", name)
                    continue
                if not question.answers and self._skip_unanswerable:
                    skipped.add("without an answer", name)
                    continue
                try:
                    answered = bool(question.answers) if answered is None else answered
                    if answered is not bool(question.answers):
                        reason = "without an answer" if answered else "after one without an answer"
                        missing = (
                            "answer missing" if answered else "the first question has no answer"
                        )
                        raise UnusableExample(reason, f"{missing}; skip_unanswerable skips it")
                    words = self._split(question.text, "question")
                    for answer in question.answers:
                        answer_words(tokenized, answer)
                except ConfigurationError as error:
                    skipped.skip_or_raise(error, place, name)
                else:
                    yield tokenized, question, words

    def tokenize(self, paragraph: str) -> TokenizedParagraph:
        """Splits a paragraph into words (at least one), with their places."""
        tokens = self._split(paragraph, "paragraph")
        if any(token.idx is None for token in tokens):
            raise ConfigurationError(
                "squad_v1: the tokenizer does not say where words are in the text"
            )
        places = [(cast(int, token.idx), cast(int, token.idx_end)) for token in tokens]
        return TokenizedParagraph(paragraph, tokens, places)

    def _split(self, text: str, what: str) -> list[Token]:
        if words := self.tokenizer.tokenize(text):
            return words
        raise ConfigurationError(f"no words in the {what} {text!r}")

    def text_to_instance(
        self, paragraph: TokenizedParagraph, question: Question, words: list[Token] | None = None
    ) -> Instance:
        """
        Makes an instance with the fields `paragraph`, `question`, `metadata` (the
        `TokenizedParagraph`, the `Question` and its `words`) and, if there are answers, `answers`,
        the spans of their words.
        """
        text = TextField(paragraph.tokens)
        words = words or self._split(question.text, "question")
        fields: dict[str, Field] = {
            "paragraph": text,
            "question": TextField(words),
            "metadata": MetadataField(
                {"paragraph": paragraph, "question": question, "words": words}
            ),
        }
        if question.answers:
            spans = dict.fromkeys(answer_words(paragraph, answer) for answer in question.answers)
            fields["answers"] = ListField([SpanField(*span, text) for span in spans])
        return Instance(fields)


def answer_words(paragraph: TokenizedParagraph, answer: Answer) -> tuple[int, int]:
    """
    Returns the first and the last word that an answer touches; `ConfigurationError` if there is
    none.
    """
    end = answer.start + len(answer.text)
    touched = [
        index
        for index, (first, last) in enumerate(paragraph.places)
        if first < end and answer.start < last
    ]
    if not touched:
        raise ConfigurationError(
            f"the answer {answer.text!r} at {answer.start} does not match any words"
        )
    return touched[0], touched[-1]
