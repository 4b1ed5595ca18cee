"""The page as an ASGI application: its addresses, and which requests and responses it allows."""

import ipaddress
import re
import socket
import traceback
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
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
from elmo_plugin.predictions.views import Bars, nest, percent

FOLDER = Path(__file__).parent
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src "
    "'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def make_app(tabs: Sequence[Tab], host: str = "127.0.0.1", note: str = "") -> Starlette:
    """
    Returns the application, with a note at the foot of each page. See `SameSiteOnly` for `host`.
    """
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,  # whatever a template is called
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"nest": nest, "percent": percent, "tabs": tabs, "note": note}
    environment.tests["bars"] = lambda part: isinstance(part, Bars)
    routes: list[Route | Mount] = [
        Route("/", lambda request: RedirectResponse(f"/{tabs[0].slug}")),
        Mount("/static", StaticFiles(directory=FOLDER / "static")),
    ]
    for tab in tabs:
        for path in (f"/{tab.slug}", f"/{tab.slug}.json"):
            routes.append(Route(path, partial(_respond, environment, tab)))
    return Starlette(routes=routes, middleware=[Middleware(SameSiteOnly, host=host)])


def _respond(environment: Environment, tab: Tab, request: Request) -> Response:
    """
    Returns a page, or its content as JSON. Without a text it is that of the first example, if the
    models are loaded. Starlette calls this in a thread.
    """
    query: Mapping[str, str] = request.query_params
    is_json = request.url.path.endswith(".json")
    answer, error, status = None, "", 200
    if is_opened := not is_json and not any(name in query for name in tab.fields):
        query = tab.examples[0] if tab.examples else {}
    if is_json or (query and not (is_opened and tab.is_loading)):
        try:
            answer = tab.answer(query)
        except BiLmError as mistake:
            error, status = str(mistake), 400
        except Exception:
            traceback.print_exc()
            error, status = "This failed; the terminal shows how.", 500
    if is_json:
        return JSONResponse(answer["json"] if answer else {"error": error}, status)
    template = environment.get_template(tab.template)
    return HTMLResponse(template.render(tab=tab, query=query, answer=answer, error=error), status)


class SameSiteOnly:
    """
    Middleware that refuses requests that another page makes, and requests for a name that somebody
    else owns (DNS rebinding). A host is right if it is an address in numbers, `localhost`, the name
    of this machine or the served `host`. A link from another page may be followed, but not embedded
    or fetched. All responses have `HEADERS`.
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
        is_foreign = origin is not None and origin.partition("://")[2].lower() != host.lower()
        if headers.get("sec-fetch-mode") != "navigate":
            is_foreign |= headers.get("sec-fetch-site", "none") in ("cross-site", "same-site")
        return "Another page asked for this." if is_foreign else ""

    def _is_own(self, host: str) -> bool:
        name = re.sub(r":[0-9]{1,5}\Z", "", host.lower())
        number = re.fullmatch(r"\[([0-9a-f.]*:[0-9a-f:.]*)\]|([0-9.]+)", name)
        try:
            return name in self._names or bool(number and ipaddress.ip_address(number[1] or name))
        except ValueError:
            return False
