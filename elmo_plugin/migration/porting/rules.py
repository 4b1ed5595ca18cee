"""
The rules that port a configuration, in the order in which they are applied; `docs/port.md` shows
the same table. They need no AllenNLP.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

from elmo_plugin.migration.porting.config import Config, Note, Porting
from elmo_plugin.migration.porting.data_loaders import port_data_loaders, port_readers
from elmo_plugin.migration.porting.embedders import (
    port_classifier_words,
    port_token_embedders,
    port_unmatched_embedders,
)
from elmo_plugin.migration.porting.names import (
    BUCKET,
    OLD_BUCKET,
    port_addresses,
    port_applicators,
    port_attention,
    port_keys,
    port_types,
    port_vocabulary,
)
from elmo_plugin.migration.porting.old_defaults import write_defaults
from elmo_plugin.migration.porting.tokenizers import port_tokenizers
from elmo_plugin.migration.porting.trainer import (
    TRAINER_KEYS,
    port_callbacks,
    port_shuffle,
    port_trainer,
    port_trainer_key,
)

# A rule raises one of these at a value of a form that it does not expect.
_UNEXPECTED_VALUE = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError)


class Rule(NamedTuple):
    """
    A change that AllenNLP 2.10.1 needs.

    old, new: both forms, as the page shows them
    apply: changes a configuration and notes it
    """

    old: str
    new: str
    apply: Callable[[Porting], None]

    @property
    def name(self) -> str:
        """The old form in a few words, for a note."""
        form, _, _ = self.old.partition(":")
        return form.replace("`", "")


def port_config(config: Mapping[str, Any]) -> tuple[Config, list[Note]]:
    """
    Returns the configuration for AllenNLP 2.10.1, and notes on each change and on each part that is
    left to be changed by hand.
    """
    porting = Porting(config)
    apply_rules(porting)
    return porting.config, porting.notes


def apply_rules(porting: Porting) -> None:
    """Applies each rule. A rule that fails at an unexpected value changes nothing."""
    for rule in RULES:
        config_before = deepcopy(porting.config)
        notes_before = list(porting.notes)
        try:
            rule.apply(porting)
        except _UNEXPECTED_VALUE:
            porting.config = config_before
            porting.notes = notes_before
            porting.note(rule.name, "not ported: unexpected value", kind="left")


def note_on_first_old_key(config: Mapping[str, Any]) -> Note | None:
    """
    Returns the note on the first top-level key of the file whose value, or part of it, AllenNLP
    2.10.1 does not take.
    """
    _, notes = port_config(config)
    for key in config:
        for note in notes:
            top_key, _, _ = note.place.partition(".")
            if note.kind == "changed" and top_key == key:
                return note
    return None


def _trainer_key_rules() -> list[Rule]:
    """Returns a rule for each key that the trainer no longer has."""
    rules = []
    for key, new in TRAINER_KEYS.items():
        new_form = "removed"
        if new:
            new_form = f"`{new}`"
        rules.append(Rule(f"`trainer.{key}`", new_form, partial(port_trainer_key, key)))
    return rules


RULES = [
    Rule(
        "`iterator: {type, batch_size, …}`",
        "`data_loader: {batch_size, shuffle}`",
        port_data_loaders,
    ),
    Rule("`lazy`, readers `multiprocess`", "`data_loader.max_instances_in_memory`", port_readers),
    Rule(
        "`tokenizer: {type: word, word_splitter: X}`", "`{type: X}` or `old_words`", port_tokenizers
    ),
    Rule(
        "`vocabulary: {directory_path, extend}`",
        "`{type: from_files or extend, directory}`",
        port_vocabulary,
    ),
    Rule(
        "`text_field_embedder: {elmo: …}`", "`{token_embedders: {elmo: …}}`", port_token_embedders
    ),
    Rule(
        "`embedder_to_indexer_map`, `allow_unmatched_keys`",
        "equal names; `empty`",
        port_unmatched_embedders,
    ),
    Rule(
        "`basic_classifier` with ELMo alone",
        "`single_id` and `empty` beside it",
        port_classifier_words,
    ),
    Rule(
        "`initializer` or `regularizer: [[regex, …]]`",
        "`{regexes, prevent_regexes}`",
        port_applicators,
    ),
    Rule(
        "`similarity_function`, `beam_size`, …",
        "`matrix_attention`, `beam_search.beam_size`, …",
        port_keys,
    ),
    Rule(
        "`legacy` attention, sizes of `bilinear`",
        "the function itself, `matrix_1_dim`, …",
        port_attention,
    ),
    Rule(
        "`epoch_callbacks`, …, the trainer `callback`",
        "`callbacks`, keys of the trainer",
        port_callbacks,
    ),
    Rule("`trainer.shuffle`", "`data_loader.shuffle`", port_shuffle),
    *_trainer_key_rules(),
    Rule("defaults that changed", "written, as `defaults.json` lists them", write_defaults),
    Rule("`cuda_device: [0, 1]`", "`distributed: {cuda_devices: [0, 1]}`", port_trainer),
    Rule(
        "other types and predictors",
        "as `elmo_plugin/migration/porting/tables.json` lists them",
        port_types,
    ),
    Rule(f"`{OLD_BUCKET}`", f"`{BUCKET}`", port_addresses),
]
