"""HTML as the Bot API reads it: the text a user sees and its entities, or the complaint the real parser makes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

TYPES = {
    "b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
    "s": "strikethrough", "strike": "strikethrough", "del": "strikethrough", "tg-spoiler": "spoiler", "span": "spoiler",
    "code": "code", "pre": "pre", "a": "text_link", "blockquote": "blockquote", "tg-emoji": "custom_emoji",
}  # fmt: skip
MOST_ENTITIES = 100
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_REFERENCE = re.compile(r"&(?:#x([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([A-Za-z]+));?")
_SPACE = " \t\r\n\0\v"
_LINK = re.compile(r"(?i)(?:https?|tg|ton)://[^\s]+\Z|(?:[\w-]+\.)+[a-z]{2,}(?:[/?#:]\S*)?\Z")


class CannotParse(Exception):
    """The real parser would refuse this text, with these words."""


@dataclass
class Open:
    """A tag that waits for its end."""

    tag: str
    argument: str
    offset: int
    begins: int


@dataclass
class _Reader:
    source: str
    at: int = 0
    seen: list[str] = field(default_factory=list)
    length: int = 0
    open: list[Open] = field(default_factory=list)
    entities: list[dict[str, Any]] = field(default_factory=list)

    def char(self) -> str:
        return self.source[self.at] if self.at < len(self.source) else "\0"

    def bytes_before(self, position: int) -> int:
        return len(self.source[:position].encode())

    def until(self, stops: str) -> str:
        begin = self.at
        while self.at < len(self.source) and self.char() not in stops:
            self.at += 1
        return self.source[begin : self.at]

    def show(self, text: str) -> None:
        self.seen.append(text)
        self.length += utf16(text)

    def complain(self, words: str, position: int) -> CannotParse:
        return CannotParse(f"{words} at byte offset {self.bytes_before(position)}")


def utf16(text: str) -> int:
    """How many UTF-16 units the text has: what Telegram counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def parse_html(source: str) -> tuple[str, list[dict[str, Any]]]:
    """The visible text and its entities, offsets in UTF-16 units."""
    reader = _Reader(source)
    while reader.at < len(source):
        if reader.char() == "&" and (decoded := _reference(reader)):
            reader.show(decoded)
        elif reader.char() != "<":
            reader.show(reader.char())
            reader.at += 1
        elif source[reader.at + 1 : reader.at + 2] == "/":
            _end_tag(reader)
        else:
            _start_tag(reader)
    if reader.open:
        raise CannotParse(f'Can\'t find end tag corresponding to start tag "{reader.open[-1].tag}"')
    for entity in reader.entities:
        if entity["type"] == "code":
            entity.pop("language", None)
    order = sorted(reader.entities, key=lambda entity: (entity["offset"], -entity["length"]))
    return "".join(reader.seen), order


def _reference(reader: _Reader) -> str:
    """The character a reference stands for, or nothing if it is none and stays as it is."""
    found = _REFERENCE.match(reader.source, reader.at)
    if not found:
        return ""
    if found[3]:
        decoded = _NAMED.get(found[3], "")
    else:
        code = int(found[1], 16) if found[1] else int(found[2])
        if 0xD800 <= code <= 0xDFFF:
            raise CannotParse(
                "Text contains invalid Unicode characters after decoding HTML entities, "
                "check for unmatched surrogate code units"
            )
        decoded = chr(code) if 0 < code < 0x10FFFF else ""
    if decoded:
        reader.at = found.end()
    return decoded


def _start_tag(reader: _Reader) -> None:
    begin = reader.at
    reader.at += 1
    tag = reader.until(_SPACE + ">").lower()
    if reader.at >= len(reader.source):
        raise reader.complain("Unclosed start tag", begin)
    if tag not in TYPES:
        raise reader.complain(f'Unsupported start tag "{tag}"', begin)
    argument = ""
    while True:
        _skip_space(reader)
        if reader.char() == ">" and reader.at < len(reader.source):
            break
        argument = _attribute(reader, tag, begin) or argument
    reader.at += 1
    if tag == "span" and argument != "spoiler":
        raise reader.complain('Tag "span" must have class "tg-spoiler"', begin)
    reader.open.append(Open(tag, argument, reader.length, len(reader.seen)))


