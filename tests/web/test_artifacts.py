"""Originals are given out to whoever may have them, to be saved and never to be shown."""

from __future__ import annotations

import hashlib
import os

from tests.web.conftest import Door

PAGE = b"<script>alert(document.cookie)</script>"


async def sent(door: Door, name: str, content: bytes, mime: str) -> str:
    """The reference of a file that was sent with a message."""
    receipt = await door.post("/messages", 202, data={"text": "look"}, files={"files": (name, content, mime)})
    await door.until(receipt["job_id"])
    [attached] = (await door.get(f"/messages/{receipt['message_id']}"))["attachments"]
    ref: str = attached["artifact"]
    assert ref == f"artifact://sha256/{hashlib.sha256(content).hexdigest()}"
    return ref.removeprefix("artifact://sha256/")


async def test_an_original_comes_back_as_it_was_sent(door: Door) -> None:
    for content in (b"%PDF-1.4 small", b"%PDF-1.4 " + os.urandom(150_000)):
        digest = await sent(door, "a.pdf", content, "application/pdf")
        response = await door.http.get(f"/artifacts/{digest}")
        assert (response.status_code, response.content) == (200, content)
        assert response.headers["content-type"] == "application/pdf"
        assert response.headers["content-disposition"] == f'attachment; filename="{digest[:16]}.pdf"'
        on_disk = door.home / "artifacts" / digest[:2] / digest[2:]
        assert on_disk.exists() == (len(content) > 65_536)


async def test_a_page_somebody_sent_is_never_shown_as_one(door: Door) -> None:
    for mime in ("text/html", "image/svg+xml", "application/xhtml+xml", "text/javascript"):
        digest = await sent(door, "page.html", PAGE + mime.encode(), mime)
        response = await door.http.get(f"/artifacts/{digest}")
        assert response.content == PAGE + mime.encode()
        assert response.headers["content-type"] == "application/octet-stream"
        assert response.headers["content-disposition"].startswith("attachment;")
        assert response.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in response.headers["content-security-policy"]


async def test_only_the_owners_key_opens_originals_that_are_there(door: Door) -> None:
    digest = await sent(door, "a.txt", b"mine", "text/plain")
    for role, status in ((None, 401), ("operator", 403), ("customer", 403)):
        async with door.somebody_else(role) as other:
            await other.get(f"/artifacts/{digest}", status)
    assert (await door.get(f"/artifacts/{'0' * 64}", 404))["code"] == "not-found"
    assert (await door.get("/artifacts/ABC", 400))["code"] == "bad-input"
    assert (await door.http.get("/artifacts/..%2f..%2fkey")).status_code == 404
