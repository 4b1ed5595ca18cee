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
    Yields instances from which a vocabulary counts each text once: a text that was in an earlier
    instance is left out. Other fields, such as labels, stay in all instances.
    """
    seen: set[tuple[str, ...]] = set()
    for instance in instances:
        fields: dict[str, Field] = {}
        for name, field in instance.fields.items():
            # A list becomes several fields. Their names must differ; a vocabulary ignores them.
            for number, field_to_count in enumerate(_fields_to_count(field, seen)):
                fields[f"{name} {number}"] = field_to_count
        yield Instance(fields)


def _fields_to_count(field: Field, seen: set[tuple[str, ...]]) -> list[Field]:
    """
    Returns the field, or the fields in it if it is a list, without texts that are in `seen`. Adds
    the texts that it returns to `seen`. A part of a text is replaced by the whole text.
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
