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
    describe,
    link_clusters,
    marginal_loss,
)
from elmo_plugin.tasks.coref.metrics import CorefConll
from elmo_plugin.tasks.coref.span_encoder import (
    SpanEncoder,
    best_spans,
    further_layers,
    spans_in_sentences,
)
from elmo_plugin.tasks.predictor import TaskPredictor, text_from_json
from elmo_plugin.tasks.spans import Span
from elmo_plugin.tasks.task_model import TaskModel, in_float32
from elmo_plugin.tasks.tokenizers import LimitedRules


def average_documents(logits: Sequence[list[AntecedentLogits]]) -> list[AntecedentLogits]:
    """Returns, for each document, logits of the mean of the models' probabilities."""
    return [average_antecedent_logits(members) for members in zip(*logits, strict=True)]


@Model.register("coref_span_ranking")
class CorefSpanRanking(TaskModel):
    """
    Scores all spans of a document as mentions, and scores each of the best with those before it.
    Each sentence is encoded separately. The best antecedents link mentions to clusters.

    The loss is the marginal log-likelihood of the correct antecedents: the sum over the spans of a
    document, and the mean over documents. In training, a new random window of
    `max_training_sentences` stands for a longer document each time. The metric counts like the
    reference scorer of CoNLL-2012.

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
        positive = {
            "max_span_width": max_span_width,
            "min_spans": min_spans,
            "max_antecedents": max_antecedents,
            "max_training_sentences": max_training_sentences,
        }
        for name, value in positive.items():
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
        num_genres = 0  # without the genre as a feature
        if use_genre:
            num_genres = vocab.get_vocab_size(GENRES)
        span_dim = self.span_encoder.get_output_dim()
        self.mention_first_layer = nn.Linear(span_dim, hidden_dim)
        self.mention_further_layers = further_layers(hidden_dim, dropout)
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
        Returns the logits of the antecedents in each document, or in a window of it in training.
        The text field has the shape (batch, sentences, time), `genre` (batch,).
        """
        # Outside training, documents are scored from their first to their last sentence.
        first_sentences = [0] * len(document)
        if self.training:
            first_sentences = [self._draw_window(each) for each in document]
            sentences = slice_wrapping_dim(
                sentences, starts=first_sentences, length=self._max_training_sentences
            )
        # Shape of encoded and embedded: (batch, sentences, time, dim), of mask without dim
        encoded, embedded, mask = self.contextual_encoder.encode_and_embed(
            sentences, num_wrapping_dims=1
        )
        encoded = self.dropout(encoded)
        logits = []
        for encoded_words, embedded_words, is_word, genre_id, one_document, first_sentence in zip(
            encoded, embedded, mask, genre, document, first_sentences, strict=True
        ):
            logits.append(
                self._score_document(
                    encoded=encoded_words,
                    embedded=embedded_words,
                    mask=is_word,
                    genre=genre_id,
                    document=one_document,
                    first_sentence=first_sentence,
                )
            )
        return logits

    def _draw_window(self, document: CorefDocument) -> int:
        """
        Draws the index of the first sentence of a window; 0 if the window has room for the whole
        document.
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
        sentence, position = mask.nonzero(as_tuple=True)  # Shapes: (words,)
        encoded = encoded[sentence, position]  # Shape: (words, encoded_dim)
        embedded = embedded[sentence, position]  # Shape: (words, embedded_dim)

        # All spans are scored as mentions, and the best are kept.
        widths = self.span_encoder.width_vectors(len(encoded))  # Shape: (words, widths, width_dim)
        scores_of_all = self._mention_scores(encoded, embedded, widths)  # Shape: (words, widths)
        is_in_sentence = spans_in_sentences(sentence, self._max_width)  # Shape: (words, widths)
        count = max(self._min_spans, int(self._spans_per_word * len(encoded)))
        spans = best_spans(
            scores_of_all.detach(), valid=is_in_sentence, count=count, may_cross=self._may_cross
        )
        mention_scores = scores_of_all[spans.starts, spans.widths]  # Shape: (spans,)

        # Each of these is scored with the spans before it.
        vectors = self.span_encoder(encoded, embedded, widths, spans)  # Shape: (spans, dim)
        last_sentence = first_sentence + mask.size(0)
        speakers = _speaker_ids(document.speakers[first_sentence:last_sentence]).to(genre.device)
        # Shape of pair_scores: (spans, antecedents)
        pair_scores = self.antecedent_scorer(vectors, speakers[spans.starts], genre)
        logits = _add_mention_scores(pair_scores, mention_scores)
        logits = functional.pad(logits, (1, 0))  # the logit of no antecedent is 0
        words_before = sum(len(words) for words in document.sentences[:first_sentence])
        return AntecedentLogits(spans.mentions(words_before), logits)

    def _mention_scores(self, encoded: Tensor, embedded: Tensor, widths: Tensor) -> Tensor:
        """Scores all spans of a document as mentions, of shape (words, max_span_width)."""
        # The vectors of all spans at once would be large, so the span encoder applies the scorer's
        # first layer to their parts, and yields what it computes for a block of words at a time.
        hidden_blocks = self.span_encoder.project(
            encoded, embedded, widths, self.mention_first_layer
        )
        scores_of_blocks = []
        for hidden in hidden_blocks:
            scores_of_blocks.append(self.mention_further_layers(hidden).squeeze(-1))
        scores = torch.cat(scores_of_blocks)  # Shape: (words, max_span_width)
        # Pairs of scores are added, and gradients summed: too coarse in half precision.
        return in_float32(scores)

    def decode(
        self,
        logits: list[AntecedentLogits],
        document: list[CorefDocument],
        clusters: list[list[list[Span]]] | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """
        Returns `document`, except in training `clusters` of mentions and `links` of mentions and
        their antecedents, and, if the batch has the correct clusters, `loss`.
        """
        output: dict[str, Any] = {"document": document}
        if not self.training:
            output["links"] = [best_links(each) for each in logits]
            output["clusters"] = [link_clusters(links) for links in output["links"]]
        if clusters is not None:
            losses = [
                marginal_loss(each, correct) for each, correct in zip(logits, clusters, strict=True)
            ]
            output["loss"] = torch.stack(losses).mean()
            if not self.training:
                for predicted, gold in zip(output["clusters"], clusters, strict=True):
                    self.metric(predicted=predicted, gold=gold)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        Returns `name`, `part`, `sentences` and `speakers` of each document, and the output of
        `describe`. In training nothing is predicted, and nothing changes.
        """
        if "links" not in output_dict:
            return output_dict
        documents = output_dict["document"]
        described = []
        for document, clusters, links in zip(
            documents, output_dict["clusters"], output_dict["links"], strict=True
        ):
            described.append(describe(document, clusters, links))
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
    Adds to the score of each pair, shape (spans, antecedents), the scores of both spans as
    mentions, shape (spans,). A pair without an antecedent keeps its score of minus infinity.
    """
    # A missing antecedent has a negative index; any valid one will do, as its pair stays `-inf`.
    antecedents = antecedent_indices(pair_scores).clamp(min=0)
    return pair_scores + mention_scores.unsqueeze(1) + mention_scores[antecedents]


def _speaker_ids(speakers_of_sentences: Sequence[Sequence[str]]) -> Tensor:
    """
    Returns, for each word of some sentences, a number that it shares with all words of the same
    speaker, of shape (words,). All unknown speakers, "-", count as the same one.
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
        return reader.text_to_instance(self._document_of_json(json_dict), has_answers=False)

    def _document_of_json(self, json_dict: JsonDict) -> CorefDocument:
        """
        Makes a document of an input. Its sentences are given as words, or spaCy's rules find
        sentences and words in a text.
        """
        genre = json_dict.get("genre", "")
        if not isinstance(genre, str):
            raise ConfigurationError(f'elmo_coref: "genre": expected text, got {genre!r}')
        if "sentences" in json_dict:
            with as_configuration_error(self.name):
                sentences = check_words(json_dict["sentences"])
                speakers = check_speakers(json_dict.get("speakers"), sentences)
            return _input_document(sentences, speakers=speakers, genre=genre)
        text = text_from_json(json_dict, ["document"], self.name)
        sentences = []
        places = []
        for words in self._rules.sentences(text):
            sentences.append([word.text for word in words])
            places += [(word.start, word.end) for word in words]
        unknown_speakers = check_speakers(None, sentences)
        document = _input_document(sentences, speakers=unknown_speakers, genre=genre)
        return document._replace(text=text, places=places)


def _input_document(
    sentences: list[list[str]], *, speakers: list[list[str]], genre: str
) -> CorefDocument:
    """Returns the document of an input, without clusters; its name stands for the one it lacks."""
    return CorefDocument(
        name="document",
        part="000",
        sentences=sentences,
        speakers=speakers,
        genre=genre,
        clusters=[],
    )
