"""The learning rate after so many batches, in closed form."""

from pathlib import Path

import pytest
import torch
from allennlp.data import Instance, Vocabulary
from allennlp.data.data_loaders import SimpleDataLoader
from allennlp.data.fields import MetadataField
from allennlp.models import Model
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer

from elmo_plugin.training import DecayInSteps


def optimizer() -> torch.optim.Optimizer:
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.5)


def test_the_rate_decays_after_each_step_of_batches_and_not_by_epochs() -> None:
    sgd = optimizer()
    scheduler = DecayInSteps(sgd, factor=0.9, num_batches=3)
    rates = []
    for batch in range(1, 8):
        scheduler.step_batch(batch)
        rates.append(sgd.param_groups[0]["lr"])
        scheduler.step(metric=1.0)
    assert rates == pytest.approx([0.5, 0.5, 0.5, 0.45, 0.45, 0.45, 0.405])
    assert sgd.param_groups[0]["lr"] == rates[-1]


def test_a_restored_schedule_goes_on() -> None:
    scheduler = DecayInSteps(optimizer(), factor=0.9, num_batches=2)
    for batch in range(1, 6):
        scheduler.step_batch(batch)
    sgd = optimizer()
    restored = DecayInSteps(sgd, factor=0.9, num_batches=2)
    restored.load_state_dict(scheduler.state_dict())
    restored.step_batch()  # before update 6
    assert sgd.param_groups[0]["lr"] == pytest.approx(0.5 * 0.9**2)
    restored.step_batch()
    assert sgd.param_groups[0]["lr"] == pytest.approx(0.5 * 0.9**3)


def test_allennlps_trainer_makes_all_updates_with_the_rates_of_tensorflow(tmp_path: Path) -> None:
    """`exponential_decay(0.5, step, decay_steps=2, decay_rate=0.1, staircase=True)` for steps 0 to 3."""

    class Identity(Model):
        def __init__(self) -> None:
            super().__init__(Vocabulary())
            self.weight = torch.nn.Parameter(torch.zeros(1))

        def forward(self, number: list[int]) -> dict[str, torch.Tensor]:
            return {"loss": -self.weight.sum()}

    model = Identity()
    sgd = torch.optim.SGD(model.parameters(), lr=0.5)
    loader = SimpleDataLoader([Instance({"number": MetadataField(number)}) for number in range(4)], 1)
    loader.index_with(model.vocab)
    GradientDescentTrainer(
        model,
        sgd,
        loader,
        num_epochs=1,
        cuda_device=-1,
        serialization_dir=str(tmp_path),
        learning_rate_scheduler=DecayInSteps(sgd, factor=0.1, num_batches=2),
        enable_default_callbacks=False,
    ).train()
    assert model.weight.item() == pytest.approx(0.5 + 0.5 + 0.05 + 0.05)
