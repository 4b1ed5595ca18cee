"""How well the cosine of two texts' vectors says that they mean the same: ELMo, static word
vectors, and tf-idf.

    python benchmarks/similarity.py data/nli/test.jsonl --json FILE

reads pairs of sentences in SNLI's JSON lines, with people's judgement whether the second follows
from the first. It prints two figures for each way to turn a text into a vector:

found        the sentences that follow from another whose origin is the nearest of all, in percent
correlation  Spearman's correlation of the cosine with the judgement (follows 2, may follow 1,
             contradicts 0), times 100

tf-idf learns the words' weights from the sentences of the file; the others learn nothing from it.
Needs scikit-learn and scipy.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from allennlp.data.tokenizers import Token
from run import make_parser
from scipy.sparse import csr_matrix
from scipy.stats import spearmanr
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from elmo_plugin import BiLm
from elmo_plugin.bilm import make_tokenizer
from elmo_plugin.bilm.word_frequencies import inverse_frequency_weights
from elmo_plugin.common.files import write_json
from elmo_plugin.common.provenance import provenance
from elmo_plugin.embedding.word_vectors import WordVectorsEmbedder, WordVectorsIndexer

JUDGEMENTS = {"entailment": 2, "neutral": 1, "contradiction": 0}
Vectors = np.ndarray | csr_matrix
Encoder = Callable[[Sequence[str]], Vectors]


class Pair(NamedTuple):
    first: str
    second: str
    judgement: int


class Figures(NamedTuple):
    """The two figures of the docstring above."""

    found: float
    correlation: float


def main() -> None:
    parser = make_parser(__doc__, "size", "device", "rounds", "text")
    parser.set_defaults(threads=1)
    parser.add_argument("pairs", metavar="FILE", help="SNLI's JSON lines")
    parser.add_argument("--bilm", default="base", help="the biLM (default: base)")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    pairs = read_pairs(args.pairs)
    figures: dict[str, Any] = provenance() | {"bilm": args.bilm, "pairs": len(pairs)}
    for name, encoder in encoders(args.bilm, pairs).items():
        measured = measure(encoder, pairs)
        figures[name] = {key: round(value, 1) for key, value in measured._asdict().items()}
        print(f"{name:32} found {measured.found:5.1f}  correlation {measured.correlation:5.1f}")
    if args.json:
        write_json(args.json, figures)


def read_pairs(file: str) -> list[Pair]:
    """Returns the pairs on whose judgement most people agreed."""
    pairs = []
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        fields = json.loads(line)
        label = fields["gold_label"]
        if label in JUDGEMENTS:
            pairs.append(Pair(fields["sentence1"], fields["sentence2"], JUDGEMENTS[label]))
    return pairs


def encoders(bilm_name: str, pairs: Sequence[Pair]) -> dict[str, Encoder]:
    """Returns the ways to turn texts into vectors, by the names in the figures."""
    texts = [text for pair in pairs for text in (pair.first, pair.second)]
    words = TfidfVectorizer().fit(texts)
    characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5)).fit(texts)
    bilm = BiLm.from_pretrained(bilm_name)
    static = StaticVectors()

    def mean_of_all_layers(texts: Sequence[str]) -> Vectors:
        return bilm.encode(texts, pooling="mean", output="numpy")

    def mean_of_tokens(texts: Sequence[str]) -> Vectors:
        return bilm.encode(texts, pooling="mean", layers="token", output="numpy")

    def sif_of_tokens(texts: Sequence[str]) -> Vectors:
        return bilm.encode(texts, pooling="sif", output="numpy")

    def sif_of_all_layers(texts: Sequence[str]) -> Vectors:
        return bilm.encode(texts, pooling="sif", layers="mean", output="numpy")

    return {
        "tf-idf of words": words.transform,
        "tf-idf of character n-grams": characters.transform,
        "word vectors, mean": static.mean,
        "word vectors, sif": static.sif,
        "elmo, mean of layers": mean_of_all_layers,
        "elmo, mean of layers, sif": sif_of_all_layers,
        "elmo, token layer": mean_of_tokens,
        "elmo, token layer, sif": sif_of_tokens,
    }


class StaticVectors:
    """The word vectors of this package, for texts that are split as the biLM's are."""

    def __init__(self) -> None:
        self._split = make_tokenizer("spacy", "en")
        self._indexer = WordVectorsIndexer()
        self._embedder = WordVectorsEmbedder()

    def mean(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._vectors(words).mean(axis=0) for words in self._words(texts)])

    def sif(self, texts: Sequence[str]) -> Vectors:
        vectors = []
        for words in self._words(texts):
            weights = inverse_frequency_weights(words).numpy()
            vectors.append((weights[:, None] * self._vectors(words)).mean(axis=0))
        return np.stack(vectors)

    def _words(self, texts: Sequence[str]) -> list[list[str]]:
        return [[word.text for word in self._split(text)] for text in texts]

    def _vectors(self, words: Sequence[str]) -> np.ndarray:
        """Returns the vector of each word, shape (words, dim); zeros for an unknown one."""
        tokens = [Token(word) for word in words]
        indexed = {"word_keys": [token.ensure_text() for token in tokens]}
        tensors = self._indexer.as_padded_tensor_dict(indexed, {"word_keys": len(words)})
        with torch.inference_mode():
            return self._embedder(tensors["word_keys"][None])[0].numpy()


def measure(encode: Encoder, pairs: Sequence[Pair]) -> Figures:
    """Returns the figures of one way to turn texts into vectors."""
    firsts = normalize(encode([pair.first for pair in pairs]))
    seconds = normalize(encode([pair.second for pair in pairs]))
    origins = list(dict.fromkeys(pair.first for pair in pairs))
    numbers = {text: number for number, text in enumerate(origins)}
    rows = [numbers[pair.first] for pair in pairs]
    first_rows = [rows.index(number) for number in range(len(origins))]

    cosines = seconds @ firsts[first_rows].T  # Shape: (pairs, origins)
    cosines = np.asarray(cosines.todense()) if hasattr(cosines, "todense") else cosines
    nearest = cosines.argmax(axis=1)
    of_pairs = cosines[np.arange(len(pairs)), rows]
    hits = [
        nearest[number] == rows[number]
        for number, pair in enumerate(pairs)
        if pair.judgement == JUDGEMENTS["entailment"]
    ]
    judgements = [pair.judgement for pair in pairs]
    correlation = spearmanr(of_pairs, judgements).statistic
    return Figures(found=100 * float(np.mean(hits)), correlation=100 * float(correlation))


if __name__ == "__main__":
    main()
