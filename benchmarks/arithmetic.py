"""The arithmetic that a text needs, in floating point operations: a multiply-add is two.

Counts matrix products and convolutions; point-wise operations are below a hundredth of these.
"""

from collections.abc import Sequence

from elmo_plugin.bilm import BiLmOptions, CharCnnOptions, LstmOptions
from elmo_plugin.bilm.characters import (
    BEGIN_SENTENCE_TOKEN,
    END_SENTENCE_TOKEN,
    PADDING,
    word_to_character_ids,
)


def text_operations(options: BiLmOptions, sentences: Sequence[Sequence[str]]) -> int:
    """
    Operations to embed all words: the token layer for each distinct word of the text, the two
    sentence boundaries among them, and the LSTMs for each sentence's words and the boundary that a
    direction reads first. The boundary that it would read last changes no word's vector.
    """
    words = {word for sentence in sentences for word in sentence} | {
        BEGIN_SENTENCE_TOKEN,
        END_SENTENCE_TOKEN,
    }
    steps = sum(len(sentence) + 1 for sentence in sentences if sentence)
    return steps * lstm_operations(options.lstm) + sum(
        token_operations(options, word) for word in words
    )


def training_operations(
    options: BiLmOptions, characters: Sequence[int], steps: int, targets: int, negatives: int
) -> int:
    """
    Operations of a training step: the token layer for each distinct word, the LSTMs for each time
    step, and the scores of each target and of the sampled words. The gradients of a product, of its
    inputs and of its weights, are two products of the same size, so a step is three times its
    forward pass.

    # Parameters

    options : `BiLmOptions`
        The sizes.
    characters : `Sequence[int]`
        The characters of each distinct word of the batch, including its begin and its end.
    steps : `int`
        The time steps that each of the two directions reads.
    targets : `int`
        The words that the two directions predict together.
    negatives : `int`
        The words of the sampled softmax.
    """
    types = sum(type_operations(options, number) for number in characters)
    softmax = targets * 2 * options.lstm.projection_dim * (1 + negatives)
    return 3 * (types + steps * lstm_operations(options.lstm) + softmax)


def lstm_operations(options: LstmOptions) -> int:
    """
    One time step of all layers, both directions: gates from input and hidden state, then
    projection.
    """
    gates = 2 * options.projection_dim * 4 * options.dim
    projection = options.dim * options.projection_dim
    return 2 * 2 * options.n_layers * (gates + projection)


def weights_per_step(options: LstmOptions) -> int:
    """
    The number of weights that one time step of all layers, both directions, reads again: hidden
    state and projection. Input weights are read once for many time steps.
    """
    return 2 * options.n_layers * 5 * options.dim * options.projection_dim


def token_operations(options: BiLmOptions, word: str) -> int:
    """The token layer for one word: character CNN, highway layers, projection."""
    ids = word_to_character_ids(word, options.char_cnn.max_characters_per_token)
    return type_operations(options, int((ids != PADDING).sum()))


def type_operations(options: BiLmOptions, characters: int) -> int:
    """The same for a word of a number of characters, including its begin and its end."""
    char_cnn = options.char_cnn
    return (
        convolution_operations(char_cnn, characters)
        + highway_operations(char_cnn)
        + 2 * char_cnn.n_filters * options.lstm.projection_dim
    )


def convolution_operations(options: CharCnnOptions, characters: int) -> int:
    """
    The filters at every place that begins with one of the word's characters, the begin and the end
    of the word among them. Places in the padding have the same values in every word.
    """
    slots = options.max_characters_per_token
    return sum(
        2 * min(characters, slots - width + 1) * width * options.embedding_dim * number
        for width, number in options.filters
    )


def highway_operations(options: CharCnnOptions) -> int:
    """Two square products a layer: transform and carry."""
    return 2 * 2 * options.n_highway * options.n_filters**2
