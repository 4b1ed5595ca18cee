import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.models import Model

from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.tasks.language_modeling import BiLmLanguageModel, BiLmStreamLoader, BiLmTextReader
from tests.conftest import BILM_SENTENCES


def _loader(bilm_config: dict[str, Any], **options) -> BiLmStreamLoader:
    return BiLmStreamLoader(BiLmTextReader(), bilm_config["train_data_path"], shuffle=False, **options)


def _model(bilm_config: dict[str, Any], **changes) -> tuple[BiLmLanguageModel, Vocabulary]:
    vocab = Vocabulary.from_instances(_loader(bilm_config).iter_instances())
    torch.manual_seed(1)
    model = Model.from_params(Params({**bilm_config["model"], **changes}), vocab=vocab)
    assert isinstance(model, BiLmLanguageModel)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2.0)
    return model, vocab


def _evaluate(model: Model, vocab: Vocabulary, loader: BiLmStreamLoader) -> dict[str, float]:
    loader.index_with(vocab)
    model.eval()
    with torch.no_grad():
        for batch in loader:
            model(**batch)
    return model.get_metrics(reset=True)


def _nats(model: BiLmLanguageModel, vocab: Vocabulary, step: int) -> float:
    """The mean over all tokens, from one stream of the whole text that is read at once, in float64."""
    lm = (model.bilm.forward_lm if step > 0 else model.bilm.backward_lm).double()
    encoder, softmax = model.bilm.token_encoder, model.softmax.double()
    inputs, targets = [], []
    for sentence in BILM_SENTENCES * 4:
        words = ["<S>", *sentence.split(), "</S>"][::step]
        inputs += words[:-1]
        targets += [vocab.get_token_index(word, "words") for word in words[1:]]
    vectors = encoder(torch.from_numpy(sentences_to_character_ids([inputs]))).double()
    hidden = lm(vectors[0], [1] * len(inputs))[0][-1]
    losses = torch.log_softmax(hidden @ softmax.weight.T + softmax.bias, dim=1)
    result = -losses[torch.arange(len(targets)), targets].mean().item()
    model.float()
    return result


def test_perplexities_are_those_of_the_whole_text_read_at_once(bilm_config: dict[str, Any]) -> None:
    model, vocab = _model(bilm_config)
    model.eval()
    with torch.no_grad():
        forward, backward = _nats(model, vocab, 1), _nats(model, vocab, -1)
    for steps in (1, 5, 7, 200):
        metrics = _evaluate(model, vocab, _loader(bilm_config, batch_size=1, unroll_steps=steps))
        assert metrics == {
            "forward_perplexity": pytest.approx(math.exp(forward), rel=1e-4),
            "backward_perplexity": pytest.approx(math.exp(backward), rel=1e-4),
            "perplexity": pytest.approx(math.exp((forward + backward) / 2), rel=1e-4),
        }


def test_the_loss_is_the_mean_of_the_two_directions(bilm_config: dict[str, Any]) -> None:
    model, vocab = _model(bilm_config)
    loader = _loader(bilm_config, batch_size=2, unroll_steps=6)
    loader.index_with(vocab)
    model.eval()
    batch = next(iter(loader))
    loss = model(**batch)["loss"].item()
    metrics = model.get_metrics()
    expected = (math.log(metrics["forward_perplexity"]) + math.log(metrics["backward_perplexity"])) / 2
    assert loss == pytest.approx(expected, rel=1e-5)


def test_a_new_pass_does_not_know_the_state_of_the_last(bilm_config: dict[str, Any]) -> None:
    model, vocab = _model(bilm_config)
    loader = _loader(bilm_config, batch_size=2, unroll_steps=6)
    assert _evaluate(model, vocab, loader) == _evaluate(model, vocab, loader)


def test_the_state_is_carried_without_gradient(bilm_config: dict[str, Any]) -> None:
    model, vocab = _model(bilm_config, dropout=0.0)
    loader = _loader(bilm_config, batch_size=2, unroll_steps=3)
    loader.index_with(vocab)
    first, second = list(loader)[:2]
    model(**first)["loss"].backward()
    model(**second)["loss"].backward()  # would fail if the graph of the first batch were asked for again
    assert all(not part.requires_grad for state in model._states.values() for part in state)


def test_a_sampled_loss_is_never_called_a_perplexity(bilm_config: dict[str, Any]) -> None:
    sampled, vocab = _model(bilm_config)
    full, _ = _model(bilm_config, num_negatives=None)
    loader = _loader(bilm_config, batch_size=2, unroll_steps=6)
    loader.index_with(vocab)
    for model in (sampled, full):
        model.train()
        model(**next(iter(loader)))
    assert set(sampled.get_metrics()) == {"sampled_loss"}
    assert set(full.get_metrics()) == {"forward_perplexity", "backward_perplexity", "perplexity"}
    assert set(_evaluate(sampled, vocab, loader)) == {
        "forward_perplexity",
        "backward_perplexity",
        "perplexity",
    }


def test_an_empty_row_counts_for_nothing(bilm_config: dict[str, Any]) -> None:
    model, _vocab = _model(bilm_config)
    model.eval()
    words = {"character_ids": torch.ones(1, 50, dtype=torch.int16)}
    nothing = torch.zeros(2, 3, dtype=torch.long)
    empty = dict.fromkeys(("forward_types", "forward_targets", "backward_types", "backward_targets"), nothing)
    assert model(**words, **empty, stream_starts=True)["loss"].item() == 0.0


def test_words_with_another_number_of_characters_are_refused(bilm_config: dict[str, Any]) -> None:
    model, vocab = _model(bilm_config)
    loader = _loader(bilm_config, max_characters_per_token=20)
    loader.index_with(vocab)
    with pytest.raises(ConfigurationError, match="gives 20 characters per word, but the model reads 50"):
        model(**next(iter(loader)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_negatives": 1000}, "num_negatives is 1000, but must be between 1 and"),
        ({"num_negatives": 0}, "num_negatives is 0, but must be between 1 and"),
        ({"options": {"lstm": {}}}, "model.options: the key 'char_cnn' is missing"),
    ],
)
def test_options_that_cannot_work_are_named(bilm_config: dict[str, Any], change: dict, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        _model(bilm_config, **change)


def test_seeds_make_training_repeatable(bilm_config: dict[str, Any], tmp_path: Path) -> None:
    losses = []
    for _ in range(2):
        model, vocab = _model(bilm_config)
        loader = BiLmStreamLoader(BiLmTextReader(), bilm_config["train_data_path"], 3, 4)
        loader.index_with(vocab)
        torch.manual_seed(3)
        np.random.seed(3)
        losses.append([model(**batch)["loss"].item() for batch in loader])
    assert losses[0] == losses[1]
