"""The sizes of a biLM, and their way to and from the `options.json` of published ELMo models."""

import math
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from elmo_plugin.bilm.characters import NUM_CHARACTERS
from elmo_plugin.bilm.options.checks import (
    MAX_CHARACTERS,
    MAX_LAYERS,
    MAX_SIZE,
    check_cnn,
    check_keys,
    require_number,
    require_truth_value,
    unknown_keys,
)
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import write_json
from elmo_plugin.common.formats.json_files import read_json_object

Lexicon = tuple[tuple[str, int], ...]  # characters or words, and the row of each one's vector


@dataclass(frozen=True)
class CharCnnOptions:
    """
    The token encoder.

    # Parameters

    filters : `tuple[tuple[int, int], ...]`
        (width in characters, number of filters) of each convolution.
    embedding_dim : `int`
        The size of a character's vector.
    n_highway : `int`
        The number of highway layers, 0 or more.
    activation : `str`
        `relu` or `tanh`, applied after the maximum over the characters.
    max_characters_per_token : `int`
        Slots per token; two of them hold the begin and the end of the word.
    """

    filters: tuple[tuple[int, int], ...]
    embedding_dim: int = 16
    n_highway: int = 1
    activation: str = "relu"
    max_characters_per_token: int = 50

    def __post_init__(self) -> None:
        slots = self.max_characters_per_token
        require_number("char_cnn.max_characters_per_token", slots, 3, MAX_CHARACTERS)
        check_cnn("char_cnn", self.filters, slots, self.activation)
        require_number("char_cnn.embedding.dim", self.embedding_dim, 1, MAX_SIZE)
        require_number("char_cnn.n_highway", self.n_highway, 0, MAX_LAYERS)

    @property
    def n_filters(self) -> int:
        return sum(number for _, number in self.filters)


@dataclass(frozen=True)
class LexiconCnnOptions:
    """
    The token encoder of a model of ELMoForManyLangs: it reads the characters of a lexicon, the words of
    another, or both.

    # Parameters

    characters : `tuple[tuple[str, int], ...]`
        Each character, and the row of its vector. Without any, only words are read.
    words : `tuple[tuple[str, int], ...]`
        Likewise the words.
    character_dim, word_dim : `int`
        The size of a character's and a word's vector.
    filters, n_highway, activation
        See `CharCnnOptions`.
    max_characters_per_word : `int`
        Unicode characters, with the two that mark the begin and the end of a word. Longer words are cut.
    """

    characters: Lexicon = field(repr=False)
    words: Lexicon = field(repr=False)
    character_dim: int
    word_dim: int
    filters: tuple[tuple[int, int], ...]
    n_highway: int
    activation: str
    max_characters_per_word: int = 50

    def __post_init__(self) -> None:
        require_number("max_characters_per_token", self.max_characters_per_word, 3, MAX_CHARACTERS)
        if self.words:
            require_number("word_dim", self.word_dim, 1, MAX_SIZE)
        if self.characters:
            require_number("char_dim", self.character_dim, 1, MAX_SIZE)
            require_number("n_highway", self.n_highway, 0, MAX_LAYERS)
            check_cnn("token_embedder", self.filters, self.max_characters_per_word, self.activation)
        elif not self.words:
            raise BiLmError("a token encoder needs characters or words, but it has none")

    @property
    def max_characters_per_token(self) -> int:
        """How many slots a word's bytes need, the longest characters of UTF-8 being 4 bytes."""
        return 4 * (self.max_characters_per_word - 2) + 2

    @property
    def n_filters(self) -> int:
        return sum(number for _, number in self.filters) if self.characters else 0

    @property
    def n_features(self) -> int:
        """The size of a word's vector and its characters' features together."""
        return (self.word_dim if self.words else 0) + self.n_filters


@dataclass(frozen=True)
class LstmOptions:
    """
    The two directional language models.

    # Parameters

    projection_dim : `int`
        The size of a token vector and of each direction's hidden state.
    dim : `int`
        The number of cells in a layer of one direction.
    n_layers : `int`
        LSTM layers in each direction.
    use_skip_connections : `bool`
        Whether each layer but the first adds its input to its output.
    cell_clip, proj_clip : `float | None`
        Bounds on the absolute value of the cell and of the projected state; `None` or 0 for no bound.
    """

    projection_dim: int
    dim: int
    n_layers: int = 2
    use_skip_connections: bool = True
    cell_clip: float | None = 3.0
    proj_clip: float | None = 3.0

    def __post_init__(self) -> None:
        for name, most in (("projection_dim", MAX_SIZE), ("dim", MAX_SIZE), ("n_layers", MAX_LAYERS)):
            require_number(f"lstm.{name}", getattr(self, name), 1, most)
        require_truth_value("lstm.use_skip_connections", self.use_skip_connections)
        for name in ("cell_clip", "proj_clip"):
            clip = getattr(self, name)
            is_number = isinstance(clip, int | float) and not isinstance(clip, bool)
            if clip is not None and not (is_number and math.isfinite(clip) and clip >= 0):
                raise BiLmError(f"lstm.{name} must be positive, or null for no clipping, not {clip!r}")


