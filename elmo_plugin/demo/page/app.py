"""The page as an ASGI application: its addresses, and which requests and responses it allows."""

import ipaddress
import socket
import traceback
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.demo.tabs import Tab
from elmo_plugin.demo.views import Bars, nest

FOLDER = Path(__file__).parent
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def make_environment() -> Environment:
    """Returns the templates. What is put into them is escaped, whatever the template is called."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["nest"] = nest
    environment.tests["bars"] = lambda part: isinstance(part, Bars)
    return environment


def make_app(tabs: Sequence[Tab], host: str = "127.0.0.1") -> Starlette:
    """
    Returns the application.

    # Parameters

    tabs : `Sequence[Tab]`
        At least one.
    host : `str`, optional (default = `"127.0.0.1"`)
        The address that it is served at; requests for other names are refused, see `SameSiteOnly`.
    """
    environment = make_environment()
    routes: list[Route | Mount] = [
        Route("/", lambda request: RedirectResponse(f"/{tabs[0].slug}")),
        Mount("/static", StaticFiles(directory=FOLDER / "static")),
    ]
    for tab in tabs:
        routes.append(Route(f"/{tab.slug}", partial(_page, environment, tabs, tab)))
        routes.append(Route(f"/{tab.slug}.json", partial(_json, tab)))
    return Starlette(
        routes=routes,
        middleware=[Middleware(SameSiteOnly, host=host)],
        exception_handlers={Exception: _failure},
    )


async def _page(environment: Environment, tabs: Sequence[Tab], tab: Tab, request: Request) -> Response:
    answer, error = None, ""
    if tab.is_asked(request.query_params):
        try:
            answer = await tab.answer(request.query_params)
        except BiLmError as mistake:
            error = str(mistake)
    values = {field.name: request.query_params.get(field.name, "") for field in tab.fields}
    template = environment.get_template(tab.template)
    context: Mapping[str, Any] = {"answer": answer, "error": error, "values": values}
    return HTMLResponse(template.render(tabs=tabs, tab=tab, **context))


async def _json(tab: Tab, request: Request) -> Response:
    try:
        return JSONResponse(await tab.as_json(request.query_params))
    except BiLmError as error:
        return JSONResponse({"error": str(error)}, status_code=400)


async def _failure(request: Request, error: Exception) -> Response:
    """Prints an internal error in the terminal of the command. The response does not contain it."""
    traceback.print_exception(error)
    return PlainTextResponse("The model failed; the terminal shows how.", status_code=500)


class SameSiteOnly:
    """
    Refuses requests that another page makes, and those for a name that somebody else owns (DNS rebinding). A
    host is right if it is an address in numbers, `localhost`, the name of this machine or what was given. A
    link from another page may be followed, but what another page would embed or fetch is refused. All answers
    have `HEADERS`.

    # Parameters

    app : `ASGIApp`
        Gets the other requests.
    host : `str`
        What is served.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app = app
        self._names = {"localhost", host.lower(), socket.gethostname().lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refusal = self._refusal(Headers(scope=scope))
        app = PlainTextResponse(refusal, status_code=403) if refusal else self._app
        await app(scope, receive, send_with_headers)

    def _refusal(self, headers: Headers) -> str:
        host = headers.get("host", "")
        if not self._is_own(host):
            return f"This page is not served as {host!r}: use localhost or the address in numbers."
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            return "Another page asked for this."
        is_foreign = headers.get("sec-fetch-site", "none") in ("cross-site", "same-site")
        if is_foreign and headers.get("sec-fetch-mode") != "navigate":
            return "Another page asked for this."
        return ""

    def _is_own(self, host: str) -> bool:
        name = host.rpartition("]")[0].lstrip("[") if host.startswith("[") else host.partition(":")[0]
        if name.lower() in self._names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True
