"""Instances of our task models in the fields of allennlp-models."""

from typing import Any

from allennlp.data import Instance, TokenIndexer
from allennlp.data.fields import LabelField, MetadataField, SequenceLabelField, TextField

Indexers = dict[str, TokenIndexer]
MAX_SPAN_WIDTH = 10  # words, as in the paper's configuration


def tagged(instance: Instance, indexers: Indexers) -> Instance:
    """A sentence with tags, and for semantic roles its predicate."""
    text = TextField(instance["tokens"].tokens, indexers)
    metadata: dict[str, Any] = {"words": instance["words"].metadata}
    fields: dict[str, Any] = {"tokens": text}
    if "tags" in instance.fields:
        metadata["gold_tags"] = instance["tags"].labels
        fields["tags"] = SequenceLabelField(instance["tags"].labels, text)
    if "predicate" in instance.fields:
        place = instance["predicate"].sequence_index
        metadata |= {"verb_index": place, "verb": metadata["words"][place]}
        fields["verb_indicator"] = SequenceLabelField([int(n == place) for n in range(len(text))], text)
    return Instance({**fields, "metadata": MetadataField(metadata)})


def classified(instance: Instance, indexers: Indexers) -> Instance:
    """One text or two, with a label."""
    return Instance(
        {
            name: TextField(field.tokens, indexers) if isinstance(field, TextField) else field
            for name, field in instance.fields.items()
            if isinstance(field, TextField | LabelField)
        }
    )


def asked(instance: Instance, indexers: Indexers) -> Instance:
    """A paragraph and a question."""
    from allennlp_models.rc.dataset_readers.utils import make_reading_comprehension_instance

    paragraph = instance["metadata"].metadata["paragraph"]
    spans = [(span.span_start, span.span_end) for span in instance.fields.get("answers", ())]
    answers = [answer.text for answer in instance["metadata"].metadata["question"].answers]
    question = instance["question"].tokens
    return make_reading_comprehension_instance(
        question, paragraph.tokens, indexers, paragraph.text, spans, answers if spans else None
    )


def document(instance: Instance, indexers: Indexers) -> Instance:
    """A document, with its clusters if they are known."""
    from allennlp_models.coref.util import make_coref_instance

    clusters = None
    if "clusters" in instance.fields:
        clusters = [[(start, end - 1) for start, end in each] for each in instance["clusters"].metadata]
    return make_coref_instance(instance["document"].metadata.sentences, indexers, MAX_SPAN_WIDTH, clusters)
