"""What a file really is: told by its bytes; its name and declared type only choose among kinds of text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

SAMPLE = 64 * 1024
_OFFICE = {
    b"word/document.xml": ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    b"xl/workbook.xml": ("sheet", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    b"xl/workbook.bin": ("sheet", "application/vnd.ms-excel.sheet.binary.macroenabled.12"),
    b"ppt/presentation.xml": ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
}
_OPEN_DOCUMENT = b"application/vnd.oasis.opendocument."
_STARTS: tuple[tuple[bytes, str, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image", "image/png"),
    (b"\xff\xd8\xff", "image", "image/jpeg"),
    (b"GIF87a", "image", "image/gif"),
    (b"GIF89a", "image", "image/gif"),
    (b"BM", "image", "image/bmp"),
    (b"II*\x00", "image", "image/tiff"),
    (b"MM\x00*", "image", "image/tiff"),
    (b"OggS", "sound", "audio/ogg"),
    (b"fLaC", "sound", "audio/flac"),
    (b"ID3", "sound", "audio/mpeg"),
    (b"#!AMR", "sound", "audio/amr"),
    (b"\x1aE\xdf\xa3", "film", "video/webm"),
    (b"{\\rtf", "rtf", "application/rtf"),
    (b"\x1f\x8b", "other", "application/gzip"),
    (b"\x7fELF", "other", "application/x-executable"),
    (b"7z\xbc\xaf\x27\x1c", "other", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "other", "application/vnd.rar"),
)
_TEXTS = {
    ".csv": "text/csv", ".tsv": "text/tab-separated-values", ".json": "application/json", ".html": "text/html",
    ".htm": "text/html", ".eml": "message/rfc822", ".xml": "application/xml", ".md": "text/markdown",
}  # fmt: skip
_KNOWN_TEXTS = {*_TEXTS.values(), "text/plain", "application/xhtml+xml"}
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r\f\x1b")


@dataclass(frozen=True, slots=True)
class Form:
    """What a file is: its form decides how it is read, its mime type is what others call it."""

    name: str
    mime: str


EMPTY = Form("empty", "application/x-empty")


def sniff(content: bytes, name: str = "", said: str = "") -> Form:
    """The form of the content; `name` and `said`, the declared mime type, are believed only about texts."""
    if not content:
        return EMPTY
    for start, form, mime in _STARTS:
        if content.startswith(start) and (start != b"BM" or _is_bitmap(content)):
            return Form(form, mime)
    if content[:4] == b"RIFF":
        kind = {b"WAVE": ("sound", "audio/wav"), b"WEBP": ("image", "image/webp")}.get(content[8:12])
        return Form(*kind) if kind else Form("other", "application/octet-stream")
    if content[4:8] == b"ftyp":
        return _of_brand(content[8:12], said)
    if content[:2] in (b"\xff\xfb", b"\xff\xf3", b"\xff\xf2", b"\xff\xf1", b"\xff\xf9"):
        return Form("sound", "audio/mpeg" if content[1] & 0x02 else "audio/aac")
    # The standard lets other things stand before it, and so could a mail that brings one.
    if content[:1024].lstrip()[:5] == b"%PDF-" or (b"%PDF-" in content[:1024] and _is_called_pdf(name, said)):
        return Form("pdf", "application/pdf")
    if content.startswith(b"PK"):
        return _of_archive(content)
    if content.startswith(_OLD_OFFICE):
        return _of_old_office(content, name)
    return Form("text", _of_text(content, name, said)) if is_text(content) else Form("other", _binary(said))


def _is_called_pdf(name: str, said: str) -> bool:
    return said == "application/pdf" or name.lower().endswith(".pdf")


def is_text(content: bytes) -> bool:
    """Whether people could read it; a few NULs and control characters do not make a text a program."""
    sample = content[:SAMPLE]
    if sample.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")) or is_utf16(sample):
        return True
    strange = len(sample) - len(sample.translate(None, _CONTROLS))
    return strange * 20 <= len(sample)


def is_utf16(sample: bytes) -> bool:
    """Whether every second byte is NUL, as in UTF-16 without its mark."""
    half = len(sample) // 2
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    return half >= 4 and max(even, odd) * 10 > half * 7 and min(even, odd) * 10 < half


def _is_bitmap(content: bytes) -> bool:
    return len(content) > 26 and content[14:18] in (b"\x28\0\0\0", b"\x0c\0\0\0", b"\x6c\0\0\0", b"\x7c\0\0\0")


def _of_brand(brand: bytes, said: str) -> Form:
    if brand in (b"heic", b"heix", b"mif1", b"msf1", b"avif"):
        return Form("image", "image/avif" if brand == b"avif" else "image/heic")
    spoken = brand in (b"M4A ", b"M4B ") or said.startswith("audio/")
    return Form("sound", "audio/mp4") if spoken else Form("film", "video/mp4")


def _of_archive(content: bytes) -> Form:
    # Looked at as bytes only: a directory of a million entries is the business of the process that reads it.
    if b"PK\5\6" not in content[-70_000:]:
        return Form("broken archive", "application/zip")
    kind = content[38:138].split(b"PK")[0] if content[30:38] == b"mimetype" else b""
    if kind.startswith(_OPEN_DOCUMENT):
        return Form("sheet" if b"spreadsheet" in kind else "odf", kind.decode("ascii", "replace").strip())
    for part, found in _OFFICE.items():
        if part in content:
            return Form(*found)
    return Form("other", "application/zip")


def _of_old_office(content: bytes, name: str) -> Form:
    if "EncryptedPackage".encode("utf-16-le") in content:
        return Form("locked", "application/x-ole-storage")
    if "Workbook".encode("utf-16-le") in content or PurePosixPath(name).suffix.lower() == ".xls":
        return Form("sheet", "application/vnd.ms-excel")
    return Form("old office", "application/x-ole-storage")


def _of_text(content: bytes, name: str, said: str) -> str:
    by_name = _TEXTS.get(PurePosixPath(name).suffix.lower())
    if by_name or said in _KNOWN_TEXTS:
        return by_name or said
    start = content[:1000].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return "text/html" if start.startswith((b"<!doctype html", b"<html")) else "text/plain"


def _binary(said: str) -> str:
    # Whoever calls bytes a text, an image or a document is wrong, or the bytes are broken.
    family = said.partition("/")[0]
    return said if said and family not in ("text", "image", "audio") else "application/octet-stream"
