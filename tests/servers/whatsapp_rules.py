"""What the Graph API refuses of a message, before it looks at whom it is for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.servers.whatsapp_errors import NO_TEMPLATE, Refusal, invalid, missing, parameter

Json = dict[str, Any]
TYPES = ("text", "interactive", "template", "image", "audio", "video", "document", "sticker", "reaction", "location")
USER_ID = re.compile(r"[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}")


def complaint(message: Json, templates: Mapping[str, int]) -> Refusal | None:
    """What is wrong with a message; `templates` knows how many parameters each approved one takes."""
    return next(_complaints(message, templates), None)


def _complaints(message: Json, templates: Mapping[str, int]) -> Iterator[Refusal]:
    if message.get("messaging_product") != "whatsapp":
        yield parameter("The parameter messaging_product is required.")
    if message.get("recipient_type", "individual") not in ("individual", "group"):
        yield parameter("Invalid parameter")
    if not message.get("to") and not message.get("recipient"):
        yield parameter("The parameter to is required.")
    kind = message.get("type", "text")
    if kind not in TYPES:
        yield Refusal(400, 131051, "(#131051) Unsupported message type", "Message type is not currently supported")
    content = message.get(kind)
    if not isinstance(content, dict):
        yield missing(f"Parameter '{kind}' is mandatory for type '{kind}'")
        return
    match kind:
        case "text":
            yield from _text(content)
        case "interactive":
            yield from _interactive(content)
        case "template":
            yield from _template(content, templates)


def _text(content: Json) -> Iterator[Refusal]:
    body = content.get("body")
    if not isinstance(body, str) or not body.strip():
        yield parameter("The parameter text['body'] is required.")
    elif len(body) > 4096:
        yield parameter("Param text['body'] must be at most 4096 characters long.")


def _interactive(content: Json) -> Iterator[Refusal]:
    kind, body, action = content.get("type"), content.get("body", {}).get("text", ""), content.get("action", {})
    most = 1024 if kind == "button" else 4096
    if not 1 <= len(body) <= most:
        yield invalid(f"Body text length invalid. Min length: 1, Max length: {most}")
    if kind == "button":
        yield from _buttons([one.get("reply", {}) for one in action.get("buttons", [])])
    elif kind == "list":
        yield from _list(action)
    else:
        yield invalid(f"Interactive type '{kind}' is not valid")


def _buttons(buttons: list[Json]) -> Iterator[Refusal]:
    if not 1 <= len(buttons) <= 3:
        yield invalid("Invalid buttons count. Min allowed buttons: 1, Max allowed buttons: 3")
    yield from _named(buttons, "Button", 20, 256)


def _list(action: Json) -> Iterator[Refusal]:
    if not 1 <= len(action.get("button", "")) <= 20:
        yield invalid("Button label length invalid. Min length: 1, Max length: 20")
    sections = action.get("sections", [])
    rows = [row for section in sections for row in section.get("rows", [])]
    if not 1 <= len(sections) <= 10:
        yield invalid("Section count invalid. Min allowed count: 1, Max allowed count: 10")
    if len(sections) > 1 and not all(section.get("title") for section in sections):
        yield invalid("Section title is required when there is more than one section")
    if not 1 <= len(rows) <= 10:
        yield invalid("Total row count exceed max allowed count: 10")
    if any(len(section.get("title", "")) > 24 for section in sections):
        yield invalid("Section title is too long. Max length is 24")
    if any(len(row.get("description", "")) > 72 for row in rows):
        yield invalid("Row description is too long. Max length is 72")
    yield from _named(rows, "Row", 24, 200)


def _named(things: list[Json], what: str, title: int, most: int) -> Iterator[Refusal]:
    titles, ids = [one.get("title", "") for one in things], [one.get("id", "") for one in things]
    if not all(1 <= len(one) <= title for one in titles):
        yield invalid(f"{what} title length invalid. Min length: 1, Max length: {title}")
    if not all(1 <= len(one) <= most for one in ids):
        yield invalid(f"{what} id length invalid. Min length: 1, Max length: {most}")
    if len(set(ids)) < len(ids):
        yield invalid(f"{what} id is not unique")
    if what == "Button" and len(set(titles)) < len(titles):
        yield invalid("Button title is not unique")


def _template(content: Json, templates: Mapping[str, int]) -> Iterator[Refusal]:
    if content.get("name") not in templates or not content.get("language", {}).get("code"):
        yield NO_TEMPLATE
        return
    bodies = [one for one in content.get("components", []) if one.get("type") == "body"]
    given = [one.get("text", "") for body in bodies for one in body.get("parameters", [])]
    wanted = templates[content["name"]]
    if len(given) != wanted:
        yield Refusal(
            400, 132000, "(#132000) Number of parameters does not match the expected number of params",
            f"body: number of localizable_params ({len(given)}) does not match the expected number of params "
            f"({wanted})",
        )  # fmt: skip
    if any(re.search(r"[\n\t]| {5,}", one) for one in given):
        details = "Param text cannot have new-line/tab characters or more than 4 consecutive spaces"
        yield Refusal(400, 132018, "(#132018) Template Param Format Mismatch", details)
    if sum(map(len, given)) > 1000:
        yield Refusal(400, 132005, "(#132005) Translated text too long", "Translated text too long")
