"""Puts the HTTP door together: routes inside, around them limits, authentication, the border, and counting."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException

from laneway import __version__
from laneway.app import App
from laneway.clock import SystemClock
from laneway.observe.hooks.desk import Hooks
from laneway.observe.hooks.judging import Manners
from laneway.store.reader import Reader
from laneway.store.vitals import Pulse
from laneway.web import problems
from laneway.web.auth import PUBLIC, SIGNED, Authentication, Keys
from laneway.web.gateway import Gateway
from laneway.web.hook_keys import HookKeys
from laneway.web.limits import BodyLimit, BodyLimits
from laneway.web.metrics import Counting, Metrics
from laneway.web.posting import AS_JSON, Posted
from laneway.web.routes import ROUTERS
from laneway.web.runner import RunnerRequest, parts_of

DESCRIPTION = (
    "One durable front door for AI agents. Every route but /health and /ready needs a key: the owner's, or one whose "
    "role the route names."
)
SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}


class Api(FastAPI):
    """FastAPI with the rest of its description: the keys, the one error shape, the two bodies of POST /messages."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = _described(self)
        return self.openapi_schema


def create_app(app: App) -> FastAPI:
    """The HTTP door of a running Laneway."""
    settings = app.settings
    reader = Reader(app.db.url, embedded=settings.embedded)
    gateway = Gateway(app, app.hub, reader, Metrics(), SystemClock(), Pulse(app.db))
    keys = Keys(app.db)
    hooks = Hooks(app.db, SystemClock(), app.orders, Manners(settings.hooks_ordinary, settings.hooks_cannot_ask))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with hooks.running():
            yield
        gateway.hub.close()

    # The interactive pages load their scripts from the network, which a self-hosted server should not.
    api = Api(
        title="Laneway", version=__version__, description=DESCRIPTION, docs_url=None, redoc_url=None,
        redirect_slashes=False, lifespan=lifespan,
    )  # fmt: skip
    api.state.gateway = gateway
    api.state.hooks, api.state.hook_keys = hooks, HookKeys(settings.home, settings.hooks_key, keys)
    for router in ROUTERS:
        api.include_router(router)
    api.add_exception_handler(RequestValidationError, problems.invalid)
    api.add_exception_handler(HTTPException, problems.refused)
    # The last one added is the outermost.
    api.add_middleware(BodyLimit, limits=BodyLimits.of(settings))
    api.add_middleware(Authentication, keys=keys, per_minute=settings.messages_per_minute)
    api.add_middleware(problems.Border)
    api.add_middleware(Counting, metrics=gateway.metrics)
    return api


def end_streams(api: FastAPI) -> None:
    """Open streams of events end now; a server that shuts down would else wait for them."""
    gateway: Gateway = api.state.gateway
    gateway.hub.close()


def _described(api: FastAPI) -> dict[str, Any]:
    schema: dict[str, Any] = get_openapi(
        title=api.title, version=api.version, description=api.description, routes=api.routes
    )
    components = schema.setdefault("components", {})
    components["securitySchemes"] = SECURITY
    components["schemas"] |= _posted() | parts_of(RunnerRequest) | {"Problem": problems.SCHEMA}
    error = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for path, methods in schema["paths"].items():
        for operation in methods.values():
            operation["responses"].pop("422", None)
            operation["responses"]["default"] = {"description": "What went wrong.", "content": error}
            operation["security"] = [] if path in PUBLIC or path.startswith(SIGNED) else [{"bearer": []}, {"key": []}]
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    return schema


def _posted() -> dict[str, Any]:
    posted = Posted.model_json_schema(ref_template="#/components/schemas/{model}")
    parts = posted.pop("$defs", {})
    text = {"type": "string"}
    files = {"type": "array", "items": {"type": "string", "format": "binary"}}
    form = posted["properties"] | dict.fromkeys(AS_JSON, text) | {"files": files}
    shown: dict[str, Any] = parts | {
        "Posted": posted,
        "PostedForm": {"type": "object", "title": "PostedForm", "properties": form},
    }
    return shown
