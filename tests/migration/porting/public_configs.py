"""
Configurations in the structure of public ones with ELMo for AllenNLP 0.x and 1.x, with small sizes
and addresses that do not exist.
"""

# fmt: off

from collections.abc import Callable
from pathlib import Path
from typing import Any

Config = dict[str, Any]

BUCKET = "https://s3-us-west-2.amazonaws.com/allennlp"
STEM = f"{BUCKET}/models/elmo/2x1024_128_2048cnn_1xhighway/elmo_2x1024_128_2048cnn_1xhighway"
ELMO_DIM = 256
ELMO = {"options_file": f"{STEM}_options.json", "weight_file": f"{STEM}_weights.hdf5", "do_layer_norm": False}
EMBEDDER = {"type": "elmo_token_embedder", **ELMO, "dropout": 0.0}
WORDS = {"type": "embedding", "embedding_dim": 4, "pretrained_file": f"{BUCKET}/glove.txt.gz",
    "trainable": True}
CHARACTERS = {"type": "character_encoding", "embedding": {"num_embeddings": 262, "embedding_dim": 3},
    "encoder": {"type": "cnn", "embedding_dim": 3, "num_filters": 2, "ngram_filter_sizes": [3]}}
BYTES = {"byte_encoding": "utf-8", "start_tokens": [259], "end_tokens": [260]}
INDEXERS = {"tokens": {"type": "single_id", "lowercase_tokens": True},
    "token_characters": {"type": "characters", "character_tokenizer": BYTES, "min_padding_length": 3},
    "elmo": {"type": "elmo_characters"}}
ELMO_ONLY = {"elmo": INDEXERS["elmo"]}
PLATEAU = {"type": "reduce_on_plateau", "factor": 0.5, "mode": "max", "patience": 0}
NORMAL, ORTHOGONAL = {"type": "xavier_normal"}, {"type": "orthogonal"}


def lstm(size: int, hidden: int = 5, **more: Any) -> Config:
    return {"type": "lstm", "input_size": size, "hidden_size": hidden, "num_layers": 1,
        "bidirectional": True, **more}


def feedforward(size: int, *hidden: int, activation: str = "relu", **more: Any) -> Config:
    activations = [activation] * len(hidden)
    return {"input_dim": size, "num_layers": len(hidden), "hidden_dims": list(hidden),
        "activations": activations, **more}


def bucket(*fields: str, size: int = 8, padding: str = "num_tokens", **more: Any) -> Config:
    return {"type": "bucket", "sorting_keys": [[field, padding] for field in fields], "batch_size": size,
        **more}


def config(reader: Config, model: Config, iterator: Config, metric: str, **trainer: Any) -> Config:
    return {"dataset_reader": reader, "train_data_path": f"{BUCKET}/train",
        "validation_data_path": f"{BUCKET}/dev", "model": model, "iterator": iterator,
        "trainer": {"optimizer": {"type": "adam", "lr": 0.001}, "validation_metric": metric,
        "num_epochs": 1, "patience": 5, "cuda_device": 0, **trainer}}


def of_version_1(old: Config, **trainer: Any) -> Config:
    """The same as AllenNLP 1.x has it."""
    iterator = old.pop("iterator")
    fields = [key for key, _ in iterator.pop("sorting_keys", [])]
    sampler = iterator | ({"sorting_keys": fields} if fields else {"sampler": "random"})
    old["data_loader"] = {"batch_sampler": sampler, "num_workers": 0, "pin_memory": False}
    for part in ("initializer", "regularizer"):
        if part in old["model"]:
            old["model"][part] = {"regexes": [pair for pair in old["model"][part] if pair[1] != "prevent"]}
    if "similarity_function" in old["model"]:
        old["model"]["matrix_attention"] = old["model"].pop("similarity_function")
    old["trainer"] |= trainer
    return old


def embed(**embedders: Config) -> Config:
    return {"token_embedders": embedders}


def ner(reader: str = "conll2003", **model: Any) -> Config:
    old = config({"type": reader, "tag_label": "ner", "coding_scheme": "BIOUL", "token_indexers": INDEXERS},
        {"type": "crf_tagger", "dropout": 0.5, "include_start_end_transitions": False,
        "text_field_embedder": embed(tokens=WORDS, elmo=EMBEDDER, token_characters=CHARACTERS),
        "encoder": lstm(4 + ELMO_DIM + 2), "regularizer": [["scalar_parameters", {"type": "l2",
        "alpha": 0.1}]], **model}, {"type": "basic", "batch_size": 64}, "+f1-measure-overall",
        num_serialized_models_to_keep=3, grad_norm=5.0)
    return old


def ner_flat() -> Config:
    old = ner(constraint_type="BIOUL")
    old["model"]["text_field_embedder"] = old["model"]["text_field_embedder"]["token_embedders"]
    return old | {"validation_data_path": "${NER_DEV}", "evaluate_on_test": False}


def ner_of_version_1() -> Config:
    return of_version_1(ner(label_encoding="BIOUL"), checkpointer={"num_serialized_models_to_keep": 3})


