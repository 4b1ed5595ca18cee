"""Lets pytest show what differs where an assertion of the contract fails."""

import pytest

pytest.register_assert_rewrite("tests.tasks.contract")
