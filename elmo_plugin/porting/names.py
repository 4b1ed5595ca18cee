"""Names of types and predictors that AllenNLP renamed."""

from typing import Any

RENAMED_TYPES: dict[str, dict[str, Any]] = {
    "alternating_highway_lstm": {"type": "alternating_lstm", "use_highway": True},
    "alternating_highway_lstm_cuda": {"type": "alternating_lstm", "use_highway": True},
    "alternating_lstm_cuda": {"type": "alternating_lstm"},
    "biattentive_classification_network": {"type": "bcn"},
    "bidirectional_token_embedder": {"type": "bidirectional_lm_token_embedder"},
    "textcat": {"type": "text_classification_json"},
    "bert_adam": {"type": "huggingface_adamw"},
}
PREDICTORS = {
    "machine-comprehension": "reading_comprehension",
    "simple_seq2seq": "seq2seq",
    "masked_lm_predictor": "masked_language_model",
}
"""The others have `_` instead of `-`."""
