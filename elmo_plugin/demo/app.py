"""The page as an ASGI application: its addresses, and which requests and responses it allows."""

import ipaddress
import re
import socket
import traceback
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.demo.tabs import Tab
from elmo_plugin.predictions.pages import make_environment

FOLDER = Path(__file__).parent
_PORT = re.compile(r":[0-9]{1,5}\Z")
_DIGITS_AND_DOTS = re.compile(r"[0-9.]+")
_IPV6_IN_BRACKETS = re.compile(r"\[([0-9a-f.]*:[0-9a-f:.]*)\]")
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def make_app(tabs: Sequence[Tab], host: str = "127.0.0.1", note: str = "") -> Starlette:
    """
    Returns the application. It has a page for each tab, with a note at its foot, and the content of
    each page as JSON. Requests may name this machine or `host`, see `SameSiteOnly`.
    """

    def redirect_to_first_tab(request: Request) -> Response:
        return RedirectResponse(f"/{tabs[0].slug}")

    environment = make_environment(FOLDER / "templates")
    environment.globals.update(tabs=tabs, note=note)
    routes: list[Route | Mount] = [
        Route("/", redirect_to_first_tab),
        Mount("/static", StaticFiles(directory=FOLDER / "static")),
    ]
    for tab in tabs:
        routes.append(Route(f"/{tab.slug}", partial(_respond_with_page, environment, tab)))
        routes.append(Route(f"/{tab.slug}.json", partial(_respond_with_json, tab)))
    return Starlette(routes=routes, middleware=[Middleware(SameSiteOnly, host=host)])


def _respond_with_page(environment: Environment, tab: Tab, request: Request) -> Response:
    """
    Returns the page of a tab. For a request without a text, the page shows the first example. The
    example is answered only if all models are loaded, so that nobody waits for the first page.
    Starlette calls this in a thread.
    """
    query: Mapping[str, str] = request.query_params
    result = _Result()
    has_text = any(name in query for name in tab.rows_of_fields)
    if has_text:
        result = _answer(tab, query)
    elif tab.examples:
        query = tab.examples[0]
        if not tab.is_loading:
            result = _answer(tab, query)
    template = environment.get_template(tab.template)
    page = template.render(tab=tab, query=query, answer=result.answer, error=result.error)
    return HTMLResponse(page, result.status)


def _respond_with_json(tab: Tab, request: Request) -> Response:
    """Returns the answer of a tab, or an error, as JSON. Starlette calls this in a thread."""
    result = _answer(tab, request.query_params)
    if result.answer is None:
        return JSONResponse({"error": result.error}, result.status)
    return JSONResponse(result.answer["json"], result.status)


class _Result(NamedTuple):
    """The answer of a tab, or else an error, and the status of the response."""

    answer: dict[str, Any] | None = None
    error: str = ""
    status: int = 200


def _answer(tab: Tab, query: Mapping[str, str]) -> _Result:
    """
    Returns the answer of a tab, or a message if the query cannot be used or the computation fails.
    Visitors do not see the details of an unexpected error: those are printed in the terminal.
    """
    try:
        return _Result(tab.answer(query))
    except BiLmError as mistake:
        return _Result(error=str(mistake), status=400)
    except Exception:
        traceback.print_exc()
        return _Result(error="This failed; the terminal shows how.", status=500)


def _is_from_another_origin(headers: Headers, host: str) -> bool:
    """
    Returns whether a page of another origin makes the request. The browser says so in the header
    `Origin`, such as `http://localhost:8000`. For a page in a sandbox, it says `null`.
    """
    origin = headers.get("origin")
    if origin is None:
        return False
    _, _, host_of_origin = origin.partition("://")  # empty for `null`
    return host_of_origin.lower() != host.lower()


def _is_fetched_by_another_page(headers: Headers) -> bool:
    """
    Returns whether a page of another origin fetches or embeds something from here, as the browser
    says in the `Sec-Fetch-` headers. If somebody follows a link on that page, the mode of the
    request is "navigate", and the request is allowed.
    """
    site = headers.get("sec-fetch-site")
    mode = headers.get("sec-fetch-mode")
    return site in ("cross-site", "same-site") and mode != "navigate"


class SameSiteOnly:
    """
    Middleware that refuses two kinds of requests, and adds `HEADERS` to all responses:

    - Requests that another page makes. It may link here, but it may not embed or fetch anything.
    - Requests for a host name that somebody else may own (DNS rebinding). The host must be a
      numeric address, `localhost`, the name of this machine or the served `host`.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app = app
        self._own_names = {"localhost", host.lower(), socket.gethostname().lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        app = self._app
        refusal = self._refusal(Headers(scope=scope))
        if refusal:
            # A response of Starlette is also an application: called, it sends itself.
            app = PlainTextResponse(refusal, status_code=403)
        await app(scope, receive, send_with_headers)

    def _refusal(self, headers: Headers) -> str:
        """Returns why a request is refused, or an empty string."""
        host = headers.get("host", "")
        if not self._is_safe_host(host):
            return f"This page is not served as {host!r}: use localhost or the address in numbers."
        if _is_from_another_origin(headers, host) or _is_fetched_by_another_page(headers):
            return "Another page asked for this."
        return ""

    def _is_safe_host(self, host: str) -> bool:
        """
        Returns whether the host of a request is a name of this machine or a numeric address. Nobody
        else can own these, so such a request cannot come from DNS rebinding.
        """
        name = _PORT.sub("", host.lower())  # without the port
        return name in self._own_names or _is_numeric_address(name)


def _is_numeric_address(host: str) -> bool:
    """
    Returns whether a host is an address such as `127.0.0.1`, or `[::1]` for IPv6: in a URL, such an
    address has brackets around it.
    """
    in_brackets = _IPV6_IN_BRACKETS.fullmatch(host)
    if in_brackets is not None:
        address = in_brackets[1]
    elif _DIGITS_AND_DOTS.fullmatch(host):
        address = host
    else:
        return False
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return False
    return True
