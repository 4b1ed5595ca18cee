"""Serves the page until Ctrl-C."""

import errno
import ipaddress
import os
import socket
import webbrowser
from collections.abc import Sequence
from importlib.util import find_spec

import uvicorn
from starlette.applications import Starlette

from elmo_plugin.archives import import_all_plugins
from elmo_plugin.common.errors import NEEDS_ALLENNLP, BiLmError
from elmo_plugin.common.streams import show
from elmo_plugin.demo.app import make_app
from elmo_plugin.demo.bilm_view import BiLmTab
from elmo_plugin.demo.tabs import Tab, bundled_tabs, task_tabs

WARNING = (
    "everyone who can reach this machine can use these models and the time of its processors. "
    "Access needs no password, and texts travel unencrypted."
)
_DEFAULT_BILM = "base"  # shown if the command names no models
# The headers of a request may have this size. A longer request is refused before it is read.
MAX_REQUEST_BYTES = 2**20


def show_page(
    archives: Sequence[str],
    bilm: str | None,
    host: str,
    port: int,
    browse: bool,
    max_characters: int,
    trust: bool,
) -> None:
    """
    Serves a page with tabs for trained models and a biLM until Ctrl-C. Without `archives` and
    `bilm`, it shows the models of this package. `max_characters` is the length of the longest text
    that is read. Raises `BiLmError` if a model cannot be loaded, or the port is not available.
    """
    # The socket is opened first, so that a taken port is reported before any model is loaded.
    opened = open_socket(host, port)
    if not is_local(host):
        show(f"--host {host}: {WARNING}", flush=True)
    note = ""
    if archives or bilm:
        tabs = _tabs(archives, bilm, max_characters, trust)
    else:
        bilm_tab = BiLmTab(_DEFAULT_BILM, max_characters)  # made first, as in `_tabs`
        tabs = [bilm_tab]
        if find_spec("allennlp"):
            tabs = [*bundled_tabs(max_characters), bilm_tab]
        else:
            note = f"Only the biLM is shown: a trained model {NEEDS_ALLENNLP}."
            show(note, flush=True)
    address = address_of(opened, host)
    show(f"{address} shows {', '.join(tab.title for tab in tabs)}; Ctrl-C ends it", flush=True)
    if browse:
        webbrowser.open(address)
    make_server(make_app(tabs, host, note)).run(sockets=[opened])


def _tabs(archives: Sequence[str], bilm: str | None, max_characters: int, trust: bool) -> list[Tab]:
    """Returns a tab for each task of the archives, and then the tab of the biLM, if any."""
    bilm_tabs: list[Tab] = []
    if bilm:
        # Made first, because it loads in a second: an error comes before the archives are loaded.
        # The tab is shown last.
        bilm_tabs.append(BiLmTab(bilm, max_characters))
    if not archives:
        return bilm_tabs
    import_all_plugins(subject="a trained model")
    return [*task_tabs(archives, max_characters, trust), *bilm_tabs]


def open_socket(host: str, port: int) -> socket.socket:
    """Opens a listening socket. Raises `BiLmError` if the host or the port is not available."""
    try:
        addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        family, _, _, _, address = addresses[0]
        # An address of IPv4 is a name and a port, and an address of IPv6 has two more numbers. The
        # port of this address is still 0.
        name, _, *numbers_of_ipv6 = address
        return socket.create_server((name, port, *numbers_of_ipv6), family=family)
    # Python raises a `UnicodeError` for a host such as "a..b", and an `OverflowError` for a port
    # that is not in the range from 0 to 65535.
    except (OSError, UnicodeError, OverflowError) as error:
        hint = ""
        if not _is_about_host(error):
            hint = "; try --port 0"
        raise BiLmError(f"cannot serve at {host}, port {port}: {error}{hint}") from None


def _is_about_host(error: Exception) -> bool:
    """Returns whether a socket was not opened because of its host, and not because of its port."""
    if isinstance(error, socket.gaierror | UnicodeError):
        return True
    return isinstance(error, OSError) and error.errno == errno.EADDRNOTAVAIL


def address_of(opened: socket.socket, host: str) -> str:
    """Returns the page's address, for a browser on this machine."""
    name = host
    # "0.0.0.0" and "::" stand for all addresses of this machine, and no browser can open them.
    if host == "0.0.0.0":
        name = "127.0.0.1"
    elif host == "::":
        name = "::1"
    is_ipv6 = ":" in name
    if is_ipv6:
        name = f"[{name}]"
    port = opened.getsockname()[1]
    return f"http://{name}:{port}/"


def is_local(host: str) -> bool:
    """Returns whether only this machine can reach a server at a host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class _Server(uvicorn.Server):
    """A server that ends the process at Ctrl-C or SIGTERM, even in the middle of a computation."""

    def handle_exit(self, sig: int, frame: object) -> None:
        """Ends the process at once. Python would wait for the threads that compute."""
        os._exit(128 + sig)


def make_server(app: Starlette) -> uvicorn.Server:
    """
    Returns a server that keeps no log of requests, does not name itself in responses, and refuses
    long requests.
    """
    return _Server(
        uvicorn.Config(
            app,
            http="h11",  # the only implementation with a limit for requests, see below
            ws="none",
            log_level="error",
            access_log=False,
            server_header=False,
            h11_max_incomplete_event_size=MAX_REQUEST_BYTES,
        )
    )
