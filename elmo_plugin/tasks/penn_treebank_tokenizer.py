"""Plain sentences to words."""

from allennlp.data.tokenizers import Token, Tokenizer
from nltk.tokenize import TreebankWordTokenizer
from overrides import overrides


@Tokenizer.register("penn_treebank")
class PennTreebankTokenizer(Tokenizer):
    """
    Divides a sentence as the Penn Treebank does, but for quotation marks, which are `"` on both sides. So is
    the text divided that biLMs learn from, such as that of the 1 Billion Word Benchmark.

    Registered as a `Tokenizer` with name "penn_treebank".
    """

    def __init__(self) -> None:
        self._tokenizer = TreebankWordTokenizer()

    @overrides
    def tokenize(self, text: str) -> list[Token]:
        return [Token('"' if word in ("``", "''") else word) for word in self._tokenizer.tokenize(text)]
