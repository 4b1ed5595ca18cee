"""A random part of a data set, to see how much data a model needs (Peters et al., 2018, figure 1)."""

import math
import random
from collections import defaultdict
from collections.abc import Hashable, Iterable
from itertools import islice
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import LabelField
from overrides import overrides


@DatasetReader.register("fraction")
class FractionReader(DatasetReader):
    """
    Reads a random part of what another reader reads, in order. With the same seed, a larger part contains a
    smaller one. Of instances with a field `label` it takes the same part of each label.

    Registered as a `DatasetReader` with name "fraction".

    # Parameters

    base_reader : `DatasetReader`
        Reads the whole.
    fraction : `float`
        How much is taken, above 0 and at most 1; of each label at least one instance.
    seed : `int`, optional (default = `1`)
        Which part is taken.
    """

    def __init__(self, base_reader: DatasetReader, fraction: float, seed: int = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not 0 < fraction <= 1:
            raise ConfigurationError(f"fraction is above 0 and at most 1, not {fraction}")
        self._base_reader = base_reader
        self._fraction = fraction
        self._seed = seed

    @overrides
    def _read(self, file_path: str) -> Iterable[Instance]:
        # Workers and processes divide the part among them, so the base reader reads the whole.
        instances = list(islice(self._base_reader._read(file_path), self._base_reader.max_instances))
        by_label: dict[Hashable, list[int]] = defaultdict(list)
        for number, instance in enumerate(instances):
            label = instance.fields.get("label")
            by_label[label.label if isinstance(label, LabelField) else None].append(number)
        generator = random.Random(self._seed)
        taken: list[int] = []
        for numbers in by_label.values():
            generator.shuffle(numbers)
            taken += numbers[: math.ceil(self._fraction * len(numbers))]
        yield from (instances[number] for number in sorted(taken))

    @overrides
    def text_to_instance(self, *args: Any, **kwargs: Any) -> Instance:
        return self._base_reader.text_to_instance(*args, **kwargs)

    @overrides
    def apply_token_indexers(self, instance: Instance) -> None:
        self._base_reader.apply_token_indexers(instance)
