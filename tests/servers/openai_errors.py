"""Errors as OpenAI writes them."""

from __future__ import annotations

from .script import Fail, Json

KINDS: dict[int, tuple[str, str | None, str]] = {
    400: ("invalid_request_error", None, "The request is not valid."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    403: ("invalid_request_error", "unsupported_country_region_territory", "You are not allowed to do this."),
    404: ("invalid_request_error", "unknown_url", "Unknown request URL."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached on requests per min. Please try again later."),
    500: ("server_error", None, "The server had an error while processing your request. Sorry about that!"),
    503: (
        "service_unavailable_error",
        "server_is_overloaded",
        "Our servers are currently overloaded. Please try again later.",
    ),
}


def error_body(fail: Fail) -> Json:
    """The error, with the type and code OpenAI gives to its status."""
    kind, code, message = KINDS.get(fail.status, KINDS[500] if fail.status >= 500 else KINDS[400])
    return {"error": {"message": fail.message or message, "type": kind, "param": None, "code": code}}


def invalid(message: str, param: str | None = None, code: str | None = None, status: int = 400) -> Fail:
    """The answer to a request that cannot be followed."""
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return Fail(status, body={"error": error})


def missing(name: str) -> Fail:
    """The answer to a request without this parameter."""
    return invalid(f"Missing required parameter: '{name}'.", name, "missing_required_parameter")


def unknown_model(name: str) -> Fail:
    """The answer to a request for a model nobody has."""
    message = f"The model `{name}` does not exist or you do not have access to it."
    return invalid(message, None, "model_not_found", 404)


def wrong_key(key: str) -> Fail:
    """The 401 for this key, or for none."""
    if not key:
        return invalid(
            "You didn't provide an API key. You need to provide your API key in an Authorization header "
            "using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
            status=401,
        )
    shown = f"{key[:3]}***{key[-4:]}" if len(key) > 8 else "***"
    message = f"Incorrect API key provided: {shown}. You can find your API key at https://platform.openai.com/account/api-keys."
    return invalid(message, None, "invalid_api_key", 401)
