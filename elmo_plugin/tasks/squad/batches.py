"""Batches of questions in which those about one paragraph are together."""

from collections.abc import Iterable
from typing import cast

from allennlp.data import Instance
from allennlp.data.fields import MetadataField
from allennlp.data.samplers import BatchSampler, BucketBatchSampler
from overrides import overrides


@BatchSampler.register("bucket_by_paragraph")
class ParagraphBatchSampler(BucketBatchSampler):
    """
    Puts the questions about one paragraph next to each other, so that the model encodes it once for all of
    them; a paragraph is cut only where a batch ends. Other than that it is AllenNLP's `bucket`, whose
    parameters it has: batches of similar length, with noise, which is here one for each paragraph.

    Batches have fewer paragraphs than those of `bucket`, so that a step of training sees less variety.

    Registered as a `BatchSampler` with name "bucket_by_paragraph", for the instances of `squad_v1`.
    """

    @overrides
    def _argsort_by_padding(self, instances: Iterable[Instance]) -> tuple[list[int], list[list[int]]]:
        instances = list(instances)
        questions: dict[str, list[int]] = {}
        for index, instance in enumerate(instances):
            metadata = cast(MetadataField, instance["metadata"])
            questions.setdefault(metadata["paragraph"].text, []).append(index)
        groups = list(questions.values())
        order, lengths = super()._argsort_by_padding([instances[first] for first, *_ in groups])
        sizes = [len(groups[number]) for number in order]
        return (
            [index for number in order for index in groups[number]],
            [length for length, size in zip(lengths, sizes, strict=True) for _ in range(size)],
        )
