import json
from pathlib import Path

import pytest

from elmo_plugin.bilm import BiLmError, BiLmOptions
from elmo_plugin.bilm.options import CharCnnOptions, LstmOptions
from tests.small_bilm import small_options


def test_a_key_that_bilm_tf_may_omit_gets_its_default() -> None:
    plain = CharCnnOptions(filters=((1, 4),), embedding_dim=5, n_highway=0)
    expected = BiLmOptions(plain, LstmOptions(6, 10, 1, False, None, None))
    char_cnn = {"activation": "relu", "filters": [[1, 4]], "embedding": {"dim": 5}}
    lstm = {"projection_dim": 6, "dim": 10}
    found = BiLmOptions.from_dict({"char_cnn": char_cnn, "lstm": lstm})
    assert found == expected
    char_cnn["n_highway"] = None
    lstm |= {"cell_clip": None, "proj_clip": None, "use_skip_connections": None}
    assert BiLmOptions.from_dict({"char_cnn": char_cnn, "lstm": lstm}) == expected
    assert BiLmOptions.from_dict(found.to_dict()) == expected
    with pytest.raises(BiLmError, match=r"lstm\.n_layers: expected a whole number.* got None"):
        BiLmOptions.from_dict({"char_cnn": char_cnn, "lstm": {**lstm, "n_layers": None}})


@pytest.mark.parametrize(
    ("char_cnn", "lstm", "message"),
    [
        ({"activation": "gelu"}, {}, "activation: expected one of.*'gelu'"),
        ({"filters": []}, {}, "filters: expected pairs"),
        ({"filters": [[51, 3]]}, {}, "width beyond the 50 character slots"),
        ({"filters": [[1, 2, 3]]}, {}, "not the options of a biLM"),
        ({"n_highway": -1}, {}, "n_highway: expected 0 to 100, got -1"),
        ({}, {"dim": 1.5}, "lstm.dim: expected a whole number"),
        ({}, {"cell_clip": -3}, "cell_clip: expected a positive"),
    ],
)
def test_a_bad_value_is_named(char_cnn: dict, lstm: dict, message: str, tmp_path: Path) -> None:
    path = tmp_path / "options.json"
    path.write_text(json.dumps(small_options(char_cnn, lstm)))
    with pytest.raises(BiLmError, match=f"options file {path}: .*{message}"):
        BiLmOptions.from_file(path)


def test_a_missing_key_is_named() -> None:
    options = small_options()
    del options["lstm"]["projection_dim"]
    with pytest.raises(BiLmError, match="options: the key 'projection_dim' is missing in lstm"):
        BiLmOptions.from_dict(options)
    with pytest.raises(BiLmError, match="options: the key 'lstm' is missing"):
        BiLmOptions.from_dict({"char_cnn": options["char_cnn"]})
    with pytest.raises(BiLmError, match="options: the key 'char_cnn' is missing"):
        BiLmOptions.from_dict({"lstm": small_options()["lstm"]})


def test_a_language_model_that_reads_whole_words_is_refused() -> None:
    options = {"lstm": small_options()["lstm"], "bidirectional": True, "n_tokens_vocab": 793471}
    with pytest.raises(
        BiLmError, match="options: char_cnn is missing: this biLM reads whole words"
    ):
        BiLmOptions.from_dict(options)


@pytest.mark.parametrize(
    ("content", "message"), [(None, "file not found"), (b"{", "not JSON"), (b"\xff", "not JSON")]
)
def test_a_bad_file_is_named(content: bytes | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "options.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BiLmError, match=f"options file {path}(, line 1)?: {message}"):
        BiLmOptions.from_file(path)


@pytest.mark.parametrize(
    ("char_cnn", "lstm", "message"),
    [
        (
            {},
            {"use_skip_connections": "false"},
            "use_skip_connections: expected true or false, got 'false'",
        ),
        (
            {},
            {"cell_clip": True},
            "cell_clip: expected a positive number, or null for no bound, got True",
        ),
        ({}, {"proj_clip": 10**400}, "proj_clip: expected a positive number, or null for no bound"),
        (
            {},
            {"use_skip_conections": True},
            "unknown key 'use_skip_conections': did you mean 'use_skip_con",
        ),
        ({}, {"peepholes": True}, "the key 'peepholes' in lstm is not one of projection_dim, dim"),
        ({"n_highways": 2}, {}, "unknown key 'n_highways': did you mean 'n_highway'"),
        ({"n_characters": True}, {}, "n_characters: expected 262, got True"),
        (
            {"embedding": {"dim": 4, "type": "x"}},
            {},
            "the key 'type' in char_cnn.embedding is not one of dim",
        ),
        ({}, {"n_layers": 10**6}, "n_layers: expected 1 to 100, got 1000000"),
        ({}, {"dim": 10**9}, "lstm.dim: expected 1 to 1,048,576"),
    ],
)
def test_options_that_other_programs_would_read_differently_are_refused(
    char_cnn: dict, lstm: dict, message: str
) -> None:
    with pytest.raises(BiLmError, match=message):
        BiLmOptions.from_dict(small_options(char_cnn, lstm))


def test_unknown_keys_are_corrected_or_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    of_training = {"n_train_tokens": 7, "batch_size": 128, "dropout": 0.1, "bidirectional": True}
    of_training["learning_rate"] = 0.2
    expected = BiLmOptions.from_dict(small_options())
    assert BiLmOptions.from_dict({**small_options(), **of_training}) == expected
    assert not caplog.records
    assert BiLmOptions.from_dict({**small_options(), "comment": "ours"}, "a.json") == expected
    assert "a.json: the key 'comment' is unknown and is ignored" in caplog.text
    for key in ("bidirectonal", "lstms"):
        with pytest.raises(BiLmError, match=f"unknown key '{key}'"):
            BiLmOptions.from_dict({**small_options(), key: False})
    with pytest.raises(BiLmError, match="bidirectional: expected true or false, got 'no'"):
        BiLmOptions.from_dict({**small_options(), "bidirectional": "no"})
