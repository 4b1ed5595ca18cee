import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import TensorDict, Vocabulary
from allennlp.models import Model
from torch import Tensor

from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.commands.export import export
from elmo_plugin.tasks.language_modeling import BiLmLanguageModel, BiLmStreamLoader, BiLmTextReader
from elmo_plugin.tasks.language_modeling import model as model_module
from tests.conftest import BILM_SENTENCES
from tests.small_bilm import small_options
from tests.trained_bilm import COUNTS, random_bilm, random_softmax, words_of, write_training

PERPLEXITIES = {"forward_perplexity", "backward_perplexity", "perplexity"}


def _loader(bilm_config: dict[str, Any], **options) -> BiLmStreamLoader:
    return BiLmStreamLoader(BiLmTextReader(), bilm_config["train_data_path"], shuffle=False, **options)


def _model(bilm_config: dict[str, Any], **changes) -> tuple[BiLmLanguageModel, Vocabulary]:
    vocab = Vocabulary.from_instances(_loader(bilm_config).iter_instances())
    torch.manual_seed(1)
    params = Params({**bilm_config["model"], "precision": "float32", **changes})
    model = Model.from_params(params, vocab=vocab)
    assert isinstance(model, BiLmLanguageModel)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2.0)
    return model, vocab


def _batch(vocab: Vocabulary, rows: int = 3, steps: int = 20) -> TensorDict:
    """Random words, and random words behind them."""
    random = torch.Generator().manual_seed(5)
    words = words_of(vocab)[2:]
    batch: TensorDict = {
        "character_ids": torch.from_numpy(sentences_to_character_ids([words]))[0],
        "stream_starts": True,
    }
    for direction in ("forward", "backward"):
        batch[f"{direction}_types"] = torch.randint(len(words), (rows, steps), generator=random)
        batch[f"{direction}_targets"] = torch.randint(1, len(words), (rows, steps), generator=random)
    return batch


def _part(batch: TensorDict, rows: slice = slice(None), steps: slice = slice(None), **changes) -> TensorDict:
    """Some rows and time steps of a batch."""
    parts = {name: value[rows, steps] for name, value in batch.items() if name.endswith(("types", "targets"))}
    return {**batch, **parts, **changes}


def _gradients(model: Model, batch: TensorDict) -> dict[str, Tensor]:
    """Of those parameters that get one."""
    model.zero_grad(set_to_none=True)
    model(**batch)["loss"].backward()
    return {
        name: parameter.grad for name, parameter in model.named_parameters() if parameter.grad is not None
    }


def _evaluate(model: Model, vocab: Vocabulary, loader: BiLmStreamLoader) -> dict[str, float]:
    loader.index_with(vocab)
    model.eval()
    with torch.no_grad():
        for batch in loader:
            model(**batch)
    return model.get_metrics(reset=True)


def _nats(model: BiLmLanguageModel, vocab: Vocabulary, step: int) -> float:
    """The mean over all tokens, from the whole text as one stream that is read at once, in float64."""
    lm = (model.bilm.forward_lm if step > 0 else model.bilm.backward_lm).double()
    encoder, softmax = model.bilm.token_encoder, model.softmax.double()
    inputs, targets = [], []
    for sentence in (BILM_SENTENCES * 4)[::step]:
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
    for steps in (3, 7, 200):
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


def test_two_short_windows_are_one_long_one(bilm_config: dict[str, Any]) -> None:
    model, vocab = _model(bilm_config)
    model.eval()
    batch = _batch(vocab)
    model(**batch)
    expected = model.get_metrics(reset=True)
    for start in (0, 10):
        steps = slice(start, start + 10)
        model(**_part(batch, steps=steps, stream_starts=start == 0))
    assert model.get_metrics(reset=True) == pytest.approx(expected, rel=1e-5)


def test_where_streams_begin_the_state_is_zero(bilm_config: dict[str, Any]) -> None:
    model, vocab = _model(bilm_config)
    model.eval()
    batch = _batch(vocab)
    first, carried, begun = (
        model(**{**batch, "stream_starts": starts})["loss"].item() for starts in (True, False, True)
    )
    assert first == begun != carried


def test_streams_that_begin_may_be_of_another_number(bilm_config: dict[str, Any]) -> None:
    """As when a validation comes between two passes of training."""
    model, vocab = _model(bilm_config)
    model.eval()
    batch = _batch(vocab)
    expected = model(**batch)["loss"].item()
    model(**_part(batch, rows=slice(2)))
    assert model(**batch)["loss"].item() == expected


