"""What a training scores."""

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.sweeps.trainings import Metric


def test_a_metric_that_should_be_high_is_in_per_cent_and_one_that_should_be_low_is_as_it_is() -> None:
    metrics = {"best_validation_accuracy": 0.123456, "best_validation_loss": 1.234567, "accuracy": 0.5}
    assert Metric.parse("+accuracy").score(metrics) == 12.35
    assert Metric.parse("-loss").score(metrics) == 1.2346
    with pytest.raises(ConfigurationError, match="no metric f1, but accuracy, loss"):
        Metric.parse("+f1").score(metrics)


@pytest.mark.parametrize("text", ["accuracy", "+", "", None, ["+accuracy", "-loss"]])
def test_a_metric_without_its_sign_is_an_error(text: object) -> None:
    with pytest.raises(ConfigurationError, match=r"name behind \+ or -, such as \+accuracy, not"):
        Metric.parse(text)
