"""The bidirectional language model as people use it: loaded by name, it embeds words and text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import numpy as np
import torch
from torch import Tensor

from elmo_plugin.bilm.batching import number_words, split_by_tokens
from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.bilm.encoded_text import EncodedText
from elmo_plugin.bilm.encoding import (
    TextOptions,
    Tokenizer,
    WordOptions,
    check_encoding,
    cosine_similarities,
    default_layers,
    encode_texts,
    is_single_text,
    select_vectors,
)
from elmo_plugin.bilm.inputs import (
    as_sentences,
    listed_items,
    refuse_file_name,
    suggests_arguments,
    untraced,
)
from elmo_plugin.bilm.io import Card, Checkpoint, Source, read_checkpoint, write_card, write_files
from elmo_plugin.bilm.layers import Layers, check_layers
from elmo_plugin.bilm.lstm import ForwardSettings
from elmo_plugin.bilm.network import BiLmNetwork, Cache, check_cache, only_no_grad
from elmo_plugin.common.meanings import no_attribute
from elmo_plugin.common.process import get_device
from elmo_plugin.common.progress import progress_bar

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack  # in `typing` from Python 3.11 on

Selected = TypeVar("Selected")


class BiLm(BiLmNetwork):
    """
    A bidirectional language model (biLM) that gives each word a vector for its context.

        bilm = BiLm.from_pretrained("base")
        text = bilm.encode("The play ended.")         # text.words; text.vectors, shape (words, dim)
        vectors = bilm.encode(["One text.", "Two."], pooling="mean")           # shape (texts, dim)
        bilm.similarity(vectors, vectors)             # cosines
        bilm.embed([["The", "play", "ended", "."]])   # all layers, shape (num_layers, words, dim)
        bilm(bilm.character_ids([["The", "play"]]))   # a batch, with gradients if it is trained

    `BiLm(options)` has random weights: the biLM of Peters et al. (2018), section 3.1. A sentence's
    activations depend only on the sentence, as long as no `state` is given. `from_pretrained` loads
    a frozen biLM (`requires_grad_(False)`): it applies no dropout, and it keeps values derived from
    its weights for later batches, see `refresh`.

    # Parameters

    options : `BiLmOptions`
        All sizes.
    dropout : `float`
        The rate of dropout in the language models, in training.
    precision : `str`
        The precision without gradients: one of `PRECISIONS`. Parameters and activations are always
        float32. A machine without the instructions of a precision computes in float32, with one
        warning.
    max_batch_tokens : `int`
        Without gradients, a batch with more tokens than this, padding included, is computed in
        chunks of whole sentences, to bound the memory.
    weights : `Iterable[tuple[str, Tensor]] | None`
        The items of a `state_dict()`. The biLM is then frozen and in evaluation mode.

    The attribute `card` has the training data and the licence from the model card of a published
    biLM.
    """

    card: Card | None = None
    name = ""
    """The name or the path that the biLM was loaded by."""

    def __repr__(self) -> str:
        """Returns four lines: on the sizes, the layers, the words and the training."""
        max_characters = self.options.char_cnn.max_characters_per_token
        bytes_read = max_characters - 2  # without the marks of the begin and the end of the word
        training = ""
        if self.card is not None:
            training = self.card.first_statement()
        if training == "":
            training = "not known"
        title = "BiLm"
        if self.name:
            title = f"BiLm {self.name}"
        lines = [
            f"{title}: {self.num_layers} layers of {self.output_dim} numbers",
            f"layers: 0 reads the characters of a word, 1 to {self.num_layers - 1} are LSTMs that "
            "read the sentence",
            f"words: any; the first {bytes_read} bytes of each are read",
            f"trained on: {training}",
        ]
        return "\n".join(lines)

    def __getattr__(self, name: str) -> Any:
        """
        Raises `AttributeError` as torch does. If other libraries use the name, the error gives our
        name for the same thing.
        """
        try:
            return super().__getattr__(name)
        except AttributeError:
            raise no_attribute("BiLm", name) from None

    def __len__(self) -> int:
        raise TypeError(
            "a biLM has no length: it has bilm.num_layers layers of bilm.output_dim numbers, and "
            "embeds any word"
        )

    def __bool__(self) -> bool:
        return True  # otherwise Python would ask for the length

    @classmethod
    @suggests_arguments
    def from_pretrained(
        cls, source: Source, precision: str = "float32", device: str | torch.device | None = None
    ) -> "Self":
        """
        Loads a biLM, in evaluation mode and frozen.

        # Parameters

        source : `str | Path | Mapping[str, str]`
            A name of `elmo_plugin.bilm.io.MODELS`, the path of a folder or an archive, a URL, or
            `USER/MODEL` of the Hugging Face Hub, looked for in this order; or `{"options": ...,
            "weights": ...}`. A `Path` is never a name.
        precision : `str`
            See `BiLm`; also "fp32" or "bf16".
        device : `str | torch.device | None`
            Where the biLM computes, such as "cuda"; `None` for the CPU.

        Raises `BiLmError` if the source is not a usable model, or the device does not exist.
        """
        target = torch.device("cpu")
        if device is not None:
            target = get_device(device)
        checkpoint = read_checkpoint(source, with_softmax=False)
        bilm = cls(checkpoint.options, precision=precision, weights=checkpoint.weights)
        bilm.card = checkpoint.card
        if isinstance(source, str | Path):  # a pair of files does not have one name
            bilm.name = str(source)
        if target.type == "cpu":  # the biLM is there already
            return bilm
        return bilm.to(target)

    @classmethod
    @suggests_arguments
    def from_files(
        cls,
        options_file: str | Path,
        weights_file: str | Path,
        precision: str = "float32",
        device: str | torch.device | None = None,
    ) -> "Self":
        """
        Loads a model in the published layout, as `from_pretrained` does. Paths may be URLs.
        """
        files = {"options": str(options_file), "weights": str(weights_file)}
        return cls.from_pretrained(files, precision, device)

    def save_pretrained(self, folder: str | Path) -> None:
        """Writes `options.json`, `weights.hdf5` and a model card, as `elmo export --hf` does."""
        checkpoint = Checkpoint(self.options, self.state_dict().items(), card=self.card)
        write_files(folder, checkpoint)
        write_card(folder, checkpoint)

    @suggests_arguments
    def embed(self, sentences: Iterable[Iterable[Any]], cache: Cache | None = None) -> list[Tensor]:
        """
        Embeds any number of sentences, of any length, without dropout.

        # Parameters

        sentences : `Iterable[Iterable[str]]`
            The words of each sentence: strings, or tokens with a `text`, such as spaCy's
            tokens.
        cache : `Cache | None`
            Stores the layers of sentences, if the biLM is frozen.

        # Returns

        `list[Tensor]`
            Per sentence a tensor of shape (num_layers, words, output_dim).

        Raises `BiLmError`, naming the first wrong sentence, unless all are lists of words.

        `encode` does not call this method, because the list of all layers takes much memory. Both
        methods call `forward_batch`, so a subclass with other vectors overrides `forward_batch`.
        """
        return self._select_each(sentences, lambda layers, words: layers.clone(), cache)

    @untraced
    def _select_each(
        self,
        sentences: Iterable[Iterable[Any]],
        select: Callable[[Tensor, list[str]], Selected],
        cache: Cache | None = None,
    ) -> list[Selected]:
        """
        Returns, for each sentence in the given order, what `select` makes of its layers, shape
        (num_layers, words, output_dim), and its words. `select` must return a copy, not a view of
        the layers. Writing to a view could change values in a cache, and a view keeps the layers of
        all sentences of a chunk in memory.

        Sentences of about the same length are computed together, because they need little padding.
        """
        check_cache(cache)
        sentences = as_sentences(sentences)
        # No dropout, even in training mode: `embed` promises that.
        settings = self.forward_settings(dropout=False)
        lengths = [len(sentence) for sentence in sentences]
        shortest_first = sorted(range(len(sentences)), key=lengths.__getitem__)
        sorted_lengths = [lengths[number] for number in shortest_first]
        selected: list[Any] = [None] * len(sentences)
        for chunk in split_by_tokens(sorted_lengths, self.max_batch_tokens):
            numbers = shortest_first[chunk]
            chunk_sentences = [sentences[number] for number in numbers]
            # Shape: (num_layers, batch, time, output_dim)
            batch_layers = self._layers(chunk_sentences, settings, cache)
            for row, number in enumerate(numbers):
                layers = batch_layers[:, row, : lengths[number]]
                selected[number] = select(layers, sentences[number])
        return selected

    def _layers(
        self, sentences: Sequence[list[str]], settings: ForwardSettings, cache: Cache | None
    ) -> Tensor:
        """
        Returns all layers of a batch of sentences, shape (num_layers, batch, time, output_dim). If
        the biLM is frozen, the layers of known sentences are read from the cache.
        """
        is_frozen = settings.derived is not None
        if is_frozen and cache is not None:
            character_ids = self.character_ids(sentences)
            precision = settings.precision.name
            return self.forward_cached(character_ids, precision=precision, cache=cache).layers
        max_characters = self.options.char_cnn.max_characters_per_token
        with only_no_grad(self.device):
            batch = number_words(sentences, max_characters, self.device)
            return self.forward_batch(batch, settings).layers

    @overload
    def encode(
        self, texts: str, *, output: Literal["torch"] = ..., **_: "Unpack[WordOptions]"
    ) -> EncodedText[Tensor]: ...
    @overload
    def encode(
        self, texts: str, *, output: Literal["numpy"], **_: "Unpack[WordOptions]"
    ) -> EncodedText[np.ndarray]: ...
    @overload
    def encode(  # type: ignore[overload-overlap]
        self, texts: Iterator[Any], *, output: Literal["torch"] = ..., **_: "Unpack[WordOptions]"
    ) -> Iterator[EncodedText[Tensor]]: ...
    @overload
    def encode(  # type: ignore[overload-overlap]
        self, texts: Iterator[Any], *, output: Literal["numpy"], **_: "Unpack[WordOptions]"
    ) -> Iterator[EncodedText[np.ndarray]]: ...
    @overload
    def encode(
        self, texts: Iterable[Any], *, output: Literal["torch"] = ..., **_: "Unpack[WordOptions]"
    ) -> list[EncodedText[Tensor]]: ...
    @overload
    def encode(
        self, texts: Iterable[Any], *, output: Literal["numpy"], **_: "Unpack[WordOptions]"
    ) -> list[EncodedText[np.ndarray]]: ...
    @overload
    def encode(
        self, texts: Iterable[Any], *, output: Literal["torch"] = ..., **_: "Unpack[TextOptions]"
    ) -> Tensor: ...
    @overload
    def encode(
        self, texts: Iterable[Any], *, output: Literal["numpy"], **_: "Unpack[TextOptions]"
    ) -> np.ndarray: ...
    @suggests_arguments
    def encode(
        self,
        texts: Iterable[Any],
        *,
        layers: Layers | None = None,
        pooling: str | None = None,
        output: str = "torch",
        batch_size: int = 512,
        tokenizer: Tokenizer = "spacy",
        language: str = "en",
        show_progress_bar: bool = False,
    ) -> Any:
        """
        Embeds raw text: splits it into words and returns their vectors, or one vector per text.

        # Parameters

        texts : `str | Iterable`
            A text, read as one sentence, or several: a list, a column of a table, an iterator. Each
            may also be a list of words, or a document of spaCy.
        layers : `str | int | Sequence[float] | None`
            "all", "mean", "sum", "top", "token", a layer's number or a weight for each layer.
            `None` is "mean"; with the pooling "sif" it is "token".
        pooling : `str | None`
            "mean" or "max" over the words of a text, the "first" word, or "sif", the mean in which
            rare words of English count more, for one vector per text; zeros for a text without
            words. `None` for one vector per word.
        output : `str`
            Whether vectors are tensors ("torch") or arrays ("numpy").
        batch_size : `int`
            The number of texts that are read together. Of these, texts of about the same length are
            computed together, at most `max_batch_tokens` words at once.
        tokenizer : `str | Callable`
            Splits a text: the rules of "spacy", "whitespace", the "letters" of a protein, or a
            function such as `nltk.word_tokenize` or a pipeline of spaCy.
        language : `str`
            The code of the language of spaCy's rules.
        show_progress_bar : `bool`
            Whether to show progress on standard error.

        # Returns

        `EncodedText | list[EncodedText] | Iterator[EncodedText]`
            For a text its words, offsets and vectors, for several a list of these, and for an
            iterator an iterator, with one batch in memory.
        `Tensor | np.ndarray`
            With `pooling`, shape (dim,) for a text and (texts, dim) for several; for all layers
            (num_layers, dim) and (texts, num_layers, dim).

        Raises `BiLmError`, naming the first wrong text, such as a missing value, or if spaCy is
        missing.
        """
        check_encoding(pooling, output, tokenizer, batch_size, language)
        if layers is None:
            layers = default_layers(pooling)
        check_layers(layers, self.num_layers)
        if isinstance(texts, str):
            refuse_file_name(texts)
        select = partial(select_vectors, layers=layers, pooling=pooling, output=output)

        def vectors_of_texts(words_of_texts: list[list[str]]) -> list[Any]:
            return self._select_each(words_of_texts, select)

        def encode_all(some_texts: Iterable[Any]) -> Iterator[EncodedText[Any]]:
            bar = progress_bar(iterable=some_texts, disable=not show_progress_bar, unit=" texts")
            return encode_texts(vectors_of_texts, bar, tokenizer, language, batch_size)

        if is_single_text(texts):
            (encoded_text,) = encode_all([texts])
            if pooling is None:
                return encoded_text
            return encoded_text.vectors
        encoded = encode_all(listed_items(texts, "texts", "a text, or a list or column of texts"))
        if pooling is not None:
            return self._stacked_vectors(encoded, select, output)
        if isinstance(texts, Iterator):  # perhaps more texts than fit into memory
            return encoded
        return list(encoded)

    def _stacked_vectors(
        self,
        encoded: Iterable[EncodedText[Any]],
        select: Callable[[Tensor, list[str]], Any],
        output: str,
    ) -> Any:
        """
        Returns the vectors of texts as one tensor or array, shape (texts, dim), or (texts,
        num_layers, dim) for all layers. `select` has made the vectors from the layers of a text.
        """
        vectors = [text.vectors for text in encoded]
        if not vectors:
            # Without texts, the result has no rows. Its other dimensions, its type and its device
            # are taken from the vector of a text without words.
            weight = self.token_encoder.projection.weight
            no_words = weight.new_zeros(self.num_layers, 0, self.output_dim)
            vector_of_empty_text = select(no_words, [])
            one_row = vector_of_empty_text[None]
            return one_row[:0]
        if output == "numpy":
            return np.stack(vectors)
        return torch.stack(vectors)

    @staticmethod
    @suggests_arguments
    def similarity(first: Any, second: Any) -> Any:
        """
        Returns the cosine of each vector of `first` with each vector of `second`, shape (vectors of
        first, vectors of second). Both may be one vector or several, as `encode(texts,
        pooling="mean")` returns them. The result is an array if both are arrays, otherwise a
        tensor. The cosine with a vector of zeros is 0.
        """
        return cosine_similarities(first, second)

    def character_ids(self, sentences: Iterable[Iterable[Any]]) -> Tensor:
        """
        Returns the character ids of sentences, as `forward` takes them, on the biLM's device. Shape
        (sentences, words of the longest, characters).
        """
        max_characters = self.options.char_cnn.max_characters_per_token
        ids = sentences_to_character_ids(sentences, max_characters)
        return torch.from_numpy(ids).to(self.device)
