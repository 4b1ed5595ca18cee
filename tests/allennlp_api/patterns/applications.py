"""Configurations, and `Elmo` inside of other modules."""

from typing import Any

import torch
from allennlp.common import Params
from allennlp.data import Batch, Instance, Token, Vocabulary
from allennlp.data.fields import TextField
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from torch import nn

from tests.allennlp_api.patterns import IDS, RAGGED, Library, Place


def tokens_of_allennlp_as_words(library: Library, place: Place) -> Any:
    return library.batch_to_ids([[Token(word) for word in words] for words in RAGGED])


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
