"""The `README.md` of a folder with a biLM, as model hubs show it."""

from elmo_plugin.bilm.options import BiLmOptions

CARD_NAME = "README.md"

_CARD = """---
library_name: elmo_plugin
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
from elmo_plugin.bilm import load_bilm

bilm = load_bilm("{address}")  # where this folder is: a path, or its address on a hub
vectors = bilm.embed([["The", "play", "."], ["Hello"]])  # per sentence: (layers, words, {output_dim})
```

This needs elmo_plugin with its extra `download`. In a configuration of AllenNLP: `bilm: '{address}'`. Other
implementations of ELMo read the two files, too.

## Training data, figures, licence

Complete this before publishing: the text that the model was trained on, its perplexity on text that it has
not seen, and the licence of its weights.
"""


def model_card(
    title: str, options: BiLmOptions, parameters: int, dtype: str, vocabulary_size: int | None
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
    """
    cnn, lstm = options.char_cnn, options.lstm
    return _CARD.format(
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
