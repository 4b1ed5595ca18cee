"""Vectors of sentences from `Elmo`, and a look at its parts."""

from typing import Any

import torch
from allennlp.nn.util import remove_sentence_boundaries

from tests.allennlp_api.patterns import IDS, RAGGED, Library, Place


def mean_over_words(library: Library, place: Place) -> Any:
    output = library.Elmo(*place.files, 1, dropout=0)(library.batch_to_ids(RAGGED))
    mask = output["mask"].float().unsqueeze(-1)
    return (output["elmo_representations"][0] * mask).sum(dim=1) / mask.sum(dim=1)


def sizes_for_other_layers(library: Library, place: Place) -> Any:
    elmo = library.Elmo(*place.files, 1)
    bilm = elmo._elmo_lstm
    lstm = bilm._elmo_lstm
    return [elmo.get_output_dim(), bilm.num_layers, lstm.hidden_size, lstm.cell_size, lstm.num_layers]


def layers_that_a_mix_is_called_with(library: Library, place: Place) -> Any:
    elmo = library.Elmo(*place.files, 1)
    output = elmo._elmo_lstm(IDS)
    mixed = elmo.scalar_mix_0(output["activations"], output["mask"])
    return remove_sentence_boundaries(mixed, output["mask"])


def weights_of_the_layers(library: Library, place: Place) -> Any:
    elmo = library.Elmo(*place.files, 2)
    shares = [torch.softmax(torch.cat(list(mix.scalar_parameters)), dim=0) for mix in elmo._scalar_mixes]
    return shares, [mix.gamma.item() for mix in elmo._scalar_mixes], elmo.scalar_mix_1.gamma


def the_token_layer(library: Library, place: Place) -> Any:
    output = library.Elmo(*place.files, 1)._elmo_lstm._token_embedder(IDS)
    return remove_sentence_boundaries(output["token_embedding"], output["mask"])


def a_hook_sees_the_output(library: Library, place: Place) -> Any:
    elmo, seen = library.Elmo(*place.files, 1, dropout=0), []
    elmo.register_forward_hook(lambda module, inputs, output: seen.append(output["mask"]))
    elmo(IDS)
    return seen


def double_precision(library: Library, place: Place) -> Any:
    return library.Elmo(*place.files, 1, dropout=0).double()(IDS)["elmo_representations"]
