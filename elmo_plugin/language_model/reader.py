"""Plain text for language models: one tokenized sentence per line, in any number of files."""

import logging
from collections.abc import Iterable
from typing import Any

from allennlp.data import DatasetReader, Instance, Token
from allennlp.data.fields import TextField
from allennlp.data.token_indexers import SingleIdTokenIndexer, TokenIndexer
from overrides import overrides

from elmo_plugin.bilm import BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN
from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.language_model.corpus import find_shards, read_sentences

logger = logging.getLogger(__name__)


@DatasetReader.register("bilm_text")
class BiLmTextReader(DatasetReader):
    """
    Reads UTF-8 text with one sentence per line, its words separated by white space; skips blank lines. A path
    is a file or a pattern such as `corpus/train-*.txt.gz`, and its files (shards) are read one by one, plain,
    `.gz` or `.zst`. An instance is a sentence; training reads the text through `bilm_stream` instead.

    # Parameters

    namespace : `str`
        The vocabulary's namespace for the words to be predicted.
    """

    def __init__(self, namespace: str = "words", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.namespace = namespace
        self._indexers: dict[str, TokenIndexer] = {"words": SingleIdTokenIndexer(namespace=namespace)}

    def shards(self, *paths: str) -> list[str]:
        """Returns the files that the paths match, each once. Raises `ConfigurationError` if there is none."""
        with as_configuration_error():
            return find_shards(*paths)

    @overrides
    def _read(self, file_path: str) -> Iterable[Instance]:
        for shard in self.shards(file_path):
            logger.info("Reading %s", shard)
            with as_configuration_error():
                yield from map(self.text_to_instance, read_sentences(shard))

    def text_to_instance(self, words: list[str]) -> Instance:
        bounded = [BEGIN_SENTENCE_TOKEN, *words, END_SENTENCE_TOKEN]
        return Instance({"words": TextField([Token(word) for word in bounded], self._indexers)})
