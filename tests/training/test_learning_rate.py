"""The learning rate after so many batches, in closed form."""

import pytest
import torch

from elmo_plugin.training import DecayInSteps


def optimizer() -> torch.optim.Optimizer:
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.5)


def test_the_rate_decays_with_batches_and_not_with_epochs() -> None:
    sgd = optimizer()
    scheduler = DecayInSteps(sgd, factor=0.9, num_batches=3)
    rates = []
    for batch in range(1, 8):
        scheduler.step_batch(batch)
        rates.append(sgd.param_groups[0]["lr"])
        scheduler.step(metric=1.0)
    assert rates == pytest.approx([0.5, 0.5, 0.5, 0.45, 0.45, 0.45, 0.405])
    assert sgd.param_groups[0]["lr"] == rates[-1]


def test_a_restored_schedule_continues() -> None:
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