def simple_tagger() -> Config:
    return config({"type": "conll2003", "tag_label": "pos", "token_indexers": ELMO_ONLY, "lazy": False},
        {"type": "simple_tagger", "text_field_embedder": {"elmo": EMBEDDER}, "encoder": lstm(ELMO_DIM)},
        bucket("tokens", biggest_batch_first=True, cache_instances=True), "+accuracy", cuda_device=-1,
        learning_rate_scheduler=PLATEAU)


def bidaf() -> Config:
    return config({"type": "squad", "token_indexers": INDEXERS}, {"type": "bidaf",
        "text_field_embedder": embed(tokens=WORDS, elmo=EMBEDDER,
        token_characters=CHARACTERS | {"dropout": 0.2}), "num_highway_layers": 2, "phrase_layer": lstm(262),
        "similarity_function": {"type": "linear", "combination": "x,y,x*y", "tensor_1_dim": 10,
        "tensor_2_dim": 10}, "modeling_layer": lstm(40, dropout=0.2), "span_end_encoder": lstm(70),
        "dropout": 0.2}, bucket("passage", "question"), "+em", learning_rate_scheduler=PLATEAU)


def bcn(**elmo: bool) -> Config:
    reader = {"type": "sst_tokens", "use_subtrees": True, "granularity": "5-class"}
    reader["token_indexers"] = {name: INDEXERS[name] for name in ("tokens", "elmo")}  # type: ignore[assignment]
    at_input, at_output = elmo.get("input", True), elmo.get("output", False)
    integrated = 10 + ELMO_DIM * at_output
    old = config(reader, {"type": "bcn", "text_field_embedder": embed(tokens=WORDS),
        "embedding_dropout": 0.5, "pre_encode_feedforward": feedforward(4 + ELMO_DIM * at_input, 6,
        dropout=[0.25]), "encoder": lstm(6), "integrator": lstm(30), "integrator_dropout": 0.1,
        "elmo": {**ELMO, "dropout": 0.0, "num_output_representations": at_input + at_output},
        "use_input_elmo": at_input, "use_integrator_output_elmo": at_output,
        "output_layer": {"input_dim": 4 * integrated, "num_layers": 2, "output_dims": [8, 5],
        "pool_sizes": 4, "dropout": [0.2, 0.0]}}, bucket("tokens"), "+accuracy")
    return old | {"validation_dataset_reader": reader | {"use_subtrees": False}}


def esim() -> Config:
    return config({"type": "snli", "token_indexers": ELMO_ONLY}, {"type": "esim", "dropout": 0.5,
        "text_field_embedder": embed(elmo=EMBEDDER), "encoder": lstm(ELMO_DIM),
        "similarity_function": {"type": "dot_product"}, "projection_feedforward": feedforward(40, 6),
        "inference_encoder": lstm(6), "output_feedforward": feedforward(40, 6),
        "output_logit": feedforward(6, 3, activation="linear"), "initializer": [[".*linear_layers.*bias",
        {"type": "zero"}], [".*weight_hh.*", ORTHOGONAL], [".*bias_hh.*", {"type": "lstm_hidden_bias"}]]},
        bucket("premise", "hypothesis"), "+accuracy", num_serialized_models_to_keep=2,
        learning_rate_scheduler=PLATEAU)


def decomposable_attention() -> Config:
    return config({"type": "snli", "token_indexers": ELMO_ONLY, "tokenizer": {"type": "word",
        "word_splitter": {"type": "spacy"}, "end_tokens": ["@@NULL@@"]}}, {"type": "decomposable_attention",
        "text_field_embedder": embed(elmo=EMBEDDER | {"projection_dim": 6}),
        "attend_feedforward": feedforward(6, 6, 6), "similarity_function": {"type": "dot_product"},
        "compare_feedforward": feedforward(12, 6, 6), "aggregate_feedforward": feedforward(12, 6, 2),
        "initializer": [[".*linear_layers.*weight", NORMAL],
        [".*token_embedder_tokens\\._projection.*weight", "prevent"]]}, bucket("premise", "hypothesis"),
        "+accuracy", no_tqdm=True, grad_clipping=5.0)


def srl(**model: Any) -> Config:
    return config({"type": "srl", "token_indexers": ELMO_ONLY}, {"type": "srl",
        "text_field_embedder": embed(elmo=EMBEDDER), "initializer": [["tag_projection_layer.*weight",
        ORTHOGONAL]], "encoder": {"type": "alternating_lstm", "input_size": ELMO_DIM + 4, "hidden_size": 5,
        "num_layers": 2, "recurrent_dropout_probability": 0.1, "use_input_projection_bias": False},
        "binary_feature_dim": 4, "regularizer": [[".*scalar_parameters.*", {"type": "l2", "alpha": 0.001}]],
        **model}, bucket("tokens"), "+f1-measure-overall", grad_clipping=1.0, optimizer={"type": "adadelta",
        "rho": 0.95})


