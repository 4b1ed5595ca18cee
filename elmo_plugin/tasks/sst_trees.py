"""Trees of the Stanford Sentiment Treebank: a sentence, and the phrases in it with their labels."""

from typing import TYPE_CHECKING, NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.conll2012 import unescape_word

if TYPE_CHECKING:
    from nltk.tree import Tree

# The names of the labels from 0 to 4; `None` for texts that are left out.
FINE_LABELS = ("very negative", "negative", "neutral", "positive", "very positive")
BINARY_LABELS = ("negative", "negative", None, "positive", "positive")
# The number of phrases around a word. The treebank's trees have at most about 30, and nltk 3.10
# reads fewer than 500.
MAX_DEPTH = 400
# Only ASCII spaces divide words: the treebank has words with a no-break space, such as "2 1/2".
_LABEL_OR_WORD = r"[^() \t\n\r\f\v]+"


class Phrase(NamedTuple):
    """A word or several, and their label: from 0, very negative, to 4, very positive."""

    label: str
    words: list[str]


def read_phrases(tree: str, location: str) -> list[Phrase]:
    """
    Returns the whole sentence of a tree, and then all phrases in it, each before the phrases that
    it contains. The innermost brackets may have several words, as in `(1 A good film .)`. Raises
    `ConfigurationError`, beginning with `location`, if `tree` is malformed, too deep, or has an
    invalid label.
    """
    from nltk.tree import Tree  # here: importing it takes a moment, and only trees need it

    # NLTK reads trees by recursion, and Python limits its depth.
    if _depth(tree) > MAX_DEPTH:
        raise ConfigurationError(f"{location}: the tree is more than {MAX_DEPTH} brackets deep")
    try:
        root = Tree.fromstring(tree, node_pattern=_LABEL_OR_WORD, leaf_pattern=_LABEL_OR_WORD)
    except ValueError as error:
        first_line, *_ = str(error).split("\n")  # in further lines NLTK shows the tree
        problem = first_line.removeprefix("Tree.read(): ")
        raise ConfigurationError(f"{location}: brackets are not balanced: {problem}") from None
    phrases = [_read_phrase(part, location) for part in root.subtrees()]
    is_only_label = len(phrases) == 1
    for phrase in phrases:
        _check_label(phrase.label, is_only_label, location)
    return phrases


def _read_phrase(part: "Tree", location: str) -> Phrase:
    """
    Returns the label and the words of a subtree. Raises `ConfigurationError`, beginning with
    `location`, if its children are neither all words nor all subtrees, or if there are none.
    """
    if not part:
        raise ConfigurationError(f"{location}: brackets without a word in them")
    words = [child for child in part if isinstance(child, str)]
    if words and len(words) < len(part):
        raise ConfigurationError(f"{location}: expected brackets around the word {words[0]!r}")
    leaves = [unescape_word(leaf) for leaf in part.leaves()]
    return Phrase(part.label(), leaves)


def _check_label(label: str, is_only_label: bool, location: str) -> None:
    """
    Raises `ConfigurationError` if a label is not a number from 0 to 4. If a tree has only one
    label, because no phrases are marked in it, this may also be a word.
    """
    if label in ("0", "1", "2", "3", "4"):
        return
    if is_only_label and label[:1].isalpha():
        return
    raise ConfigurationError(f"{location}: a label is a number from 0 to 4, not {label!r}")


def _depth(tree: str) -> int:
    """Returns how many brackets are open at the deepest place of a tree."""
    depth = 0
    deepest = 0
    for character in tree:
        if character == "(":
            depth += 1
            deepest = max(deepest, depth)
        elif character == ")":
            depth -= 1
    return deepest
