"""Names of types that AllenNLP renamed or removed, and of packages that have other types."""

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

_INSTEAD = {
    "its parser is in allennlp-semparse, for AllenNLP before 2": "atis atis_parser nlvr nlvr_coverage_parser "
    "nlvr_direct_parser wikitables wikitables_mml_parser wikitables_erm_parser text2sql quarel quarel_parser "
    "quarel_parser_zeroshot template_text2sql",
    "take seq2seq with simple_seq2seq for each target": "event2mind",
    "take elmo_token_embedder, with one biLM for each language": "elmo_token_embedder_multilang",
    "take biaffine_parser, for one language": "biaffine_parser_multilang",
    "take universal_dependencies, for one language": "universal_dependencies_multilang",
    "take pretrained_transformer": "openai_transformer openai_transformer_embedder "
    "openai_transformer_byte_pair",
    "take pretrained_transformer_mismatched": "bert-pretrained bert-basic-pretrained",
    "take single_id with feature_name tag_, dep_ or ent_type_": "pos_tag dependency_label ner_tag",
    "take pytorch_transformer": "intra_sentence_attention multi_granularity_transformer",
    "take basic_classifier with pretrained_transformer": "bert_for_classification",
    "take srl": "open_ie",
    "take a callback of AllenNLP 2": "post_to_url",
}
GONE_TYPES = {name: instead for instead, names in _INSTEAD.items() for name in names.split()}

MODELS = (
    "allennlp-models: pip install --no-deps allennlp-models==2.10.1; "
    "pip install conllu==4.4.2 word2number py-rouge==1.1 ftfy"
)
