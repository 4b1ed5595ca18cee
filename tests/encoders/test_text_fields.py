"""Several text fields as one, and lists of them flattened."""

import torch

from elmo_plugin.encoders.contextual_encoder import (
    concatenate_text_fields,
    flatten_wrapping_dims,
    slice_wrapping_dim,
)


def test_text_fields_stand_one_behind_the_other_padded_with_zeros() -> None:
    premises = {"tokens": {"tokens": torch.tensor([[2, 3, 4], [5, 0, 0]])}}
    hypotheses = {"tokens": {"tokens": torch.tensor([[6, 7]])}}
    both = concatenate_text_fields([premises, hypotheses])
    assert both["tokens"]["tokens"].tolist() == [[2, 3, 4], [5, 0, 0], [6, 7, 0]]


def test_every_axis_is_padded_and_every_type_stays() -> None:
    characters = [torch.ones(2, 1, 7, dtype=torch.uint8), torch.ones(1, 4, 5, dtype=torch.uint8)]
    masks = [torch.ones(2, 1, dtype=torch.bool), torch.ones(1, 4, dtype=torch.bool)]
    texts = [{"x": {"ids": ids, "mask": mask}} for ids, mask in zip(characters, masks, strict=True)]
    both = concatenate_text_fields(texts)["x"]
    assert both["ids"].shape == (3, 4, 7) and both["ids"].dtype == torch.uint8
    assert both["ids"].sum() == 2 * 7 + 4 * 5
    assert both["mask"].dtype == torch.bool
    assert both["mask"].tolist() == [[True, False, False, False]] * 2 + [[True] * 4]


def test_wrapping_dimensions_become_one_with_the_batch() -> None:
    words = torch.arange(24).view(2, 3, 4)
    text = {"tokens": {"tokens": words}, "elmo": {"elmo_tokens": words.unsqueeze(-1).expand(-1, -1, -1, 50)}}
    flat = flatten_wrapping_dims(text, num_wrapping_dims=1)
    assert flat["tokens"]["tokens"].equal(words.view(6, 4))
    assert flat["elmo"]["elmo_tokens"].shape == (6, 4, 50)
    assert flatten_wrapping_dims(text, num_wrapping_dims=0)["tokens"]["tokens"].equal(words)


def test_each_row_has_a_window_of_its_texts() -> None:
    words = torch.arange(24).view(2, 4, 3)
    text = {"tokens": {"tokens": words}, "elmo": {"elmo_tokens": words.unsqueeze(-1).expand(-1, -1, -1, 50)}}
    windows = slice_wrapping_dim(text, starts=[2, 0], length=2)
    assert windows["tokens"]["tokens"].equal(torch.stack([words[0, 2:], words[1, :2]]))
    assert windows["elmo"]["elmo_tokens"].shape == (2, 2, 3, 50)
    assert slice_wrapping_dim(text, starts=[0, 0], length=9)["tokens"]["tokens"].equal(words)
