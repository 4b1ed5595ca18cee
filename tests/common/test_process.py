"""Locks that keep threads out, and not forked processes; memory."""

from elmo_plugin.common.process import ForkSafeLock
from tests.forks import ends_well_in_a_fork


def test_a_lock_held_by_the_parent_is_free_in_a_forked_child() -> None:
    lock = ForkSafeLock()

    def work() -> None:
        with lock:
            pass

    with lock:
        assert ends_well_in_a_fork(work)
    assert ends_well_in_a_fork(work)
