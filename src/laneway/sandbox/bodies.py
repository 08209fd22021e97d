"""The body of a reply: no more of it than wanted, whatever it claims to be or unfolds to."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from email.message import Message

import httpx

MOST_BYTES = 1_000_000
_TEXTUAL = ("text/", "application/json", "application/xml", "application/javascript", "application/yaml")
_BINARY = ("image/", "audio/", "video/", "font/", "application/octet-stream", "application/zip", "application/pdf")
_UNFOLD = {"gzip": 31, "x-gzip": 31, "deflate": 15}


@dataclass(frozen=True, slots=True)
class Body:
    """What was kept of a body, and whether there was more."""

    content: bytes
    cut: bool
    mime: str
    charset: str
    encoding: str
    """How it is still packed; empty if it is plain."""

    @property
    def text(self) -> str | None:
        """The body as text; None if it is none."""
        if self.encoding or self.mime.startswith(_BINARY) or b"\0" in self.content[:4096]:
            return None
        try:
            return self.content.decode(self.charset)
        except (LookupError, UnicodeDecodeError):
            text = self.content.decode("utf-8", "replace")
        # Cutting may split one character; more than a few wrong ones are no text at all.
        strange = text.count("�")
        return None if strange > 3 + len(text) // 50 and not self.mime.startswith(_TEXTUAL) else text


async def read(response: httpx.Response, most_bytes: int) -> Body:
    """The first bytes of the body, unpacked no further than that: a small bomb stays small."""
    mime, charset = _type(response.headers.get("content-type", ""))
    encoding = response.headers.get("content-encoding", "").strip().lower().replace("identity", "")
    unfold = zlib.decompressobj(_UNFOLD[encoding]) if encoding in _UNFOLD else None
    kept, taken = bytearray(), 0
    async for chunk in response.aiter_raw():
        taken += len(chunk)
        try:
            kept += unfold.decompress(chunk, most_bytes + 1 - len(kept)) if unfold else chunk
        except zlib.error:
            return Body(bytes(kept[:most_bytes]), True, mime, charset, "" if kept else encoding)
        if len(kept) > most_bytes or taken > 4 * most_bytes:
            return Body(bytes(kept[:most_bytes]), True, mime, charset, "" if unfold else encoding)
    return Body(bytes(kept), False, mime, charset, "" if unfold else encoding)


def _type(header: str) -> tuple[str, str]:
    message = Message()
    message["content-type"] = header if header.isascii() and header.isprintable() else ""
    charset = message.get_content_charset("utf-8")
    return (message.get_content_type() if header else ""), charset
