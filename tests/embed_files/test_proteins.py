"""Proteins: FASTA to the vectors of AllenNLP's classes, in files that pipelines of SeqVec read."""

import csv
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from allennlp.modules.elmo import Elmo, batch_to_ids
from allennlp.nn.util import remove_sentence_boundaries
from safetensors.numpy import load_file

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.commands.main import main
from elmo_plugin.embed_files import EmbedSettings, embed_file

RECORDS = {"sp|P1|A": "MKTAYIAKQRQISFVKSHFSRQ", "b/2": "mk*-jT", "empty": "", "d": "W"}
READ = {"sp|P1|A": "MKTAYIAKQRQISFVKSHFSRQ", "b/2": "MKXXXT", "empty": "", "d": "W"}


@pytest.fixture
def fasta(tmp_path: Path) -> Path:
    path = tmp_path / "proteins.fasta"
    path.write_text(
        "".join(f">{name} x\n{text[:9]}\n{text[9:]}\n" for name, text in RECORDS.items())
    )
    return path


@pytest.fixture
def expected(bilm_files: dict[str, str]) -> dict[str, np.ndarray]:
    """All layers in float64 by AllenNLP's own classes, shape (num_layers, residues, dim)."""
    model = Elmo(bilm_files["options"], bilm_files["weights"], 1).eval()._elmo_lstm.double()
    layers: dict[str, np.ndarray] = {}
    for name, text in READ.items():
        with torch.no_grad():
            output = model(batch_to_ids([list(text)])) if text else None
        model._elmo_lstm._states = None
        if output is None:
            layers[name] = np.zeros((3, 0, 12))
            continue
        kept = [
            remove_sentence_boundaries(each, output["mask"])[0][0] for each in output["activations"]
        ]
        layers[name] = torch.stack(kept)[:, : len(text)].numpy()
    return layers


def in_hdf5(path: Path) -> dict[str, np.ndarray]:
    with h5py.File(path) as file:
        return {str(each.attrs["original_id"]): each[()] for each in file.values()}


@pytest.mark.slow
@pytest.mark.usefixtures("short_chunks")
def test_residues_get_allennlps_sums_in_files_like_those_of_bio_embeddings(
    fasta: Path, settings: EmbedSettings, expected: dict[str, np.ndarray], tmp_path: Path
) -> None:
    for layers, wanted in (("sum", lambda each: each.sum(axis=0)), ("all", lambda each: each)):
        output = tmp_path / f"{layers}.h5"
        embed_file(fasta, output, replace(settings, layers=layers), show_progress=False)
        found = in_hdf5(output)
        assert list(found) == sorted(RECORDS, key=lambda name: name.replace("/", "\\s"))
        for name, layers_of in expected.items():
            np.testing.assert_allclose(found[name], wanted(layers_of), atol=1e-5, rtol=0)
    with h5py.File(tmp_path / "sum.h5") as file:
        assert {"sp|P1|A", "b\\s2", "empty", "d"} == set(file)


@pytest.mark.slow
def test_one_vector_per_protein_is_the_mean_in_each_format(
    fasta: Path, settings: EmbedSettings, expected: dict[str, np.ndarray], tmp_path: Path
) -> None:
    per_protein = replace(settings, layers="sum", pooling="mean")
    means = {
        name: layers.sum(axis=0).mean(axis=0) if layers.size else 0
        for name, layers in expected.items()
    }
    for suffix in ("h5", "npz", "csv", "safetensors"):
        embed_file(fasta, tmp_path / f"a.{suffix}", per_protein, show_progress=False)
    with (tmp_path / "a.csv").open() as file:
        rows = {row[0]: np.array(row[3:], dtype=float) for row in list(csv.reader(file))[1:]}
    tensors = load_file(tmp_path / "a.safetensors")
    names = tensors["names"].tobytes().decode().split("\n")
    in_safetensors = dict(zip(names, tensors["vectors"], strict=True))
    with np.load(tmp_path / "a.npz") as in_npz:
        for found in (in_hdf5(tmp_path / "a.h5"), dict(in_npz), rows, in_safetensors):
            assert set(found) == set(RECORDS)
            for name, mean in means.items():
                np.testing.assert_allclose(found[name], mean, atol=1e-5, rtol=0)


def test_encode_gives_residues_the_same_vectors(
    expected: dict[str, np.ndarray], bilm_files: dict[str, str]
) -> None:
    bilm = BiLm.from_pretrained(bilm_files)
    proteins = [text for text in RECORDS.values() if text]
    found = bilm.encode(proteins, tokenizer="letters", layers="sum", pooling="mean", output="numpy")
    means = [layers.sum(axis=0).mean(axis=0) for layers in expected.values() if layers.size]
    np.testing.assert_allclose(found, means, atol=1e-5, rtol=0)


@pytest.mark.slow
def test_ten_thousand_records_keep_their_names_and_the_bar_counts_residues(
    settings: EmbedSettings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fasta = tmp_path / "many.fa"
    fasta.write_text("".join(f">{number}\nMK\n" for number in range(10_000)))
    embed_file(fasta, tmp_path / "a.npz", replace(settings, layers="token", batch_size=5000))
    assert "20.0k/20.0k" in capsys.readouterr().err
    with np.load(tmp_path / "a.npz") as found:
        assert found.files == [str(number) for number in range(10_000)]


def test_an_unknown_suffix_needs_the_format_option_and_wrong_records_are_found_first(
    fasta: Path, bilm_files: dict[str, str], tmp_path: Path
) -> None:
    other, output = tmp_path / "proteins.txt", tmp_path / "a.h5"
    other.write_bytes(fasta.read_bytes())
    files = ["--options-file", bilm_files["options"], "--weight-file", bilm_files["weights"]]
    main(["embed", str(other), str(output), "--input-format", "fasta", "--sum", *files])
    assert set(in_hdf5(output)) == set(RECORDS)
    other.write_text(">a\nM\n>a\nM\n")
    with pytest.raises(BiLmError, match=r"proteins.txt, line 3: line 1 has the name a too"):
        embed_file(other, tmp_path / "b.h5", EmbedSettings(bilm_files), source_format="fasta")
    with pytest.raises(BiLmError, match="leave out --tokenizer and --use-sentence-keys"):
        embed_file(fasta, tmp_path / "b.h5", EmbedSettings(bilm_files, tokenizer="spacy"))
