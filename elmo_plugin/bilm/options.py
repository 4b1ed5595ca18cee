"""The sizes of a biLM, and their way to and from the `options.json` of published ELMo models."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elmo_plugin.bilm.characters import NUM_CHARACTERS
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import read_json, write_json

ACTIVATIONS = ("relu", "tanh")

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
        _check_cnn("char_cnn", self.filters, self.max_characters_per_token, self.activation)
        _require_at_least("char_cnn.embedding.dim", self.embedding_dim, 1)
        _require_at_least("char_cnn.n_highway", self.n_highway, 0)
        _require_at_least("char_cnn.max_characters_per_token", self.max_characters_per_token, 3)

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
        _require_at_least("max_characters_per_token", self.max_characters_per_word, 3)
        if self.words:
            _require_at_least("word_dim", self.word_dim, 1)
        if self.characters:
            _require_at_least("char_dim", self.character_dim, 1)
            _require_at_least("n_highway", self.n_highway, 0)
            _check_cnn("token_embedder", self.filters, self.max_characters_per_word, self.activation)
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
        for name in ("projection_dim", "dim", "n_layers"):
            _require_at_least(f"lstm.{name}", getattr(self, name), 1)
        for name in ("cell_clip", "proj_clip"):
            clip = getattr(self, name)
            if clip is not None and clip < 0:
                raise BiLmError(f"lstm.{name} must be positive, or null for no clipping, not {clip}")


@dataclass(frozen=True)
class BiLmOptions:
    """All sizes of a biLM: its token encoder's, with what it has of lexicons, and its language models'."""

    char_cnn: CharCnnOptions | LexiconCnnOptions
    lstm: LstmOptions

    @classmethod
    def from_dict(cls, options: dict[str, Any], source: str = "options") -> "BiLmOptions":
        """
        Reads the published nested layout. Keys that only concern training are ignored.

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
            _refuse_other_language_models(options)
            lstm = options["lstm"]
            return cls(
                _lexicon_cnn(options["lexicon_cnn"])
                if "lexicon_cnn" in options
                else _char_cnn(options["char_cnn"]),
                LstmOptions(
                    **{name: lstm[name] for name in ("projection_dim", "dim", "n_layers")},
                    **{name: lstm.get(name) for name in ("cell_clip", "proj_clip")},
                    use_skip_connections=bool(lstm.get("use_skip_connections")),
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
        return cls.from_dict(read_json(path, name), source=name)

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


def _check_cnn(name: str, filters: Sequence[tuple[int, int]], slots: int, activation: str) -> None:
    if not filters or any(width < 1 or number < 1 for width, number in filters):
        raise BiLmError(f"{name}.filters must be pairs of positive [width, number], not {filters}")
    if max(width for width, _ in filters) > slots:
        raise BiLmError(f"{name}.filters has a width beyond the {slots} character slots")
    if activation not in ACTIVATIONS:
        raise BiLmError(f"{name}.activation must be one of {ACTIVATIONS}, not {activation!r}")


def _refuse_other_language_models(options: dict[str, Any]) -> None:
    if "char_cnn" not in options and "n_tokens_vocab" in options:
        raise BiLmError(
            "there is no char_cnn, so this biLM reads whole words, "
            "but only biLMs that read characters can be used"
        )
    if not options.get("bidirectional", True):
        raise BiLmError("bidirectional is false, but only language models in both directions can be used")
    if "lstm" in options and "projection_dim" not in options["lstm"]:
        raise BiLmError(
            "the key 'projection_dim' is missing in lstm, where it must be given even if the LSTMs have no "
            "projections: then it equals lstm.dim"
        )


def _require_at_least(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise BiLmError(f"{name} must be a whole number of at least {least}, not {value!r}")
