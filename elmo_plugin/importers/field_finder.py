"""Which field of labelled records has the label, and which have the texts."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.label_values import is_blank, is_number, is_score
from elmo_plugin.importers.options import ImportOptions, check_different_columns, chosen_name
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
_MOST_DIFFERENT = 0.8  # if a larger share of the values differ from each other, they are no labels
_FEWEST_ROW_NUMBERS = 3  # fewer numbers may all differ by chance


class FieldFinder:
    """
    Finds which field of the records has the label, and which ones have the texts: these are the
    roles of fields. `usual_names` lists the names that the field of each role usually has. The
    methods raise `ConfigurationError`, naming file, place and option, if no field fits a role, or
    if several do.
    """

    def __init__(self, records: Sequence[Record], usual_names: Mapping[str, Sequence[str]]) -> None:
        self._first_record = records[0]
        self._usual_names = usual_names
        self._values: dict[str, list[Any]] = {}  # of each field, in all records
        for record in records:
            for name, value in record.fields.items():
                self._values.setdefault(name, []).append(value)

    def find(self, options: ImportOptions, report: Report) -> dict[str, str]:
        """
        Returns the field of each role: the one that `--column` chooses, or one with a usual name,
        or else the one whose contents suit the role.
        """
        found = self._chosen_fields(options)
        check_different_columns(found, f"{self._first_record.file}, {self._first_record.place}")
        for role in self._usual_names:
            if role not in found:
                named = self._named_field(role, self._without_role(found))
                if named is not None:
                    found[role] = named
        self._find_by_contents(found)
        listed = [f"{role} in {found[role]!r}" for role in self._usual_names]
        report.took(", ".join(listed))
        self._report_unused_parts(found, report)
        self._check_labels(found[LABEL])
        return found

    def _find_by_contents(self, found: dict[str, str]) -> None:
        """
        Adds the fields of the roles that are not `found` yet. Labels are short and repeated, and
        texts have several words.
        """
        if LABEL not in found:
            found[LABEL] = self._field_of_labels(self._without_role(found))
        text_roles = [role for role in self._usual_names if role not in found]
        for role in text_roles:
            found[role] = self._field_of_texts(
                role, self._without_role(found), is_only_text=len(text_roles) == 1
            )

    def _report_unused_parts(self, found: Mapping[str, str], report: Report) -> None:
        """Reports a field that divides the records into parts, such as `train` and `test`."""
        for name in self._without_role(found):
            if _are_parts(self._values[name]):
                report.took(
                    f"{name!r} says which records are for training, and is not looked at: a file "
                    "for each part is needed for that"
                )

    def _chosen_fields(self, options: ImportOptions) -> dict[str, str]:
        """Returns the fields that `--column` chooses, by their names or their numbers from 0."""
        found = {}
        for role in self._usual_names:
            chosen = options.columns.get(role)
            if chosen is None:
                continue
            fields = list(self._values)
            name = chosen_name(chosen, fields)
            if name is None:
                raise self._missing_error(role, repr(chosen), fields)
            found[role] = name
        return found

    def _without_role(self, found: Mapping[str, str]) -> list[str]:
        """Returns the fields that have no role yet."""
        return [name for name in self._values if name not in found.values()]

    def _named_field(self, role: str, fields: Sequence[str]) -> str | None:
        """
        Returns the field with the first of the usual names of a role, or `None` if no field has
        one. The last part of a field's name may also be the usual name, as in `example.text`.
        """
        for name in self._usual_names[role]:
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
        Returns the field whose values look most like labels. Raises `ConfigurationError` if none
        or several fields do, or if all labels of the field are the same.
        """
        candidates = self._candidates(fields)
        likely = [field for field in candidates if may_be_labels(_texts_of(self._values[field]))]
        if not likely:
            likely = [field for field in candidates if _are_words(self._values[field])]
        # Each test leaves only the fields that pass it, unless all fields fail.
        for passes_test in (_are_words, _are_no_sentences, _have_several_values, _repeat_a_value):
            passing = [field for field in likely if passes_test(self._values[field])]
            if passing:
                likely = passing
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
        Returns the field that has the texts of a role. `is_only_text` says that no other role needs
        a field of texts. Raises `ConfigurationError` if no field may have them, or several may.
        """
        candidates = self._candidates(fields)
        likely = [field for field in candidates if _have_several_words(self._values[field])]
        if not likely:
            likely = [field for field in candidates if _are_texts(self._values[field])]
        not_labels = [
            field for field in likely if not may_be_labels(_texts_of(self._values[field]))
        ]
        # Short texts that are repeated look like labels. But one of two texts may be repeated, as a
        # premise is for each of its hypotheses.
        if is_only_text and not_labels:
            likely = not_labels
        return self._only_field(role, likely, fields)

    def _only_field(self, role: str, likely: Sequence[str], fields: Sequence[str]) -> str:
        """
        Returns the only one of the `likely` fields. Raises `ConfigurationError` if there are
        several, or none: the message then lists all `fields` that were considered.
        """
        if not likely:
            raise self._missing_error(role, f"such as {role!r}", fields)
        if len(likely) > 1:
            names = " and ".join(map(repr, likely))
            raise self._first_record.error(
                f"{names} may all be the {role}; --column {role}=NAME chooses one"
            )
        return likely[0]

    def _missing_error(self, role: str, expected: str, fields: Sequence[str]) -> ConfigurationError:
        """
        Returns the error that no field was found for a role. It says that the `expected` field is
        not among `fields`.
        """
        listed = ", ".join(map(repr, fields)) or "nothing else"
        return self._first_record.error(
            f"expected a column or key {expected} (--column {role}=NAME), got {listed}"
        )

    def _check_labels(self, field: str) -> None:
        """Raises `ConfigurationError` if the labels are scores, or nearly all of them differ."""
        labels = _texts_of(self._values[field])
        # 3,26 is a score, unless 3 and 26 are labels: then it is a list of both.
        scores = [label for label in labels if is_score(label) and not _joins_labels(label, labels)]
        are_numbers = all(is_number(label) for label in labels)
        if scores and are_numbers:
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
    """Returns whether all values are single words or numbers, but not the numbers of rows."""
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
    Returns whether the texts seem to be the numbers of rows: whole numbers that all differ.
    """
    if len(texts) < _FEWEST_ROW_NUMBERS or not all(text.isdecimal() for text in texts):
        return False
    return len(set(texts)) == len(texts)


def _have_several_values(values: Sequence[Any]) -> bool:
    """Returns whether there are at least two different values."""
    return len(set(_texts_of(values))) > 1


def _repeat_a_value(values: Sequence[Any]) -> bool:
    """Returns whether some value occurs again."""
    texts = _texts_of(values)
    return len(set(texts)) < len(texts)


def _have_several_words(values: Sequence[Any]) -> bool:
    """
    Returns whether most values have several words. A text with letters beyond ASCII counts as
    several words, because Chinese, for example, is written without spaces.
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
