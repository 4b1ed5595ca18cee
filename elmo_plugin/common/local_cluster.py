"""A Dask cluster of processes on this machine."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dask.distributed import Client


def start_local_cluster(workers: int, **options: Any) -> "Client":
    """
    Starts a Dask cluster of as many processes on this machine as `workers`, and returns a client of
    it. The `options` are others of Dask's `LocalCluster`. Dask must be installed.

    By default Dask ends a process that has been silent for five minutes. Here it waits, because the
    process may only have been stopped, or the machine was asleep. Dask notices a dead process by
    the end of its connection.
    """
    import dask.config
    from dask.distributed import Client

    with dask.config.set({"distributed.scheduler.worker-ttl": None}):
        return Client(n_workers=workers, threads_per_worker=1, dashboard_address=None, **options)