def _skip_space(reader: _Reader) -> None:
    while reader.at < len(reader.source) and reader.char() in _SPACE:
        reader.at += 1


def _attribute(reader: _Reader, tag: str, begin: int) -> str:
    """What the attribute means for its tag; most mean nothing."""
    name = reader.until(_SPACE + "=>/\"'")
    if not name:
        ended = reader.at >= len(reader.source)
        words = "Unclosed start tag" if ended else f'Empty attribute name in the tag "{tag}"'
        raise reader.complain(words, begin)
    _skip_space(reader)
    if reader.char() != "=":
        if reader.at >= len(reader.source):
            raise reader.complain(f'Unclosed start tag "{tag}"', begin)
        if tag == "blockquote" and name == "expandable":
            return "expandable"
        raise reader.complain(f'Expected equal sign in declaration of an attribute of the tag "{tag}"', begin)
    reader.at += 1
    _skip_space(reader)
    if reader.at >= len(reader.source):
        raise reader.complain(f'Unclosed start tag "{tag}"', begin)
    return _meaning(tag, name, _value(reader, begin))


def _value(reader: _Reader, begin: int) -> str:
    quote = reader.char()
    if quote not in "\"'":
        start = reader.at
        while reader.char().isascii() and (reader.char().isalnum() or reader.char() in ".-"):
            reader.at += 1
        if reader.at >= len(reader.source) or (reader.char() not in _SPACE and reader.char() != ">"):
            raise reader.complain("Unexpected end of name token", start)
        return reader.source[start : reader.at].lower()
    reader.at += 1
    value: list[str] = []
    while reader.at < len(reader.source) and reader.char() != quote:
        if reader.char() == "&" and (decoded := _reference(reader)):
            value.append(decoded)
        else:
            value.append(reader.char())
            reader.at += 1
    reader.at += 1
    if reader.at >= len(reader.source):
        raise reader.complain("Unclosed start tag", begin)
    return "".join(value)


def _meaning(tag: str, name: str, value: str) -> str:
    if (tag, name) in {("a", "href"), ("tg-emoji", "emoji-id")}:
        return value
    if (tag, name) == ("code", "class") and value.startswith("language-"):
        return value.removeprefix("language-")
    if (tag, name) == ("span", "class") and value.startswith("tg-"):
        return value.removeprefix("tg-")
    return ""


def _end_tag(reader: _Reader) -> None:
    begin = reader.at
    if not reader.open:
        raise reader.complain("Unexpected end tag", begin)
    reader.at += 2
    name = reader.until(_SPACE + ">")
    _skip_space(reader)
    if reader.char() != ">":
        raise reader.complain("Unclosed end tag", begin)
    reader.at += 1
    closed = reader.open.pop()
    if name and name != closed.tag:
        offset = reader.bytes_before(begin)
        raise CannotParse(f'Unmatched end tag at byte offset {offset}, expected "</{closed.tag}>", found "</{name}>"')
    if reader.length > closed.offset:
        _add_entity(reader, closed)


def _add_entity(reader: _Reader, closed: Open) -> None:
    place = {"offset": closed.offset, "length": reader.length - closed.offset}
    last = reader.entities[-1] if reader.entities else {}
    same = {key: last.get(key) for key in place} == place
    kind = TYPES[closed.tag]
    if closed.tag == "a":
        url = closed.argument or "".join(reader.seen[closed.begins :])
        if _LINK.match(url):
            reader.entities.append({"type": kind, **place, "url": url})
    elif kind == "pre" and same and last["type"] == "code" and last.get("language"):
        last["type"] = "pre"
    elif kind == "code" and same and last["type"] == "pre" and closed.argument:
        last["language"] = closed.argument
    elif kind == "code":
        reader.entities.append({"type": kind, **place, "language": closed.argument})
    elif kind == "blockquote" and closed.argument:
        reader.entities.append({"type": "expandable_blockquote", **place})
    else:
        reader.entities.append({"type": kind, **place})
