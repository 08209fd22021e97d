"""What `laneway doctor` and `laneway whatsapp status` say of the WhatsApp number: each step of docs/whatsapp.md."""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from laneway.cli.checks import Finding
from laneway.errors import LanewayError

if TYPE_CHECKING:
    from laneway.settings import Settings

NEEDED = {
    "WHATSAPP_APP_SECRET": "the app's settings, under Basic",
    "WHATSAPP_VERIFY_TOKEN": "your own invention: any long random text, the same in the app's webhook settings",
    "WHATSAPP_PHONE_NUMBER_ID": "the app's API setup page, below the number",
}
"""What a token needs beside itself, and where it is found."""

FIELDS = "id,display_phone_number,verified_name,quality_rating,webhook_configuration"


@dataclass(frozen=True)
class Reached:
    """Who answers at our public address when Meta's question is put to it."""

    status: int | None
    right: bool


def secrets_there(given: Mapping[str, object]) -> Finding:
    """Whether everything that belongs to the token is set."""
    missing = [name for name in NEEDED if not given.get(name)]
    if missing:
        where = "; ".join(f"{name}: {NEEDED[name]}" for name in missing)
        return Finding("whatsapp secrets", "fail", f"{', '.join(missing)} is not set.", f"Find it here: {where}.")
    return Finding("whatsapp secrets", "ok", "The app secret, the verify token and the number id are set.")


def number(answer: Mapping[str, Any] | LanewayError, number_id: str) -> Finding:
    """Whether the token is right and the id is that of a number."""
    if re.fullmatch(r"\+?[\d\s()-]+", number_id) and not number_id.isdecimal():
        return Finding(
            "whatsapp number",
            "fail",
            f"{number_id} is a phone number, not the id of one.",
            "WHATSAPP_PHONE_NUMBER_ID is the long id on the app's API setup page, below the number.",
        )
    if isinstance(answer, LanewayError):
        return Finding("whatsapp number", "fail", answer.message, answer.hint)
    shown = str(answer.get("display_phone_number", ""))
    if re.sub(r"\D", "", shown) == number_id:
        # Meta gives every number an id of its own; seeing the number there means that two things were mixed up.
        return Finding(
            "whatsapp number",
            "warn",
            f"The id {number_id} reads like the number {shown} itself.",
            "Compare it with the app's API setup page.",
        )
    quality = str(answer.get("quality_rating", "UNKNOWN"))
    says = f"The number is {shown or number_id} ({answer.get('verified_name', 'without a name')}), quality {quality}."
    if quality == "RED":
        return Finding("whatsapp number", "warn", says, "People block or report it; look into the WhatsApp manager.")
    return Finding("whatsapp number", "ok", says)


def webhook(answer: Mapping[str, Any], wanted: str | None) -> Finding:
    """Whether Meta posts to us, as far as it says."""
    told = answer.get("webhook_configuration")
    places = [str(place) for place in told.values() if place] if isinstance(told, Mapping) else []
    if not places:
        return Finding(
            "whatsapp webhook",
            "warn",
            "Meta names no webhook for this number.",
            f"Subscribe {wanted or 'https://YOUR-ADDRESS/whatsapp/webhook'} to the field `messages` in the app.",
        )
    if wanted is not None and wanted not in places:
        return Finding(
            "whatsapp webhook",
            "fail",
            f"Meta posts to {', '.join(places)}, not to {wanted}.",
            "Correct the callback URL in the app's webhook settings, or LANEWAY_PUBLIC_URL.",
        )
    return Finding("whatsapp webhook", "ok", f"Meta posts to {', '.join(places)}.")


def address(public_url: str | None, reached: Reached | None) -> Finding:
    """Whether Meta could find us: our own question comes back from the public address."""
    if public_url is None or reached is None:
        return Finding(
            "whatsapp address",
            "warn",
            "LANEWAY_PUBLIC_URL is not set, so the way to here was not tried.",
            "Set it to the https address under which this server is reached.",
        )
    if reached.right:
        return Finding("whatsapp address", "ok", f"{public_url} leads here.")
    if reached.status is None:
        return Finding(
            "whatsapp address",
            "fail",
            f"{public_url} does not answer.",
            "Start Laneway, and let a proxy with a real certificate pass /whatsapp/webhook on to it.",
        )
    fix = {
        403: "Another server with another WHATSAPP_VERIFY_TOKEN answers there; restart it with this one.",
        404: "Let the proxy pass /whatsapp/webhook on to Laneway, and restart Laneway with WHATSAPP_TOKEN set.",
    }.get(reached.status, "Look into the log of the proxy and `laneway logs`.")
    return Finding("whatsapp address", "fail", f"{public_url} answers {reached.status} to Meta's question.", fix)


def template(name: str | None, fees: Mapping[str, float]) -> Finding:
    """Whether people who last wrote over a day ago can be answered, and what that costs."""
    if not name:
        return Finding(
            "whatsapp template",
            "warn",
            "No template is set: after 24 hours of silence replies cannot be sent.",
            "Have one with a single text parameter approved, and set LANEWAY_WHATSAPP_TEMPLATE.",
        )
    if not fees:
        return Finding(
            "whatsapp template",
            "warn",
            f"After 24 hours of silence {name} is sent, at an unknown price.",
            "Set whatsapp.fees to what Meta charges, so that the ledger knows.",
        )
    return Finding("whatsapp template", "ok", f"After 24 hours of silence {name} is sent.")


async def examined(settings: Settings) -> AsyncIterator[Finding]:
    """One finding for each step; none if there is no token."""
    if settings.whatsapp_token is None:
        return
    given = {
        "WHATSAPP_APP_SECRET": settings.whatsapp_app_secret,
        "WHATSAPP_VERIFY_TOKEN": settings.whatsapp_verify_token,
        "WHATSAPP_PHONE_NUMBER_ID": settings.whatsapp_number_id,
    }
    yield secrets_there(given)
    if settings.whatsapp_number_id:
        answer = await _asked(settings, settings.whatsapp_number_id)
        yield number(answer, settings.whatsapp_number_id)
        if not isinstance(answer, LanewayError):
            yield webhook(answer, _wanted(settings))
    yield address(settings.public_url, await _reached(settings))
    yield template(settings.whatsapp_template, settings.whatsapp_fees)


def _wanted(settings: Settings) -> str | None:
    from laneway.channels.whatsapp_cloud import PATH

    return None if settings.public_url is None else settings.public_url.rstrip("/") + PATH


async def _asked(settings: Settings, number_id: str) -> Mapping[str, Any] | LanewayError:
    from laneway.channels.whatsapp_cloud.graph import Graph

    assert settings.whatsapp_token is not None
    graph = Graph(settings.whatsapp_api_url, settings.whatsapp_token.get_secret_value().strip(), number_id, seconds=10)
    try:
        # An id with a sign in it would ask for something else.
        return await graph.look(re.sub(r"\W", "", number_id), fields=FIELDS)
    except LanewayError as error:
        return error
    finally:
        await graph.close()


async def _reached(settings: Settings) -> Reached | None:
    import httpx

    url, token = _wanted(settings), settings.whatsapp_verify_token
    if url is None or token is None:
        return None
    challenge = secrets.token_hex(8)
    asked = {"hub.mode": "subscribe", "hub.verify_token": token.get_secret_value().strip(), "hub.challenge": challenge}
    try:
        async with httpx.AsyncClient(timeout=10) as http:
            answer = await http.get(url, params=asked)
    except httpx.HTTPError:
        return Reached(None, False)
    return Reached(answer.status_code, answer.status_code == 200 and answer.text == challenge)
