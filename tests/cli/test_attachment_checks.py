"""The doctor knows who listens, looks and reads, and whether originals can be kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from laneway.cli.attachment_checks import attachments, documents, letters, transcription, vision
from laneway.cli.checks import Finding
from laneway.settings import Settings
from tests.servers.s3_server import S3Server
from tests.servers.transcription_server import TranscriptionServer


async def found(home: Path, **settings: Any) -> dict[str, Finding]:
    return {one.check: one async for one in attachments(Settings(home=home, **settings))}


async def test_without_keys_everything_is_stored_and_the_doctor_says_what_is_not_done(tmp_path: Path) -> None:
    checks = await found(tmp_path)
    assert checks["voice notes"].says == "They are stored and not transcribed."
    assert "not described" in checks["images"].says
    assert (checks["documents"].state, checks["originals"].state) == ("ok", "ok")
    assert f"will be kept in {tmp_path / 'artifacts'}." in checks["originals"].says
    assert not (tmp_path / "artifacts").exists()
    (tmp_path / "artifacts").write_text("no folder")
    assert (await found(tmp_path))["originals"].state == "fail"


async def test_a_key_is_tried_and_never_shown(tmp_path: Path) -> None:
    with TranscriptionServer(api_key="sk-secret-key") as server:
        right = await found(tmp_path, transcription_url=server.url, transcription_key="sk-secret-key")
        wrong = await found(tmp_path, transcription_url=server.url, transcription_key="sk-other-key")
    assert right["voice notes"].says == f"gpt-4o-mini-transcribe at {server.url} writes them down."
    assert wrong["voice notes"].state == "fail"
    assert "connection" in (await found(tmp_path, transcription_url=server.url))["voice notes"].says
    images = await found(tmp_path, anthropic_api_key="sk-ant-secret")
    assert images["images"].says == "anthropic:claude-haiku-5-5 describes them."
    assert "sk-" not in f"{wrong} {images}"


async def test_a_bucket_is_really_written_to(tmp_path: Path) -> None:
    with S3Server("files", key_id="AKIA1", secret="s3cret") as server:
        settings = {"artifacts_url": "s3://files", "artifacts_endpoint": server.url, "artifacts_key_id": "AKIA1"}
        right = (await found(tmp_path, **settings, artifacts_secret="s3cret"))["originals"]
        wrong = (await found(tmp_path, **settings, artifacts_secret="other"))["originals"]
    assert (right.state, right.says) == ("ok", "Large files are kept in the bucket files.")
    assert wrong.state == "fail"
    assert "s3cret" not in wrong.says
    assert (await found(tmp_path, artifacts_url="ftp://x"))["originals"].state == "fail"


def test_what_is_missing_has_the_line_that_installs_it() -> None:
    assert "apt install tesseract-ocr" in letters(None, ()).fix
    assert letters("/usr/bin/tesseract", ()).state == "warn"
    assert "laneway[documents]" in documents(["pypdf"]).fix
    assert "PDF" in documents(["pypdf"]).says
    assert "LANEWAY_VISION_MODEL" in vision(None, True).fix
    assert vision(None, False).fix == ""
    assert transcription("http://127.0.0.1:9000/v1", "whisper-1").state == "ok"
