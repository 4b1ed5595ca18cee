"""Serves the page until Ctrl-C."""

import ipaddress
import os
import socket
import webbrowser
from collections.abc import Sequence

import uvicorn
from starlette.applications import Starlette

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.demo.app import make_app
from elmo_plugin.demo.archives import LoadedArchive, TaskTab, load_archives
from elmo_plugin.demo.bilm_view import BiLmTab
from elmo_plugin.demo.tasks import MAX_CHARACTERS, Tab

MAX_REQUEST_BYTES = 1 << 20  # longer ones are refused before they are read


def show_page(
    archives: Sequence[str],
    bilm: str | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    opens_browser: bool = False,
    max_characters: int = MAX_CHARACTERS,
) -> None:
    """
    Serves the tabs of trained models and of a biLM until Ctrl-C, and prints the address. The port 0 is any
    free one. Raises `BiLmError` if a model cannot be loaded, or the port is not available.
    """
    if not archives and not bilm:
        raise BiLmError("there is nothing to show: name an archive, or a biLM by --bilm")
    opened = open_socket(host, port)  # before the models are loaded
    if warning := warning_of(host):
        print(warning, flush=True)
    tabs = load_tabs(archives, bilm, max_characters)
    address = address_of(opened, host)
    print(f"{address} shows {', '.join(tab.title for tab in tabs)}; Ctrl-C ends it", flush=True)
    if opens_browser:
        webbrowser.open(address)
    make_server(make_app(tabs, host)).run(sockets=[opened])


def load_tabs(archives: Sequence[str], bilm: str | None, max_characters: int = MAX_CHARACTERS) -> list[Tab]:
    """Returns a tab for each task, whose archives are side by side, and a tab of the biLM."""
    by_task: dict[str, list[LoadedArchive]] = {}
    for archive in load_archives(archives) if archives else []:
        by_task.setdefault(archive.task.name, []).append(archive)
    tabs: list[Tab] = [TaskTab(each, max_characters) for each in by_task.values()]
    return tabs + ([BiLmTab(bilm, max_characters)] if bilm else [])


def open_socket(host: str, port: int) -> socket.socket:
    """Opens a listening socket. Raises `BiLmError` if the port is not available."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address, family=family)
    except (OSError, OverflowError) as error:
        hint = "; --port 0 takes any free port"
        raise BiLmError(f"cannot serve at {host}, port {port}: {error}{hint}") from None


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


class _Server(uvicorn.Server):
    """Ends the process at once at Ctrl-C or SIGTERM, also in the middle of a computation."""

    def handle_exit(self, sig: int, frame: object) -> None:
        os._exit(0)  # Python would wait for the threads


def make_server(app: Starlette) -> uvicorn.Server:
    """Returns a server without a log of requests, its name in the responses, and endless requests."""
    return _Server(
        uvicorn.Config(
            app,
            http="h11",
            ws="none",
            lifespan="off",
            log_level="error",
            access_log=False,
            server_header=False,
            h11_max_incomplete_event_size=MAX_REQUEST_BYTES,
        )
    )
