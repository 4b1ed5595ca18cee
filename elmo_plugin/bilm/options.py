"""The sizes of a biLM, and their way to and from the `options.json` of published ELMo models."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elmo_plugin.bilm.characters import NUM_CHARACTERS
from elmo_plugin.bilm.errors import BiLmError
from elmo_plugin.bilm.files import write_json

ACTIVATIONS = ("relu", "tanh")


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
        if not self.filters or any(width < 1 or number < 1 for width, number in self.filters):
            raise BiLmError(f"char_cnn.filters must be pairs of positive [width, number], not {self.filters}")
        if max(width for width, _ in self.filters) > self.max_characters_per_token:
            raise BiLmError(
                f"char_cnn.filters has a width beyond the {self.max_characters_per_token} character slots"
            )
        if self.activation not in ACTIVATIONS:
            raise BiLmError(f"char_cnn.activation must be one of {ACTIVATIONS}, not {self.activation!r}")
        _require_at_least("char_cnn.embedding.dim", self.embedding_dim, 1)
        _require_at_least("char_cnn.n_highway", self.n_highway, 0)
        _require_at_least("char_cnn.max_characters_per_token", self.max_characters_per_token, 3)

    @property
    def n_filters(self) -> int:
        return sum(number for _, number in self.filters)


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
    """All sizes of a biLM: its token encoder's and its language models'."""

    char_cnn: CharCnnOptions
    lstm: LstmOptions

    @classmethod
    def from_dict(cls, options: dict[str, Any], source: str = "options") -> "BiLmOptions":
        """
        Reads the published nested layout. Keys that only concern training are ignored.

        # Parameters

        options : `dict`
            With `char_cnn` and `lstm`, as in `options.json`.
        source : `str`
            What to call the options in an error message.

        Raises `BiLmError` where a key is missing or has a value that no biLM can have, and for the language
        models that bilm-tf can train besides: those that read whole words or in one direction.
        """
        try:
            _refuse_other_language_models(options)
            char_cnn, lstm = options["char_cnn"], options["lstm"]
            n_characters = char_cnn.get("n_characters", NUM_CHARACTERS)
            if n_characters != NUM_CHARACTERS:
                raise BiLmError(
                    f"char_cnn.n_characters is {n_characters}, but a biLM that embeds text needs "
                    f"{NUM_CHARACTERS} (261 is the training value of bilm-tf: change it to 262)"
                )
            return cls(
                CharCnnOptions(
                    filters=tuple((width, number) for width, number in char_cnn["filters"]),
                    embedding_dim=char_cnn["embedding"]["dim"],
                    n_highway=char_cnn["n_highway"],
                    activation=char_cnn["activation"],
                    max_characters_per_token=char_cnn.get("max_characters_per_token", 50),
                ),
                LstmOptions(
                    projection_dim=lstm["projection_dim"],
                    dim=lstm["dim"],
                    n_layers=lstm["n_layers"],
                    use_skip_connections=bool(lstm.get("use_skip_connections")),
                    cell_clip=lstm.get("cell_clip"),
                    proj_clip=lstm.get("proj_clip"),
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
        try:
            options = json.loads(Path(path).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise BiLmError(f"options file {path}: there is no such file") from None
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise BiLmError(f"options file {path}: not a JSON file ({error})") from None
        return cls.from_dict(options, source=f"options file {path}")

    def to_dict(self) -> dict[str, Any]:
        """The published nested layout, as every ELMo implementation reads it."""
        return {
            "lstm": {
                "use_skip_connections": self.lstm.use_skip_connections,
                "projection_dim": self.lstm.projection_dim,
                "cell_clip": self.lstm.cell_clip,
                "proj_clip": self.lstm.proj_clip,
                "dim": self.lstm.dim,
                "n_layers": self.lstm.n_layers,
            },
            "char_cnn": {
                "activation": self.char_cnn.activation,
                "filters": [list(pair) for pair in self.char_cnn.filters],
                "n_highway": self.char_cnn.n_highway,
                "embedding": {"dim": self.char_cnn.embedding_dim},
                "n_characters": NUM_CHARACTERS,
                "max_characters_per_token": self.char_cnn.max_characters_per_token,
            },
        }

    def to_file(self, path: str | Path) -> None:
        write_json(path, self.to_dict())


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
