"""The span ranking model of Lee et al. (2017), as Peters et al. (2018) use it, and its
predictor.
"""

from collections.abc import Sequence
from typing import Any, cast

import torch
from allennlp.common import JsonDict
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.predictors import Predictor
from overrides import overrides
from torch import LongTensor, Tensor, nn
from torch.nn import functional

from elmo_plugin.bilm import Dropout
from elmo_plugin.common.errors import as_configuration_error, check_at_least
from elmo_plugin.encoders import ContextualEncoder, slice_wrapping_dim
from elmo_plugin.tasks.coref.antecedents import AntecedentScorer
from elmo_plugin.tasks.coref.dataset_reader import GENRES, CorefReader
from elmo_plugin.tasks.coref.documents import CorefDocument, check_speakers, check_words
from elmo_plugin.tasks.coref.links import (
    AntecedentLogits,
    antecedent_indices,
    average_antecedent_logits,
    best_links,
    clusters_from_links,
    describe_prediction,
    marginal_loss,
)
from elmo_plugin.tasks.coref.metrics import CorefConll
from elmo_plugin.tasks.coref.span_encoder import (
    SpanEncoder,
    Spans,
    best_spans,
    is_within_sentence,
    make_further_layers,
)
from elmo_plugin.tasks.predictor import TaskPredictor
from elmo_plugin.tasks.spans import Span
from elmo_plugin.tasks.task_model import TaskModel, in_float32
from elmo_plugin.tasks.tokenizers import LimitedRules


def average_documents(logits: Sequence[list[AntecedentLogits]]) -> list[AntecedentLogits]:
    """Returns, for each document, logits of the mean of the models' probabilities."""
    return [average_antecedent_logits(members) for members in zip(*logits, strict=True)]


