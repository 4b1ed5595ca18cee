"""Locks that keep threads out, and not forked processes; memory."""

from elmo_plugin.common.process import ForkSafeLock
from tests.forks import ends_well_in_a_fork


def test_it_is_free_in_a_fork_while_the_parent_has_it() -> None:
    lock = ForkSafeLock()

    def work() -> None:
        with lock:
            pass

    with lock:
        assert ends_well_in_a_fork(work)
    assert ends_well_in_a_fork(work)
