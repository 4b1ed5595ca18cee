"""Restores the biLM of an archive that AllenNLP's ELMo, or the drop-in for it, was saved in."""

from os import PathLike
from pathlib import PurePosixPath
from urllib.parse import urlparse

from elmo_plugin.allennlp_api.bilm import CHARACTERS, AllenNlpBiLm, published_options
from elmo_plugin.bilm import BiLmError, BiLmOptions
from elmo_plugin.bilm.io import MODELS, fetch
from elmo_plugin.embedding import find_bilms, stored_state

DESCRIPTION = "elmo"  # the options and their file, in torch's metadata of a token embedder's state dict
BILM = "._elmo._elmo_lstm."  # where a token embedder has its biLM
CACHED_WORDS = "_word_embedding.weight"

PUBLISHED_NAMES = {PurePosixPath(options).name for options, _ in MODELS.values() if "://" in options}


def bilm_from_archive(
    folder: str | PathLike[str] | None, options_file: str, precision: str
) -> AllenNlpBiLm | None:
    """
    Makes the biLM of a token embedder of a trained model from the model's weights. Its options are stored
    with the weights if the drop-in saved them, and known if the model is a published one; otherwise they are
    read from `options_file`.

    # Parameters

    folder : `str | PathLike | None`
        Where an archive was unpacked, or the directory of a training.
    options_file : `str`
        What the configuration calls the options.
    precision : `str`
        See `BiLm`.

    # Returns

    `AllenNlpBiLm | None`
        `None` where the folder has no weights (the training begins), or weights of several biLMs that cannot
        be told apart.

    Raises `BiLmError` where the options have to be read and cannot.
    """
    state = stored_state(folder)
    metadata = getattr(state, "_metadata", {})
    found = list(find_bilms(state, BILM + CHARACTERS, BILM))
    for embedder, weights in found:
        weights.pop(CACHED_WORDS, None)
        description = metadata.get(embedder, {}).get(DESCRIPTION, {})  # empty if AllenNLP's own was saved
        if description.get("options_file") == options_file:
            options = BiLmOptions.from_dict(description["options"])
            return AllenNlpBiLm.from_weights(options, weights.items(), precision)
    if len({published_options(weights) for _, weights in found}) != 1:
        return None
    _, weights = found[0]
    options = published_options(weights) if _is_published(options_file) else _read(options_file)
    return AllenNlpBiLm.from_weights(options, weights.items(), precision)


def _is_published(options_file: str) -> bool:
    url = urlparse(options_file)
    return url.scheme in ("http", "https") and PurePosixPath(url.path).name in PUBLISHED_NAMES


def _read(options_file: str) -> BiLmOptions:
    try:
        return BiLmOptions.from_file(fetch(options_file))
    except BiLmError as error:
        raise BiLmError(
            f"{error}; an archive that AllenNLP's ELMo was saved in does not contain the activation "
            "and the clips of its biLM: name a copy of the file by an override of options_file"
        ) from None
