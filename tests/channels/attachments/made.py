"""Files as people attach them, made here: honest ones of every kind, and those that are not."""

from __future__ import annotations

import io
import random
import struct
import wave
import zipfile
import zlib
from collections.abc import Mapping, Sequence

from PIL import Image, ImageDraw, ImageFont

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
_OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"


def archive(parts: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as packed:
        for name, content in parts.items():
            packed.writestr(name, content)
    return file.getvalue()


def noise(size: int) -> bytes:
    """Bytes without sense, the same each time: of all that chance can draw, some begin as a sound or a text does."""
    return random.Random(size).randbytes(size)


def pdf(*pages: str) -> bytes:
    """A PDF with one line of text on each page."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    bodies = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 40 700 Td ({text}) Tj ET"
        bodies.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        bodies.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    content, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(bodies, 1):
        places.append(len(content))
        content += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    start = len(content)
    size = len(bodies) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    return bytes(content) + f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode()


def locked_pdf() -> bytes:
    """A PDF that opens with a password only."""
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf("secret"))))
    writer.encrypt("open sesame", algorithm="RC4-128")
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def docx(*paragraphs: str, rows: Sequence[Sequence[str]] = (), before: str = "") -> bytes:
    lines = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    cells = ["".join(f"<w:tc><w:p><w:r><w:t>{cell}</w:t></w:r></w:p></w:tc>" for cell in row) for row in rows]
    table = "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in cells) + "</w:tbl>" if rows else ""
    body = f'<w:document xmlns:w="{_WORD}"><w:body>{lines}{table}</w:body></w:document>'
    return archive({"[Content_Types].xml": "<Types/>", "word/document.xml": f'<?xml version="1.0"?>{before}{body}'})


def pptx(*slides: str) -> bytes:
    parts = {"ppt/presentation.xml": "<p/>"}
    for number, text in enumerate(slides, 1):
        parts[f"ppt/slides/slide{number}.xml"] = f'<s xmlns:a="{_DRAWING}"><a:p><a:r><a:t>{text}</a:t></a:r></a:p></s>'
    return archive(parts)


def xlsx(rows: Sequence[Sequence[str | float]], sheet: str = "Budget", more: str = "") -> bytes:
    def cell(value: str | float) -> str:
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
        return f"<c><v>{value}</v></c>"

    lines = "".join(f"<row>{''.join(cell(value) for value in row)}</row>" for row in rows)
    of_book = "application/vnd.openxmlformats-officedocument.spreadsheetml."
    return archive(
        {
            "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{of_book}sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{of_book}worksheet+xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="r1" Type="{_RELATED}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{_SHEET}" xmlns:r="{_RELATED}"><sheets>'
            f'<sheet name="{sheet}" sheetId="1" r:id="r1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="r1" '
            f'Type="{_RELATED}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_SHEET}"><sheetData>{lines}{more}</sheetData></worksheet>',
        }
    )


def odt(*paragraphs: str) -> bytes:
    lines = "".join(f"<text:p>{text}</text:p>" for text in paragraphs)
    body = f'<office:d xmlns:office="{_OFFICE}" xmlns:text="{_TEXT}">{lines}</office:d>'
    return archive({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": body}, zipfile.ZIP_STORED)


def picture(text: str = "", size: tuple[int, int] = (640, 200), form: str = "PNG", turned: int = 1) -> bytes:
    """A white picture with black letters; `turned` is what a camera says about how it was held."""
    image = Image.new("RGB", size, "white")
    if text:
        ImageDraw.Draw(image).text((20, 60), text, fill="black", font=ImageFont.load_default(60))
    exif = Image.Exif()
    exif[0x0112] = turned
    exif[0x010F] = "SecretCam 3000"
    file = io.BytesIO()
    image.save(file, form, exif=exif)
    return file.getvalue()


def png_header(width: int, height: int) -> bytes:
    """A PNG that claims to be as large as this and holds nothing."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def wav(seconds: float = 1.0, rate: int = 8000) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(b"\0\0" * int(seconds * rate))
    return file.getvalue()


def opus(seconds: float = 6.0) -> bytes:
    """The first and the last page of a voice note as messengers record it, without sound in between."""

    def page(granules: int, body: bytes) -> bytes:
        head = b"OggS" + struct.pack("<BBqIIIB", 0, 0, granules, 1, 0, 0, 1) + bytes([len(body)])
        return head + body

    start = b"OpusHead" + struct.pack("<BBHIhB", 1, 1, 312, 48_000, 0, 0)
    return page(0, start) + page(int(seconds * 48_000) + 312, b"\0" * 100)


def bomb_docx(times: int = 1200) -> bytes:
    """A document of a few hundred KB that unpacks to hundreds of MB."""
    return archive({"word/document.xml": b"<w>" + b"\0" * (100_000 * times)})


BILLION_LAUGHS = (
    '<!DOCTYPE lolz [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + "]>"
)

MAIL = b"""From: Ann <ann@example.org>
To: desk@example.org
Subject: =?utf-8?q?Caf=C3=A9_invoice?=
Date: Mon, 16 Nov 2026 10:00:00 +0000
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=X

--X
Content-Type: text/plain; charset=utf-8

Please pay 40 EUR.
--X
Content-Type: application/pdf
Content-Disposition: attachment; filename="invoice.pdf"

%PDF-
--X--
"""
