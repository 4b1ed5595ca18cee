"""A biLM as a program of `torch.export`: character ids in, layers out, with fixed weights."""

import copy

import torch
from torch.export import Dim, ExportedProgram

from elmo_plugin.bilm.bilm import BiLm
from elmo_plugin.bilm.options import LexiconCnnOptions
from elmo_plugin.bilm.program.padded_bilm import PaddedBiLm
from elmo_plugin.common.errors import BiLmError

MAX_SIZE = 65536
"""Of a batch, in sentences and in words."""


@torch.no_grad()
def export_program(bilm: BiLm) -> ExportedProgram:
    """
    Returns a program that computes a biLM's layers in float32, for batches of any size. It needs torch, but
    not this package. `torch.export.save` stores it, and `torch.export.load(file).module()` is a function from
    character ids to layers:

    - int64, shape (batch, time, characters). Rows of zeros after the last word are padding.
    - float32, shape (num_layers, batch, time, output_dim), with zeros at padding. A sentence's layers depend
      on nothing but the sentence.

    Raises `BiLmError` for a biLM that looks up words, as some of ELMoForManyLangs do.
    """
    if isinstance(bilm.options.char_cnn, LexiconCnnOptions):
        raise BiLmError("a biLM that looks up words cannot be exported as a program: it has a list of words")
    characters = bilm.options.char_cnn.max_characters_per_token
    example = torch.ones(3, 5, characters, dtype=torch.long, device=bilm.boundaries.device)
    sizes = {0: Dim("batch", min=1, max=MAX_SIZE), 1: Dim("time", min=1, max=MAX_SIZE)}
    network = copy.deepcopy(PaddedBiLm(bilm)).eval().requires_grad_(False)
    return torch.export.export(network, (example,), dynamic_shapes={"character_ids": sizes})
