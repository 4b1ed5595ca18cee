"""Serves the page until Ctrl-C."""

import errno
import ipaddress
import os
import socket
import sys
from contextlib import suppress

import uvicorn
from starlette.applications import Starlette

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.demo.tabs import Tab

MOST_BYTES_OF_A_REQUEST = 1 << 20  # longer ones are refused before they are read


def open_socket(host: str, port: int) -> socket.socket:
    """
    Takes a port, so that one in use is noticed before models are loaded.

    # Parameters

    host : `str`
        A name or an address.
    port : `int`
        0 for any that is free.

    Raises `BiLmError` where it cannot be had.
    """
    if not 0 <= port < 65536:
        raise BiLmError(f"--port is from 0 to 65535, not {port}")
    opened = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        opened = socket.socket(family, kind, protocol)
        if os.name != "nt":  # where two processes would then share the port
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen()
    except OSError as error:
        if opened is not None:
            opened.close()
        reasons = {
            errno.EADDRINUSE: "it is taken; give another one by --port, or 0 for any that is free",
            errno.EACCES: "it is for the system; give one from 1024 on by --port",
        }
        reason = reasons.get(error.errno or 0) or error.strerror or str(error)
        raise BiLmError(f"cannot serve at {host}, port {port}: {reason}") from None
    return opened


def address_of(opened: socket.socket, host: str) -> str:
    """Returns the page's address, for a browser on this machine."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{name}]' if ':' in name else name}:{opened.getsockname()[1]}/"


def warning_of(host: str) -> str:
    """Returns a warning if other machines can reach this host, or an empty string."""
    try:
        is_local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_local = host.lower() == "localhost"
    if is_local:
        return ""
    return (
        f"--host {host}: everyone who can reach this machine can use these models and the time of its "
        "processors. There is no password, and texts travel unencrypted."
    )


def serve(app: Starlette, opened: socket.socket, tabs: list[Tab]) -> None:
    """
    Serves until Ctrl-C or SIGTERM, which end the process at once, in the middle of a computation, too.

    # Parameters

    app : `Starlette`
        See `make_app`.
    opened : `socket.socket`
        See `open_socket`.
    tabs : `list[Tab]`
        What the application shows.
    """
    server = uvicorn.Server(make_config(app))
    with suppress(KeyboardInterrupt):
        server.run(sockets=[opened])
    executors = [executor for tab in tabs for executor in tab.executors]
    for executor in executors:
        executor.shutdown(wait=False, cancel_futures=True)
    if any(thread.is_alive() for executor in executors for thread in executor._threads):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)  # Python would wait for what is being computed


def make_config(app: Starlette) -> uvicorn.Config:
    """Returns how uvicorn serves the application: without logs, names of software and endless requests."""
    return uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_level="critical",
        access_log=False,
        server_header=False,
        h11_max_incomplete_event_size=MOST_BYTES_OF_A_REQUEST,
        timeout_graceful_shutdown=0,
    )
