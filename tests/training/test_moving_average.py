"""The moving average of weights against its closed form, stopped and resumed."""

import io

import pytest
import torch
from allennlp.training.moving_average import MovingAverage

from elmo_plugin.training import ResumableMovingAverage

VALUES = [3.0, -1.0, 2.0, 5.0, 4.0]


def closed_form(values: list[float], decay: float) -> float:
    average = 1.0
    for step, value in enumerate(values, start=1):
        rate = min(decay, (1 + step) / (10 + step))
        average = rate * average + (1 - rate) * value
    return average


def step(average: MovingAverage, weight: torch.nn.Parameter, number: int) -> None:
    weight.data.fill_(VALUES[number - 1])
    average.apply(number)


@pytest.mark.parametrize("decay", [0.15, 0.999])
@pytest.mark.parametrize("stop", [0, 2, 5])
def test_the_moving_average_is_the_same_after_a_restart(decay: float, stop: int) -> None:
    weight = torch.nn.Parameter(torch.ones(1))
    average = MovingAverage.by_name("ema")([("weight", weight)], decay=decay)
    for number in range(1, stop + 1):
        step(average, weight, number)
    checkpoint = io.BytesIO()
    torch.save(average.state_dict(), checkpoint)
    checkpoint.seek(0)
    resumed_weight = torch.nn.Parameter(weight.detach().clone())
    resumed = ResumableMovingAverage([("weight", resumed_weight)], decay=decay)
    resumed.load_state_dict(torch.load(checkpoint, weights_only=True))
    for number in range(stop + 1, len(VALUES) + 1):
        step(resumed, resumed_weight, number)
    resumed.assign_average_value()
    assert resumed_weight.item() == pytest.approx(closed_form(VALUES, decay))
    resumed.restore()
    assert resumed_weight.item() == (VALUES[-1])
