"""The bidirectional language model: words in, the activations of all layers out."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.bilm.inference_weights import RecentOutputs
from elmo_plugin.bilm.io import (
    Card,
    Checkpoint,
    Source,
    read_checkpoint,
    weights_digest,
    write_card,
    write_files,
)
from elmo_plugin.bilm.lstm import BiLmState
from elmo_plugin.bilm.network import BiLmNetwork
from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.bilm.packing import split_by_tokens
from elmo_plugin.bilm.precision import get_precision
from elmo_plugin.bilm.sentences import BiLmOutput, Cache, run_sentences
from elmo_plugin.common.errors import BiLmError

if TYPE_CHECKING:
    from typing_extensions import Self  # of `typing` from Python 3.11 on

MAX_BATCH_TOKENS = 8192


class BiLm(BiLmNetwork):
    """
    The biLM of Peters et al. (2018), section 3.1, with random weights.

    A sentence's activations depend only on the sentence, unless a `state` is given. While its weights are
    frozen (`requires_grad_(False)`), values derived from them are stored between batches (see
    `InferenceWeights`), and dropout is off.

    # Parameters

    options : `BiLmOptions`
        All sizes.
    dropout : `float`
        In training, the rate of dropout in the language models (see `DirectionalLstm`).
    precision : `str`
        The numbers in which the biLM computes without gradients: one of `PRECISIONS`. Its parameters and
        activations are always float32.
    max_batch_tokens : `int`
        Without gradients, a batch with more tokens than this, padding included, is computed in chunks of
        whole sentences, which bounds the memory besides the result.

    The attribute `recurrence`, "auto" or one of `RECURRENCES`, selects how the LSTMs are run. `card` has the
    training data and the licence from the model card of a published biLM.
    """

    def __init__(
        self,
        options: BiLmOptions,
        dropout: float = 0.0,
        precision: str = "float32",
        max_batch_tokens: int = MAX_BATCH_TOKENS,
    ) -> None:
        super().__init__(options, dropout, precision)
        self.max_batch_tokens = max_batch_tokens
        self.card: Card | None = None

    @classmethod
    def from_weights(
        cls, options: BiLmOptions, weights: Iterable[tuple[str, Tensor]], precision: str = "float32"
    ) -> "Self":
        """
        Constructs a biLM from the items of a `state_dict()`, in evaluation mode and frozen.

        Raises `BiLmError` if the weights do not fit the options.
        """
        with torch.random.fork_rng(devices=[]):  # the weights drawn here are overwritten
            bilm = cls(options, precision=precision).eval().requires_grad_(False)
        bilm.load_weights(weights)
        return bilm

    @classmethod
    def from_checkpoint(cls, checkpoint: Checkpoint, precision: str = "float32") -> "Self":
        """Constructs a biLM from a `Checkpoint`, in evaluation mode and frozen."""
        bilm = cls.from_weights(checkpoint.options, checkpoint.weights, precision)
        bilm.card = checkpoint.card
        return bilm

    @classmethod
    def from_pretrained(
        cls, source: Source, precision: str = "float32", device: str | torch.device | None = None
    ) -> "Self":
        """
        Loads a biLM, in evaluation mode and frozen.

        # Parameters

        source : `str | Path | Mapping[str, str]`
            A name of `elmo_plugin.bilm.io.MODELS`, the path of a folder or an archive, a URL, or `USER/MODEL`
            of the Hugging Face Hub, looked for in this order; or `{"options": ..., "weights": ...}`. A `Path`
            is never a name.
        precision : `str`
            See `BiLm`.
        device : `str | torch.device | None`
            Where the biLM goes; `None` for the CPU.

        Raises `BiLmError` if the source is not a usable model.
        """
        bilm = cls.from_checkpoint(read_checkpoint(source, with_softmax=False), precision)
        return bilm if device is None else bilm.to(device)

    @classmethod
    def from_files(
        cls,
        options_file: str | Path,
        weights_file: str | Path,
        precision: str = "float32",
        device: str | torch.device | None = None,
    ) -> "Self":
        """Loads a model in the published layout, see `from_pretrained`. Paths may be URLs."""
        files = {"options": str(options_file), "weights": str(weights_file)}
        return cls.from_pretrained(files, precision, device)

    def save_pretrained(self, folder: str | Path) -> None:
        """Writes `options.json`, `weights.hdf5` and a model card, as `elmo export --hf` does."""
        checkpoint = Checkpoint(self.options, self.state_dict().items(), card=self.card)
        write_files(folder, checkpoint)
        write_card(folder, checkpoint)

    def forward(
        self,
        character_ids: Tensor,
        state: BiLmState | None = None,
        keep_state: bool = True,
        boundaries: bool = False,
        precision: str | None = None,
        max_batch_tokens: int | None = None,
    ) -> BiLmOutput:
        """
        # Parameters

        character_ids : `Tensor`
            Shape (batch, time, characters), without sentence boundaries. Rows of zeros after the last word
            are padding.
        state : `BiLmState | None`
            The state that an earlier call returned, to continue from as published implementations do: row i
            of the batch starts where row i ended. `None` to start from zero.
        keep_state : `bool`
            Whether to return the final state, which costs a time step.
        boundaries : `bool`
            Whether the output includes the sentence boundaries; time is then longer by 2.
        precision : `str | None`
            The precision of this call; `None` for that of the biLM.
        max_batch_tokens : `int | None`
            The size of the chunks of this call; `None` for that of the biLM.

        Raises `BiLmError` if the number of characters per word is not that of the options, if padding comes
        before a word, or if this machine cannot compute in the precision.
        """
        return run_sentences(
            self,
            character_ids,
            state=state,
            keep_state=keep_state,
            boundaries=boundaries,
            precision=precision,
            max_batch_tokens=max_batch_tokens or self.max_batch_tokens,
            dropout=self.training and self.is_trainable,
        )

    def forward_cached(
        self,
        character_ids: Tensor,
        precision: str | None = None,
        max_batch_tokens: int | None = None,
        cache: Cache | None = None,
    ) -> BiLmOutput:
        """
        Runs the biLM without a state. While it is frozen, it stores the outputs for the last two batches, so
        that several placements of ELMo, or the members of an ensemble, run it once.

        # Parameters

        character_ids, precision, max_batch_tokens
            See `forward`.
        cache : `Cache | None`
            Stores the layers of sentences for longer.

        # Returns

        `BiLmOutput`
            Without a state. Other calls may return the same tensors: do not change them.
        """
        precision = precision or self.precision  # of all of this call, whoever changes the biLM's meanwhile

        def compute(ids: Tensor) -> BiLmOutput:
            return self(ids, keep_state=False, precision=precision, max_batch_tokens=max_batch_tokens)

        weights = self.inference_weights()
        if weights is None:
            return compute(character_ids)
        recent = weights.get(("recent_outputs",), RecentOutputs)
        key = (precision, self.recurrence, cache)
        output = recent.find(character_ids, key)
        if output is None:
            character_ids = character_ids.clone()  # the caller may change its own
            if cache is None:
                output = compute(character_ids)
            else:
                digest = self.digest(precision)
                output = cache.run(compute, digest, character_ids, self.num_layers, self.output_dim)
            recent.add(character_ids, key, output)
        return output

    @torch.no_grad()
    def embed(self, sentences: Sequence[Sequence[str]], cache: Cache | None = None) -> list[Tensor]:
        """
        Embeds any number of sentences, of any length, without dropout.

        # Parameters

        sentences : `Sequence[Sequence[str]]`
            The words of each sentence.
        cache : `Cache | None`
            Stores the layers of sentences, if the biLM is frozen.

        # Returns

        `list[Tensor]`
            Per sentence a tensor of shape (num_layers, words, output_dim).
        """
        precision = self.precision  # as in `forward_cached`
        by_length = sorted(range(len(sentences)), key=lambda number: len(sentences[number]))
        lengths = [len(sentences[number]) for number in by_length]
        vectors: dict[int, Tensor] = {}
        for chunk in split_by_tokens(lengths, self.max_batch_tokens):
            ids = self._character_ids([sentences[number] for number in by_length[chunk]])
            if cache is None or self.is_trainable:
                layers = run_sentences(self, ids, precision=precision).layers
            else:
                layers = self.forward_cached(ids, precision, cache=cache).layers
            for row, number in enumerate(by_length[chunk]):
                vectors[number] = layers[:, row, : len(sentences[number])].clone()
        return [vectors[number] for number in range(len(sentences))]

    def precompute(self, words: Sequence[str]) -> None:
        """
        Encodes a vocabulary now. Its vectors are stored in addition to the bounded number of other words that
        are stored between batches.

        Raises `BiLmError` if the biLM is not frozen.
        """
        weights = self.inference_weights()
        if weights is None:
            raise BiLmError("only a frozen biLM encodes words ahead: call its requires_grad_(False) first")
        device = self.boundaries.device.type
        with torch.inference_mode(False), torch.no_grad(), torch.autocast(device, enabled=False):
            ids = self._character_ids([words])
            self.token_encoder.precompute(ids, get_precision(self.precision), weights)

    def digest(self, precision: str | None = None) -> bytes:
        """Returns a digest of this biLM in a precision, see `weights_digest`."""
        name = get_precision(precision or self.precision).name

        def compute() -> bytes:
            return weights_digest(self.options, name, [*self.named_parameters(), *self.named_buffers()])

        weights = self.inference_weights()
        return compute() if weights is None else weights.get(("digest", name), compute)

    def _character_ids(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        ids = sentences_to_character_ids(sentences, self.options.char_cnn.max_characters_per_token)
        return torch.from_numpy(ids).to(self.boundaries.device)
