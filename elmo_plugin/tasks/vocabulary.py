"""A vocabulary that counts each text once, however many instances ask something about it."""

from collections.abc import Iterable, Iterator
from typing import Any

from allennlp.data import Instance, Vocabulary
from allennlp.data.fields import Field, ListField, TextField
from allennlp.data.tokenizers import Token
from overrides import overrides


class PartOfText(TextField):
    """
    A part of a text, such as a phrase of a sentence. The vocabulary counts the `whole` text
    instead.
    """

    def __init__(self, tokens: list[Token], whole: list[Token]) -> None:
        super().__init__(tokens)
        self.whole = whole


@Vocabulary.register("distinct_texts", constructor="from_instances")
class DistinctTextsVocabulary(Vocabulary):
    """
    A `Vocabulary` that counts each text of the data once for `min_count`. AllenNLP counts
    instances: a word of a paragraph would count once for each question about it, and hardly any
    training word would be unknown.

    Registered as a `Vocabulary` with name "distinct_texts", with the options of AllenNLP's
    "from_instances".
    """

    @classmethod
    @overrides(check_signature=False)
    def from_instances(
        cls, instances: Iterable[Instance], **options: Any
    ) -> "DistinctTextsVocabulary":
        return super().from_instances(without_repeated_texts(instances), **options)  # type: ignore[return-value]


def without_repeated_texts(instances: Iterable[Instance]) -> Iterator[Instance]:
    """
    Yields the instances, for a vocabulary to count their words and labels: each text is only in the
    first instance that has it. Other fields, such as labels, are in all instances.
    """
    seen: set[tuple[str, ...]] = set()
    for instance in instances:
        fields: dict[str, Field] = {}
        for name, field in instance.fields.items():
            # A list becomes several fields. A vocabulary ignores their names, but they must differ.
            for number, new_field in enumerate(_fields_to_count(field, seen)):
                fields[f"{name} {number}"] = new_field
        yield Instance(fields)


def _fields_to_count(field: Field, seen: set[tuple[str, ...]]) -> list[Field]:
    """
    Returns the field, or the fields in a list, without the texts that were `seen` before, and adds
    the other texts to `seen`. A part of a text is replaced by the whole text.
    """
    if isinstance(field, ListField):
        new_fields = []
        for part in field.field_list:
            new_fields.extend(_fields_to_count(part, seen))
        return new_fields
    if not isinstance(field, TextField):
        return [field]
    tokens = field.tokens
    if isinstance(field, PartOfText):
        tokens = field.whole
    text = tuple(token.text or "" for token in tokens)
    if text in seen:
        return []
    seen.add(text)
    return [TextField(tokens, field.token_indexers)]
