"""Trains static word vectors on a biLM's text, to separate the effect of context from the effect of
more text.

    pip install gensim
    PYTHONHASHSEED=1 python experiments/static_vectors.py data/lm/train-*.txt.gz \\
        data/lm2/train-*.txt.gz --output runs/static_vectors_base.txt

writes vectors of the size of `base`'s, trained by gensim on the files that `base` was trained on:
skip-gram with negative sampling, 5 epochs, words that occur at least 3 times. One thread and the
seed make it reproducible; it takes 43 minutes. The variants `*_static_base` and
`*_static_base_elmo` of `experiments/variants.jsonnet` read it, in word2vec's format. A file in
`.safetensors` has them in 8 bits, for `words.bundled()`: elmo_plugin/models/words/english/README.md
has its command.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from allennlp.common.checks import ConfigurationError
from safetensors.torch import save
from torch import Tensor

from elmo_plugin.common.files import atomic_write
from elmo_plugin.common.word_keys import KEYS_NAME, word_key
from elmo_plugin.embedding.word_table import digest
from elmo_plugin.tasks import read_text_lines


class Sentences:
    """
    The words of each sentence of several files, one sentence per line; can be iterated repeatedly.
    """

    def __init__(self, files: Sequence[str]) -> None:
        self._files = files

    def __iter__(self) -> Iterator[list[str]]:
        for file in self._files:
            yield from (line.text.split() for line in read_text_lines(file))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "texts",
        nargs="+",
        metavar="TEXT",
        help="tokenized, one sentence per line; plain, .gz or .zst",
    )
    parser.add_argument("--output", type=Path, required=True, help="where to write the vectors")
    parser.add_argument(
        "--dim", type=int, default=512, help="of a vector (default: 512, as base's)"
    )
    parser.add_argument(
        "--epochs", type=int, default=5, help="how often the text is read (default: 5)"
    )
    parser.add_argument(
        "--words", type=int, metavar="N", help="the N most frequent, in .safetensors"
    )
    parser.add_argument(
        "--min-count", type=int, default=3, help="of a word in the text (default: 3)"
    )
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED", "random") == "random":
        parser.error(
            "set PYTHONHASHSEED=1: gensim draws a word's first vector by Python's hash of it"
        )
    if args.words and args.output.suffix != ".safetensors":
        parser.error("--words needs an --output in .safetensors")
    train(args.texts, args.output, args.dim, args.epochs, args.min_count, args.seed, args.words)


def train(
    texts: Sequence[str],
    output: Path,
    dim: int,
    epochs: int,
    min_count: int,
    seed: int,
    num_words: int | None = None,
) -> None:
    """
    Trains and writes the vectors.

    Raises `ConfigurationError` where gensim is not installed, or no word is frequent enough.
    """
    try:
        from gensim.models import Word2Vec
    except ImportError:
        raise ConfigurationError("this program needs gensim: pip install gensim") from None
    model = Word2Vec(
        vector_size=dim, sg=1, negative=5, window=5, min_count=min_count, workers=1, seed=seed
    )
    sentences = Sentences(texts)
    model.build_vocab(sentences)
    if not len(model.wv):
        raise ConfigurationError(f"{', '.join(texts)}: no word is there {min_count} times")
    model.train(sentences, total_examples=model.corpus_count, epochs=epochs)
    words = model.wv.index_to_key[:num_words]  # by frequency
    with atomic_write(output) as temporary:
        if output.suffix == ".safetensors":
            content = quantize(words, torch.from_numpy(model.wv.vectors[: len(words)]))
            temporary.write_bytes(content)
            keys = np.fromiter(map(word_key, words), "<i8", len(words))
            output.with_name(KEYS_NAME).write_bytes(digest(content) + keys.tobytes())
        else:
            model.wv.save_word2vec_format(str(temporary))
    print(f"{len(words):,} words of {model.corpus_total_words:,} tokens in {output}")


def quantize(words: Sequence[str], vectors: Tensor) -> bytes:
    """Returns vectors as 8-bit integers with a scale for each word, and the words."""
    scales = (vectors.abs().amax(dim=1) / 127).clamp(min=1e-12)
    codes = (vectors / scales[:, None]).round().to(torch.int8)
    text = np.frombuffer("\n".join(words).encode(), dtype=np.uint8)
    return save({"words": torch.from_numpy(text.copy()), "vectors": codes, "scales": scales})


if __name__ == "__main__":
    main()
