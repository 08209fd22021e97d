"""HTML as the Bot API reads it: the text a user sees and its entities; what it is not sure to take is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

TYPES = {
    "b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "s": "strikethrough",
    "del": "strikethrough", "code": "code", "pre": "pre", "a": "text_link", "blockquote": "blockquote",
}  # fmt: skip
MOST_ENTITIES = 100
_TAG = re.compile(r"""<(/?)([A-Za-z-]*)(?:\s+(?:href|class)=(?:"([^"]*)"|'([^']*)'))?\s*>""")
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_REFERENCE = re.compile(r"&(?:#x([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([A-Za-z]+));?")
_LINK = re.compile(r"(?i)(?:https?|tg|ton)://[^\s]+\Z|(?:[\w-]+\.)+[a-z]{2,}(?:[/?#:]\S*)?\Z")


class CannotParse(Exception):
    """The real parser would refuse this text, with these words."""


@dataclass
class _Open:
    """A tag that waits for its end."""

    tag: str
    argument: str
    offset: int
    begins: int


@dataclass
class _Reader:
    seen: list[str] = field(default_factory=list)
    length: int = 0
    open: list[_Open] = field(default_factory=list)
    entities: list[dict[str, Any]] = field(default_factory=list)

    def start(self, tag: str, argument: str) -> None:
        self.open.append(_Open(tag, argument, self.length, len(self.seen)))

    def end(self, tag: str, place: int) -> None:
        if not self.open:
            raise CannotParse(f"Unexpected end tag at byte offset {place}")
        closed = self.open.pop()
        if tag not in ("", closed.tag):
            words = f'expected "</{closed.tag}>", found "</{tag}>"'
            raise CannotParse(f"Unmatched end tag at byte offset {place}, {words}")
        if self.length > closed.offset:
            self._add(closed)

    def _add(self, closed: _Open) -> None:
        place = {"offset": closed.offset, "length": self.length - closed.offset}
        last = self.entities[-1] if self.entities else {}
        inside = last.get("type") == "code" and {key: last[key] for key in place} == place
        if closed.tag == "a":
            url = closed.argument or "".join(self.seen[closed.begins :])
            if _LINK.match(url):
                self.entities.append({"type": "text_link", **place, "url": url})
        elif closed.tag == "pre" and inside and last["language"]:
            last["type"] = "pre"
        elif closed.tag == "code":
            self.entities.append({"type": "code", **place, "language": closed.argument.removeprefix("language-")})
        else:
            self.entities.append({"type": TYPES[closed.tag], **place})


def utf16(text: str) -> int:
    """How many UTF-16 units the text has: what Telegram counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def parse_html(source: str) -> tuple[str, list[dict[str, Any]]]:
    """The visible text and its entities, offsets in UTF-16 units."""
    reader, at = _Reader(), 0
    while at < len(source):
        tag = _TAG.match(source, at)
        if tag is None and source[at] != "<":
            shown, at = _character(source, at)
            reader.seen.append(shown)
            reader.length += utf16(shown)
            continue
        name, place = tag[2].lower() if tag else "", len(source[:at].encode("utf-8", "surrogatepass"))
        if tag and tag[1]:
            reader.end(name, place)
        elif tag and name in TYPES:
            reader.start(name, _decoded(tag[3] or tag[4] or ""))
        else:
            raise CannotParse(f'Unsupported start tag "{name}" at byte offset {place}')
        at = tag.end()
    if reader.open:
        raise CannotParse(f'Can\'t find end tag corresponding to start tag "{reader.open[-1].tag}"')
    for entity in reader.entities:
        if entity["type"] == "code":
            del entity["language"]
    order = sorted(reader.entities, key=lambda entity: (entity["offset"], -entity["length"]))
    return "".join(reader.seen), order


def _character(source: str, at: int) -> tuple[str, int]:
    """The character that is shown for what stands here, and where the next one begins."""
    found = _REFERENCE.match(source, at)
    if found is None:
        return source[at], at + 1
    if found[3]:
        decoded = _NAMED.get(found[3], "")
    else:
        code = int(found[1], 16) if found[1] else int(found[2])
        if 0xD800 <= code <= 0xDFFF:
            raise CannotParse("Text contains invalid Unicode characters after decoding HTML entities")
        decoded = chr(code) if 0 < code < 0x10FFFF else ""
    return (decoded, found.end()) if decoded else (source[at], at + 1)


def _decoded(text: str) -> str:
    shown, at = [], 0
    while at < len(text):
        character, at = _character(text, at)
        shown.append(character)
    return "".join(shown)
