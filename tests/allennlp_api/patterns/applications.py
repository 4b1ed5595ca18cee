"""`ElmoEmbedder`, configurations, and `Elmo` inside of other modules."""

import json
from pathlib import Path
from typing import Any

import h5py
import spacy
import torch
from allennlp.common import Params
from allennlp.data import Batch, Instance, Token, Vocabulary
from allennlp.data.fields import TextField
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from torch import nn

from tests.allennlp_api.patterns import IDS, RAGGED, SENTENCES, Library, Place


def a_sentence_as_an_array(library: Library, place: Place) -> Any:
    return library.ElmoEmbedder(*place.files).embed_sentence(SENTENCES[0])


def many_sentences_as_arrays(library: Library, place: Place) -> Any:
    return list(library.ElmoEmbedder(*place.files, cuda_device=-1).embed_sentences(RAGGED, batch_size=2))


def a_batch_as_a_tensor(library: Library, place: Place) -> Any:
    return library.ElmoEmbedder(*place.files).batch_to_embeddings(RAGGED)


def the_bilm_of_an_embedder(library: Library, place: Place) -> Any:
    return library.ElmoEmbedder(*place.files).elmo_bilm(IDS)


def files_of_vectors(library: Library, place: Place) -> Any:
    source, contents = place.folder / "sentences.txt", {}
    source.write_text("\n".join(" ".join(words) for words in RAGGED) + "\n", encoding="utf-8")
    for output_format in ("all", "top", "average"):
        for options in ({}, {"use_sentence_keys": True}, {"forget_sentences": True, "batch_size": 2}):
            file = place.folder / "vectors.hdf5"
            library.ElmoEmbedder(*place.files).embed_file(
                source.open(encoding="utf-8"), file, output_format, **options
            )
            with h5py.File(file) as written:
                index = written.get("sentence_to_index")
                contents[f"{output_format} {options}"] = (
                    {name: data[()] for name, data in written.items() if name != "sentence_to_index"},
                    index and (index.shape, json.loads(index[0])),
                )
    return contents


def tokens_of_allennlp_as_words(library: Library, place: Place) -> Any:
    return library.batch_to_ids([[Token(word) for word in words] for words in RAGGED])


def tokens_of_spacy_as_words(library: Library, place: Place) -> Any:
    document = spacy.blank("en")("The play ended at 9 o'clock, didn't it?")
    return library.batch_to_ids([document]), library.ElmoEmbedder(*place.files).embed_sentence(document)


def a_model_from_params(library: Library, place: Place) -> Any:
    params = {"options_file": place.options, "weight_file": place.weights, "dropout": 0.0}
    return library.Elmo.from_params(Params({**params, "num_output_representations": 2}))(IDS)


def a_token_embedder(library: Library, place: Place) -> Any:
    embedder = library.ElmoTokenEmbedder(*place.files, dropout=0.0)
    return embedder(IDS), embedder.get_output_dim(), embedder.output_dim


def a_token_embedder_that_projects(library: Library, place: Place) -> Any:
    embedder = library.ElmoTokenEmbedder(*place.files, dropout=0.0, projection_dim=3)
    with torch.no_grad():
        for parameter in embedder._projection.parameters():
            parameter.fill_(0.1)
    return embedder(IDS), embedder.output_dim


def a_field_of_tokens(library: Library, place: Place) -> Any:
    indexers = {"elmo": ELMoTokenCharactersIndexer()}
    fields = [TextField([Token(word) for word in words], indexers) for words in RAGGED]
    batch = Batch([Instance({"text": field}) for field in fields])
    batch.index_instances(Vocabulary())
    embedder = library.ElmoTokenEmbedder(*place.files, dropout=0.0)
    return BasicTextFieldEmbedder({"elmo": embedder})(batch.as_tensor_dict()["text"])


class Tagger(nn.Module):
    """What many scripts have around their `Elmo`."""

    def __init__(self, elmo: nn.Module) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.elmo = elmo
        self.lstm = nn.LSTM(elmo.get_output_dim(), 5, batch_first=True, bidirectional=True)
        self.tags = nn.Linear(10, 3)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        output = self.elmo(ids)
        outputs, _ = self.lstm(output["elmo_representations"][0])
        return self.tags(outputs) * output["mask"].unsqueeze(-1).float()


def a_tagger_that_is_trained_and_saved(library: Library, place: Place) -> Any:
    tagger = Tagger(library.Elmo(*place.files, 1, dropout=0))
    optimizer = torch.optim.Adam((each for each in tagger.parameters() if each.requires_grad), lr=0.01)
    tagger(IDS).square().sum().backward()
    optimizer.step()
    torch.save(tagger.state_dict(), place.folder / "tagger.pt")
    other = Tagger(library.Elmo(*place.files, 1, dropout=0))
    other.load_state_dict(torch.load(place.folder / "tagger.pt"))
    return other.eval()(IDS)


def paths_in_the_home_directory(library: Library, place: Place) -> Any:
    assert Path("~/options.json").expanduser() == Path(place.options)
    return library.Elmo("~/options.json", "~/weights.hdf5", 1, dropout=0)(IDS)
