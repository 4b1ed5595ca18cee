"""The command, in the layouts of the one that AllenNLP had, against AllenNLP's own ELMo."""

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
from allennlp.commands import main
from allennlp.common.checks import ConfigurationError

from elmo_plugin.bilm import BiLm
from tests.small_bilm import loud_bilm, write_pair

LINES = [
    "the cat sat on the mat .",
    "Ein Wörterbuch",
    "",
    "and / or",
    "Ein Wörterbuch",
    " why \t not ? ",
]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Options that name a small biLM in the published layout."""
    (tmp_path / "bilm").mkdir()
    pair = write_pair(loud_bilm().eval(), tmp_path / "bilm")
    return ["--options-file", pair["options"], "--weight-file", pair["weights"]]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "text.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return tmp_path / "text.txt"


def embed(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> None:
    monkeypatch.setattr("sys.argv", ["allennlp", "elmo-embed", *map(str, arguments)])
    main()


def test_the_default_vectors_are_the_mean_of_the_layers_of_base(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = BiLm.from_pretrained("base").embed([LINES[0].split()])[0].mean(dim=0)
    for output in ([tmp_path / "one.NPZ"], ["-o", tmp_path / "other.npz"]):
        embed(monkeypatch, text, *output)
        with np.load(output[-1]) as arrays:
            np.testing.assert_allclose(arrays["0"], expected, atol=1e-5)
            assert arrays.files == list("012345") and arrays["2"].shape == (0, 512)


@pytest.mark.slow
def test_a_column_of_a_table_is_embedded_as_the_lines_of_a_text(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "".join(f'{number};"{line}"\n' for number, line in enumerate(LINES))
    (tmp_path / "t.csv").write_text("Nr;Satz\n" + rows, encoding="utf-8")
    (tmp_path / "t.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    for source, output in (("t.csv", "csv.npz"), ("t.txt", "txt.npz"), ("t.csv", "csv.npz")):
        embed(monkeypatch, tmp_path / source, tmp_path / output, *files)
    with np.load(tmp_path / "csv.npz") as found, np.load(tmp_path / "txt.npz") as expected:
        assert found.files == expected.files
        for name in found.files:
            np.testing.assert_array_equal(found[name], expected[name])


def test_a_column_that_a_table_lacks_and_tables_on_a_cluster_are_errors(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.csv").write_text("a,b\nIt rained.,It is wet.\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="'a' and 'b', got 'c'"):
        embed(monkeypatch, tmp_path / "t.csv", tmp_path / "o.npz", "--column", "c", *files)
    with pytest.raises(ConfigurationError, match="'a' and 'b' may all have the texts; --column"):
        embed(monkeypatch, tmp_path / "t.csv", tmp_path / "o.npz", *files)
    with pytest.raises(ConfigurationError, match="--dask: expected texts"):
        embed(monkeypatch, tmp_path / "t.csv", tmp_path / "o", "--dask", "tcp://h", *files)


@pytest.mark.parametrize("input_format", ["text", "fasta"])
@pytest.mark.parametrize(("name", "column"), [("t.csv", []), ("t.txt", ["--column", "text"])])
def test_a_table_is_not_read_in_the_input_format_of_texts(
    name: str, column: list[str], input_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_text("text\nIt rained .\n", encoding="utf-8")
    options = [*column, "--input-format", input_format]
    with pytest.raises(ConfigurationError, match="--input-format: expected lines of text"):
        embed(monkeypatch, tmp_path / name, tmp_path / "o.npz", *options)


@pytest.mark.parametrize("output", [[], ["a.npz", "-o", "b.npz"]])
def test_naming_no_output_or_several_is_an_error(
    output: list[str], text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(text.parent)
    with pytest.raises((SystemExit, ConfigurationError)):
        embed(monkeypatch, text, *output)


def test_options_reach_the_file(
    files: list[str],
    text: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    options = ["--all", "--dtype", "float16", "--compression", "gzip"]
    options += [
        "--tokenizer",
        "spacy",
        "--language",
        "de",
        "--batch-size",
        "3",
        "--max-batch-tokens",
        "50",
    ]
    arguments = text, tmp_path / "out.h5", *options, *files
    embed(monkeypatch, *arguments)
    with h5py.File(tmp_path / "out.h5") as file:
        assert (file["0"].dtype, file["0"].compression_opts) == (np.float16, 4)
        about = json.loads(file.attrs["elmo_embed"])
    expected = {
        "tokenizer": "spacy",
        "language": "de",
        "batch_size": 3,
        "max_batch_tokens": 50,
        "device": "cpu",
    }
    assert expected.items() <= about.items()
    assert f"wrote {tmp_path / 'out.h5'}" in capsys.readouterr().out
    embed(monkeypatch, *arguments)
    assert "is already complete" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--all", "--bilm", "tiny", "--options-file", "o", "--weight-file", "w"], "give one biLM"),
        (["--mix", "ner", "--bilm", "tiny"], "give one biLM"),
        (["--all", "--options-file", "o"], "go together"),
        (["--all", "--bilm", "tiny", "--device", "cuda:99"], "GPU not found: cuda:99"),
    ],
)
def test_conflicting_arguments_are_named(
    arguments: list[str], message: str, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        embed(monkeypatch, text, tmp_path / "out.hdf5", *arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]
