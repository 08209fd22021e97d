"""Every error Laneway raises on purpose, in one tree.

    LanewayError
    ├── BadInput            400  the request itself is wrong
    │   ├── TooLarge        413
    │   └── SettingsError        a setting is unknown or has a wrong value
    ├── Unauthorized        401
    ├── Forbidden           403
    ├── NotFound            404
    ├── Conflict            409  right request, wrong moment
    │   └── IllegalTransition    a status change the state machine does not allow
    ├── BudgetExceeded      429  a cap on money or tokens would be passed
    ├── BudgetBusy          429  a cap may have room when the calls being made have ended
    ├── TooMany             429  a sender writes faster than is allowed
    ├── TooSlow             408  a request did not come to its end
    ├── Unavailable         503  a part we need does not answer
    ├── ModelFault          502  a model or a provider failed
    │   ├── TransientFault       worth trying again
    │   ├── UncertainFault       it may have been done all the same
    │   └── PermanentFault       trying again cannot help
    ├── TimedOut            504  a job took longer than it was given
    ├── LeaseLost                this process no longer owns the job it was running
    └── JobCancelled             somebody stopped the job

The message says what happened and to what; `hint` says what to do next.
"""

from __future__ import annotations

from typing import Any, ClassVar


class LanewayError(Exception):
    """Something went wrong that Laneway can explain."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"
    quiet: ClassVar[bool] = False
    """Whether its user has been told of the like before and is not told again."""
    waits: ClassVar[bool] = False
    """Whether a job waits until it has passed, as a row and for as long as it takes."""

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive pickling on their own, and the engine stores errors.
        return (_rebuild, (type(self), self.message, self.hint, self.retry_after))

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


def _rebuild(kind: type[LanewayError], message: str, hint: str, retry_after: float | None) -> LanewayError:
    return kind(message, hint=hint, retry_after=retry_after)


class BadInput(LanewayError):
    status, code = 400, "bad-input"


class TooLarge(BadInput):
    status, code = 413, "too-large"


class SettingsError(BadInput):
    code = "settings"


class Unauthorized(LanewayError):
    status, code = 401, "unauthorized"


class Forbidden(LanewayError):
    status, code = 403, "forbidden"


class NotFound(LanewayError):
    status, code = 404, "not-found"


class Conflict(LanewayError):
    status, code = 409, "conflict"


class IllegalTransition(Conflict):
    code = "illegal-transition"


class BudgetExceeded(LanewayError):
    status, code = 429, "budget-exceeded"


class BudgetBusy(LanewayError):
    status, code, waits = 429, "budget-busy", True


class TooSlow(LanewayError):
    status, code = 408, "too-slow"


class TooMany(LanewayError):
    status, code = 429, "too-many"


class Unavailable(LanewayError):
    status, code = 503, "unavailable"


class ModelFault(LanewayError):
    status, code = 502, "model-fault"


class TransientFault(ModelFault):
    code = "model-transient"


class UncertainFault(ModelFault):
    code = "uncertain"


class PermanentFault(ModelFault):
    code = "model-permanent"


class TimedOut(LanewayError):
    status, code = 504, "timeout"


class LeaseLost(LanewayError):
    code = "lease-lost"


class JobCancelled(LanewayError):
    code = "cancelled"


RETRYABLE = frozenset({"budget-busy", "model-transient", "unavailable", "too-many", "timeout", "fetch-failed"})
"""Codes of what may well go better the next time, though nothing is changed."""


def failure(code: str, message: str) -> dict[str, Any]:
    """A failure as those outside read it, who must decide whether to ask again."""
    return {"type": code, "message": message, "retryable": code in RETRYABLE}


def described(error: Exception) -> dict[str, Any]:
    """The error as the job keeps it; what we did not foresee is named without its innards."""
    if isinstance(error, LanewayError):
        return {"code": error.code, "message": str(error)}
    return {"code": "internal", "message": f"An unexpected {type(error).__name__} stopped it. The log has the details."}
