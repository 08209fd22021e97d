"""Documents, pictures and letters in them are read in a process that can hurt nobody."""

from __future__ import annotations

import asyncio
import io
import time
import zipfile

import pytest
from PIL import Image

from laneway.channels.attachments.documents.contract import Document, Unreadable
from laneway.channels.attachments.reading import Bounds, Readers, find_tesseract
from laneway.channels.attachments.sniff import sniff
from tests import skips
from tests.channels.attachments import made

READERS = Bounds(seconds=60)
"""More than it takes to start a process and to read a few pages, however busy the machine is."""


async def read(content: bytes, name: str = "", said: str = "", bounds: Bounds = READERS) -> Document:
    form = sniff(content, name, said)
    return await Readers(bounds).text(content, form.name, form.mime)


async def complaint(content: bytes, name: str = "", bounds: Bounds = READERS) -> str:
    with pytest.raises(Unreadable) as caught:
        await read(content, name, bounds=bounds)
    return str(caught.value)


async def test_a_pdf_gives_its_text_page_by_page() -> None:
    found = await read(made.pdf("Invoice 4711", "Total 40 EUR"))
    assert found.text == "Invoice 4711\n\nTotal 40 EUR"
    assert found.meta == {"pages": 2}
    assert not found.cut


async def test_no_more_pages_and_characters_are_read_than_allowed() -> None:
    some = await read(made.pdf("one", "two", "three"), bounds=Bounds(pages=2))
    assert some.text == "one\n\ntwo"
    assert some.cut
    few = await read(made.docx("x" * 5000), bounds=Bounds(characters=100))
    assert len(few.text) == 100
    assert few.cut


async def test_a_word_document_gives_its_paragraphs_and_tables() -> None:
    found = await read(made.docx("Dear Ann,", "please pay.", rows=[["item", "price"], ["tea", "2.50"]]))
    assert found.text == "Dear Ann,\nplease pay.\nitem \tprice\ntea \t2.50"


async def test_a_presentation_gives_its_slides_in_order() -> None:
    found = await read(made.pptx(*(f"point {number}" for number in range(1, 12))))
    assert found.text.startswith("Slide 1\npoint 1\n")
    assert found.text.index("point 2") < found.text.index("point 10")
    assert found.meta == {"pages": 11}


async def test_a_spreadsheet_gives_its_cells() -> None:
    found = await read(made.xlsx([["item", "price"], ["tea", 2.5], ["cups", 12.0]]))
    assert found.text == "Sheet Budget\nitem\tprice\ntea\t2.5\ncups\t12"
    assert found.meta == {"sheets": 1}


async def test_an_open_document_gives_its_paragraphs() -> None:
    assert (await read(made.odt("Hello", "see <text:s/>you<text:tab/>soon"))).text == "Hello\nsee  you\tsoon"


async def test_texts_are_read_whatever_their_encoding() -> None:
    assert (await read("name;price\nKäse;3 €\n".encode(), "a.csv")).text == "name;price\nKäse;3 €"
    assert (await read("Käse".encode("utf-16"), "a.txt")).text == "Käse"
    assert (await read("plain words".encode("utf-16-le"), "a.txt")).text == "plain words"
    assert (await read("Käse für 3 €".encode("cp1252"), "a.txt")).text == "Käse für 3 €"


async def test_a_page_gives_what_it_shows_and_no_programs() -> None:
    page = b"<!doctype html><title>Shop</title><script>steal()</script><style>b{}</style><p>Tea <b>2 EUR</b></p>"
    assert (await read(page)).text == "Shop\n\nTea 2 EUR"


async def test_a_mail_gives_who_wrote_what_and_the_names_of_what_was_attached() -> None:
    text = (await read(made.MAIL, "a.eml")).text
    assert "From: Ann <ann@example.org>" in text
    assert "Subject: Café invoice" in text
    assert "Please pay 40 EUR." in text
    assert "Attached: invoice.pdf" in text


async def test_a_pdf_that_is_cut_off_is_no_whole_pdf() -> None:
    assert await complaint(made.pdf("hello")[:300]) in {"it is no whole PDF", "none of its pages can be read"}
    assert await complaint(b"%PDF-1.7\n" + made.noise(2000)) == "it is no whole PDF"


