"""The methods of the loopback Bot API: each does what the real one does, or refuses in its words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from .telegram_chats import BOT, Chat, Message, World
from .telegram_html import MOST_ENTITIES, CannotParse, parse_html, utf16
from .telegram_orders import bad

LONGEST, LONGEST_RAW = 4096, 1 << 15
LARGEST_DOWNLOAD = 20 << 20
Params = dict[str, Any]
Method = Callable[[World, Params], Any]


def _json(params: Params, name: str) -> Any:
    raw = params.get(name)
    if not isinstance(raw, str):
        return raw
    try:
        return json.loads(raw)
    except ValueError:
        raise bad(f"can't parse {name} JSON object") from None


def _true(params: Params, name: str) -> bool:
    return str(params.get(name, "")).lower() in {"true", "1", "yes"}


def formatted(params: Params, *, too_long: str = "message is too long") -> tuple[str, list[dict[str, Any]]]:
    """The text as a reader sees it, with its entities."""
    text = str(params.get("text") or "")
    if len(text.encode("utf-8", "surrogatepass")) > LONGEST_RAW:
        raise bad("text is too long")
    entities: list[dict[str, Any]] = []
    mode = str(params.get("parse_mode") or "").lower()
    if mode == "html":
        try:
            text, entities = parse_html(text)
        except CannotParse as error:
            raise bad(f"can't parse entities: {error}") from None
    elif mode:
        raise bad("unsupported parse_mode")
    text, entities = _trimmed(text, entities)
    if not text:
        raise bad("message text is empty")
    if utf16(text) > LONGEST:
        raise bad(too_long)
    return text, entities[:MOST_ENTITIES]


def _trimmed(text: str, entities: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """Control characters are gone, and so is space at the end and before the first word or entity."""
    text, entities = _cleaned(text, entities)
    text = text.rstrip()
    first = min((entity["offset"] for entity in entities), default=LONGEST_RAW)
    cut = min(len(text) - len(text.lstrip()), first)
    end = utf16(text)
    kept = []
    for entity in entities:
        length = min(entity["offset"] + entity["length"], end) - entity["offset"]
        if length > 0:
            kept.append({**entity, "offset": entity["offset"] - cut, "length": length})
    return text[cut:], kept


def _cleaned(text: str, entities: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """Control characters are spaces; carriage returns and marks of direction are gone, and the entities follow."""
    places, kept = [0], []
    for char in text:
        left = "" if char == "\r" or "\u2028" <= char <= "\u202e" else " " if char < " " and char != "\n" else char
        kept.append(left)
        places.extend([places[-1] + utf16(left)] * utf16(char))
    moved = []
    for entity in entities:
        begin, end = places[entity["offset"]], places[entity["offset"] + entity["length"]]
        if end > begin:
            moved.append({**entity, "offset": begin, "length": end - begin})
    return "".join(kept), moved


def markup(params: Params) -> dict[str, Any] | None:
    """The keyboard, if it is one the real server takes."""
    given = _json(params, "reply_markup")
    if not given:
        return None
    rows = given.get("inline_keyboard") or []
    if sum(len(row) for row in rows) > 100:
        raise bad("REPLY_MARKUP_TOO_LONG")
    for button in (button for row in rows for button in row):
        if not str(button.get("text") or "").strip():
            raise bad("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
        if "callback_data" not in button and "url" not in button:
            raise bad("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
        if not 1 <= len(str(button.get("callback_data", "x")).encode()) <= 64:
            raise bad("BUTTON_DATA_INVALID")
    return {"inline_keyboard": [row for row in rows if row]} if any(rows) else None


def _topic(chat: Chat, params: Params) -> int | None:
    raw = params.get("message_thread_id")
    if raw is None:
        return None
    if int(raw) not in chat.topics:  # the general topic is refused too when it is named
        raise bad("message thread not found")
    return int(raw)


def send_message(world: World, params: Params) -> Any:
    chat = world.reachable(params)
    text, entities = formatted(params)
    silent, topic = _true(params, "disable_notification"), _topic(chat, params)
    message = Message(world.next_message_id(), chat, text, entities, markup(params), topic, silent)
    world.messages.append(message)
    return message.json()


def send_draft(world: World, params: Params) -> Any:
    chat = world.reachable(params)
    if chat.type != "private":
        raise bad("TEXTDRAFT_PEER_INVALID")
    if not int(params.get("draft_id") or 0):
        raise bad("RANDOM_ID_INVALID")
    # An empty draft shows that the bot is thinking.
    text = formatted(params)[0] if params.get("text") else ""
    world.drafts.append((chat.id, int(params["draft_id"]), text))
    return True


def edit_text(world: World, params: Params) -> Any:
    message = world.find(params, "edit")
    text, entities = formatted(params, too_long="MESSAGE_TOO_LONG")
    return _change(message, text, entities, markup(params))


def edit_markup(world: World, params: Params) -> Any:
    message = world.find(params, "edit")
    return _change(message, message.text, message.entities, markup(params))


def _change(message: Message, text: str, entities: list[dict[str, Any]], keyboard: dict[str, Any] | None) -> Any:
    if (text, entities, keyboard) == (message.text, message.entities, message.markup):
        raise bad(
            "message is not modified: specified new message content and reply markup are exactly the same "
            "as a current content and reply markup of the message"
        )
    message.text, message.entities, message.markup = text, entities, keyboard
    return {**message.json(), "edit_date": message.json()["date"]}


def delete_message(world: World, params: Params) -> Any:
    world.find(params, "delete").deleted = True
    return True


def chat_action(world: World, params: Params) -> Any:
    chat = world.reachable(params)
    if params.get("action") != "typing":
        raise bad("wrong parameter action in request")
    world.actions.append((chat.id, str(params["action"])))
    return True


def answer_callback(world: World, params: Params) -> Any:
    query = str(params.get("callback_query_id") or "")
    if query not in world.queries or world.queries[query] is not None:
        raise bad("query is too old and response timeout expired or query ID is invalid")
    if utf16(str(params.get("text") or "")) > 200:
        raise bad("MESSAGE_TOO_LONG")
    world.queries[query] = {"text": params.get("text") or "", "show_alert": _true(params, "show_alert")}
    return True


def get_file(world: World, params: Params) -> Any:
    file_id = str(params.get("file_id") or "")
    if file_id not in world.files:
        raise bad("wrong file_id or the file is temporarily unavailable")
    size = len(world.files[file_id])
    if size > LARGEST_DOWNLOAD:
        raise bad("file is too big")
    return {"file_id": file_id, "file_unique_id": file_id[-8:], "file_size": size, "file_path": f"voice/{file_id}.oga"}


def set_webhook(world: World, params: Params) -> Any:
    url, secret = str(params.get("url") or ""), str(params.get("secret_token") or "")
    if not url:
        return delete_webhook(world, params)
    parts = urlsplit(url)
    if parts.scheme != "https":
        raise bad("bad webhook: An HTTPS URL must be provided for webhook")
    if (parts.port or 443) not in {80, 88, 443, 8443}:
        raise bad("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443")
    if not re.fullmatch(r"[A-Za-z0-9_-]{0,256}", secret):
        raise bad("secret token contains unallowed characters")
    world.webhook = {
        "url": url, "secret_token": secret, "max_connections": int(params.get("max_connections") or 40),
        "allowed_updates": _json(params, "allowed_updates") or [],
    }  # fmt: skip
    return True


def delete_webhook(world: World, params: Params) -> Any:
    world.webhook = {}
    return True


def webhook_info(world: World, params: Params) -> Any:
    told = {key: value for key, value in world.webhook.items() if key != "secret_token"}
    return {"url": "", "has_custom_certificate": False, "pending_update_count": len(world.updates), **told}


def set_commands(world: World, params: Params) -> Any:
    commands = _json(params, "commands") or []
    for command in commands:
        if not re.fullmatch(r"/?[a-z0-9_]{1,32}", str(command.get("command", ""))):
            raise bad("BOT_COMMAND_INVALID")
        if not 1 <= len(str(command.get("description", ""))) <= 256:
            raise bad("BOT_COMMAND_DESCRIPTION_INVALID")
    world.commands = commands
    return True


METHODS: dict[str, Method] = {
    "getme": lambda world, params: {**BOT, "can_join_groups": True, "can_read_all_group_messages": False},
    "setwebhook": set_webhook, "deletewebhook": delete_webhook, "getwebhookinfo": webhook_info,
    "setmycommands": set_commands, "sendmessage": send_message, "sendmessagedraft": send_draft,
    "editmessagetext": edit_text, "editmessagereplymarkup": edit_markup, "deletemessage": delete_message,
    "sendchataction": chat_action, "answercallbackquery": answer_callback, "getfile": get_file,
}  # fmt: skip
"""By name in lower case: the real server does not mind the case."""
