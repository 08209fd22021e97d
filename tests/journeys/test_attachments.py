"""What people send along is read before it is judged, and no file keeps a message from being answered."""

from __future__ import annotations

from typing import Any

from laneway.channels.attachments.reading import find_tesseract
from laneway.domain.conversation import IncomingFile
from laneway.domain.job import JobStatus
from laneway.llm.scripted import ScriptedModel, echo
from tests import skips
from tests.channels.attachments import made
from tests.journeys.tooling import Start
from tests.running import Laneway
from tests.servers import OpenAIServer, Say, Script
from tests.servers.transcription_server import TranscriptionServer


async def answered(here: Laneway, *files: IncomingFile, text: str = "what is this?") -> str:
    receipt = await here.send(text, files=files)
    job = await here.until(receipt.job_id, seconds=60)
    assert job.status is JobStatus.DONE
    return (await here.replies(receipt.message_id))[-1].text


def heard_by(server: TranscriptionServer) -> dict[str, Any]:
    return {"transcription_url": server.url, "transcription_key": "sk-voice", "transcription_model": "whisper-1"}


async def rows(here: Laneway, query: str) -> list[tuple[Any, ...]]:
    async with here.app.db.transaction() as tx:
        return await (await tx.execute(query.encode())).fetchall()


async def test_a_voice_note_is_heard_before_it_is_answered_and_charged_to_its_job(start: Start[Laneway]) -> None:
    with TranscriptionServer("how much disk is free?", api_key="sk-voice") as server:
        settings = heard_by(server)
        async with start(ScriptedModel(echo), **settings) as here:
            receipt = await here.send("", files=(IncomingFile("note.wav", "audio/wav", made.wav(3)),))
            job = await here.until(receipt.job_id)
            [reply] = await here.replies(receipt.message_id)
            paid = await rows(here, "SELECT model, job, lane, cost > 0 FROM token_ledger WHERE model = 'whisper-1'")
    assert job.status is JobStatus.DONE
    assert "[voice note, 3 s: how much disk is free?]" in reply.text
    assert reply.meta["sources"] == ["a voice note"]
    assert server.heard[0].content == made.wav(3)
    assert paid == [("whisper-1", job.id, "attachments", True)]


async def test_a_photo_is_described_and_its_letters_are_read(start: Start[Laneway]) -> None:
    if find_tesseract() is None:
        skips.missing("tesseract", "apt-get install tesseract-ocr")
    with OpenAIServer(Script(Say("A white paper with black letters."))) as server:
        settings: dict[str, Any] = {
            "openai_base_url": server.url,
            "openai_api_key": "k",
            "vision_model": "openai:gpt-4.1-mini",
        }
        async with start(ScriptedModel(echo), **settings) as here:
            text = await answered(here, IncomingFile("p.png", "image/png", made.picture("INVOICE 4711")))
    assert "[image, 640×200: A white paper with black letters.; text in it: INVOICE 4711]" in text
    assert len(server.requests) == 1


async def test_hostile_files_yield_notes_and_the_message_is_answered(start: Start[Laneway]) -> None:
    files = [
        IncomingFile("cut.pdf", "application/pdf", made.pdf("hello")[:300]),
        IncomingFile("locked.pdf", "application/pdf", made.locked_pdf()),
        IncomingFile("bomb.docx", "application/octet-stream", made.bomb_docx()),
        IncomingFile("laughs.docx", "application/octet-stream", made.docx("&j;", before=made.BILLION_LAUGHS)),
        IncomingFile("huge.png", "image/png", made.png_header(50_000, 50_000)),
        IncomingFile("empty.csv", "text/csv", b""),
        IncomingFile("good.xlsx", "application/octet-stream", made.xlsx([["tea", 2.5]])),
    ]
    async with start(ScriptedModel(echo)) as here:
        text = await answered(here, *files)
    assert text.count("could not be read: ") == 6
    assert "tea\t2.5" in text


async def test_a_transcription_that_fails_does_not_fail_the_message(start: Start[Laneway]) -> None:
    with TranscriptionServer(api_key="sk-voice") as server:
        server.go_wrong(400)
        settings = heard_by(server)
        async with start(ScriptedModel(echo), **settings) as here:
            text = await answered(here, IncomingFile("note.ogg", "audio/ogg", made.opus(4)))
            spent = await rows(here, "SELECT state FROM token_ledger WHERE model = 'whisper-1'")
    assert "[voice note, 4 s: not transcribed (whisper-1 rejected the request (HTTP 400))]" in text
    assert spent == [("released",)]
