"""The files that say the sizes, wherever they lie, and what is said where they do not."""

import json
from pathlib import Path
from typing import Any

import pytest

from elmo_plugin.bilm import BiLmError, BiLmOptions
from elmo_plugin.bilm.io.manylangs import RELEASED_NETWORK, read_options
from tests.bilm.manylangs.model_folder import ONLY_CHARACTERS, ONLY_WORDS, network, write_model


@pytest.mark.parametrize(
    "config_path",
    ["net.json", "/users/somebody/net.json", "C:\\models\\net.json", "../configs/net.json"],
)
def test_the_network_file_is_found_in_the_folder_or_next_to_it(
    config_path: str, tmp_path: Path
) -> None:
    folder = write_model(tmp_path / "model", config_path="net.json")
    (folder / "config.json").write_text(json.dumps({"config_path": config_path}))
    options = read_options(folder)
    assert options.lstm.dim == 7
    (tmp_path / "configs").mkdir()
    (folder / "net.json").rename(tmp_path / "configs" / "net.json")
    assert read_options(folder) == options


def test_the_network_of_released_models_is_known_without_its_file(tmp_path: Path) -> None:
    folder = write_model(
        tmp_path / "model", config_path=f"/users/somebody/configs/{RELEASED_NETWORK}"
    )
    assert read_options(folder).lstm.dim == 7, "what is there counts"
    (folder / RELEASED_NETWORK).unlink()
    options = read_options(folder)
    assert (options.lstm.dim, options.lstm.projection_dim, options.lstm.cell_clip) == (4096, 512, 3)
    assert (
        options.char_cnn.n_filters,
        options.char_cnn.word_dim,
        options.char_cnn.character_dim,
    ) == (
        2048,
        100,
        50,
    )
    assert options.char_cnn.max_characters_per_token == 4 * 48 + 2


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (network({"name": "lstm"}), r"net\.json: token_embedder\.name: expected 'cnn', got 'lstm'"),
        ([], r"net\.json: the key 'encoder' is missing"),
        (network({"char_dim": 0, "word_dim": 0}), "needs characters or words, but it has none"),
        (network({"filters": [[11, 2]]}), "a width beyond the 10 character slots"),
        (network({"filters": [3]}), r"net\.json: not the options of a biLM"),
        (network(encoder={"n_layers": 0}), r"lstm\.n_layers: expected 1 to 100, got 0"),
    ],
)
def test_a_network_of_another_kind_is_refused_naming_the_file(
    config: Any, message: str, tmp_path: Path
) -> None:
    folder = write_model(tmp_path / "model", config_path="net.json")
    (folder / "net.json").write_text(json.dumps(config))
    with pytest.raises(BiLmError, match=message):
        read_options(folder)


@pytest.mark.parametrize("config", [None, ONLY_WORDS, ONLY_CHARACTERS])
def test_options_survive_json(config: dict[str, Any] | None, tmp_path: Path) -> None:
    options = read_options(write_model(tmp_path / "model", config))
    assert BiLmOptions.from_dict(json.loads(json.dumps(options.to_dict()))) == options
    assert "言" not in repr(options), "lexicons are long"
