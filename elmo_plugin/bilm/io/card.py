"""The statements of a model card about the training of a biLM."""

import re
from typing import NamedTuple

from elmo_plugin.common.formats.archives import AnyPath

CARD_NAME = "README.md"  # model hubs show a file of this name
_UNKNOWN = """## Training data, figures, licence

Complete this before publishing: the training text, the perplexity on unseen text, and the licence
of the weights; also `license` and `language` at the top.
"""
# The places of a model card: the YAML at its beginning, an entry there with its further lines, and
# the pictures and links in its text that are not on the web.
_HEADER = re.compile(r"---\n(.*?)^---\n", re.DOTALL | re.MULTILINE)
_LICENSE_OR_LANGUAGE = re.compile(r"^(?:license|language):.*\n(?:[ -].*\n)*", re.MULTILINE)
_PICTURE_IN_FOLDER = re.compile(r"!\[[^\]]*\]\((?!https?:)[^)]*\)\n*")
_LINK_INTO_FOLDER = re.compile(r"\[([^\]]*)\]\((?!https?:|#)[^)]*\)")


class Card(NamedTuple):
    """
    The statements of a model card about the training of a biLM.

    metadata: lines of YAML with `license` and `language`
    training: Markdown, beginning with the heading `## Training data`
    """

    metadata: str = "license: unknown\nlanguage: und\n"
    training: str = _UNKNOWN

    def first_statement(self) -> str:
        """Returns the first clause on the training data, without the heading; "" if unknown."""
        if self.training == _UNKNOWN:
            return ""
        _, _, text = self.training.partition("\n")
        first_paragraph, _, _ = text.strip().partition("\n\n")
        in_one_line = " ".join(first_paragraph.split())
        clauses = re.split(r"[:.;](?:\s|$)", in_one_line, maxsplit=1)
        return clauses[0].strip()


def read_card(folder: AnyPath) -> Card | None:
    """
    Reads the statements of a folder's model card about training data, licence and language; `None`
    unless it has all three. Pictures and links that lead to other files of the folder are removed,
    because these files are not copied with the card. The texts of such links stay.
    """
    try:
        content = (folder / CARD_NAME).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    text = content.replace("\r\n", "\n")
    header = _HEADER.match(text)
    if header is None:
        return None
    entries = _LICENSE_OR_LANGUAGE.findall(header[1])
    keys = [entry.partition(":")[0] for entry in entries]
    _, heading, training = text.partition("\n## Training data")
    if sorted(keys) != ["language", "license"] or not heading:
        return None
    training = _PICTURE_IN_FOLDER.sub("", training)
    training = _LINK_INTO_FOLDER.sub(r"\1", training)
    return Card("".join(entries), heading.strip("\n") + training)
