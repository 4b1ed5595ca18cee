"""Names of types that AllenNLP renamed or removed, and of packages that have other types."""

from typing import Any


def _feature(namespace: str, name: str) -> dict[str, Any]:
    """Returns the indexer of a feature of spaCy's tokens."""
    return {"type": "single_id", "namespace": namespace, "feature_name": name, "default_value": "NONE"}


RENAMED_TYPES: dict[str, dict[str, Any]] = {
    "alternating_highway_lstm": {"type": "alternating_lstm", "use_highway": True},
    "alternating_highway_lstm_cuda": {"type": "alternating_lstm", "use_highway": True},
    "bidirectional_token_embedder": {"type": "bidirectional_lm_token_embedder"},
    "textcat": {"type": "text_classification_json"},
    "pos_tag": _feature("pos_tokens", "tag_"),
    "dependency_label": _feature("dep_labels", "dep_"),
    "ner_tag": _feature("ner_tokens", "ent_type_"),
}

SEMPARSE = "its parser is in allennlp-semparse, for AllenNLP before 2"
GONE_TYPES = {
    **dict.fromkeys(("atis", "atis_parser", "nlvr", "nlvr_coverage_parser", "nlvr_direct_parser"), SEMPARSE),
    **dict.fromkeys(("wikitables", "wikitables_mml_parser", "wikitables_erm_parser", "text2sql"), SEMPARSE),
    **dict.fromkeys(("quarel", "quarel_parser", "quarel_parser_zeroshot", "template_text2sql"), SEMPARSE),
    "event2mind": "take seq2seq with simple_seq2seq for each target",
    "elmo_token_embedder_multilang": "take elmo_token_embedder, with one biLM for each language",
    "biaffine_parser_multilang": "take biaffine_parser, for one language",
    "universal_dependencies_multilang": "take universal_dependencies, for one language",
    "openai_transformer": "take pretrained_transformer",
    "openai_transformer_embedder": "take pretrained_transformer",
    "openai_transformer_byte_pair": "take pretrained_transformer",
    "intra_sentence_attention": "take pytorch_transformer",
    "bert_for_classification": "take basic_classifier with pretrained_transformer",
    "open_ie": "take srl",
    "multi_granularity_transformer": "take pytorch_transformer",
}

PREDICTORS = {
    "biaffine-dependency-parser": "biaffine_dependency_parser",
    "constituency-parser": "constituency_parser",
    "coreference-resolution": "coreference_resolution",
    "machine-comprehension": "reading_comprehension",
    "open-information-extraction": "open_information_extraction",
    "semantic-role-labeling": "semantic_role_labeling",
    "sentence-tagger": "sentence_tagger",
    "simple_seq2seq": "seq2seq",
    "masked_lm_predictor": "masked_language_model",
    "textual-entailment": "textual_entailment",
}

OF_ALLENNLP_MODELS = {
    "bcn", "biaffine_parser", "bidaf", "bidirectional_language_model_transformer",
    "bidirectional_lm_token_embedder", "bimpm", "ccgbank", "conll2000", "constituency_parser",
    "copynet_seq2seq", "coref", "crf_tagger", "decomposable_attention", "dialog_qa", "drop", "esim",
    "graph_parser", "language_model", "language_model_token_embedder", "masked_language_modeling",
    "multi_head_self_attention", "naqanet", "ontonotes_ner", "ptb_trees", "qanet", "qanet_encoder",
    "quac", "quora_paraphrase", "semantic_dependencies", "seq2seq", "simple_language_modeling",
    "simple_seq2seq", "snli", "squad", "srl", "srl_bert", "sst_tokens", "stacked_self_attention",
    "triviaqa", "universal_dependencies", "winobias",
}  # fmt: skip
"""Registered names that old configurations with ELMo use, of the package allennlp-models 2.10.1."""
MODELS_EXTRA = "pip install --no-deps allennlp-models==2.10.1 conllu==4.4.2 word2number py-rouge==1.1 ftfy"
