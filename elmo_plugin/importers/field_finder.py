"""Which field of labelled records has the label, and which have the texts."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.label_values import is_blank, is_number, is_score
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.table_header import SENTENCE_ENDS, may_be_labels

LABEL = "label"
LABEL_NAMES = (
    "gold_label",
    "label_text",
    "label_name",
    "label",
    "labels",
    "label.name",
    "sentiment",
    "category",
    "class",
    "target",
    "intent",
    "entailment_judgment",
    "entailment_label",
    "polarity",
    "stars",
    "rating",
    "overall",
    "is_duplicate",
    "quality",
    "cats",
    "accept",
    "choices",
)
_IDENTIFIERS = re.compile(r"(.*[._ -])?(id|ids|idx|index|uid|guid|uuid|hash|annotator|user|url)")
_PARTS = {"train", "training", "dev", "val", "valid", "validation", "trial", "test"}
_FEWEST_LABELS = 20  # of fewer labels, all may differ by chance
_MOST_DIFFERENT = 0.8  # of the labels


class FieldFinder:
    """
    Finds which field of the records has which role: the label, or one of the texts. `usual` lists
    the usual names of each role's field. The methods raise `ConfigurationError`, naming file, place
    and option, if something is not certain.
    """

    def __init__(self, records: Sequence[Record], usual: Mapping[str, Sequence[str]]) -> None:
        self._first_record = records[0]
        self._usual = usual
        self._values: dict[str, list[Any]] = {}  # of each field, in all records
        for record in records:
            for name, value in record.fields.items():
                self._values.setdefault(name, []).append(value)

    def find(self, options: ImportOptions, report: Report) -> dict[str, str]:
        """
        Returns the field of each role: the chosen one, or one with a usual name, or else the one
        whose contents suit the role. Labels are short and repeated, and texts have several words.
        """
        found = self._chosen_fields(options)
        for role in self._usual:
            if role not in found:
                named = self._named_field(role, self._without_role(found))
                if named is not None:
                    found[role] = named
        if LABEL in self._usual and LABEL not in found:
            found[LABEL] = self._field_of_labels(self._without_role(found))
        open_roles = [role for role in self._usual if role not in found]
        for role in open_roles:
            found[role] = self._field_of_texts(
                role, self._without_role(found), is_only_text=len(open_roles) == 1
            )
        listed = [f"{role} in {found[role]!r}" for role in self._usual]
        report.took(", ".join(listed))
        for name in self._without_role(found):
            if _are_parts(self._values[name]):
                report.took(
                    f"{name!r} says which records are for training, and is not looked at: a file "
                    "for each part is needed for that"
                )
        if LABEL in found:
            self._check_labels(found[LABEL])
        return found

    def _chosen_fields(self, options: ImportOptions) -> dict[str, str]:
        """Returns the fields that `--column` chooses, by their names or their numbers from 0."""
        found = {}
        for role in self._usual:
            chosen = options.columns.get(role)
            if chosen is None:
                continue
            if chosen not in self._values and chosen.isdecimal():
                fields_by_number = dict(enumerate(self._values))
                chosen = fields_by_number.get(int(chosen), chosen)
            if chosen not in self._values:
                raise self._missing(role, repr(chosen), list(self._values))
            found[role] = chosen
        return found

    def _without_role(self, found: Mapping[str, str]) -> list[str]:
        """Returns the fields that have no role yet."""
        return [name for name in self._values if name not in found.values()]

    def _named_field(self, role: str, fields: Sequence[str]) -> str | None:
        """
        Returns the field with the first usual name, or, as `example.text` has it, with the name
        behind its last full stop; `None` if no field has a usual name.
        """
        for name in self._usual[role]:
            for field in fields:
                if field.lower() == name.lower():
                    return field
            for field in fields:
                last_part = field.lower().rpartition(".")[2]
                if last_part == name.lower():
                    return field
        return None

    def _candidates(self, fields: Sequence[str]) -> list[str]:
        """Returns the fields that neither identify a record nor have objects in them."""
        candidates = []
        for field in fields:
            is_identifier = _IDENTIFIERS.fullmatch(field.lower()) is not None
            if not is_identifier and not _have_objects(self._values[field]):
                candidates.append(field)
        return candidates

    def _field_of_labels(self, fields: Sequence[str]) -> str:
        """
        Returns the field whose values look most like labels. Raises `ConfigurationError` if none or
        several do, or if all its labels are the same.
        """
        candidates = self._candidates(fields)
        likely = [field for field in candidates if may_be_labels(_texts_of(self._values[field]))]
        if not likely:
            likely = [field for field in candidates if _are_words(self._values[field])]
        # If several are likely, each test keeps those that pass it, unless all of them fail.
        for is_likelier in (_are_words, _are_no_sentences, _differ, _are_repeated):
            likelier = [field for field in likely if is_likelier(self._values[field])]
            if likelier:
                likely = likelier
        field = self._only_field(LABEL, likely, fields)
        labels = _texts_of(self._values[field])
        if len(labels) > 1 and len(set(labels)) == 1:
            raise self._first_record.error(
                f"the label may be in {field!r}, but it is {labels[0]!r} in all records; --column "
                f"{LABEL}=NAME chooses a column"
            )
        return field

    def _field_of_texts(self, role: str, fields: Sequence[str], is_only_text: bool) -> str:
        """
        Returns the field that has the texts of a role. `is_only_text` says that no other texts are
        still looked for. Raises `ConfigurationError` if none or several fields may have them.
        """
        candidates = self._candidates(fields)
        likely = [field for field in candidates if _have_several_words(self._values[field])]
        if not likely:
            likely = [field for field in candidates if _are_texts(self._values[field])]
        not_labels = [
            field for field in likely if not may_be_labels(_texts_of(self._values[field]))
        ]
        # Short, repeated texts are labels rather than the only text. Of two texts, one may be
        # repeated, as a premise is beside each of its hypotheses.
        if is_only_text and not_labels:
            likely = not_labels
        return self._only_field(role, likely, fields)

    def _only_field(self, role: str, likely: Sequence[str], fields: Sequence[str]) -> str:
        """
        Returns the only one of the `likely` fields. Raises `ConfigurationError` if there are
        several, or none of all the `fields` is likely.
        """
        if not likely:
            raise self._missing(role, f"such as {role!r}", fields)
        if len(likely) > 1:
            names = " and ".join(map(repr, likely))
            raise self._first_record.error(
                f"{names} may all be the {role}; --column {role}=NAME chooses one"
            )
        return likely[0]

    def _missing(self, role: str, expected: str, fields: Sequence[str]) -> ConfigurationError:
        """Returns the error that a role's field was expected, and only `fields` are there."""
        listed = ", ".join(map(repr, fields)) or "nothing else"
        return self._first_record.error(
            f"expected a column or key {expected} (--column {role}=NAME), got {listed}"
        )

    def _check_labels(self, field: str) -> None:
        """Raises `ConfigurationError` if the labels are scores, or nearly all of them differ."""
        labels = _texts_of(self._values[field])
        # A text such as 3,26 may be the score 3.26, or the labels 3 and 26.
        scores = [label for label in labels if is_score(label) and not _joins_labels(label, labels)]
        if scores and all(map(is_number, labels)):
            raise self._first_record.error(
                f"{field!r} has scores, such as {scores[0]}, and they are no classes; --column "
                f"{LABEL}=NAME chooses another column"
            )
        different = len(set(labels))
        if len(labels) >= _FEWEST_LABELS and different > _MOST_DIFFERENT * len(labels):
            raise self._first_record.error(
                f"{field!r} has {different:,} different values in {len(labels):,} records, and "
                f"they are no classes; --column {LABEL}=NAME chooses another column"
            )