@Model.register("coref_span_ranking")
class CorefSpanRanking(TaskModel):
    """
    Scores all spans of a document as mentions, keeps the best ones, and scores each of them with
    the kept spans before it. Links to the best antecedents make clusters of mentions. Each sentence
    is encoded separately.

    The loss is the negative marginal log-likelihood of the correct antecedents, summed over the
    spans of a document and averaged over documents. In training, a document with more than
    `max_training_sentences` is cut to a new random window of this length each time. The metric
    counts like the reference scorer of CoNLL-2012.

    An ensemble averages the probabilities of antecedents, over the spans of all members. If one
    model does not have a span, that model gives it no antecedent.

    Registered as a `Model` with name "coref_span_ranking".

    # Parameters

    vocab : `Vocabulary`
        With the genres in the namespace "genre_labels".
    contextual_encoder : `ContextualEncoder`
        From the words of each sentence to vectors in context. The soft heads are means of its
        embedded words.
    max_span_width : `int`, optional (default = `10`)
        The words of the longest spans.
    spans_per_word : `float`, optional (default = `0.4`)
        The number of spans that are kept for each word of the document.
    min_spans : `int`, optional (default = `8`)
        The smallest number of spans to keep; it matters for short texts.
    max_antecedents : `int`, optional (default = `250`)
        The number of kept spans before a span that are scored: the nearest.
    hidden_dim : `int`, optional (default = `150`)
        The size of the two feed-forward layers of each scorer.
    feature_dim : `int`, optional (default = `20`)
        The size of the vectors of width, distance, speaker and genre.
    dropout : `float`, optional (default = `0.2`)
        The rate of dropout on encoded words, on hidden layers, and on the vectors of features, with
        a mask for each pair or span.
    max_training_sentences : `int`, optional (default = `50`)
        The sentences of a window.
    use_speakers, use_genre : `bool`, optional (default = `True`)
        Use these as features of a pair of spans.
    may_cross : `bool`, optional (default = `False`)
        Keep spans that cross others.
    """

    default_predictor = "elmo_coref"
    progress_figures = ("_f1",)
    average_logits = staticmethod(average_documents)

    def __init__(
        self,
        vocab: Vocabulary,
        *,
        contextual_encoder: ContextualEncoder,
        max_span_width: int = 10,
        spans_per_word: float = 0.4,
        min_spans: int = 8,
        max_antecedents: int = 250,
        hidden_dim: int = 150,
        feature_dim: int = 20,
        dropout: float = 0.2,
        max_training_sentences: int = 50,
        use_speakers: bool = True,
        use_genre: bool = True,
        may_cross: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, **kwargs)
        at_least_one = {
            "max_span_width": max_span_width,
            "min_spans": min_spans,
            "max_antecedents": max_antecedents,
            "max_training_sentences": max_training_sentences,
        }
        for name, value in at_least_one.items():
            check_at_least(f"coref: {name}", value, least=1, error=ConfigurationError)
        if spans_per_word <= 0:
            raise ConfigurationError(
                f"coref: spans_per_word: expected more than 0, got {spans_per_word}"
            )
        self.contextual_encoder = contextual_encoder
        self.span_encoder = SpanEncoder(
            encoded_dim=contextual_encoder.get_output_dim(),
            embedded_dim=contextual_encoder.get_embedding_dim(),
            max_width=max_span_width,
            width_dim=feature_dim,
            dropout=dropout,
        )
        num_genres = 0  # the genre is not a feature
        if use_genre:
            num_genres = vocab.get_vocab_size(GENRES)
        span_dim = self.span_encoder.get_output_dim()
        self.mention_first_layer = nn.Linear(span_dim, hidden_dim)
        self.mention_further_layers = make_further_layers(hidden_dim, dropout)
        self.antecedent_scorer = AntecedentScorer(
            span_dim=span_dim,
            hidden_dim=hidden_dim,
            max_antecedents=max_antecedents,
            feature_dim=feature_dim,
            num_genres=num_genres,
            use_speakers=use_speakers,
            dropout=dropout,
        )
        self.dropout = Dropout(dropout)
        self._max_width = max_span_width
        self._spans_per_word = spans_per_word
        self._min_spans = min_spans
        self._max_training_sentences = max_training_sentences
        self._may_cross = may_cross
        self.metric = CorefConll()
        self.initialize()

    @overrides
    def extend_vocab(self, vocab: Vocabulary, *_: Any, **__: Any) -> None:
        self.antecedent_scorer.add_genres(vocab.get_vocab_size(GENRES))

    def compute_logits(
        self,
        sentences: TextFieldTensors,
        genre: LongTensor,
        document: list[CorefDocument],
        **_: Any,
    ) -> list[AntecedentLogits]:
        """
        Returns the logits of the antecedents in each document of a batch or, in training, in a
        window of it. The text field has the shape (batch, sentences, time), `genre` (batch,).
        """
        documents = document
        if self.training:
            first_sentences = [self._draw_first_sentence(each) for each in documents]
            sentences = slice_wrapping_dim(
                sentences, starts=first_sentences, length=self._max_training_sentences
            )
        else:
            first_sentences = [0] * len(documents)
        # Shape of encoded and embedded: (batch, sentences, time, dim), of mask without dim
        encoded, embedded, mask = self.contextual_encoder.encode_and_embed(
            sentences, num_wrapping_dims=1
        )
        encoded = self.dropout(encoded)
        logits = []
        for index, one_document in enumerate(documents):
            logits.append(
                self._score_document(
                    encoded=encoded[index],
                    embedded=embedded[index],
                    mask=mask[index],
                    genre=genre[index],
                    document=one_document,
                    first_sentence=first_sentences[index],
                )
            )
        return logits

    def _draw_first_sentence(self, document: CorefDocument) -> int:
        """
        Draws the index of the first sentence of a training window. It is 0 if the whole document
        fits into a window.
        """
        latest = max(0, len(document.sentences) - self._max_training_sentences)
        return int(torch.randint(latest + 1, size=()))

    def _score_document(
        self,
        encoded: Tensor,
        embedded: Tensor,
        mask: Tensor,
        genre: Tensor,
        document: CorefDocument,
        first_sentence: int,
    ) -> AntecedentLogits:
        """
        Scores one document, or a window of it that begins with the sentence at the index
        `first_sentence`. The words have the shape (sentences, time, dim), and `mask` (sentences,
        time).
        """
        # The words of all sentences, one after the other.
        sentence_of_word, position = mask.nonzero(as_tuple=True)  # Shapes: (words,)
        encoded = encoded[sentence_of_word, position]  # Shape: (words, encoded_dim)
        embedded = embedded[sentence_of_word, position]  # Shape: (words, embedded_dim)

        # All spans are scored as mentions, and the best are kept.
        widths = self.span_encoder.width_vectors(len(encoded))  # Shape: (words, widths, width_dim)
        scores_of_all = self._mention_scores(encoded, embedded, widths)  # Shape: (words, widths)
        spans = self._select_spans(scores_of_all, sentence_of_word)
        mention_scores = scores_of_all[spans.starts, spans.widths]  # Shape: (spans,)

        # Each kept span is scored with the kept spans before it.
        vectors = self.span_encoder(encoded, embedded, widths, spans)  # Shape: (spans, dim)
        end_sentence = first_sentence + mask.size(0)
        speakers = _speaker_ids(document.speakers[first_sentence:end_sentence]).to(genre.device)
        # Shape of pair_scores: (spans, antecedents)
        pair_scores = self.antecedent_scorer(vectors, speakers[spans.starts], genre)
        logits = _add_mention_scores(pair_scores, mention_scores)
        logits = functional.pad(logits, (1, 0))  # the logit of no antecedent is 0
        words_before = sum(len(words) for words in document.sentences[:first_sentence])
        return AntecedentLogits(spans.to_mentions(words_before), logits)

    def _select_spans(self, scores: Tensor, sentence_of_word: Tensor) -> Spans:
        """
        Selects the best spans that do not leave their sentence, by their scores as mentions, of
        shape (words, max_span_width).
        """
        count = int(self._spans_per_word * len(sentence_of_word))
        return best_spans(
            scores.detach(),
            valid=is_within_sentence(sentence_of_word, self._max_width),
            count=max(self._min_spans, count),
            may_cross=self._may_cross,
        )

    def _mention_scores(self, encoded: Tensor, embedded: Tensor, widths: Tensor) -> Tensor:
        """Scores all spans of a document as mentions, of shape (words, max_span_width)."""
        # The vectors of all spans would take much memory. The span encoder applies the first layer
        # without making them, and yields its output for one block of words after the other.
        hidden_blocks = self.span_encoder.project(
            encoded, embedded, widths, self.mention_first_layer
        )
        scores_of_blocks = []
        for hidden in hidden_blocks:
            scores_of_blocks.append(self.mention_further_layers(hidden).squeeze(-1))
        scores = torch.cat(scores_of_blocks)  # Shape: (words, max_span_width)
        # A score is added to the scores of many pairs, and its gradient is the sum of theirs. Half
        # precision would be too coarse for these sums.
        return in_float32(scores)

    def decode(
        self,
        logits: list[AntecedentLogits],
        document: list[CorefDocument],
        clusters: list[list[list[Span]]] | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """
        Returns the values for each document of a batch: `document` itself and, outside of training,
        the predicted `links` of mentions to their antecedents and `clusters` of mentions. If the
        batch has gold clusters, also returns their `loss`, and outside of training adds to the
        metric.
        """
        output: dict[str, Any] = {"document": document}
        if clusters is not None:
            losses = []
            for logits_of_document, gold in zip(logits, clusters, strict=True):
                losses.append(marginal_loss(logits_of_document, gold))
            output["loss"] = torch.stack(losses).mean()
        if self.training:
            return output
        output["links"] = [best_links(logits_of_document) for logits_of_document in logits]
        output["clusters"] = [clusters_from_links(links) for links in output["links"]]
        if clusters is not None:
            for predicted, gold in zip(output["clusters"], clusters, strict=True):
                self.metric(predicted=predicted, gold=gold)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        Returns `name`, `part`, `sentences` and `speakers` of each document, and the output of
        `describe_prediction`. The output of a training step contains no predictions, and does not
        change.
        """
        if "links" not in output_dict:
            return output_dict
        documents = output_dict["document"]
        described = []
        for document, clusters, links in zip(
            documents, output_dict["clusters"], output_dict["links"], strict=True
        ):
            described.append(describe_prediction(document, clusters, links))
        return {
            "sentences": [document.typed_sentences for document in documents],
            "name": [document.name for document in documents],
            "part": [document.part for document in documents],
            "speakers": [document.speakers for document in documents],
            "clusters": [each["clusters"] for each in described],
            "antecedents": [each["antecedents"] for each in described],
            "marked": [each["marked"] for each in described],
        }


def _add_mention_scores(pair_scores: Tensor, mention_scores: Tensor) -> Tensor:
    """
    Adds to the score of each pair, of shape (spans, antecedents), the scores of both spans as
    mentions, of shape (spans,). The score of a missing antecedent stays minus infinity.
    """
    # A missing antecedent has a negative index. It may become any other index, because the sum with
    # minus infinity is minus infinity.
    antecedents = antecedent_indices(pair_scores).clamp(min=0)
    return pair_scores + mention_scores.unsqueeze(1) + mention_scores[antecedents]


def _speaker_ids(speakers_of_sentences: Sequence[Sequence[str]]) -> Tensor:
    """
    Numbers the speakers of some sentences. Returns the number of each word's speaker, of shape
    (words,). All unknown speakers, "-", get the same number.
    """
    ids: dict[str, int] = {}
    ids_of_words = []
    for speakers in speakers_of_sentences:
        for speaker in speakers:
            if speaker not in ids:
                ids[speaker] = len(ids)
            ids_of_words.append(ids[speaker])
    return torch.tensor(ids_of_words)


@Predictor.register("elmo_coref")
class CorefPredictor(TaskPredictor):
    """
    Finds the mentions of each person or thing in `{"document": "Anna waved. She laughed."}`, which
    spaCy's rules split into sentences and words, or in `{"sentences": [["Anna", "waved", "."],
    …]}`, used unchanged. Both may have a `"genre"` of the training data and, with sentences, the
    `"speakers"` of their words. A prediction has the `sentences` and

        {"clusters": [[{"text": "Anna", "start_word": 0, "end_word": 1, "characters": [0, 4]},
                       {"text": "She", "start_word": 3, "end_word": 4, "characters": [12, 15]}]],
         "antecedents": [{"mention": {"text": "She", …}, "antecedent": {"text": "Anna", …},
                          "probability": 0.97}],
         "marked": "[Anna]0 waved . [She]0 laughed ."}

    Words and characters are counted from the beginning of the document, or of its words joined by
    spaces.

    Registered as a `Predictor` with name "elmo_coref". `max_words` is 20,000 by default.
    """

    name = "elmo_coref"
    default_max_words = 20_000

    def __init__(
        self, model: Model, dataset_reader: DatasetReader, *, max_words: int | None = None
    ) -> None:
        super().__init__(model, dataset_reader, max_words=max_words)
        self._rules = LimitedRules("en", "sentencizer")

    def predict(self, document: str) -> JsonDict:
        """Returns the prediction for a plain text."""
        return self.predict_json({"document": document})

    @overrides
    def to_instance(self, json_dict: JsonDict) -> Instance:
        reader = cast(CorefReader, self._dataset_reader)
        return reader.text_to_instance(self._read_document(json_dict), has_answers=False)

    def _read_document(self, json_dict: JsonDict) -> CorefDocument:
        """
        Returns the document of an input, either from its words in `sentences` or from its text in
        `document`. Raises `ConfigurationError` if a value of the input is of the wrong kind.
        """
        genre = json_dict.get("genre", "")
        if not isinstance(genre, str):
            raise ConfigurationError(f'elmo_coref: "genre": expected text, got {genre!r}')
        if "sentences" in json_dict:
            with as_configuration_error(self.name):
                sentences = check_words(json_dict["sentences"])
                speakers = check_speakers(json_dict.get("speakers"), sentences)
            return _unnamed_document(sentences, speakers=speakers, genre=genre)
        text = self.text_in(json_dict, ["document"])
        return self._split_text(text, genre)

    def _split_text(self, text: str, genre: str) -> CorefDocument:
        """Splits a text into sentences and words by spaCy's rules."""
        sentences = []
        places = []
        for words in self._rules.sentences(text):
            sentences.append([word.text for word in words])
            places += [(word.start, word.end) for word in words]
        unknown_speakers = check_speakers(None, sentences)
        document = _unnamed_document(sentences, speakers=unknown_speakers, genre=genre)
        return document._replace(text=text, places=places)


def _unnamed_document(
    sentences: list[list[str]], *, speakers: list[list[str]], genre: str
) -> CorefDocument:
    """Returns a document of a predictor's input, with a made-up name and without clusters."""
    return CorefDocument(
        name="document",
        part="000",
        sentences=sentences,
        speakers=speakers,
        genre=genre,
        clusters=[],
    )