def dialog_qa() -> Config:
    gru = {"type": "gru", "bidirectional": True, "hidden_size": 5, "num_layers": 1}
    iterator = {"type": "bucket", "batch_size": 1, "max_instances_in_memory": 100,
        "sorting_keys": [["question", "num_fields"], ["passage", "num_tokens"]]}
    old = config({"type": "quac", "lazy": True, "num_context_answers": 2,
        "token_indexers": {name: INDEXERS[name] for name in ("elmo", "token_characters")}},
        {"type": "dialog_qa", "dropout": 0.2, "initializer": [], "marker_embedding_dim": 10,
        "num_context_answers": 2, "phrase_layer": gru | {"input_size": ELMO_DIM + 2 + 20},
        "residual_encoder": gru | {"input_size": 10}, "span_end_encoder": gru | {"input_size": 20},
        "span_start_encoder": gru | {"input_size": 10}, "text_field_embedder": {"elmo": EMBEDDER,
        "token_characters": CHARACTERS}}, iterator, "+f1")
    return old | {"validation_iterator": iterator | {"batch_size": 3}}


def language_model() -> Config:
    reader = {"type": "simple_language_modeling", "tokenizer": {"type": "word",
        "word_splitter": {"type": "just_spaces"}}, "token_indexers": {"tokens": {"type": "single_id"},
        "token_characters": {"type": "elmo_characters"}}, "max_sequence_length": 40,
        "start_tokens": ["<S>"], "end_tokens": ["</S>"]}
    encoder = {"type": "cnn-highway", "activation": "relu", "embedding_dim": 4, "filters": [[1, 4], [2, 4]],
        "num_highway": 1, "projection_dim": 8, "projection_location": "after_highway",
        "do_layer_norm": True}
    return {"dataset_reader": {"type": "multiprocess", "base_reader": reader, "num_workers": 2},
        "train_data_path": "train", "vocabulary": {"tokens_to_add": {"tokens": ["<S>", "</S>"]},
        "min_count": {"tokens": 1}}, "model": {"type": "language_model", "bidirectional": True,
        "num_samples": None, "text_field_embedder": {"allow_unmatched_keys": True,
        "token_embedders": {"token_characters": {"type": "character_encoding",
        "embedding": {"num_embeddings": 262, "embedding_dim": 4}, "encoder": encoder}}}, "dropout": 0.1,
        "contextualizer": {"type": "bidirectional_language_model_transformer", "input_dim": 8,
        "hidden_dim": 16, "num_layers": 2, "dropout": 0.1, "input_dropout": 0.1}},
        "iterator": {"type": "multiprocess", "base_iterator": {"type": "bucket",
        "max_instances_in_memory": 64, "batch_size": 512, "sorting_keys": [["source", "num_tokens"]],
        "maximum_samples_per_batch": ["num_tokens", 200]}, "num_workers": 2, "output_queue_size": 10},
        "trainer": {"num_epochs": 1, "cuda_device": [0, 1], "optimizer": {"type": "dense_sparse_adam"},
        "learning_rate_scheduler": {"type": "noam", "model_size": 8, "warmup_steps": 60},
        "should_log_learning_rate": True}}


def callback_trainer() -> Config:
    old = ner(label_encoding="BIOUL")
    trainer = old["trainer"]
    old["trainer"] = {"type": "callback", "optimizer": trainer["optimizer"], "num_epochs": 1,
        "callbacks": [{"type": "checkpoint", "checkpointer": {"num_serialized_models_to_keep": 2}},
        {"type": "track_metrics", "patience": 3, "validation_metric": "+accuracy"}, "validate",
        {"type": "log_to_tensorboard", "log_batch_size_period": 10}, {"type": "gradient_norm_and_clip",
        "grad_norm": 5.0}, {"type": "update_learning_rate", "learning_rate_scheduler": PLATEAU}]}
    return old


CONFIGS: dict[str, Callable[[], Config]] = {
    "ner, flat": ner_flat,
    "ner": lambda: ner(label_encoding="BIOUL"),
    "ner, trainer callback": callback_trainer,
    "ner, 1.x": ner_of_version_1,
    "simple tagger": simple_tagger,
    "bidaf": bidaf,
    "bidaf, 1.x": lambda: of_version_1(bidaf(), num_gradient_accumulation_steps=2),
    "bcn": bcn,
    "bcn, both, 1.x": lambda: of_version_1(bcn(input=True, output=True)),
    "esim": esim,
    "decomposable attention": decomposable_attention,
    "srl": srl,
    "srl, 1.x": lambda: of_version_1(srl(), epoch_callbacks=["track_epoch_callback"]),
    "dialog qa": dialog_qa,
    "language model": language_model,
}

WORDS_OF_CONLL = (
    "Mira NNP B-NP B-PER\nleft VBD B-VP O\nVarna NNP B-NP B-LOC\n. . O O\n\n"
    "Rain NN B-NP O\nfell VBD B-VP O\n. . O O\n"
)


def write_data(folder: Path) -> None:
    """Writes a train file and a dev file, small and invented."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("train", "dev"):
        (folder / name).write_text(WORDS_OF_CONLL)
