"""The model card of a folder with a biLM, `README.md`, as model hubs show it."""

import re
from pathlib import Path
from typing import NamedTuple

from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.common.formats.archives import AnyPath

CARD_NAME = "README.md"

_CARD = Path(__file__).with_name("card.md")
_UNKNOWN = """## Training data, figures, licence

Complete this before publishing: the training text, the perplexity on unseen text, and the licence of the
weights; also `license` and `language` at the top.
"""


class Card(NamedTuple):
    """
    metadata: lines of YAML with `license` and `language`
    training: Markdown from the heading `## Training data` on
    """

    metadata: str = "license: unknown\nlanguage: und\n"
    training: str = _UNKNOWN


def read_card(folder: AnyPath) -> Card | None:
    """
    Reads the sections of a folder's model card about training and licence; `None` unless it begins with the
    licence and language. Links to other files of the folder become text, because a copy lacks them.
    """
    try:
        text = (folder / CARD_NAME).read_bytes().decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return None
    head = re.match(r"---\n(.*?)^---\n", text, re.DOTALL | re.MULTILINE)
    found = re.findall(r"^(?:license|language):.*\n(?:[ -].*\n)*", head[1] if head else "", re.MULTILINE)
    _, heading, training = text.partition("\n## Training data")
    if len(found) < 2 or not heading:
        return None
    training = re.sub(r"!\[[^\]]*\]\((?!https?:)[^)]*\)\n*", "", training)
    training = re.sub(r"\[([^\]]*)\]\((?!https?:|#)[^)]*\)", r"\1", training)
    return Card("".join(found), heading.strip("\n") + training)


def model_card(
    title: str,
    options: BiLmOptions,
    parameters: int,
    dtype: str,
    vocabulary_size: int | None,
    card: Card | None = None,
) -> str:
    """Returns the text of a model card, including the source's `card`."""
    return _CARD.read_text(encoding="utf-8").format(
        title=title,
        cnn=options.char_cnn,
        lstm=options.lstm,
        num_layers=options.lstm.n_layers + 1,
        output_dim=2 * options.lstm.projection_dim,
        parameters=parameters,
        dtype=dtype,
        softmax=f"{vocabulary_size:,} words" if vocabulary_size else "none",
        card=card or Card(),
    )
