"""The `README.md` of a folder with a biLM, as model hubs show it."""

import re
from pathlib import Path
from typing import NamedTuple

from elmo_plugin.bilm.options import BiLmOptions

CARD_NAME = "README.md"

_CARD = """---
{metadata}library_name: elmo_plugin
pipeline_tag: feature-extraction
tags:
- elmo
- bilm
- contextual-word-embeddings
---

# {title}

A bidirectional language model (biLM) in the layout of published ELMo models
([Peters et al., 2018](https://aclanthology.org/N18-1202/)): `options.json` and `weights.hdf5`.

|  |  |
| --- | --- |
| LSTMs | {n_layers} layers of {dim:,} cells in each direction, projected to {projection_dim:,} |
| token layer | {n_filters:,} character filters, {n_highway} highway layers |
| vectors | {num_layers} layers of {output_dim:,} |
| parameters of the biLM | {parameters:,} |
| numbers in the file | {dtype} |
| softmax | {softmax} |

## Use

```python
from elmo_plugin.bilm import BiLm

bilm = BiLm.from_pretrained("{address}")  # where this folder is: a path, or its address on a hub
vectors = bilm.embed([["The", "play", "."], ["Hello"]])  # per sentence: (layers, words, {output_dim})
```

This needs elmo_plugin with its extra `download`. In a configuration of AllenNLP: `bilm: '{address}'`. Other
implementations of ELMo read the two files, too.

{training}"""
_UNKNOWN = """## Training data, figures, licence

Complete this before publishing: the text that the model was trained on, its perplexity on text that it has
not seen, and the licence of its weights; `license` and `language` at the top, too.
"""


class Card(NamedTuple):
    """
    metadata: lines of YAML with `license` and `language`
    training: Markdown from the heading `## Training data` on
    """

    metadata: str = "license: unknown\nlanguage: und\n"
    training: str = _UNKNOWN


def read_card(folder: Path) -> Card | None:
    """
    Returns what the `README.md` of a biLM's folder says about its training and licence; `None` if there is
    none that begins with the licence and language. Links to other files of the folder, which a copy lacks,
    become text.
    """
    try:
        text = (folder / CARD_NAME).read_text(encoding="utf-8")
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
    """
    Returns the text of a model card.

    # Parameters

    title : `str`
        The name of the model.
    options : `BiLmOptions`
        Its sizes; it reads characters as published models do.
    parameters : `int`
        How many numbers the biLM has.
    dtype : `str`
        In which they are stored.
    vocabulary_size : `int | None`
        The number of words of the softmax, if that is stored with it.
    card : `Card | None`
        That of the biLM's source.
    """
    known = card or Card()
    cnn, lstm = options.char_cnn, options.lstm
    return _CARD.format(
        metadata=known.metadata,
        training=known.training,
        title=title,
        address=f"hf://USER/{title}",
        n_layers=lstm.n_layers,
        dim=lstm.dim,
        projection_dim=lstm.projection_dim,
        n_filters=cnn.n_filters,
        n_highway=cnn.n_highway,
        num_layers=lstm.n_layers + 1,
        output_dim=2 * lstm.projection_dim,
        parameters=parameters,
        dtype=dtype,
        softmax=f"{vocabulary_size:,} words" if vocabulary_size else "none",
    )