def test_a_sampled_loss_is_never_called_a_perplexity(bilm_config: dict[str, Any]) -> None:
    sampled, vocab = _model(bilm_config)
    full, _ = _model(bilm_config, num_negatives=None)
    for model in (sampled, full):
        model.train()
        model(**_batch(vocab))
    assert set(sampled.get_metrics(reset=True)) == {"sampled_loss"}
    assert set(full.get_metrics()) == PERPLEXITIES
    assert set(_evaluate(sampled, vocab, _loader(bilm_config, batch_size=2))) == PERPLEXITIES


def test_evaluation_takes_the_full_softmax(bilm_config: dict[str, Any]) -> None:
    sampled, vocab = _model(bilm_config)
    full, _ = _model(bilm_config, num_negatives=None)
    batch = _batch(vocab)
    assert sampled.eval()(**batch)["loss"].item() == full.eval()(**batch)["loss"].item()


def test_the_loss_is_scaled_and_the_metrics_are_not(bilm_config: dict[str, Any]) -> None:
    plain, vocab = _model(bilm_config, num_negatives=None, dropout=0.0)
    scaled, _ = _model(bilm_config, num_negatives=None, dropout=0.0, loss_scale=20.0)
    gradients, expected = (_gradients(model, _batch(vocab)) for model in (scaled, plain))
    for name, gradient in gradients.items():
        torch.testing.assert_close(gradient, 20 * expected[name])
    assert scaled.get_metrics() == plain.get_metrics()


def test_an_empty_row_counts_for_nothing(bilm_config: dict[str, Any]) -> None:
    model, vocab = _model(bilm_config, num_negatives=None, dropout=0.0)
    batch = _batch(vocab)
    expected = _gradients(model, _part(batch, rows=slice(2)))
    metrics = model.get_metrics(reset=True)
    for direction in ("forward", "backward"):
        batch[f"{direction}_targets"][2] = 0
    for name, gradient in _gradients(model, batch).items():
        torch.testing.assert_close(gradient, expected[name])
    assert model.get_metrics(reset=True) == pytest.approx(metrics)


@pytest.mark.parametrize("num_negatives", [None, 5])
def test_a_batch_of_empty_rows_changes_nothing(
    bilm_config: dict[str, Any], num_negatives: int | None
) -> None:
    """As one process has when only others have text left."""
    model, vocab = _model(bilm_config, num_negatives=num_negatives)
    batch = _batch(vocab)
    for direction in ("forward", "backward"):
        batch[f"{direction}_targets"][:] = 0
    assert model(**batch)["loss"].item() == 0.0
    assert not any(gradient.any() for gradient in _gradients(model, batch).values())
    assert all(math.isnan(value) for value in model.get_metrics().values())


def test_the_loss_is_the_mean_of_directions_also_where_one_has_run_out(bilm_config: dict[str, Any]) -> None:
    model, vocab = _model(bilm_config)
    model.eval()
    batch = _batch(vocab)
    model(**batch)
    forward = math.log(model.get_metrics(reset=True)["forward_perplexity"])
    batch["backward_targets"][:] = 0
    assert model(**batch)["loss"].item() == pytest.approx(forward / 2, rel=1e-5)


def test_while_it_warms_up_only_the_softmax_learns(bilm_config: dict[str, Any]) -> None:
    model, vocab = _model(bilm_config, warm_up_batches=2, dropout=0.0)
    never_warmed_up, _ = _model(bilm_config, dropout=0.0)
    of_softmax = {"softmax.weight", "softmax.bias"}
    batch = _batch(vocab, steps=5)
    for number in range(3):
        torch.manual_seed(number)
        gradients = _gradients(model, {**batch, "stream_starts": number == 0})
        torch.manual_seed(number)
        expected = _gradients(never_warmed_up, {**batch, "stream_starts": number == 0})
        assert set(gradients) == (of_softmax if number < 2 else set(dict(model.named_parameters())))
        for name, gradient in gradients.items():
            torch.testing.assert_close(gradient, expected[name], rtol=1e-4, atol=1e-6)
    model.eval()(**batch)
    assert model.stream_state()["trained_batches"] == 3, "evaluation does not count"


def test_bfloat16_is_near_float32_and_learns(bilm_config: dict[str, Any]) -> None:
    """On a CPU without such instructions it is float32 itself."""
    losses = {}
    for precision in ("float32", "bfloat16"):
        model, vocab = _model(bilm_config, precision=precision, num_negatives=None, dropout=0.0)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        losses[precision] = []
        for _ in range(15):
            optimizer.zero_grad()
            loss = model(**_batch(vocab, steps=8))["loss"]
            assert loss.dtype == torch.float
            loss.backward()
            optimizer.step()
            losses[precision].append(loss.item())
        assert all(parameter.dtype == torch.float for parameter in model.parameters())
    assert losses["bfloat16"] == pytest.approx(losses["float32"], rel=0.02)
    assert losses["bfloat16"][-1] < 0.8 * losses["bfloat16"][0]


