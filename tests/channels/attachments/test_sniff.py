"""Files are what their bytes say, how large and how long they say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from laneway.channels.attachments.pixels import size_of
from laneway.channels.attachments.sniff import sniff
from laneway.channels.attachments.sound import longest_seconds, seconds_of
from laneway.sandbox import landlock
from tests.channels.attachments import made


@pytest.mark.parametrize(
    ("content", "form", "mime"),
    [
        (made.pdf("x"), "pdf", "application/pdf"),
        (made.docx("x"), "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        (made.pptx("x"), "pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
        (made.xlsx([[1.0]]), "sheet", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        (made.odt("x"), "odf", "application/vnd.oasis.opendocument.text"),
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
    ],
)
def test_the_content_decides(content: bytes, form: str, mime: str) -> None:
    found = sniff(content, "lie.exe", "application/x-lie")
    assert (found.name, found.mime) == (form, mime)


def test_a_name_decides_only_among_texts() -> None:
    assert sniff(b"a,b\n1,2", "a.csv").mime == "text/csv"
    assert sniff(b"a,b\n1,2", "a", "text/csv").mime == "text/csv"
    assert sniff(b'{"a": 1}', "a.json").mime == "application/json"
    assert sniff(made.noise(2000), "a.csv", "text/csv").name == "other"


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP", "BMP"])
def test_the_size_of_an_image_is_read_from_its_head(form: str) -> None:
    assert size_of(made.picture(size=(123, 45), form=form)) == (123, 45)


def test_broken_heads_have_no_size_and_no_length() -> None:
    for content in (b"\x89PNG", b"\xff\xd8\xff\xe0\0", b"RIFF\0\0\0\0WEBPVP8 ", b"GIF89a", b"BM", b"OggS", b"RIFF"):
        assert size_of(content) is None
        assert seconds_of(content) is None


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
