"""Spreadsheets (xlsx, xlsb, xls, ods), by calamine: fast, and written in a language where memory cannot be misused."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import datetime, time
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook, PasswordError

from laneway.channels.attachments.documents.archives import opened
from laneway.channels.attachments.documents.contract import Document, Unreadable, tidied, trimmed


def read(content: bytes, pages: int, characters: int) -> Document:
    """The cells of the first sheets, one line for each row, cells apart by tabs."""
    if content.startswith(b"PK"):
        opened(content).close()
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(content))
        names = book.sheet_names
        text, cut = trimmed(_lines(book, names[:pages]), characters)
    except PasswordError as error:
        raise Unreadable("it is protected by a password") from error
    except (CalamineError, OSError, ValueError) as error:
        raise Unreadable("it is no whole spreadsheet") from error
    return Document(tidied(text), cut or len(names) > pages, {"sheets": len(names)})


def _lines(book: CalamineWorkbook, names: list[str]) -> Iterator[str]:
    for name in names:
        sheet = book.get_sheet_by_name(name)
        yield f"\nSheet {name}\n"
        for row in sheet.iter_rows():
            yield "\t".join(_cell(cell) for cell in row).rstrip() + "\n"


def _cell(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime) and cell.time() == time(0):
        return cell.date().isoformat()
    return " ".join(str(cell).split())
