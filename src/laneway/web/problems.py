"""One shape for every error (RFC 9457), and the border where the unexpected ends."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from laneway.errors import BadInput, LanewayError
from laneway.lanes.workflow.refusing import Rejected

_log = logging.getLogger("laneway.web")

SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "Problem",
    "required": ["type", "title", "status", "detail", "code", "hint"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What happened, and to what."},
        "code": {"type": "string", "description": "The same word for the same kind of error."},
        "hint": {"type": "string", "description": "What to do next."},
        "fields": {"type": "object", "description": "What is wrong with which field of the request."},
        "reason": {"type": "string", "description": "Of a refused workflow or patch: the check that says no."},
        "node": {"type": ["string", "null"], "description": "The node it is about."},
        "path": {"type": ["string", "null"], "description": "Where in the document."},
        "repair": {"type": "string", "description": "What would mend it."},
        "findings": {"type": "array", "description": "Everything the checks found.", "items": {"type": "object"}},
    },
}

_HTTP = {
    400: ("bad-input", "Send it as docs/api.md shows."),
    404: ("not-found", "GET /openapi.json lists every route."),
    405: ("method-not-allowed", "GET /openapi.json lists every route with its methods."),
    415: ("unsupported-media-type", "Set Content-Type to application/json or multipart/form-data."),
}


def problem(
    status: int, code: str, detail: str, *, hint: str = "", headers: Mapping[str, str] | None = None, **more: Any
) -> Response:
    """An error as every client sees it."""
    title = HTTPStatus(status).phrase
    body = {"type": f"urn:laneway:problem:{code}", "title": title, "status": status, "detail": detail, "code": code}
    # Escaped, because what a client sent and we quote need not be valid Unicode.
    text = json.dumps(body | {"hint": hint} | more)
    return Response(text, status, headers=dict(headers or {}), media_type="application/problem+json")


def of_error(error: LanewayError) -> Response:
    """One of our own errors as a response."""
    headers = {}
    if error.retry_after is not None:
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after)))
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if error.status == 408:
        headers["Connection"] = "close"
    more = {"fields": error.fields} if isinstance(error, WrongFields) else {}
    more = error.more if isinstance(error, Rejected) else more
    return problem(error.status, error.code, error.message, hint=error.hint, headers=headers, **more)


class WrongFields(BadInput):
    """Some fields of a request are wrong; each is named."""

    def __init__(self, faults: Sequence[Mapping[str, Any]]) -> None:
        self.fields = {_name(fault["loc"]): _sentence(fault) for fault in faults}
        super().__init__("; ".join(f"`{name}` {text}" for name, text in self.fields.items()) + ".", hint="Correct it.")


def _name(location: Sequence[int | str]) -> str:
    return ".".join(str(part) for part in location)


def _sentence(fault: Mapping[str, Any]) -> str:
    if fault["type"] == "extra_forbidden":
        return "is not known here"
    if fault["type"] == "missing":
        return "is missing"
    message = str(fault["msg"]).removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


async def invalid(request: Request, error: Exception) -> Response:
    """FastAPI's findings on parameters and bodies, in our shape."""
    assert isinstance(error, RequestValidationError)
    faults = error.errors()
    if faults and faults[0]["type"] == "json_invalid":
        where = f"{faults[0].get('ctx', {}).get('error', 'syntax error')} at character {faults[0]['loc'][-1]}"
        return of_error(BadInput(f"The body is not valid JSON: {where}.", hint="Correct it."))
    return of_error(WrongFields([{**fault, "loc": tuple(fault["loc"])[1:] or ("body",)} for fault in faults]))


async def refused(request: Request, error: Exception) -> Response:
    """The framework's own refusals (unknown route, wrong method, unreadable body), in our shape."""
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, LanewayError):
        return of_error(error.__cause__)
    code, hint = _HTTP.get(error.status_code, ("bad-input" if error.status_code < 500 else "internal", ""))
    detail = {
        404: f"There is no {request.url.path[:200]} here.",
        405: f"{request.url.path[:200]} does not take {request.method}.",
    }.get(error.status_code, error.detail)
    if isinstance(error.__cause__, UnicodeDecodeError):
        detail = "The body is not valid UTF-8."
    return problem(error.status_code, code, detail, hint=hint, headers=error.headers)


class Border:
    """The border of HTTP: whatever happens inside, a client gets a problem it can read, and no innards."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        began = False

        async def sending(message: Message) -> None:
            nonlocal began
            began = True
            await send(message)

        response: Response
        try:
            return await self._app(scope, receive, sending)
        except ClientDisconnect:
            return None
        except LanewayError as error:
            response = of_error(error)
        except Exception as error:  # noqa: BLE001  the border of HTTP
            response = _unexpected(scope, error)
        return None if began else await response(scope, receive, send)


def _unexpected(scope: Scope, error: Exception) -> Response:
    reference = uuid4().hex[:12]
    _log.error("%s %s failed (%s).", scope["method"], scope["path"], reference, exc_info=error)
    return problem(
        500, "internal", "Something unexpected stopped this request.", hint=f"The log has the details: {reference}."
    )
