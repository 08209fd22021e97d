"""PDF, by pypdf: written in Python, so that a broken file can break nothing but its reading."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from itertools import islice

from pypdf import PageObject, PdfReader
from pypdf.errors import DependencyError, PyPdfError

from laneway.channels.attachments.documents.contract import Document, Unreadable, tidied, trimmed

# What a page that is not as it should be makes of the library's assumptions.
_BROKEN = (PyPdfError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError)
LOCKED = "it is protected by a password"


def read(content: bytes, pages: int, characters: int) -> Document:
    """The text of the first pages."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(content), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable(LOCKED)
        count = len(reader.pages)
    except DependencyError as error:
        # Its cipher needs a library for secrets; people have given it a password then.
        raise Unreadable(LOCKED) from error
    except _BROKEN as error:
        raise Unreadable("it is no whole PDF") from error
    broken: list[int] = []
    text, cut = trimmed(_texts(islice(reader.pages, pages), broken), characters)
    if len(broken) == min(count, pages):
        raise Unreadable("none of its pages can be read")
    meta = {"pages": count} | ({"broken_pages": broken} if broken else {})
    return Document(tidied(text), cut or count > pages, meta)


def _texts(pages: Iterator[PageObject], broken: list[int]) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        try:
            yield next(pages).extract_text() + "\n\n"
        except StopIteration:
            return
        except _BROKEN:
            broken.append(number)
            if len(broken) > 1000:
                return
