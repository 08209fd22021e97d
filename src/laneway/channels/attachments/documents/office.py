"""Word, PowerPoint and OpenDocument texts: XML in an archive, read as a stream; entities and DTDs are refused."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring, iterparse

from laneway.channels.attachments.documents.archives import opened, part
from laneway.channels.attachments.documents.contract import Document, Unreadable, tidied, trimmed

_SLIDE = re.compile(r"ppt/slides/slide(\d+)\.xml")
# Properties define tab stops that are no tabs; a fallback says again what its choice said.
_UNSEEN = frozenset({"pPr", "rPr", "Fallback", "instrText"})
_MARKS = {"p": "\n", "br": "\n", "cr": "\n", "tab": "\t", "tr": "\n"}
_ODF = {"tab": "\t", "line-break": "\n", "s": " "}


def read(content: bytes, form: str, pages: int, characters: int) -> Document:
    """The text of a `docx`, `pptx` or `odf`; of a presentation the first slides."""
    with opened(content) as archive:
        try:
            slides = _slides(archive) if form == "pptx" else []
            pieces = {"docx": _words, "odf": _open_document}.get(form)
            found = pieces(archive) if pieces else _spoken(archive, slides[:pages])
            text, cut = trimmed(found, characters)
        except DefusedXmlException as error:
            raise Unreadable("its XML defines entities, as no honest document does") from error
        except (ParseError, zlib.error, zipfile.BadZipFile, UnicodeDecodeError, EOFError) as error:
            raise Unreadable("its XML is damaged") from error
    meta = {"pages": len(slides)} if slides else {}
    return Document(tidied(text), cut or len(slides) > pages, meta)


def _slides(archive: zipfile.ZipFile) -> list[str]:
    found = [(int(match[1]), name) for name in archive.namelist() if (match := _SLIDE.fullmatch(name))]
    return [name for _, name in sorted(found)]


def _words(archive: zipfile.ZipFile) -> Iterator[str]:
    for name in ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml"):
        yield from _office_text(part(archive, name) or b"")


def _spoken(archive: zipfile.ZipFile, slides: list[str]) -> Iterator[str]:
    for number, name in enumerate(slides, 1):
        yield f"\n\nSlide {number}\n"
        yield from _office_text(part(archive, name) or b"")


def _office_text(xml: bytes) -> Iterator[str]:
    """The words of Microsoft's XML in their order; cells of a table stand side by side."""
    if not xml:
        return
    hidden = cells = 0
    for event, element in iterparse(io.BytesIO(xml), events=("start", "end"), forbid_dtd=True):
        name = _local(element)
        step = 1 if event == "start" else -1
        hidden += step * (name in _UNSEEN)
        cells += step * (name == "tc")
        if event == "end" and not hidden:
            if name == "t":
                yield element.text or ""
            elif name == "tc":
                yield "\t"
            elif name in _MARKS:
                yield " " if cells and name == "p" else _MARKS[name]
        if event == "end" and name in ("p", "tr"):
            element.clear()


def _open_document(archive: zipfile.ZipFile) -> Iterator[str]:
    root = fromstring(part(archive, "content.xml") or b"<none/>", forbid_dtd=True)
    for element in root.iter():
        name = _local(element)
        if name in ("p", "h"):
            yield from _line(element)
            yield "\n"


def _line(element: Element) -> Iterator[str]:
    for inner in element.iter():
        if _local(inner) in _ODF:
            yield _ODF[_local(inner)]
        yield inner.text or ""
        if inner is not element:
            yield inner.tail or ""


def _local(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]
