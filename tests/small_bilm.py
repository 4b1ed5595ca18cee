"""The options of a biLM that takes milliseconds."""

from typing import Any


def small_options(
    char_cnn: dict[str, Any] | None = None, lstm: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Options in the layout of `options.json`, with the given changes."""
    return {
        "lstm": {
            "projection_dim": 6,
            "dim": 10,
            "n_layers": 2,
            "use_skip_connections": True,
            "cell_clip": 3,
            "proj_clip": 3,
            **(lstm or {}),
        },
        "char_cnn": {
            "activation": "relu",
            "filters": [[1, 4], [2, 6], [4, 8]],
            "n_highway": 1,
            "embedding": {"dim": 5},
            "n_characters": 262,
            "max_characters_per_token": 50,
            **(char_cnn or {}),
        },
    }