@dataclass(frozen=True)
class BiLmOptions:
    """All sizes of a biLM: its token encoder's, with what it has of lexicons, and its language models'."""

    char_cnn: CharCnnOptions | LexiconCnnOptions
    lstm: LstmOptions

    @classmethod
    def from_dict(cls, options: dict[str, Any], source: str = "options") -> "BiLmOptions":
        """
        Reads the published nested layout, see `check_keys`.

        # Parameters

        options : `dict`
            With `char_cnn` and `lstm`, as in `options.json`, or with `lexicon_cnn` and `lstm`, as `to_dict`
            gives them.
        source : `str`
            What to call the options in an error message.

        Raises `BiLmError` where a key is missing or has a value that no biLM can have, and for the language
        models that bilm-tf can train besides: those that read whole words or in one direction.
        """
        try:
            check_keys(options, _KEYS, source)
            lstm = options["lstm"]
            return cls(
                _lexicon_cnn(options["lexicon_cnn"])
                if "lexicon_cnn" in options
                else _char_cnn(options["char_cnn"]),
                LstmOptions(
                    **{name: lstm[name] for name in ("projection_dim", "dim", "n_layers")},
                    **{name: lstm.get(name) for name in ("cell_clip", "proj_clip")},
                    use_skip_connections=lstm.get("use_skip_connections", False),
                ),
            )
        except BiLmError as error:
            raise BiLmError(f"{source}: {error}") from None
        except KeyError as error:
            raise BiLmError(f"{source}: the key {error} is missing") from None
        except (TypeError, ValueError, AttributeError) as error:
            raise BiLmError(f"{source}: not the options of a biLM ({error})") from None

    @classmethod
    def from_file(cls, path: str | Path) -> "BiLmOptions":
        """Reads an `options.json`; `BiLmError` names the file and what is wrong with it."""
        name = f"options file {path}"
        return cls.from_dict(read_json_object(path, name), source=name)

    def to_dict(self) -> dict[str, Any]:
        """
        The published nested layout, as every ELMo implementation reads it; with `lexicon_cnn` in place of
        `char_cnn` for a token encoder that published files cannot describe.
        """
        lstm = dict(vars(self.lstm))
        if isinstance(self.char_cnn, LexiconCnnOptions):
            return {"lstm": lstm, "lexicon_cnn": dict(vars(self.char_cnn))}
        char_cnn = {
            "activation": self.char_cnn.activation,
            "filters": [list(pair) for pair in self.char_cnn.filters],
            "n_highway": self.char_cnn.n_highway,
            "embedding": {"dim": self.char_cnn.embedding_dim},
            "n_characters": NUM_CHARACTERS,
            "max_characters_per_token": self.char_cnn.max_characters_per_token,
        }
        return {"lstm": lstm, "char_cnn": char_cnn}

    def to_file(self, path: str | Path) -> None:
        write_json(path, self.to_dict())


def _char_cnn(options: dict[str, Any]) -> CharCnnOptions:
    n_characters = options.get("n_characters", NUM_CHARACTERS)
    for key in unknown_keys(options["embedding"], ("dim",)):
        raise BiLmError(f"the key {key!r} in char_cnn.embedding is not dim")
    if n_characters != NUM_CHARACTERS:
        raise BiLmError(
            f"char_cnn.n_characters is {n_characters}, but a biLM that embeds text needs "
            f"{NUM_CHARACTERS} (261 is the training value of bilm-tf: change it to 262)"
        )
    return CharCnnOptions(
        filters=tuple((width, number) for width, number in options["filters"]),
        embedding_dim=options["embedding"]["dim"],
        n_highway=options["n_highway"],
        activation=options["activation"],
        max_characters_per_token=options.get("max_characters_per_token", 50),
    )


def _lexicon_cnn(options: dict[str, Any]) -> LexiconCnnOptions:
    pairs = {
        key: tuple((one, other) for one, other in options[key]) for key in ("characters", "words", "filters")
    }
    return LexiconCnnOptions(**{**options, **pairs})


_KEYS = {
    "lstm": tuple(each.name for each in fields(LstmOptions)),
    "char_cnn": (
        "activation",
        "embedding",
        "filters",
        "max_characters_per_token",
        "n_characters",
        "n_highway",
    ),
    "lexicon_cnn": tuple(each.name for each in fields(LexiconCnnOptions)),
}
