"""The sizes of a biLM, as dataclasses and as the `options.json` of published ELMo models."""

import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from elmo_plugin.bilm.characters import MAX_CHARACTERS_PER_TOKEN, NUM_CHARACTERS
from elmo_plugin.bilm.lexicon import NEEDED_CHARACTERS, NEEDED_WORDS, Lexicon, check_lexicon
from elmo_plugin.common.errors import BiLmError, check_at_least, check_choice, nearest_name
from elmo_plugin.common.files import write_json
from elmo_plugin.common.formats.archives import AnyPath
from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.common.logs import get_logger

ACTIVATIONS = ("relu", "tanh")
MAX_DIMENSION = 2**20
MAX_LAYERS = 100
MAX_CHARACTERS = 10_000
# Written by bilm-tf next to the sizes.
_TRAINING_KEYS = (
    "all_clip_norm_val",
    "batch_size",
    "dropout",
    "learning_rate",
    "n_epochs",
    "n_negative_samples_batch",
    "n_tokens_vocab",
    "n_train_tokens",
    "sample_softmax",
    "share_embedding_softmax",
    "unroll_steps",
)
logger = get_logger(__name__)


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
        Slots per token, including the begin and the end of the word.
    """

    filters: tuple[tuple[int, int], ...]
    embedding_dim: int = 16
    n_highway: int = 1
    activation: str = "relu"
    max_characters_per_token: int = MAX_CHARACTERS_PER_TOKEN

    def __post_init__(self) -> None:
        slots = self.max_characters_per_token
        check_at_least("char_cnn.max_characters_per_token", slots, least=3, most=MAX_CHARACTERS)
        check_cnn("char_cnn", self.filters, slots, self.activation)
        check_at_least("char_cnn.embedding.dim", self.embedding_dim, least=1, most=MAX_DIMENSION)
        check_at_least("char_cnn.n_highway", self.n_highway, least=0, most=MAX_LAYERS)

    @property
    def n_filters(self) -> int:
        """The number of filters of all widths."""
        return sum(number for _, number in self.filters)


@dataclass(frozen=True)
class LexiconCnnOptions:
    """
    The token encoder of a model of ELMoForManyLangs. It has a lexicon of characters, a lexicon of
    words, or both. A lexicon that the model does not have is empty. `max_characters_per_word`
    counts Unicode characters, including the two marks of the beginning and the end. Longer words
    are cut.
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
        # Errors name the options as the configurations of ELMoForManyLangs do.
        check_at_least(
            "max_characters_per_token", self.max_characters_per_word, least=3, most=MAX_CHARACTERS
        )
        if self.words:
            check_lexicon("words", self.words, NEEDED_WORDS)
            check_at_least("word_dim", self.word_dim, least=1, most=MAX_DIMENSION)
        if self.characters:
            check_lexicon("characters", self.characters, NEEDED_CHARACTERS)
            check_at_least("char_dim", self.character_dim, least=1, most=MAX_DIMENSION)
            check_at_least("n_highway", self.n_highway, least=0, most=MAX_LAYERS)
            check_cnn("token_embedder", self.filters, self.max_characters_per_word, self.activation)
        elif not self.words:
            raise BiLmError("a token encoder needs characters or words, but it has none")

    @property
    def max_characters_per_token(self) -> int:
        """
        The number of slots for the bytes of a word and its two marks. The longest characters of
        UTF-8 have 4 bytes.
        """
        max_characters = self.max_characters_per_word - 2  # without the marks
        return 4 * max_characters + 2

    @property
    def n_filters(self) -> int:
        """The number of filters of all widths; 0 for a model that does not read characters."""
        if not self.characters:
            return 0
        return sum(number for _, number in self.filters)

    @property
    def n_features(self) -> int:
        """The size of a word's vector and its characters' features together."""
        if not self.words:
            return self.n_filters
        return self.word_dim + self.n_filters


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
        Bounds on the absolute value of the cell and of the projected state; `None` or 0 for no
        bound.
    """

    projection_dim: int
    dim: int
    n_layers: int = 2
    use_skip_connections: bool = True
    cell_clip: float | None = 3.0
    proj_clip: float | None = 3.0

    def __post_init__(self) -> None:
        check_at_least("lstm.projection_dim", self.projection_dim, least=1, most=MAX_DIMENSION)
        check_at_least("lstm.dim", self.dim, least=1, most=MAX_DIMENSION)
        check_at_least("lstm.n_layers", self.n_layers, least=1, most=MAX_LAYERS)
        _check_boolean("lstm.use_skip_connections", self.use_skip_connections)
        for name in ("cell_clip", "proj_clip"):
            bound = getattr(self, name)
            # By the exact type, because a boolean is an `int`. An integer may be greater than every
            # float, but bounds are used as floats.
            is_bound = type(bound) in (int, float) and 0 <= bound <= sys.float_info.max
            if bound is not None and not is_bound:
                expected = "expected a positive number, or null for no bound"
                raise BiLmError(f"lstm.{name}: {expected}, got {bound!r}")


@dataclass(frozen=True)
class BiLmOptions:
    """
    All sizes of a biLM: its token encoder's, including its lexicons, and its language models'.
    """

    char_cnn: CharCnnOptions | LexiconCnnOptions
    lstm: LstmOptions

    @classmethod
    def from_dict(cls, options: dict[str, Any], source: str = "options") -> "BiLmOptions":
        """
        Reads the published nested layout, with `char_cnn` and `lstm`; or `lexicon_cnn` and `lstm`,
        as `to_dict` returns them. Keys that bilm-tf allows to be missing have bilm-tf's defaults:
        one layer, no highway layers, no clipping, no skip connections.

        Raises `BiLmError`, naming the `source`, if another key is missing or a value is impossible.
        Some language models of bilm-tf read whole words, or only in one direction: they cannot be
        used, and raise `BiLmError` as well.
        """
        try:
            _check_keys(options, source)
            cnn: CharCnnOptions | LexiconCnnOptions
            if "lexicon_cnn" in options:
                cnn = _lexicon_cnn(options["lexicon_cnn"])
            else:
                cnn = _char_cnn(options["char_cnn"])
            return cls(cnn, _lstm(options["lstm"]))
        except BiLmError as error:
            raise BiLmError(f"{source}: {error}") from None
        except KeyError as error:
            raise BiLmError(f"{source}: the key {error} is missing") from None
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            # A value of another type than expected, such as a text where pairs are read.
            raise BiLmError(f"{source}: not the options of a biLM ({error})") from None

    @classmethod
    def from_file(cls, path: str | AnyPath) -> "BiLmOptions":
        """Reads an `options.json`; `BiLmError` names the file and the mistake."""
        name = f"options file {path}"
        return cls.from_dict(read_json_object(path, name), source=name)

    def to_dict(self) -> dict[str, Any]:
        """
        Returns the published nested layout that every ELMo implementation reads. For a token
        encoder of ELMoForManyLangs, which that layout cannot describe, there is `lexicon_cnn` in
        place of `char_cnn`.
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
        """Writes the layout of `to_dict` as JSON."""
        write_json(path, self.to_dict())


