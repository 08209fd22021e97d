"""Texts of every kind: plain, tables of commas or tabs, JSON, HTML, and letters of the mail."""

from __future__ import annotations

import codecs
import email
from email.message import EmailMessage, MIMEPart
from email.policy import default
from html.parser import HTMLParser

from laneway.channels.attachments.documents.contract import Document, tidied
from laneway.channels.attachments.sniff import SAMPLE, is_utf16

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_UNSEEN = frozenset({"script", "style", "template", "noscript", "svg"})
_BLOCKS = frozenset(
    {"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "title", "section", "article", "blockquote",
     "pre", "table", "ul", "ol", "hr"}
)  # fmt: skip
_HEADERS = ("From", "To", "Cc", "Date", "Subject")
MOST_ATTACHED = 50


def read(content: bytes, mime: str, characters: int) -> Document:
    """The text, as people would see it."""
    if mime in ("text/html", "application/xhtml+xml"):
        text = of_html(decoded(content))
    elif mime == "message/rfc822":
        text = _of_mail(content)
    else:
        text = decoded(content[: characters * 4])
        lines = content.count(b"\n") + (not content.endswith(b"\n"))
        return Document(text[:characters].strip("\n"), len(content) > characters * 4 or len(text) > characters,
                        {"lines": lines})  # fmt: skip
    text = tidied(text)
    return Document(text[:characters], len(text) > characters)


def decoded(content: bytes) -> str:
    """The bytes as text: by their mark, else UTF-8, else the old Western encoding, which takes anything."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content.decode(encoding, "replace").replace("\0", "")
    if is_utf16(content[:SAMPLE]):
        big = content[:SAMPLE:2].count(0) > content[1:SAMPLE:2].count(0)
        return content.decode("utf-16-be" if big else "utf-16-le", "replace").replace("\0", "")
    # A character may have been cut in two at the end.
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        return decoder.decode(content).replace("\0", "")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace").replace("\0", "")


def of_html(html: str) -> str:
    """The text a page shows, hidden parts included but for programs and styles."""
    page = _Page()
    page.feed(html)
    page.close()
    return "".join(page.pieces)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in _UNSEEN
        self.pieces.append("\n" if tag in _BLOCKS else "\t" if tag in ("td", "th") else "")

    def handle_endtag(self, tag: str) -> None:
        self._unseen = max(0, self._unseen - (tag in _UNSEEN))
        self.pieces.append("\n" if tag in _BLOCKS else "")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.pieces.append(" ".join(data.split()) + " " if data.strip() else " ")


def _words(part: MIMEPart) -> str:
    try:
        found = part.get_content()
    except (LookupError, ValueError):
        # It names an encoding that nobody knows.
        found = part.get_payload(decode=True)
    return found if isinstance(found, str) else decoded(found) if isinstance(found, bytes) else ""


def _of_mail(content: bytes) -> str:
    mail = email.message_from_bytes(content, policy=default)
    assert isinstance(mail, EmailMessage)
    lines = [f"{name}: {' '.join(str(mail[name]).split())}" for name in _HEADERS if mail[name]]
    body = mail.get_body(("plain", "html"))
    if body is not None:
        text = _words(body)
        lines += ["", of_html(text) if body.get_content_type() == "text/html" else text]
    names = [part.get_filename() or part.get_content_type() for part in mail.iter_attachments()]
    lines += ["", *(f"Attached: {' '.join(name.split())[:120]}" for name in names[:MOST_ATTACHED])]
    return "\n".join(lines)
