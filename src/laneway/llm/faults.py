"""What went wrong in a model call, in one sentence, and whether trying again can help.

Errors of Pydantic AI, of the anthropic and openai SDKs, and of the HTTP libraries become TransientFault or
PermanentFault. No SDK is imported: their errors are known by name. No sentence holds a secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType

import httpx
import httpx2
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelTimeoutError,
    UnexpectedModelBehavior,
    UserError,
)

from laneway.clock import SystemClock
from laneway.errors import LanewayError, ModelFault, PermanentFault, TransientFault

TRANSIENT_STATUSES = frozenset({408, 409, 425, 429})
COOLING_STATUSES = frozenset({401, 403, 404})
_SECRETS = re.compile(r"\b(?:sk|key|token|pat|ghp|xox[a-z])[-_][\w*.-]{4,}|\bBearer\s+\S+", re.IGNORECASE)
_LONGEST = 300

_STATUS_SAYS = {
    408: "gave up waiting for the request",
    409: "is busy with a conflicting request",
    413: "says the request is too large",
    425: "is not ready for the request yet",
    429: "asks us to slow down",
    529: "is overloaded",
}


def explain(error: BaseException, model: str, *, key_setting: str = "") -> ModelFault | None:
    """The fault behind an error of a call to `model`, or None when the error is no fault of the model's.

    `key_setting` names the setting that holds the key the call was made with.
    """
    status = status_of(error)
    if status is not None:
        return _of_status(error, status, model, key_setting)
    if isinstance(error, ModelQuotaExceededError):
        return _out_of_credit(model)
    if _is_timeout(error):
        return TransientFault(
            f"{model} did not answer in time.",
            hint="If this stays, raise models.execute.timeout_seconds or models.classify.timeout_seconds.",
        )
    if _is_connection(error):
        return TransientFault(
            f"The connection to {model} failed or broke off.", hint="Check the network and the provider's address."
        )
    return _of_answer(error, model)


class Explained:
    """Inside, an error of the model is raised as its fault; all others pass unchanged."""

    def __init__(self, model: str, *, key_setting: str = "") -> None:
        self._model = model
        self._key_setting = key_setting

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, LanewayError):
            return
        fault = explain(error, self._model, key_setting=self._key_setting)
        if fault is not None:
            raise fault from error


def should_cool(fault: ModelFault) -> bool:
    """Whether the model that failed so should be left alone for a while."""
    return isinstance(fault, TransientFault) or status_of(fault.__cause__) in COOLING_STATUSES


def certainly_free(error: BaseException) -> bool:
    """Whether the call that failed so was never charged: not sent, or turned away with an error status."""
    if isinstance(error, ModelConnectionError):
        return error.phase in ("pool", "connect")
    if isinstance(error, ModelHTTPError | ModelRequestRejectedError):
        return not error.in_stream
    return isinstance(error, LanewayError | UserError | httpx.ConnectError | httpx2.ConnectError)


def status_of(error: BaseException | None) -> int | None:
    """The HTTP status an error came with, if any."""
    if isinstance(error, ModelHTTPError) or (error is not None and _is_sdk(error, "APIStatusError")):
        status = getattr(error, "status_code", None)
        return status if isinstance(status, int) else None
    if isinstance(error, httpx.HTTPStatusError | httpx2.HTTPStatusError):
        return error.response.status_code
    return None


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """The seconds the provider asked to wait, from `retry-after-ms` or `Retry-After` (seconds or a date)."""
    given = {name.lower(): value.strip() for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        if re.fullmatch(r"\d+(\.\d+)?", given.get(name, "")):
            return float(given[name]) / unit
    try:
        moment = parsedate_to_datetime(given.get("retry-after", ""))
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or SystemClock().now())).total_seconds())


def _of_status(error: BaseException, status: int, model: str, key_setting: str) -> ModelFault:
    if isinstance(error, ModelQuotaExceededError):
        return _out_of_credit(model)
    if status in TRANSIENT_STATUSES or status >= 500:
        says = _STATUS_SAYS.get(status, "has a problem of its own")
        return TransientFault(
            f"{model} {says} (HTTP {status}).", hint="Try again later.", retry_after=_asked_wait(error)
        )
    if status in (401, 403):
        which = f"Check {key_setting}." if key_setting else "Check the key of this model's provider."
        did = "did not accept our key" if status == 401 else "does not let our key do this"
        return PermanentFault(f"{model} {did} (HTTP {status}).", hint=which)
    if status == 404:
        return PermanentFault(
            f"The provider knows no model `{model}` (HTTP 404).",
            hint="Check models.execute.model, models.classify.model, models.default and the provider's address.",
        )
    says = _STATUS_SAYS.get(status, "rejected the request")
    return PermanentFault(f"{model} {says} (HTTP {status}){_quoted(error)}.", hint="The same request would fail again.")


def _of_answer(error: BaseException, model: str) -> ModelFault | None:
    match error:
        case ContentFilterError():
            return PermanentFault(f"{model} refused to answer.", hint="Ask differently, or ask another model.")
        case UnexpectedModelBehavior():
            return PermanentFault(
                f"{model} gave an answer we cannot use: {_plain(error.message)}.",
                hint="Ask again or ask another model.",
            )
        case UserError():
            return PermanentFault(f"{model} cannot be called this way: {_plain(error.message)}.")
        case ModelRequestRejectedError():
            return PermanentFault(f"{model} rejected the request: {_plain(error.message)}.")
        case ModelAPIError() | json.JSONDecodeError() | UnicodeDecodeError():
            return TransientFault(
                f"{model} sent an answer that cannot be read.", hint="Ask again or ask another model."
            )
    if _is_sdk(error, "APIResponseValidationError") or _is_sdk(error, "APIError"):
        return TransientFault(f"{model} sent an answer that cannot be read.", hint="Ask again or ask another model.")
    return None


def _out_of_credit(model: str) -> PermanentFault:
    return PermanentFault(
        f"The account behind {model} has no credit left.", hint="Top it up or raise its limit at the provider."
    )


def _asked_wait(error: BaseException) -> float | None:
    headers = getattr(error, "headers", None) or getattr(getattr(error, "response", None), "headers", None)
    asked = retry_after(headers) if headers else None
    return asked if asked is not None else getattr(error, "retry_after", None)


def _is_timeout(error: BaseException) -> bool:
    kinds = (ModelTimeoutError, ModelRequestTimeout, TimeoutError, httpx.TimeoutException, httpx2.TimeoutException)
    return isinstance(error, kinds) or _is_sdk(error, "APITimeoutError")


def _is_connection(error: BaseException) -> bool:
    kinds = (ModelConnectionError, httpx.TransportError, httpx2.TransportError, httpx.StreamError, httpx2.StreamError)
    return isinstance(error, (*kinds, ConnectionError)) or _is_sdk(error, "APIConnectionError")


def _is_sdk(error: BaseException, name: str) -> bool:
    return any(
        kind.__name__ == name and kind.__module__.partition(".")[0] in ("anthropic", "openai")
        for kind in type(error).__mro__
    )


def _quoted(error: BaseException) -> str:
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    said = inner.get("message") if isinstance(inner, dict) else None
    return f": {_plain(said)}" if isinstance(said, str) and said else ""


def _plain(text: str) -> str:
    """The text on one line, short, and without anything that looks like a secret."""
    line = _SECRETS.sub("[hidden]", " ".join(text.split()))
    return (line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…").rstrip(".")