def _char_cnn(options: dict[str, Any]) -> CharCnnOptions:
    """Reads the section `char_cnn`."""
    n_characters = options.get("n_characters", NUM_CHARACTERS)
    _check_section("char_cnn.embedding", options["embedding"], ("dim",))
    # In training, bilm-tf writes a smaller number, because it does not count the id of padding.
    without_padding = NUM_CHARACTERS - 1
    if n_characters not in (NUM_CHARACTERS, without_padding):
        raise BiLmError(f"char_cnn.n_characters: expected {NUM_CHARACTERS}, got {n_characters!r}")
    n_highway = options.get("n_highway")
    if n_highway is None:  # missing, or null
        n_highway = 0
    return CharCnnOptions(
        filters=tuple((width, number) for width, number in options["filters"]),
        embedding_dim=options["embedding"]["dim"],
        n_highway=n_highway,
        activation=options["activation"],
        max_characters_per_token=options.get("max_characters_per_token", MAX_CHARACTERS_PER_TOKEN),
    )


def _lstm(options: dict[str, Any]) -> LstmOptions:
    """Reads the section `lstm`."""
    use_skip_connections = options.get("use_skip_connections")
    if use_skip_connections is None:  # missing, or null
        use_skip_connections = False
    return LstmOptions(
        projection_dim=options["projection_dim"],
        dim=options["dim"],
        n_layers=options.get("n_layers", 1),
        use_skip_connections=use_skip_connections,
        cell_clip=options.get("cell_clip"),
        proj_clip=options.get("proj_clip"),
    )


