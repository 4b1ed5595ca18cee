"""Models of allennlp-models for the six tasks, of the same sizes, with AllenNLP's ELMo."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from allennlp.data import Instance, TokenIndexer
from allennlp.data.fields import LabelField, MetadataField, SequenceLabelField, TextField
from allennlp.data.token_indexers import (
    ELMoTokenCharactersIndexer,
    SingleIdTokenIndexer,
    TokenCharactersIndexer,
)
from task_material import elmo_of, embedders_of

from elmo_plugin.bilm import BiLmOptions

Config = dict[str, Any]
Indexers = dict[str, TokenIndexer]
MAX_SPAN_WIDTH = 10  # words, as in the paper's configuration
NUM_LABELS = {"snli": 3, "sst": 5}


class Peer(NamedTuple):
    """
    module: of allennlp-models, which registers the model
    config: the model, from ours and the size of embedded words
    instance: from ours, and the token indexers
    differences: all others
    """

    module: str
    config: Callable[[Config, int], Config]
    instance: Callable[[Instance, Indexers], Instance]
    differences: str


def peer_config(name: str, config: Config) -> Config:
    """The model of allennlp-models that has the sizes of ours."""
    peer = PEERS[name]
    import_module(f"allennlp_models.{peer.module}")  # here: our memory is measured without it
    ours = embedders_of(config)
    our_elmo = elmo_of(config)
    options = BiLmOptions.from_file(our_elmo["bilm"]["options"])
    embedders = {"tokens": ours["tokens"], "elmo": elmo(our_elmo, "elmo_token_embedder")}
    dim = ours["tokens"]["embedding_dim"] + 2 * options.lstm.projection_dim
    if "token_characters" in ours:
        embedders["token_characters"] = characters(ours["token_characters"])
        dim += ours["token_characters"]["num_filters"] * len(ours["token_characters"]["widths"])
    model = peer.config(config["model"], dim)
    if name == "sst":  # `bcn` has ELMo next to the embedder
        del embedders["elmo"]
        model |= {"elmo": elmo(our_elmo), "use_input_elmo": True}
    return {"text_field_embedder": {"token_embedders": embedders}, **model}


def peer_instance(name: str, config: Config, instance: Instance) -> Instance:
    """The same texts and labels in the fields of allennlp-models."""
    ours = embedders_of(config)
    reader = config["dataset_reader"]["token_indexers"]
    lowercase = reader["tokens"].get("lowercase_tokens", False)
    indexers: Indexers = {
        "tokens": SingleIdTokenIndexer(lowercase_tokens=lowercase),
        "elmo": ELMoTokenCharactersIndexer(),
    }
    if "token_characters" in ours:
        widest = max(ours["token_characters"]["widths"])
        indexers["token_characters"] = TokenCharactersIndexer(
            "token_characters", min_padding_length=widest
        )
    return PEERS[name].instance(instance, indexers)


def elmo(ours: Config, kind: str | None = None) -> Config:
    return {
        **({"type": kind} if kind else {"num_output_representations": 1}),
        "options_file": ours["bilm"]["options"],
        "weight_file": ours["bilm"]["weights"],
        "do_layer_norm": ours["input"]["layer_norm"],
        "dropout": ours["input"]["dropout"],
    }


def characters(ours: Config) -> Config:
    return {
        "type": "character_encoding",
        "embedding": ours["embedding"],
        "dropout": ours.get("dropout", 0.0),
        "encoder": {
            "type": "cnn",
            "embedding_dim": ours["embedding"]["embedding_dim"],
            "num_filters": ours["num_filters"],
            "ngram_filter_sizes": ours["widths"],
        },
    }


def bilstm(ours: Config, input_dim: int) -> Config:
    """Layers of different sizes are put together from one LSTM each."""
    sizes = ours["hidden_sizes"]
    inputs = [input_dim, *(2 * size for size in sizes)]
    layers = [
        {"type": "lstm", "bidirectional": True, "input_size": inputs[number], "hidden_size": size}
        for number, size in enumerate(sizes)
    ]
    return layers[0] if len(layers) == 1 else {"type": "compose", "encoders": layers}


def feedforward(
    input_dim: int, hidden_dims: list[int], dropout: float, last: str = "relu"
) -> Config:
    inner = len(hidden_dims) - 1
    return {
        "input_dim": input_dim,
        "num_layers": inner + 1,
        "hidden_dims": hidden_dims,
        "activations": ["relu"] * inner + [last],
        "dropout": [dropout] * inner + [dropout if last == "relu" else 0.0],
    }


def ner_config(ours: Config, dim: int) -> Config:
    encoder = ours["contextual_encoder"]["encoder"]
    return {
        "type": "crf_tagger",
        "encoder": bilstm(encoder, dim),
        "label_encoding": ours["tag_encoding"],
        "constrain_crf_decoding": True,
        "calculate_span_f1": True,
        "dropout": encoder["dropout"],
    }


def snli_config(ours: Config, dim: int) -> Config:
    lower, upper = ours["contextual_encoder"]["encoder"], ours["inference_encoder"]
    hidden, inference = ours["projection"]["hidden_dims"], upper["hidden_sizes"][0]
    classifier, dropout = ours["classifier"]["hidden_dims"], ours["dropout"]
    return {
        "type": "esim",
        "encoder": bilstm(lower, dim),
        "matrix_attention": {"type": "dot_product"},
        "projection_feedforward": feedforward(8 * lower["hidden_sizes"][0], [hidden], 0.0),
        "inference_encoder": bilstm(upper, hidden),
        "output_feedforward": feedforward(8 * inference, [classifier], dropout),
        "output_logit": feedforward(classifier, [NUM_LABELS["snli"]], 0.0, last="linear"),
        "dropout": dropout,
    }


def sst_config(ours: Config, dim: int) -> Config:
    lower = ours["contextual_encoder"]
    hidden, dropout = lower["feedforward"]["hidden_dims"], ours["dropout"]
    lstm, integrator = lower["encoder"]["hidden_sizes"][0], ours["integrator"]["hidden_sizes"][0]
    classifier = [ours["classifier"]["hidden_dims"]] * ours["classifier"]["num_layers"]
    return {
        "type": "bcn",
        "embedding_dropout": lower["dropout"],
        "pre_encode_feedforward": feedforward(dim, [hidden], 0.0),
        "encoder": bilstm(lower["encoder"], hidden),
        "integrator": bilstm(ours["integrator"], 6 * lstm),
        "integrator_dropout": dropout,
        "output_layer": feedforward(
            8 * integrator, [*classifier, NUM_LABELS["sst"]], dropout, last="linear"
        ),
    }


def srl_config(ours: Config, dim: int) -> Config:
    encoder = ours["contextual_encoder"]["encoder"]
    return {
        "type": "srl",
        "encoder": {
            "type": "alternating_lstm",
            "input_size": dim + ours["predicate_dim"],
            "hidden_size": encoder["hidden_size"],
            "num_layers": encoder["num_layers"],
            "recurrent_dropout_probability": encoder["recurrent_dropout"],
            "use_highway": True,
            "use_input_projection_bias": False,
        },
        "binary_feature_dim": ours["predicate_dim"],
        "srl_eval_path": None,
    }


def squad_config(ours: Config, dim: int) -> Config:
    hidden = ours["contextual_encoder"]["encoder"]["hidden_size"]

    def gru(input_size: int, num_layers: int = 1) -> Config:
        sizes = {"input_size": input_size, "hidden_size": hidden, "num_layers": num_layers}
        return {"type": "gru", "bidirectional": True, **sizes}

    attention = {"type": "linear", "combination": "x,y,x*y"}
    return {
        "type": "bidaf",
        "num_highway_layers": 2,
        "phrase_layer": gru(dim),
        "matrix_attention": {**attention, "tensor_1_dim": 2 * hidden, "tensor_2_dim": 2 * hidden},
        "modeling_layer": gru(8 * hidden, num_layers=2),
        "span_end_encoder": gru(14 * hidden),
        "dropout": ours["input"]["dropout"],
    }


def coref_config(ours: Config, dim: int) -> Config:
    encoder = ours["contextual_encoder"]["encoder"]
    feature_dim, dropout = ours["feature_dim"], ours["dropout"]
    span_dim = 4 * encoder["hidden_sizes"][0] + dim + feature_dim
    layers = [ours["hidden_dim"]] * 2
    return {
        "type": "coref",
        "context_layer": bilstm(encoder, dim),
        "mention_feedforward": feedforward(span_dim, layers, dropout),
        "antecedent_feedforward": feedforward(3 * span_dim + feature_dim, layers, dropout),
        "feature_size": feature_dim,
        "max_span_width": ours["max_span_width"],
        "spans_per_word": ours["spans_per_word"],
        "max_antecedents": ours["max_antecedents"],
        "lexical_dropout": ours["contextual_encoder"]["dropout"],
    }


def tagged(instance: Instance, indexers: Indexers) -> Instance:
    """A sentence with tags, and for semantic roles its predicate."""
    text = TextField(instance["tokens"].tokens, indexers)
    metadata: dict[str, Any] = {"words": instance["words"].metadata}
    fields: dict[str, Any] = {"tokens": text}
    if "tags" in instance.fields:
        metadata["gold_tags"] = instance["tags"].labels
        fields["tags"] = SequenceLabelField(instance["tags"].labels, text)
    if "predicate" in instance.fields:
        place = instance["predicate"].sequence_index
        metadata |= {"verb_index": place, "verb": metadata["words"][place]}
        fields["verb_indicator"] = SequenceLabelField(
            [int(n == place) for n in range(len(text))], text
        )
    return Instance({**fields, "metadata": MetadataField(metadata)})


def classified(instance: Instance, indexers: Indexers) -> Instance:
    """One text or two, with a label."""
    return Instance(
        {
            name: TextField(field.tokens, indexers) if isinstance(field, TextField) else field
            for name, field in instance.fields.items()
            if isinstance(field, TextField | LabelField)
        }
    )


def asked(instance: Instance, indexers: Indexers) -> Instance:
    """A paragraph and a question."""
    from allennlp_models.rc.dataset_readers.utils import make_reading_comprehension_instance

    paragraph = instance["metadata"].metadata.paragraph
    spans = [(span.span_start, span.span_end) for span in instance.fields.get("answers", ())]
    answers = [answer.text for answer in instance["metadata"].metadata.question.answers]
    question = instance["question"].tokens
    return make_reading_comprehension_instance(
        question, paragraph.tokens, indexers, paragraph.text, spans, answers if spans else None
    )


def document(instance: Instance, indexers: Indexers) -> Instance:
    """A document, with its clusters if they are known."""
    from allennlp_models.coref.util import make_coref_instance

    clusters = None
    if "clusters" in instance.fields:
        clusters = [
            [(span.start, span.end - 1) for span in each] for each in instance["clusters"].metadata
        ]
    return make_coref_instance(
        instance["document"].metadata.sentences, indexers, MAX_SPAN_WIDTH, clusters
    )


PEERS = {
    "ner": Peer(
        "tagging.models.crf_tagger",
        ner_config,
        tagged,
        "crf_tagger drops out the embedded words and the LSTM's output, ours the input of each "
        "layer",
    ),
    "snli": Peer(
        "pair_classification.models.esim",
        snli_config,
        classified,
        "ours also has dropout behind the attention and in the last layers, as the paper; layer "
        "norm of AllenNLP's ELMo is over all words of a batch",
    ),
    "sst": Peer(
        "classification.models.biattentive_classification_network",
        sst_config,
        classified,
        "ours drops out the inputs of LSTMs (variational); bcn has a bias of the pooling scores",
    ),
    "srl": Peer(
        "structured_prediction.models.srl",
        srl_config,
        tagged,
        "both read a sentence once for each of its predicates, but our biLM computes it once "
        "for a batch; the last layer of ours starts orthogonal",
    ),
    "squad": Peer(
        "rc.models.bidaf",
        squad_config,
        asked,
        "only ours has self-attention and trains on all right answers; bidaf has two highway "
        "layers and a second modelling layer, and reads a paragraph once for each question",
    ),
    "coref": Peer(
        "coref.models.coref",
        coref_config,
        document,
        "only ours knows speakers and genres, and drops out in the LSTM's recurrence; coref's "
        "LSTM reads the document as one sequence, ours each sentence",
    ),
}
