"""Sentiment and other labels of texts: the network of McCann et al. (2017), its reader and its
predictor.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from allennlp.common import Lazy
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TextFieldTensors, TokenIndexer, Vocabulary
from allennlp.data.tokenizers import Token
from allennlp.models import Model
from allennlp.modules import FeedForward, Maxout, Seq2SeqEncoder
from allennlp.predictors import Predictor
from torch import Tensor, nn

from elmo_plugin.bilm import Dropout
from elmo_plugin.common.errors import check_at_least
from elmo_plugin.encoders import ContextualEncoder, construct_encoder, pool, self_biattention
from elmo_plugin.tasks.dataset_reader import Line, sentence_fields
from elmo_plugin.tasks.labeled_texts import LabeledTextsReader
from elmo_plugin.tasks.labels import KnownLabelField, number_of_labels
from elmo_plugin.tasks.predictor import SentencePredictor
from elmo_plugin.tasks.sst_trees import BINARY_LABELS, FINE_LABELS, Phrase, read_phrases
from elmo_plugin.tasks.task_model import Classifier
from elmo_plugin.tasks.vocabulary import PartOfText


@DatasetReader.register("sst_trees")
class SstTreesReader(LabeledTextsReader):
    """
    Reads texts with a label: the trees of the Stanford Sentiment Treebank (Socher et al., 2013),
    one per line; or JSON lines with `text` and `label`, as `elmo import classify` writes them.

    A tree is such as `(3 (2 Not) (1 bad))`, with labels from 0, very negative, to 4, very positive.
    A text without phrases, such as `(1 A bad film.)`, is split by the tokenizer, and may have a
    word as its label. Words are spelled as in the plain text that a biLM learns from: `(` for
    `-LRB-`, `/` for an escaped slash, `"` for either kind of quotation mark. Blank lines are
    skipped. `TaskDatasetReader` describes encoding and compression.

    Registered as a `DatasetReader` with name "sst_trees".

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    binary : `bool`, optional (default = `False`)
        Use the labels "negative" and "positive", without neutral texts; otherwise "very negative",
        "negative", "neutral", "positive" and "very positive".
    min_phrase_length : `int`, optional (default = `None`)
        Also make instances of phrases of this number of words or more: of every subtree if it is 1.
        By default only whole sentences are instances, as is right for validation and test data.
    tokenizer
        See `LabeledTextsReader`; for texts that are not trees.

    Raises `ConfigurationError`, naming file and line, if a line is not UTF-8 or not of this form,
    and if no line of a file makes an instance.
    """

    task = "classify"

    def __init__(
        self,
        token_indexers: dict[str, TokenIndexer],
        *,
        binary: bool = False,
        min_phrase_length: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        if min_phrase_length is not None:
            check_at_least(
                "sst_trees: min_phrase_length", min_phrase_length, least=1, error=ConfigurationError
            )
        self._is_binary = binary
        self._label_names: Sequence[str | None]
        if binary:
            self.example_names = "texts that are not neutral"
            self._label_names = BINARY_LABELS
        else:
            self.example_names = "texts"
            self._label_names = FINE_LABELS
        if min_phrase_length is None:
            self._min_phrase_length = math.inf  # no phrase is long enough
        else:
            self._min_phrase_length = min_phrase_length

    def read_examples(
        self, lines: Iterable[Line]
    ) -> Iterator[tuple[list[Token], str, list[Token] | None]]:
        """
        Yields the words of each text or phrase, its label, and the words of the whole sentence. The
        sentence is `None` for texts that are not from trees.
        """
        lines = (line for line in lines if line.text.strip())
        first = next(lines, None)
        if first is None:
            return
        lines = chain([first], lines)
        # The first line says whether the file has trees or JSON.
        if first.text.lstrip().startswith("("):
            yield from self._read_trees(lines)
        elif self._is_binary:
            raise first.error("binary is for trees; other texts have the labels of their file")
        else:
            yield from self._read_texts(lines)

    def _read_texts(self, lines: Iterable[Line]) -> Iterator[tuple[list[Token], str, None]]:
        """
        Yields the words and the label of each line of JSON. The third value is `None`, because
        only a tree has phrases of a longer sentence.
        """
        for line in lines:
            fields = self.parse(line)
            words = self.tokenize_field(line, fields, "text")
            if not words:
                raise line.error("the text is blank")
            yield words, self.read_label(line, fields, "label"), None

    def _read_trees(self, lines: Iterable[Line]) -> Iterator[tuple[list[Token], str, list[Token]]]:
        """
        Yields the sentence of each tree, and then its phrases that are long enough. Each comes with
        its label and with the words of the sentence.
        """
        labels_are_numbers: bool | None = None
        if self._is_binary:
            labels_are_numbers = True  # `binary` divides numbers into negative and positive ones
        for line in lines:
            sentence, *phrases = _parse_tree(line)
            if labels_are_numbers is None:  # the labels of a file are all like its first one
                labels_are_numbers = sentence.label.isdecimal()
            _check_kind_of_label(sentence.label, labels_are_numbers, line)
            tokens = self._words_of(sentence, line, has_phrases=bool(phrases))
            label = self._label_of(sentence)
            if label is not None:
                yield tokens, label, tokens
            for phrase in phrases:
                label = self._label_of(phrase)
                if label is not None and len(phrase.words) >= self._min_phrase_length:
                    yield [Token(word) for word in phrase.words], label, tokens

    def _label_of(self, phrase: Phrase) -> str | None:
        """
        Returns the name of a phrase's label. Returns `None` if phrases with this label are left
        out, as neutral ones are with the option `binary`.
        """
        if not phrase.label.isdecimal():
            return phrase.label
        return self._label_names[int(phrase.label)]

    def _words_of(self, sentence: Phrase, line: Line, has_phrases: bool) -> list[Token]:
        """Returns the words of a tree. Without phrases, it is a text that is not yet tokenized."""
        if has_phrases:
            return [Token(word) for word in sentence.words]
        return self.tokenize(line, " ".join(sentence.words))

    def text_to_instance(
        self,
        tokens: str | list[Token],
        label: str | None = None,
        sentence: list[Token] | None = None,
    ) -> Instance:
        """
        Makes an instance with the fields `tokens`, `words` (as strings) and, if it is given,
        `label`. If the tokens are a phrase of a `sentence`, the vocabulary "distinct_texts" counts
        the words of the sentence, and counts them only once, however many phrases it has.
        """
        if isinstance(tokens, str):  # AllenNLP's predictor text_classifier gives a plain text
            tokens = self.tokenizer.tokenize(tokens)
        fields = sentence_fields(tokens)
        if sentence is not None:
            fields["tokens"] = PartOfText(tokens, sentence)
        if label is not None:
            fields["label"] = KnownLabelField(label)
        return Instance(fields)


def _parse_tree(line: Line) -> list[Phrase]:
    """
    Returns the sentence of a tree, and then its phrases. Raises `ConfigurationError` if the line
    does not have a tree.
    """
    text = line.text.strip()
    if not text.startswith("("):
        raise line.error(
            f"expected a tree, such as (3 (2 Not) (1 bad)), got {text!r:.60}; `elmo import "
            "classify` reads other files"
        )
    return read_phrases(text, line.location)


def _check_kind_of_label(label: str, labels_are_numbers: bool, line: Line) -> None:
    """Raises `ConfigurationError` for a number among labels that are words, or the reverse."""
    is_number = label.isdecimal()
    if is_number and not labels_are_numbers:
        raise line.error(f"expected a word as label, as in the lines before, not {label!r}")
    if not is_number and labels_are_numbers:
        raise line.error(f"a label is a number from 0 to 4, not {label!r}")


@Model.register("sst_bcn")
class SstBcn(Classifier):
    """
    Classifies the sentiment of a sentence by the network of McCann et al. (2017), section 5, with
    the sentence as both sequences:

        words > contextual encoder > biattention of the sentence with itself > integrator
              > maximum, mean, minimum and weighted mean over the words > classifier > label

    The input sizes of `integrator`, `classifier` and `maxout` are filled in.

    Registered as a `Model` with name "sst_bcn".

    # Parameters

    vocab : `Vocabulary`
        With the labels in the namespace "labels".
    contextual_encoder : `ContextualEncoder`
        From the words to vectors in context.
    integrator : `Lazy[Seq2SeqEncoder]`
        Encodes the words and their attended vectors.
    classifier : `Lazy[FeedForward]`, optional (default = `None`)
        Hidden layers between the sentence as one vector and the logits of the labels, as in Peters
        et al. (2018).
    maxout : `Lazy[Maxout]`, optional (default = `None`)
        Maxout layers instead, as in McCann et al. (2017). Exactly one of the two is required.
    dropout : `float`, optional (default = `0.0`)
        The rate of dropout on the sentence as one vector.
    """

    default_predictor = "elmo_sst"

    def __init__(
        self,
        vocab: Vocabulary,
        *,
        contextual_encoder: ContextualEncoder,
        integrator: Lazy[Seq2SeqEncoder],
        classifier: Lazy[FeedForward] = None,
        maxout: Lazy[Maxout] = None,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, **kwargs)
        hidden_layers = [layers for layers in (classifier, maxout) if layers is not None]
        if len(hidden_layers) != 1:
            raise ConfigurationError("sst_bcn: set exactly one of `classifier` and `maxout`")
        self.contextual_encoder = contextual_encoder
        # For each word, self-biattention returns three vectors of the encoder's size.
        self.integrator = construct_encoder(integrator, 3 * contextual_encoder.get_output_dim())
        # A bias would have no effect: softmax does not change if it is added to all scores.
        self.pooling_scores = nn.Linear(self.integrator.get_output_dim(), 1, bias=False)
        self.dropout = Dropout(dropout)
        # For each sentence, pooling returns four vectors of the integrator's size.
        pooled_dim = 4 * self.integrator.get_output_dim()
        self.classifier = hidden_layers[0].construct(input_dim=pooled_dim)
        self.output_logits = nn.Linear(self.classifier.get_output_dim(), number_of_labels(vocab))
        self.initialize()

    def compute_logits(self, tokens: TextFieldTensors, **_: Any) -> Tensor:
        """
        Returns the logits of the labels, shape (batch, labels), for sentences of shape (batch,
        time).
        """
        encoded, mask = self.contextual_encoder(tokens)  # Shape: (batch, time, dim)
        attended = self_biattention(encoded, mask)  # Shape: (batch, time, 3 * dim)
        integrated = self.integrator(attended, mask)  # Shape: (batch, time, integrated_dim)
        scores = self.pooling_scores(integrated).squeeze(-1)  # Shape: (batch, time)
        pooled = pool(integrated, scores, mask)  # Shape: (batch, 4 * integrated_dim)
        hidden = self.classifier(self.dropout(pooled))  # Shape: (batch, hidden_dim)
        return self.output_logits(hidden)


@Predictor.register("elmo_sst")
class SstPredictor(SentencePredictor):
    """
    Predicts the sentiment of `{"sentence": "It isn't bad."}`, tokenized like the treebank, or of a
    list of `"words"`. A prediction has the `words`, the `label`, the `probabilities` by label, and
    the `logits`.

    Registered as a `Predictor` with name "elmo_sst".
    """

    name = "elmo_sst"