def _texts_of(values: Sequence[Any]) -> list[str]:
    """Returns all values as text, also those in lists, but leaves out blank ones."""
    texts = []
    for value in values:
        if isinstance(value, list):
            texts += _texts_of(value)
        elif not is_blank(value):
            texts.append(str(value))
    return texts


def _joins_labels(text: str, labels: Sequence[str]) -> bool:
    """Returns whether a text joins some of the labels by commas, as 3,26 joins 3 and 26."""
    return "," in text and set(text.split(",")) <= set(labels)


def _are_words(values: Sequence[Any]) -> bool:
    """Returns whether all values are single words or numbers, but not the numbers of records."""
    texts = _texts_of(values)
    if not texts or any(len(text.split()) > 1 for text in texts):
        return False
    return not _are_row_numbers(texts)


def _are_parts(values: Sequence[Any]) -> bool:
    """Returns whether all values name one of several parts of the data, such as `train`, `TEST`."""
    names = {text.lower() for text in _texts_of(values)}
    return len(names) > 1 and names <= _PARTS


def _have_objects(values: Sequence[Any]) -> bool:
    """Returns whether some values are lists of objects, such as entities."""
    return any(value and is_list_of(value, dict) for value in values)


def _are_no_sentences(values: Sequence[Any]) -> bool:
    """Returns whether no value ends as sentences do."""
    return not any(text.endswith(SENTENCE_ENDS) for text in _texts_of(values))


def _are_row_numbers(texts: Sequence[str]) -> bool:
    """
    Returns whether the texts are different whole numbers, as the numbers of rows are. Of fewer than
    three, all may differ by chance.
    """
    if len(texts) < 3 or not all(text.isdecimal() for text in texts):
        return False
    return len(set(texts)) == len(texts)


def _differ(values: Sequence[Any]) -> bool:
    """Returns whether there are at least two different values."""
    return len(set(_texts_of(values))) > 1


def _are_repeated(values: Sequence[Any]) -> bool:
    """Returns whether some value occurs again."""
    texts = _texts_of(values)
    return len(set(texts)) < len(texts)


def _have_several_words(values: Sequence[Any]) -> bool:
    """
    Returns whether most values have several words. Letters beyond ASCII also count as such, because
    Chinese, for example, is written without spaces.
    """
    texts = [value for value in values if isinstance(value, str) and value]
    likely = [text for text in texts if " " in text or not text.isascii()]
    return 2 * len(likely) > len(texts)


def _are_texts(values: Sequence[Any]) -> bool:
    """Returns whether all values are texts that are not numbers."""
    texts = [value for value in values if not is_blank(value)]
    if not texts:
        return False
    return all(isinstance(text, str) and not is_number(text) for text in texts)
