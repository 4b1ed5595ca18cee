"""A small model, batches of random words for it, and what it makes of them."""

from typing import Any

import torch
from allennlp.common import Params
from allennlp.data import TensorDict, Vocabulary
from allennlp.models import Model
from torch import Tensor

from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.language_model.loader import BiLmStreamLoader
from elmo_plugin.language_model.model import BiLmLanguageModel
from tests.trained_bilm import words_of


def make_loader(bilm_config: dict[str, Any], **options) -> BiLmStreamLoader:
    return BiLmStreamLoader(bilm_config["train_data_path"], shuffle=False, **options)


def make_model(bilm_config: dict[str, Any], **changes) -> tuple[BiLmLanguageModel, Vocabulary]:
    vocab = Vocabulary.from_instances(make_loader(bilm_config).iter_instances())
    torch.manual_seed(1)
    params = Params({**bilm_config["model"], "precision": "float32", **changes})
    model = Model.from_params(params, vocab=vocab)
    assert isinstance(model, BiLmLanguageModel)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2.0)
    return model, vocab


def random_batch(vocab: Vocabulary, rows: int = 3, steps: int = 20) -> TensorDict:
    """Random words, and random words behind them."""
    random = torch.Generator().manual_seed(5)
    words = words_of(vocab)[2:]
    batch: TensorDict = {
        "character_ids": torch.from_numpy(sentences_to_character_ids([words]))[0],
        "stream_starts": True,
    }
    for direction in ("forward", "backward"):
        batch[f"{direction}_types"] = torch.randint(len(words), (rows, steps), generator=random)
        batch[f"{direction}_targets"] = torch.randint(
            1, len(words), (rows, steps), generator=random
        )
    return batch


def part_of(
    batch: TensorDict, rows: slice = slice(None), steps: slice = slice(None), **changes
) -> TensorDict:
    """Some rows and time steps of a batch."""
    parts = {
        name: value[rows, steps]
        for name, value in batch.items()
        if name.endswith(("types", "targets"))
    }
    return {**batch, **parts, **changes}


def gradients_of(model: Model, batch: TensorDict) -> dict[str, Tensor]:
    """Of those parameters that get one."""
    model.zero_grad(set_to_none=True)
    model(**batch)["loss"].backward()
    return {
        name: parameter.grad
        for name, parameter in model.named_parameters()
        if parameter.grad is not None
    }


def evaluate(model: Model, vocab: Vocabulary, loader: BiLmStreamLoader) -> dict[str, float]:
    loader.index_with(vocab)
    model.eval()
    with torch.no_grad():
        for batch in loader:
            model(**batch)
    return model.get_metrics(reset=True)
