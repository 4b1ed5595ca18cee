"""The page, which needs the extra `demo`: an ASGI application, its server, and a report without either."""

from elmo_plugin.demo.page.app import HEADERS, make_app
from elmo_plugin.demo.page.report import make_report
from elmo_plugin.demo.page.server import address_of, make_config, open_socket, serve, warning_of

__all__ = [
    "HEADERS",
    "address_of",
    "make_app",
    "make_config",
    "make_report",
    "open_socket",
    "serve",
    "warning_of",
]