def test_only_training_is_in_bfloat16(bilm_config: dict[str, Any]) -> None:
    losses = {}
    for precision in ("float32", "bfloat16"):
        model, vocab = _model(bilm_config, precision=precision)
        losses[precision] = model.eval()(**_batch(vocab))["loss"].item()
    assert losses["float32"] == losses["bfloat16"]


def test_a_cpu_without_bfloat16_trains_in_float32(
    bilm_config: dict[str, Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(model_module, "has_bfloat16", lambda: False)
    losses = []
    for precision in ("float32", "bfloat16"):
        model, vocab = _model(bilm_config, precision=precision, num_negatives=None, dropout=0.0)
        losses.append(model(**_batch(vocab))["loss"].item())
    assert losses[0] == losses[1]
    assert "no instructions for bfloat16: training computes in float32" in caplog.text


@pytest.mark.parametrize("at_start", [True, False])
def test_another_process_goes_on_from_the_streams_state(bilm_config: dict[str, Any], at_start: bool) -> None:
    model, vocab = _model(bilm_config, warm_up_batches=3)
    other, _ = _model(bilm_config, warm_up_batches=3)
    batch = _batch(vocab)
    if not at_start:
        for number in range(2):
            model(**{**batch, "stream_starts": number == 0})
    file = io.BytesIO()
    torch.save(model.stream_state(), file)
    file.seek(0)
    other.load_stream_state(torch.load(file, weights_only=True))
    results = []
    for one in (model, other):
        torch.manual_seed(0)
        losses = [one(**{**batch, "stream_starts": False})["loss"].item() for _ in range(3)]
        results.append((losses, one.get_metrics(), one.stream_state()["trained_batches"]))
    assert results[0] == results[1]


def test_the_state_of_streams_that_have_not_begun_replaces_another(bilm_config: dict[str, Any]) -> None:
    model, vocab = _model(bilm_config)
    before = model.stream_state()
    model.eval()
    expected = model(**_batch(vocab))["loss"].item()
    model.load_stream_state(before)
    assert model(**{**_batch(vocab), "stream_starts": False})["loss"].item() == expected


@pytest.mark.parametrize("source", ["archive", "exported"])
def test_it_starts_from_another_bilm_and_its_softmax(source: str, tmp_path: Path) -> None:
    initial = str(write_training(tmp_path / "run", random_bilm()))
    known = words_of(Vocabulary({"words": dict(COUNTS)}))
    if source == "exported":
        export(initial, tmp_path / "exported")
        initial = str(tmp_path / "exported")
    vocab = Vocabulary({"words": {"new": 20, **COUNTS}})
    model = Model.from_params(Params({"type": "bilm", "initial": initial}), vocab=vocab)
    for name, tensor in random_bilm().state_dict().items():
        assert torch.equal(model.bilm.state_dict()[name], tensor)
    assert all(parameter.requires_grad for parameter in model.parameters())
    expected = random_softmax(known)
    for number, word in enumerate(words_of(vocab)):
        from_word = known.index("@@UNKNOWN@@" if word == "new" else word)
        assert torch.equal(model.softmax.weight[number], expected.weight[from_word])


def test_the_softmax_of_a_bilm_without_one_is_new(tmp_path: Path) -> None:
    archive = write_training(tmp_path / "run", random_bilm())
    export(str(archive), tmp_path / "exported", with_softmax=False)
    params = Params({"type": "bilm", "initial": str(tmp_path / "exported")})
    vocab = Vocabulary({"words": {"new": 20, **COUNTS}})
    model = Model.from_params(params, vocab=vocab)
    assert model.softmax.weight.shape == (len(words_of(vocab)), 6)
    assert not model.softmax.bias.any()


def test_its_weights_keep_its_sizes(bilm_config: dict[str, Any]) -> None:
    model, _ = _model(bilm_config)
    state = model.state_dict()
    assert state["_extra_state"] == {"options": model.bilm.options.to_dict()}
    other, _ = _model(bilm_config)
    other.load_state_dict(state)
    for name, parameter in other.named_parameters():
        assert torch.equal(parameter, state[name])


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
        ({"options": {"lstm": small_options()["lstm"]}}, "model.options: the key 'char_cnn' is missing"),
        ({"initial": "tiny"}, "either options or initial"),
        ({"options": None}, "either options or initial"),
        ({"options": None, "initial": "absent"}, r"model\.initial: there is no biLM 'absent'"),
        ({"precision": "float16"}, "precision must be one of .* not 'float16'"),
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
