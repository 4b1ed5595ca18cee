"""
Public scripts that used ELMo, reconstructed as far as they call it, run with the drop-in.

Each gets the two files of a biLM, and returns the vectors of `SENTENCE`: (layers, words, dim), or
what the script makes of them. docs/dropin.md lists them.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import torch
from spacy.tokens import Doc

from elmo_plugin.bilm import BiLm
from tests.allennlp_elmo import dropin
from tests.migration.allennlp_api.conftest import write_bilm

SENTENCE = list("SEQWENCE")
OTHER = ["Another", "."]
SCRIPTS: dict[str, Callable[[str, str, Path], Any]] = {}
Vectors = np.ndarray


def script(function: Callable[[str, str, Path], Any]) -> Callable[[str, str, Path], Any]:
    SCRIPTS[function.__name__] = function
    return function


@script
def seqvec(options: str, weights: str, folder: Path) -> Any:
    from allennlp.commands.elmo import ElmoEmbedder

    embedder = ElmoEmbedder(Path(options), Path(weights), cuda_device=-1)
    return torch.tensor(embedder.embed_sentence(list("SEQWENCE")))


@script
def bio_embeddings(options: str, weights: str, folder: Path) -> Any:
    from allennlp.commands.elmo import ElmoEmbedder as _ElmoEmbedder

    model = _ElmoEmbedder(weight_file=weights, options_file=options, cuda_device=-1)
    first, _ = list(model.embed_batch([SENTENCE, OTHER]))
    again, _ = list(model.embed_sentences([SENTENCE, OTHER], batch_size=1))
    np.testing.assert_allclose(first, again, atol=1e-5)
    return first


@script
def pevolm(options: str, weights: str, folder: Path) -> Any:
    from allennlp.commands.elmo import ElmoEmbedder

    embedder = ElmoEmbedder(options, weights, cuda_device=-1)
    return torch.FloatTensor(embedder.embed_sentence(SENTENCE)).permute(1, 0, 2).permute(1, 0, 2)


@script
def camphr(options: str, weights: str, folder: Path) -> Any:
    """Its component of spaCy stores copies of the two files, and puts vectors into `doc.tensor`."""
    from allennlp.commands.elmo import ElmoEmbedder

    encoder = ElmoEmbedder(options, weights).elmo_bilm._token_embedder
    (folder / "options.json").write_text(json.dumps(encoder._options))
    shutil.copy(encoder._weight_file, folder / "weights.hdf5")
    model = ElmoEmbedder(str(folder / "options.json"), str(folder / "weights.hdf5"))
    doc = Doc(spacy.blank("en").vocab, SENTENCE)
    (layers,) = model.embed_sentences([[token.text for token in doc]])
    doc.tensor = np.mean(layers, axis=0)
    return doc.tensor


@script
def pytorch_neural_crf(options: str, weights: str, folder: Path) -> Any:
    from allennlp.commands.elmo import ElmoEmbedder

    elmo = ElmoEmbedder(options_file=options, weight_file=weights)
    layers = elmo.embed_sentence(SENTENCE)
    return np.average(np.swapaxes(layers, 0, 1), axis=1)


@script
def allennlp_command(options: str, weights: str, folder: Path) -> Any:
    """What `allennlp elmo` wrote in AllenNLP 0.9, as scripts call it."""
    import h5py
    from allennlp.commands.elmo import ElmoEmbedder

    (folder / "text").write_text(" ".join(SENTENCE) + "\n" + " ".join(OTHER) + "\n")
    with (folder / "text").open() as text:
        ElmoEmbedder(options, weights).embed_file(text, str(folder / "vectors.hdf5"), "all")
    with h5py.File(folder / "vectors.hdf5") as file:
        return file["0"][...]


@script
def allennlp_tutorial(options: str, weights: str, folder: Path) -> Any:
    from allennlp.modules.elmo import Elmo, batch_to_ids

    elmo = Elmo(options, weights, 2, dropout=0)
    found = elmo(batch_to_ids([SENTENCE, OTHER]))
    assert len(found["elmo_representations"]) == 2 and found["mask"].sum() == 10
    return found["elmo_representations"][1][0]


@script
def project747(options: str, weights: str, folder: Path) -> Any:
    """Changed: AllenNLP 2 wants an instance, `ELMoCharacterMapper()`."""
    from allennlp.data.token_indexers.elmo_indexer import ELMoCharacterMapper
    from allennlp.modules.elmo import Elmo

    ids = [ELMoCharacterMapper().convert_word_to_char_ids(word) for word in SENTENCE]
    elmo = Elmo(options, weights, 1).eval()
    return elmo(torch.LongTensor([ids]))["elmo_representations"][0][0]


@script
def fastnlp_wrapper(options: str, weights: str, folder: Path) -> Any:
    from allennlp.modules.elmo import Elmo, batch_to_ids

    class ElmoEmbedding(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.elmo = Elmo(
                options,
                weights,
                num_output_representations=1,
                requires_grad=False,
                do_layer_norm=False,
                dropout=0.0,
                keep_sentence_boundaries=False,
                scalar_mix_parameters=[0.0, 0.0, 0.0],
            )

        def forward(self, sentences: list[list[str]]) -> torch.Tensor:
            return self.elmo(batch_to_ids(sentences))["elmo_representations"][0]

    return ElmoEmbedding()([SENTENCE])[0]


@script
def summed_subclass(options: str, weights: str, folder: Path) -> Any:
    """Subclasses AllenNLP's class, whose code it keeps; half of what it returns."""
    import allennlp.modules.elmo

    class Elmo(allennlp.modules.elmo.Elmo):
        def forward(self, *args: Any, **kwargs: Any) -> torch.Tensor:
            one, other = super().forward(*args, **kwargs)["elmo_representations"]
            return one + other

    elmo = Elmo(options, weights, 2, dropout=0.0).eval()
    return elmo(allennlp.modules.elmo.batch_to_ids([SENTENCE]))[0] / 2


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_public_script_gets_the_vectors_of_the_bilm(name: str, tmp_path: Path) -> None:
    options, weights = write_bilm(tmp_path / "bilm")
    (expected,) = BiLm.from_files(options, weights).embed([SENTENCE])
    (tmp_path / "work").mkdir()
    with dropin():
        found = torch.as_tensor(SCRIPTS[name](options, weights, tmp_path / "work")).detach()
    if found.dim() == 2:  # of a mix with equal weights
        expected = expected.mean(dim=0)
    torch.testing.assert_close(found.float(), expected, atol=1e-5, rtol=1e-4)


def test_the_documents_list_all_public_scripts() -> None:
    text = (Path(__file__).parents[2] / "docs" / "dropin.md").read_text()
    rows = text.partition("## Public scripts")[2].partition("\n## ")[0]
    named = [line.split("`")[1] for line in rows.splitlines() if line.startswith("| `")]
    assert sorted(SCRIPTS) == sorted(named)
