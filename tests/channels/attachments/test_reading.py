"""Documents, pictures and letters in them are read in a process that can hurt nobody."""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from laneway.channels.attachments.documents.contract import Document, Unreadable
from laneway.channels.attachments.reading import Bounds, Readers, find_tesseract
from laneway.channels.attachments.sniff import sniff
from laneway.channels.attachments.sound import longest_seconds, seconds_of
from laneway.sandbox import landlock
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


async def test_documents_of_every_kind_give_their_text() -> None:
    slides = await read(made.pptx(*(f"point {number}" for number in range(1, 12))))
    assert slides.text.startswith("Slide 1\npoint 1\n")
    assert slides.text.index("point 2") < slides.text.index("point 10")
    assert slides.meta == {"pages": 11}
    sheet = await read(made.xlsx([["item", "price"], ["tea", 2.5], ["cups", 12.0]]))
    assert (sheet.text, sheet.meta) == ("Sheet Budget\nitem\tprice\ntea\t2.5\ncups\t12", {"sheets": 1})
    mail = (await read(made.MAIL, "a.eml")).text
    for words in ("From: Ann <ann@example.org>", "Subject: Café invoice", "pay 40 EUR.", "Attached: invoice.pdf"):
        assert words in mail
    word = made.docx("Dear Ann,", "please pay.", rows=[["item", "price"], ["tea", "2.50"]])
    page = b"<!doctype html><title>Shop</title><script>steal()</script><style>b{}</style><p>Tea <b>2 EUR</b></p>"
    for content, name, text in (
        (word, "", "Dear Ann,\nplease pay.\nitem \tprice\ntea \t2.50"),
        (made.odt("Hello", "see <text:s/>you<text:tab/>soon"), "", "Hello\nsee  you\tsoon"),
        (page, "", "Shop\n\nTea 2 EUR"),
        ("name;price\nKäse;3 €\n".encode(), "a.csv", "name;price\nKäse;3 €"),
        ("Käse".encode("utf-16"), "a.txt", "Käse"),
        ("plain words".encode("utf-16-le"), "a.txt", "plain words"),
        ("Käse für 3 €".encode("cp1252"), "a.txt", "Käse für 3 €"),
    ):
        assert (await read(content, name)).text == text


async def test_a_sheet_with_cells_at_the_ends_of_the_world_needs_too_much_memory() -> None:
    corners = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    found = await complaint(made.xlsx([], more=corners), bounds=Bounds(seconds=10))
    assert found in {"it needs too much memory", "it takes too long to read"}


async def test_a_file_that_takes_too_long_is_given_up() -> None:
    endless = made.pdf(*["many words"] * 10_000)
    assert await complaint(endless, bounds=Bounds(seconds=0.5, pages=10_000)) == "it takes too long to read"


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


def test_the_content_decides_and_a_name_only_among_texts() -> None:
    office, open_document = "application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument.text"
    for content, form, mime in (
        (made.pdf("x"), "pdf", "application/pdf"),
        (made.docx("x"), "docx", f"{office}wordprocessingml.document"),
        (made.pptx("x"), "pptx", f"{office}presentationml.presentation"),
        (made.xlsx([[1.0]]), "sheet", f"{office}spreadsheetml.sheet"),
        (made.odt("x"), "odf", open_document),
        (made.archive({"a.txt": "x"}), "other", "application/zip"),
        (made.picture(form="WEBP"), "image", "image/webp"),
        (made.picture(form="GIF"), "image", "image/gif"),
        (made.wav(), "sound", "audio/wav"),
        (made.opus(), "sound", "audio/ogg"),
        (b"\0\0\0\x18ftypM4A \0\0\0\0", "sound", "audio/mp4"),
        (b"\0\0\0\x18ftypisom\0\0\0\0", "film", "video/mp4"),
        (b"<!DOCTYPE html><p>hi", "text", "text/html"),
        (b"BMW is a car", "text", "text/plain"),
        (b"\x7fELF\x02\x01", "other", "application/x-executable"),
        (b"", "empty", "application/x-empty"),
    ):
        found = sniff(content, "lie.exe", "application/x-lie")
        assert (found.name, found.mime) == (form, mime)
    assert sniff(b"a,b\n1,2", "a.csv").mime == "text/csv"
    assert sniff(b"a,b\n1,2", "a", "text/csv").mime == "text/csv"
    assert sniff(b'{"a": 1}', "a.json").mime == "application/json"
    assert sniff(made.noise(2000), "a.csv", "text/csv").name == "other"


def test_the_length_of_a_recording_is_measured_or_limited() -> None:
    assert seconds_of(made.wav(2.5)) == 2.5
    assert seconds_of(made.opus(7)) == 7.0
    assert seconds_of(b"ID3 something") is None
    assert longest_seconds(bytes(60_000)) == 100


WALLED = """
import os, socket, sys
from laneway.channels.attachments.confinement import confine
confine(5, 400 * 1024 * 1024)
def tried(what):
    try:
        what()
    except (OSError, MemoryError) as error:
        return type(error).__name__
    return "done"
print(tried(lambda: socket.socket()), tried(lambda: open(sys.argv[1]).read()), tried(lambda: open(sys.argv[2], "w")),
      tried(lambda: bytearray(500 * 1024 * 1024)), tried(lambda: os.kill(os.getppid(), 0)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the walls are those of Linux")
def test_a_reader_sees_and_reaches_nothing(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key")
    command = [sys.executable, "-I", "-c", WALLED, str(secret), str(tmp_path / "new")]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    network, reading, writing, memory, signals = ended.stdout.split()
    assert (network, memory, signals) == ("PermissionError", "MemoryError", "PermissionError")
    if landlock.version() >= 1:
        assert (reading, writing) == ("PermissionError", "PermissionError")
        assert not (tmp_path / "new").exists()
