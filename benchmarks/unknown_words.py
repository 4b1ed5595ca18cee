"""How many words of a configuration's data have no vector of their own, in training and in validation.

    python benchmarks/unknown_words.py experiments/squad_baseline.jsonnet

The share, in percent, of the tokens in all text fields of all instances that the indexer `tokens` maps to the
unknown word. A model that hardly meets the unknown word in training has not learned its vector: the two
shares should be about the same.
"""

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from allennlp.common import Params
from allennlp.data import DatasetReader, Field, Instance, Vocabulary
from allennlp.data.fields import ListField, TextField

import elmo_plugin.plugin  # noqa: F401  (registers what the configurations name)
from elmo_plugin.common.files import write_json

INDEXER = "tokens"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("configuration", type=Path)
    parser.add_argument("-o", "--overrides", default="", help="as for `allennlp train`")
    parser.add_argument("--json", type=Path, help="add the shares to this file")
    args = parser.parse_args()
    shares = shares_of(Params.from_file(args.configuration, args.overrides))
    print(json.dumps(shares))
    if args.json:
        known = json.loads(args.json.read_text()) if args.json.exists() else {}
        write_json(args.json, known | {args.configuration.stem: shares})


def shares_of(config: Params) -> dict[str, float]:
    """Returns the shares of `train` and `validation`."""
    reader_params = config.pop("dataset_reader")
    validation_params = config.pop("validation_dataset_reader", None) or reader_params.duplicate()
    readers = {"train": reader_params, "validation": validation_params}
    instances = {
        name: read(DatasetReader.from_params(params), config.pop(f"{name}_data_path"))
        for name, params in readers.items()
    }
    for_vocabulary = config.pop("datasets_for_vocab_creation", None) or list(instances)
    vocabulary = Vocabulary.from_params(
        config.pop("vocabulary", Params({})),
        instances=(each for name in instances if name in for_vocabulary for each in instances[name]),
    )
    return {name: share_of_unknown(each, vocabulary) for name, each in instances.items()}


def read(reader: DatasetReader, path: str) -> list[Instance]:
    """Returns the instances of a file, with what makes tensors of their words."""
    instances = list(reader.read(path))
    for instance in instances:
        reader.apply_token_indexers(instance)
    return instances


def share_of_unknown(instances: Iterable[Instance], vocabulary: Vocabulary) -> float:
    """Returns the percentage of tokens that are the unknown word."""
    words = unknown = 0
    for text in (text for instance in instances for field in instance.values() for text in texts_of(field)):
        indexer = text.token_indexers[INDEXER]
        unknown_id = vocabulary.get_token_index(vocabulary._oov_token, indexer.namespace)
        ids = indexer.tokens_to_indices(text.tokens, vocabulary)["tokens"]
        words += len(ids)
        unknown += ids.count(unknown_id)
    return round(100 * unknown / words, 3)


def texts_of(field: Field) -> Iterator[TextField]:
    """Yields a text, or those of a list."""
    if isinstance(field, TextField):
        yield field
    elif isinstance(field, ListField):
        for part in field.field_list:
            yield from texts_of(part)


if __name__ == "__main__":
    main()
