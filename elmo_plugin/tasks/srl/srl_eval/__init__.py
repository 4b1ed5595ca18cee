"""The scorer of CoNLL-2005, srl-eval.pl: its rules, its figures and its table."""

from elmo_plugin.tasks.srl.srl_eval.propositions import add_sentence, score_props

__all__ = ["add_sentence", "score_props"]