async def test_a_locked_pdf_says_so() -> None:
    assert await complaint(made.locked_pdf()) == "it is protected by a password"


@pytest.mark.alone
async def test_a_zip_bomb_is_not_unpacked() -> None:
    bomb = made.bomb_docx()
    assert len(bomb) < 200_000
    began = time.monotonic()
    assert await complaint(bomb) == "it unpacks to far more than it should"
    assert time.monotonic() - began < 5


async def test_many_small_entries_are_a_bomb_too() -> None:
    parts = {f"word/{number}": "" for number in range(6000)}
    assert "it holds 6,001 files" in await complaint(made.archive({"word/document.xml": "<a/>", **parts}))


async def test_a_billion_laughs_are_not_laughed() -> None:
    assert await complaint(made.docx("&j;", before=made.BILLION_LAUGHS)) == (
        "its XML defines entities, as no honest document does"
    )


async def test_a_sheet_with_cells_at_the_ends_of_the_world_needs_too_much_memory() -> None:
    corners = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    huge = _with_rows(made.xlsx([[1.0]]), corners)
    found = await complaint(huge, bounds=Bounds(seconds=10))
    assert found in {"it needs too much memory", "it takes too long to read"}


def _with_rows(content: bytes, rows: str) -> bytes:
    name = "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        parts = {entry: old.read(entry) for entry in old.namelist()}
    sheet = parts[name].decode()
    start, end = sheet.index("<row>"), sheet.index("</sheetData>")
    return made.archive({**parts, name: (sheet[:start] + rows + sheet[end:]).encode()})


@pytest.mark.alone
async def test_a_file_that_takes_too_long_is_given_up() -> None:
    endless = made.pdf(*["many words"] * 40_000)
    began = time.monotonic()
    assert await complaint(endless, bounds=Bounds(seconds=1, pages=40_000)) == "it takes too long to read"
    assert time.monotonic() - began < 6


async def test_nothing_of_a_reader_lives_on_when_its_job_is_stopped() -> None:
    task = asyncio.create_task(read(made.pdf(*["many words"] * 400), bounds=Bounds(pages=400, seconds=30)))
    async with asyncio.timeout(25):
        while not _workers():
            await asyncio.sleep(0.02)
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert _workers() == []


def _workers() -> list[str]:
    import psutil

    found = []
    for child in psutil.Process().children():
        try:
            found += [" ".join(child.cmdline())] if child.status() != psutil.STATUS_ZOMBIE else []
        except psutil.NoSuchProcess:
            continue
    return [line for line in found if "attachments.worker" in line]


async def test_a_picture_is_made_small_upright_and_forgets_its_camera() -> None:
    photo = made.picture(size=(3000, 1000), form="JPEG", turned=6)
    assert b"SecretCam" in photo
    ready = await Readers(READERS).picture(photo, 1500)
    assert ready is not None
    assert (ready.width, ready.height) == (1000, 3000)
    assert b"SecretCam" not in ready.content
    with Image.open(io.BytesIO(ready.content)) as shown:
        assert shown.size == (500, 1500)
        assert not shown.getexif()


async def test_a_picture_with_too_many_pixels_is_not_decoded() -> None:
    with pytest.raises(Unreadable, match="50,000 × 50,000 pixels"):
        await Readers(READERS).picture(made.png_header(50_000, 50_000), 1500)


async def test_broken_pictures_say_so() -> None:
    whole = made.picture("hello", form="JPEG")
    for content in (whole[: len(whole) // 2], made.png_header(100, 100), b"\x89PNG\r\n\x1a\n" + made.noise(100)):
        with pytest.raises(Unreadable, match=r"damaged|no picture"):
            await Readers(READERS).picture(content, 1500)


async def test_letters_in_a_picture_are_read() -> None:
    tesseract = find_tesseract()
    if tesseract is None:
        skips.missing("tesseract", "apt-get install tesseract-ocr")
    readers = Readers(READERS, tesseract)
    ready = await readers.picture(made.picture("INVOICE 4711"), 3000, gray=True)
    assert ready is not None
    assert await readers.letters(ready.content) == "INVOICE 4711"
    with pytest.raises(Unreadable):
        await readers.letters(b"no picture at all")