def _lexicon_cnn(options: dict[str, Any]) -> LexiconCnnOptions:
    """Reads the section `lexicon_cnn`. JSON's lists become tuples."""
    values = dict(options)
    for key in ("characters", "words", "filters"):
        values[key] = tuple((first, second) for first, second in options[key])
    return LexiconCnnOptions(**values)


_KEYS = {
    "lstm": tuple(option.name for option in fields(LstmOptions)),
    "char_cnn": (
        "activation",
        "embedding",
        "filters",
        "max_characters_per_token",
        "n_characters",
        "n_highway",
    ),
    "lexicon_cnn": tuple(option.name for option in fields(LexiconCnnOptions)),
}


def check_cnn(name: str, filters: Sequence[tuple[int, int]], slots: int, activation: str) -> None:
    """
    Raises `BiLmError` unless a character CNN can have these filters and this activation. `slots` is
    the number of characters that it sees; `name` begins the names of its options in errors.
    """
    if not filters:
        raise BiLmError(f"{name}.filters: expected pairs of positive [width, number], got none")
    for width, number in filters:
        check_at_least(f"a width in {name}.filters", width, least=1, most=MAX_CHARACTERS)
        check_at_least(f"a number in {name}.filters", number, least=1, most=MAX_DIMENSION)
        if width > slots:
            raise BiLmError(f"{name}.filters has a width beyond the {slots} character slots")
    check_choice(f"{name}.activation", activation, ACTIVATIONS)


def _check_keys(options: dict[str, Any], source: str) -> None:
    """
    Raises `BiLmError` for misspelt and missing keys, and for language models that cannot be used.
    Keys that only concern training are ignored; an unknown key is ignored with a warning.
    """
    size_keys = [key for key in options if key not in _TRAINING_KEYS]
    for key in _unknown_keys(size_keys, (*_KEYS, "bidirectional")):
        logger.warning("%s: the key %r is unknown and is ignored", source, key)
    is_bidirectional = options.get("bidirectional", True)
    _check_boolean("bidirectional", is_bidirectional)
    if not is_bidirectional:
        raise BiLmError(
            "bidirectional is false, but only language models in both directions can be used"
        )
    if "char_cnn" not in options and "n_tokens_vocab" in options:
        raise BiLmError(
            "char_cnn is missing: this biLM reads whole words, but only biLMs that read "
            "characters can be used"
        )
    for section, keys in _KEYS.items():
        if section in options:
            _check_section(section, options[section], keys)
    # If `lstm` itself is missing, the caller says so.
    if "lstm" in options and "projection_dim" not in options["lstm"]:
        raise BiLmError(
            "the key 'projection_dim' is missing in lstm; it is required even if the LSTMs have no "
            "projections: then it equals lstm.dim"
        )


def _check_section(name: str, options: Any, known: Collection[str]) -> None:
    """Raises `BiLmError` unless the section `name` is a JSON object whose keys are all known."""
    if not isinstance(options, dict):
        raise BiLmError(f"{name}: expected an object, got {options!r}")
    unknown = _unknown_keys(options, known)
    if unknown:
        raise BiLmError(f"the key {unknown[0]!r} in {name} is not one of {', '.join(known)}")


def _unknown_keys(options: Iterable[str], known: Collection[str]) -> list[str]:
    """
    Returns the keys that are not known; raises `BiLmError` for one that looks like a known one.
    """
    unknown = [key for key in options if key not in known]
    for key in unknown:
        meant = nearest_name(key, known, cutoff=0.8)
        if meant:
            raise BiLmError(f"unknown key {key!r}: did you mean {meant!r}?")
    return unknown


def _check_boolean(name: str, value: Any) -> None:
    """Raises `BiLmError`, naming the option, unless its value is true or false."""
    if not isinstance(value, bool):
        raise BiLmError(f"{name}: expected true or false, got {value!r}")
