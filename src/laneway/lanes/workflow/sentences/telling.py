"""Who is told by what: “e-mail me”, “notify slack”, “alert the ops team”, “send a message to x@y.z”."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from laneway.lanes.workflow.sentences.draft import NotPlanned
from laneway.lanes.workflow.sentences.words import slug, unquoted

_ADDRESS = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
_URL = r"https?://[^\s,;]+"
_BY = r"(?:e-?mail|mail|slack|telegram|whatsapp|webhook|sms|text|phone)"
_KIND = (
    rf"(?:an? |the )?(?:(?P<kind>{_BY}) )?(?:(?P<kind2>{_BY})|messages?|notifications?|notices?|alerts?|warnings?|note)"
)
_WHO = (
    rf"(?!(?:an?|the) (?:{_BY}|message|notification|notice|alert|warning|note)\b)"
    rf"(?:{_ADDRESS}|(?:the |our |my )?[\w#@-]+(?: [\w-]+){{0,2}}?)"
)
_SAYING = r"(?:,? (?:saying|that says|with the (?:text|message|words))[: ]+(?P<text>[\"“'`].+[\"”'`]))?"
_SHAPES = tuple(
    re.compile(shape + _SAYING, re.IGNORECASE)
    for shape in (
        rf"(?:e-?mail|mail)(?: it| this| that)?(?: to)? (?P<who>{_WHO})",
        rf"send (?P<who>{_WHO}) {_KIND}",
        rf"send {_KIND}(?: (?:to|in|on) (?P<who>{_WHO}))?",
        rf"(?:notify|alert|tell|inform|ping|warn|message|let) (?P<who>{_WHO})(?: know)?"
        rf"(?: (?:by|via|on|in|through|over|using) (?P<kind>{_BY}))?",
        r"post (?:it |this |a message |a note )?(?:to|in|on) (?P<who>slack(?: #?[\w-]+)?)",
        rf"(?:call|post to|ping) (?:the )?(?:webhook )?(?P<who>{_URL})",
        r"(?P<kind>slack|telegram|whatsapp) (?P<who>me|us)",
    )
)
_ME = frozenset({"me", "us", "myself", "the owner", "owner"})
_MAIL = frozenset({"email", "e-mail", "mail"})
_CHATS = frozenset({"slack", "telegram", "whatsapp"})
_CANNOT = frozenset({"sms", "text", "phone"})


@dataclass(frozen=True)
class Told:
    """A notify step that is meant, and what to know about it."""

    config: dict[str, Any]
    text: str
    """What it shall say, where that was said; else empty."""
    words: str
    """Who is told by what, for people."""
    name: str
    note: str = ""


def told(said: str) -> Told | None:
    """Who is told by what, if these words say exactly that."""
    for shape in _SHAPES:
        found = shape.fullmatch(said.strip())
        if found is not None:
            groups = found.groupdict()
            by = groups.get("kind") or groups.get("kind2") or ""
            mail = re.match(r"(?:e-?mail|mail)\b", said.strip(), re.IGNORECASE)
            return _made("email" if mail else by.lower(), (groups.get("who") or "").strip(), groups.get("text") or "")
    return None


def _made(by: str, who: str, text: str) -> Told:
    by = "email" if by in _MAIL else by
    if by in _CANNOT or who.lower() in _CANNOT:
        raise NotPlanned(
            "Text messages and calls cannot be sent from here.", "Say e-mail, Slack, Telegram or WhatsApp."
        )
    words = unquoted(text)
    if re.fullmatch(_URL, who):
        return Told({"channel": "webhook", "url": who}, words, f"the webhook {who} is called", "call_webhook")
    first = who.lower().split(" ")[0] if who else ""
    if first in _CHATS:
        by, who = by or first, who[len(first) :].strip()
    elif who.startswith("#"):
        by = by or "slack"
    if re.fullmatch(_ADDRESS, who):
        return Told({"channel": "email", "to": who}, words, f"an e-mail goes to {who}", "send_email")
    return _by_channel(by, who, words)


def _by_channel(by: str, who: str, text: str) -> Told:
    mine = not who or who.lower() in _ME
    if by == "slack":
        config: dict[str, Any] = {"channel": "slack", "url": "$secrets.SLACK_WEBHOOK_URL"}
        place = f" ({who})" if not mine else ""
        note = "Slack is reached by the webhook in the secret SLACK_WEBHOOK_URL."
        if not mine:
            note += f" It decides where that is; `{who}` is only named in the text."
        return Told(config, text, f"Slack is told{place}", "notify_slack", note)
    channel = by or "owner"
    if mine:
        words = {"email": "an e-mail goes to you", "owner": "you are told"}.get(channel, f"you are told by {channel}")
        return Told({"channel": channel}, text, words, {"email": "send_email"}.get(channel, "notify"))
    note = f"No address of `{who}` is known here, so it goes to you by {'e-mail' if channel == 'email' else channel}."
    if channel == "owner":
        note = f"No address of `{who}` is known here, so it goes to you. Say an e-mail address to change that."
    name = f"alert_{slug(who, most=3)}"
    return Told({"channel": channel}, text, f"{who} is told (through you)", name, note)
