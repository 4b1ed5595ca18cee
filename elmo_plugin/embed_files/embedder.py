"""Embeds the chunks of a text, in this process or in several."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from hashlib import blake2b
from itertools import accumulate
from multiprocessing.queues import SimpleQueue
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from elmo_plugin.archives import TrainedMix, load_mixes
from elmo_plugin.bilm import BiLm, BiLmError, check_no_boundaries, make_tokenizer, select_layers
from elmo_plugin.common.errors import check_choice
from elmo_plugin.common.process import torch_threads, use_mmap_for_large_blocks
from elmo_plugin.common.workers import SPAWN, map_in_processes
from elmo_plugin.embed_files.chunks import Chunk, has_chunk, write_chunk
from elmo_plugin.embed_files.settings import EmbedSettings
from elmo_plugin.embedding import LayerMix

CHUNK_VECTOR_BYTES = 2**27  # about how much memory the vectors of a chunk take
_FLOAT_BYTES = 4
_TEXT_BYTES_PER_WORD = 4  # a low estimate of a word's text with the space after it


def load_mix(archive: str, placement: str | None, trust: bool) -> TrainedMix:
    """
    Loads the mix of a task model, on the CPU. Raises `BiLmError` if it has none at that placement,
    or several and `placement` is `None`.
    """
    loaded = load_mixes(archive, trust)
    if placement is None and len(loaded) == 1:
        return loaded[0]
    # With several mixes and no placement, the check refuses `None`, and lists the placements.
    mix_of_placement: dict[str | None, TrainedMix] = {mix.placement: mix for mix in loaded}
    check_choice(f"archive {archive}: --placement", placement, mix_of_placement)
    return mix_of_placement[placement]


def _describe_mix(mix: LayerMix) -> str:
    """Returns a text, to be hashed, of everything that the vectors of a mix depend on."""
    weights = {name: tensor.tolist() for name, tensor in mix.state_dict().items()}
    return f"{mix.layer_numbers} {mix.layer_norm} {weights}"


class Embedder:
    """
    Embeds text with a frozen biLM on a device. Raises `BiLmError` if the settings name no usable
    biLM, mix or tokenizer.
    """

    def __init__(self, settings: EmbedSettings, device: str) -> None:
        self.settings = settings
        self._tokenize = make_tokenizer(settings.tokenizer, settings.language)
        if settings.layers == "mix":
            trained = load_mix(str(settings.bilm), settings.placement, settings.trust)
            self._bilm = trained.bilm.float()  # the task model may use another type
            for module in (self._bilm, trained.mix):
                module.eval()
                module.requires_grad_(False)
                module.to(device)
            self._bilm.precision = settings.precision
            self._mix_description = _describe_mix(trained.mix)
            # Takes all layers of the biLM, and returns the layers or the mix of the output.
            self._select_or_mix: Callable[[Tensor], Tensor] = trained.mix
        else:
            self._bilm = BiLm.from_pretrained(settings.bilm, settings.precision).to(device)
            self._mix_description = ""
            self._select_or_mix = partial(select_layers, layers=settings.layers)
        self._bilm.max_batch_tokens = settings.max_batch_tokens

    @property
    def row_shape(self) -> tuple[int, ...]:
        """The shape of a word's vectors in the output."""
        if self.settings.layers == "all":
            return self._bilm.num_layers, self._bilm.output_dim
        return (self._bilm.output_dim,)

    def chunk_size(self) -> int:
        """
        Returns the number of bytes or residues in a chunk: so many that their vectors take about
        `CHUNK_VECTOR_BYTES`.
        """
        if self.settings.has_proteins:
            # Each letter is a residue with a row in the output.
            vector_bytes = _FLOAT_BYTES * math.prod(self.row_shape)
            return max(CHUNK_VECTOR_BYTES // vector_bytes, 1)
        # All layers count, even if fewer are written, so that a text has the same chunks for any
        # `layers`: which sentences share a chunk decides the last bits of their vectors.
        vector_bytes = _FLOAT_BYTES * self._bilm.num_layers * self._bilm.output_dim
        return max(CHUNK_VECTOR_BYTES * _TEXT_BYTES_PER_WORD // vector_bytes, 1)

    def digest(self) -> str:
        """Returns a hash of the content of the biLM and the mix, in hexadecimal."""
        content = self._bilm.digest() + self._mix_description.encode()
        return blake2b(content, digest_size=16).hexdigest()

    @torch.no_grad()
    def embed(self, chunk: Chunk) -> tuple[list[list[str]], np.ndarray]:
        """
        Returns the words of each sentence as typed, and the vectors of all words, shape (words,
        num_layers, dim) or (words, dim): the same bits for the same chunk, whatever was embedded
        before. With pooling each sentence is one word.

        Raises `BiLmError`, naming the line, if a sentence is too long or contains a boundary, or
        its vectors are NaN or infinite in the type of the settings.
        """
        # A word's cached vector depends, in its last bits, on the batch in which it was computed.
        self._bilm.clear_word_cache()
        typed = []
        sentences = []
        for record in chunk.records:
            words = self._tokenize(record.text)
            sentence = [word.text for word in words]
            self._check_sentence(sentence, record.place)
            sentences.append(sentence)
            # A tokenizer may change words for the biLM. The output has them as typed.
            typed.append([record.text[word.start : word.end] for word in words])
        vectors = self._vectors(sentences, chunk)
        if self.settings.pooling is not None:
            typed = [[" ".join(words)] for words in typed]
        return typed, vectors

    def _check_sentence(self, sentence: Sequence[str], place: str) -> None:
        """Raises `BiLmError` if a sentence contains a boundary or is too long."""
        check_no_boundaries(sentence, place)
        if len(sentence) > self.settings.max_words:
            raise BiLmError(
                f"{place}: the sentence has {len(sentence):,} words, more than "
                f"--max-words {self.settings.max_words}; is there a sentence on each line?"
            )

    def _vectors(self, sentences: Sequence[Sequence[str]], chunk: Chunk) -> np.ndarray:
        """
        Returns the rows of the output for the sentences of a chunk, in their order. They are
        embedded in another order, so that a batch has sentences of about the same length.
        """
        lengths = [len(sentence) for sentence in sentences]
        if self.settings.pooling is None:
            num_rows = lengths
        else:
            num_rows = [1 for _ in sentences]
        first_row = list(accumulate(num_rows, initial=0))  # of each sentence
        vectors = np.empty((sum(num_rows), *self.row_shape), self.settings.dtype)
        by_length = np.argsort(lengths, kind="stable").tolist()
        for start in range(0, len(by_length), self.settings.batch_size):
            batch = by_length[start : start + self.settings.batch_size]
            embedded = self._bilm.embed([sentences[number] for number in batch])
            for number, layers in zip(batch, embedded, strict=True):
                rows = self._output_rows(layers, place=chunk.records[number].place)
                vectors[first_row[number] : first_row[number + 1]] = rows
        return vectors

    def _output_rows(self, layers: Tensor, place: str) -> np.ndarray:
        """
        Returns the rows of a sentence in the type of the output. Raises `BiLmError`, naming the
        place, if a number is NaN or infinite in this type.
        """
        computed = self._rows(layers)
        dtype = getattr(torch, self.settings.dtype)
        rows = computed.to(dtype).cpu()  # only this waits for a GPU
        if not rows.isfinite().all():
            raise BiLmError(self._not_finite_message(computed, place))
        return rows.numpy()

    def _rows(self, layers: Tensor) -> Tensor:
        """
        Returns the vectors of a sentence, given all layers of the biLM: a row for each word, or
        with pooling one row, their mean. They are not yet in the type of the output.
        """
        # Shape: (words, num_layers, dim) or (words, dim)
        selected = self._select_or_mix(layers).movedim(-2, 0)
        if self.settings.pooling is not None:
            # A blank line has no words, and gets a row of zeros.
            selected = selected.sum(dim=0, keepdim=True) / max(len(selected), 1)
        return selected

    def write(self, folder: Path, chunk: Chunk) -> bool:
        """Embeds a chunk and writes it into the folder. Returns false if it is there already."""
        if has_chunk(folder, chunk):
            return False
        words_of_lines, vectors = self.embed(chunk)
        write_chunk(folder, chunk, words_of_lines, vectors)
        return True

    def _not_finite_message(self, rows: Tensor, location: str) -> str:
        """
        Returns the error message for a sentence whose rows are not finite in the type of the
        output, given the rows before they got this type.
        """
        largest = rows.abs().max().item()
        if np.isfinite(largest) and self.settings.dtype == "float16":
            return (
                f"{location}: a value of {largest:g} does not fit into float16: use --dtype float32"
            )
        return f"{location}: the biLM computes numbers that are NaN or infinite"


def embed_chunks(
    chunks: Iterable[Chunk], folder: Path, embedder: Embedder, devices: Sequence[str]
) -> Iterator[tuple[Chunk, bool]]:
    """
    Writes the vectors of each chunk that is not in the folder yet. On one device, `embedder` embeds
    them in this process. With several, each device has a process that loads another embedder.
    Yields all chunks in order, and whether each one is new.

    Raises `ChildProcessError` if a process was killed.
    """
    if len(devices) > 1:
        yield from _embed_in_processes(chunks, folder, embedder.settings, devices)
        return
    use_mmap_for_large_blocks()  # the memory of freed vectors goes back to the system
    with torch_threads(embedder.settings.threads):
        for chunk in chunks:
            yield chunk, embedder.write(folder, chunk)


def _embed_in_processes(
    chunks: Iterable[Chunk], folder: Path, settings: EmbedSettings, devices: Sequence[str]
) -> Iterator[tuple[Chunk, bool]]:
    """
    Writes the missing chunks in a process for each device. Yields all chunks in order, and whether
    each one is new.
    """
    free_devices = SPAWN.SimpleQueue()  # each process takes one when it starts
    for device in devices:
        free_devices.put(device)
    write = partial(_write_chunk, folder)
    yield from map_in_processes(
        write, chunks, len(devices), start=_start_worker, arguments=(settings, free_devices)
    )


# In a worker process, returns its embedder. The first task makes it, because an error while the
# process starts would not reach the parent: the pool passes on only the errors of tasks.
_get_embedder: Callable[[], Embedder]


def _start_worker(settings: EmbedSettings, free_devices: "SimpleQueue[str]") -> None:
    """Prepares a new worker process: takes a free device, and sets `_get_embedder`."""
    global _get_embedder
    torch.set_num_threads(settings.threads)
    device = free_devices.get()
    # The first call makes the embedder, and later calls return the same one.
    _get_embedder = cache(partial(Embedder, settings, device))


def _write_chunk(folder: Path, chunk: Chunk) -> bool:
    """Writes a chunk in a worker, as `Embedder.write` does."""
    return _get_embedder().write(folder, chunk)
