"""Whether a message in a group is meant for us, and its text without the call."""

from __future__ import annotations

import re
from dataclasses import dataclass

from laneway.channels.telegram.fields import Fields, entities, number, part

COMMANDS = {
    "help": "what I understand",
    "new": "forget what was said so far",
    "status": "what is running and waiting here",
    "budget": "what has been spent, and the caps",
    "stop": "end everything running or waiting here",
    "plan": "say how you would do it, and do nothing",
}
"""The commands a person is offered, with a word on each."""

GROUPS = frozenset({"group", "supergroup"})
_COMMAND = re.compile(r"/(?P<name>[A-Za-z0-9_]{1,32})(?:@(?P<whom>\w{1,64}))?(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Us:
    """Our own account: its id is in the token, its name has to be asked for."""

    id: int
    username: str = ""


def needs_name(message: Fields) -> bool:
    """Whether it cannot be told without our name if this message is meant for us."""
    return part(message, "chat").get("type") in GROUPS and "@" in _said(message)


def addressed(message: Fields, us: Us) -> bool:
    """Whether the message calls us: by our name, by answering us, or by a command of ours."""
    if part(message, "chat").get("type") not in GROUPS:
        return True
    text = _said(message)
    command = _COMMAND.match(text.lstrip())
    if command:
        whom = command["whom"]
        return whom.lower() == us.username.lower() if whom else command["name"].lower() in {*COMMANDS, "start"}
    return _answers(message, us) or _mentions(message, text, us)


def without_call(text: str, us: Us) -> str:
    """The text without our name at its beginning or end."""
    if not us.username:
        return text
    name = rf"@{re.escape(us.username)}(?!\w)"
    text = re.sub(rf"^\s*{name}[\s,:;!–-]*", "", text, flags=re.IGNORECASE)
    return re.sub(rf"[\s,]*(?<!\w){name}\s*$", "", text, flags=re.IGNORECASE)


def answered(message: Fields) -> Fields:
    """The message it answers; in a topic every message seems to answer the one that opened it."""
    earlier = part(message, "reply_to_message")
    return {} if "forum_topic_created" in earlier else earlier


def _answers(message: Fields, us: Us) -> bool:
    return number(part(answered(message), "from"), "id") == us.id


def _mentions(message: Fields, text: str, us: Us) -> bool:
    by_name = us.username and re.search(rf"(?<![\w@])@{re.escape(us.username)}(?!\w)", text, re.IGNORECASE)
    return bool(by_name) or any(
        one.get("type") == "text_mention" and number(part(one, "user"), "id") == us.id for one in entities(message)
    )


def _said(message: Fields) -> str:
    said = message.get("text") or message.get("caption")
    return said if isinstance(said, str) else ""
