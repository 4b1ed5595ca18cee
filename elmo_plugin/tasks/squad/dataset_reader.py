"""Questions about paragraphs as instances, and batches of them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TokenIndexer
from allennlp.data.fields import Field, ListField, MetadataField, SpanField, TextField
from allennlp.data.tokenizers import Token, Tokenizer

from elmo_plugin.common.errors import check_at_least
from elmo_plugin.common.logs import get_logger
from elmo_plugin.tasks.dataset_reader import Line, TaskDatasetReader
from elmo_plugin.tasks.squad.articles import Answer, Question, parse_squad
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer, raw_text_tokenizer

logger = get_logger(__name__)

_MOST_IDS = 10  # how many of the skipped questions the log names


class TokenizedParagraph(NamedTuple):
    """A paragraph and its words. `places` are the start and the end of each word in the text."""

    text: str
    tokens: list[Token]
    places: list[tuple[int, int]]

    def locate(self, first: int, last: int) -> tuple[int, int]:
        """
        Returns where words are in the text: the start of the word with the index `first`, and the
        end of the word with the index `last`.
        """
        start, _ = self.places[first]
        _, end = self.places[last]
        return start, end


class SquadExample(NamedTuple):
    """A question about a paragraph, and the words of the question."""

    paragraph: TokenizedParagraph
    question: Question
    words: list[Token]


@DatasetReader.register("squad_v1")
class SquadReader(TaskDatasetReader):
    """
    Makes an instance of each question of a file in SQuAD 1.1's JSON (see `parse_squad`; `elmo
    import squad` makes such files of other forms). An answer is trained as the words that its
    characters touch, and scored by its own text.

    Registered as a `DatasetReader` with name "squad_v1".

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    tokenizer : `Tokenizer`, optional (default = `SpacyRulesTokenizer()`)
        How paragraphs and questions become words; it must set their places in the text. The default
        is for languages with spaces between words, and makes each Han or Kana character a word.
    max_paragraph_words : `int`, optional (default = `None`)
        Skip longer paragraphs, as is usual in training. The log names skipped questions.
    answers_required : `bool`, optional (default = `False`)
        Raise an error for a question without an answer, as in training.

    Raises `ConfigurationError`, naming file, article and question, if something is malformed.
    """

    example_names = "questions"
    keep_marks = True  # the places of answers count byte order marks as characters

    def __init__(
        self,
        token_indexers: dict[str, TokenIndexer],
        *,
        tokenizer: Tokenizer = None,
        max_paragraph_words: int | None = None,
        answers_required: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        if max_paragraph_words is not None:
            check_at_least(
                "squad_v1: max_paragraph_words",
                max_paragraph_words,
                least=1,
                error=ConfigurationError,
            )
        self.tokenizer = raw_text_tokenizer(tokenizer, default=SpacyRulesTokenizer)
        self._max_paragraph_words = max_paragraph_words
        self._answers_required = answers_required

    def read_examples(self, lines: Iterable[Line]) -> Iterator[SquadExample]:
        """
        Yields each question with its paragraph. Questions about paragraphs that are too long are
        left out, and logged.

        Raises `ConfigurationError` if only some of the questions have answers. A batch with one of
        the others would have no loss.
        """
        skipped_ids: list[str] = []
        answers_expected: bool | None = None  # The first question decides.
        if self._answers_required:
            answers_expected = True
        for paragraph in parse_squad(lines):
            with _errors_begin_with(paragraph.location):
                tokenized = self.tokenize(paragraph.text)
            if self._is_too_long(tokenized):
                skipped_ids += [str(question.id) for question in paragraph.questions]
                continue
            for question in paragraph.questions:
                if answers_expected is None:
                    answers_expected = bool(question.answers)
                with _errors_begin_with(f"{paragraph.location}, question {question.id}"):
                    _check_answers(tokenized, question, answers_expected)
                    words = self._split(question.text, name="question")
                yield SquadExample(tokenized, question, words)
        if skipped_ids:
            logger.info(
                "left out %d questions about paragraphs of more than %s words: %s",
                len(skipped_ids),
                self._max_paragraph_words,
                ", ".join(skipped_ids[:_MOST_IDS]),
            )

    def _is_too_long(self, paragraph: TokenizedParagraph) -> bool:
        """Returns whether a paragraph has more than `max_paragraph_words`, if there is a limit."""
        if self._max_paragraph_words is None:
            return False
        return len(paragraph.tokens) > self._max_paragraph_words

    def tokenize(self, paragraph: str) -> TokenizedParagraph:
        """
        Splits a paragraph into words. Raises `ConfigurationError` if there are none, or the
        tokenizer does not set their places.
        """
        tokens = self._split(paragraph, name="paragraph")
        places = []
        for token in tokens:
            if token.idx is None:
                raise ConfigurationError(
                    "squad_v1: the tokenizer does not say where words are in the text"
                )
            places.append((token.idx, cast(int, token.idx_end)))
        return TokenizedParagraph(paragraph, tokens, places)

    def _split(self, text: str, name: str) -> list[Token]:
        """
        Splits a text into words. Raises `ConfigurationError` if there are none; the message calls
        the text by its `name`, "paragraph" or "question".
        """
        words = self.tokenizer.tokenize(text)
        if not words:
            raise ConfigurationError(f"no words in the {name} {text!r}")
        return words

    def text_to_instance(
        self, paragraph: TokenizedParagraph, question: Question, words: list[Token] | None = None
    ) -> Instance:
        """
        Makes an instance with the fields `paragraph`, `question`, `metadata` (the `SquadExample`)
        and, if there are answers, `answers`, the spans of their words. Splits the question into
        words if they are not given.
        """
        text = TextField(paragraph.tokens)
        if words is None:
            words = self._split(question.text, name="question")
        fields: dict[str, Field] = {
            "paragraph": text,
            "question": TextField(words),
            "metadata": MetadataField(SquadExample(paragraph, question, words)),
        }
        if question.answers:
            spans = [answer_words(paragraph, answer) for answer in question.answers]
            # Repeated answers are dropped. The others keep their order, because a model may be
            # trained on the first one alone.
            distinct = dict.fromkeys(spans)
            fields["answers"] = ListField(
                [SpanField(first, last, text) for first, last in distinct]
            )
        return Instance(fields)


@contextmanager
def _errors_begin_with(location: str) -> Iterator[None]:
    """Puts the location before the message of a `ConfigurationError` in a `with` block."""
    try:
        yield
    except ConfigurationError as error:
        raise ConfigurationError(f"{location}: {error}") from None


def _check_answers(
    paragraph: TokenizedParagraph, question: Question, answers_expected: bool
) -> None:
    """
    Raises `ConfigurationError` if a question has no answers although they are expected, or has some
    although none are expected, or if an answer touches no word of the paragraph.
    """
    if answers_expected and not question.answers:
        raise ConfigurationError(
            "answer missing; `elmo import squad` leaves out questions without an answer"
        )
    if question.answers and not answers_expected:
        raise ConfigurationError("got an answer, but the first question of the file has none")
    for answer in question.answers:
        answer_words(paragraph, answer)  # only for its error


def answer_words(paragraph: TokenizedParagraph, answer: Answer) -> tuple[int, int]:
    """
    Returns the indices of the first and the last word that share a character with an answer. Raises
    `ConfigurationError` if none does.
    """
    answer_end = answer.start + len(answer.text)
    touched = []
    for index, (word_start, word_end) in enumerate(paragraph.places):
        if word_start < answer_end and answer.start < word_end:
            touched.append(index)
    if not touched:
        raise ConfigurationError(
            f"the answer {answer.text!r} at {answer.start} does not match any words"
        )
    return touched[0], touched[-1]
