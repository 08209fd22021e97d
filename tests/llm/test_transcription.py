"""Voice notes are written down by a server that speaks OpenAI's protocol, and paid for like every model call."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from laneway.errors import BudgetExceeded, PermanentFault, TransientFault
from laneway.llm.meter import Caps, Meter
from laneway.llm.transcription import Endpoint, Recording, Transcriber
from laneway.settings import Settings
from laneway.store.database import Database
from tests.channels.attachments import made
from tests.servers.transcription_server import TranscriptionServer

WAV = Recording(made.wav(3.0), "voice.wav", "audio/wav", 3.0, True)


async def transcribed(
    db: Database, server: TranscriptionServer, recording: Recording = WAV, model: str = "whisper-1", **more: Any
) -> str:
    pauses: list[float] = more.pop("pauses", [])

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    meter = Meter(db, more.pop("caps", Caps()), more.pop("allow_unknown_price", False))
    listener = Transcriber(Endpoint(server.url, model, more.pop("key", "sk-right-key")), meter, sleep=sleep)
    try:
        return (await listener.transcribe(recording)).text
    finally:
        await listener.close()


async def ledger(db: Database) -> list[tuple[Any, ...]]:
    async with db.transaction() as tx:
        cursor = await tx.execute("SELECT provider, model, state, cost, tokens_total FROM token_ledger ORDER BY id")
        return await cursor.fetchall()


async def test_a_wav_goes_as_multipart_and_comes_back_as_words(db: Database) -> None:
    with TranscriptionServer("restart nginx", api_key="sk-right-key") as server:
        assert await transcribed(db, server) == "restart nginx"
    [heard] = server.heard
    assert heard.content == WAV.content
    assert (heard.name, heard.content_type, heard.model) == ("voice.wav", "audio/wav", "whisper-1")
    assert heard.response_format == "verbose_json"
    # Three seconds at 0.36 USD an hour.
    assert await ledger(db) == [("openai", "whisper-1", "settled", Decimal("0.0003"), 0)]


async def test_newer_models_are_asked_for_plain_json_and_paid_by_token(db: Database) -> None:
    with TranscriptionServer("hello", api_key="sk-right-key") as server:
        note = Recording(made.opus(6), "voice.ogg", "audio/ogg", 6.0, True)
        assert await transcribed(db, server, note, "gpt-4o-mini-transcribe") == "hello"
    assert server.heard[0].response_format == "json"
    [(_, _, state, cost, tokens)] = await ledger(db)
    assert (state, tokens) == ("settled", 62)
    assert cost == Decimal("0.00019")


async def test_a_recording_it_does_not_understand_is_refused_for_good_and_free(db: Database) -> None:
    with TranscriptionServer(api_key="sk-right-key") as server:
        broken = Recording(b"RIFF rubbish", "voice.wav", "audio/wav", 1.0, False)
        with pytest.raises(PermanentFault, match="HTTP 400"):
            await transcribed(db, server, broken)
        with pytest.raises(PermanentFault, match="HTTP 400"):
            await transcribed(db, server, Recording(b"text", "voice.txt", "text/plain", 1.0, False))
    assert server.requests == 2
    assert [(row[2], row[3]) for row in await ledger(db)] == [("released", 0), ("released", 0)]


async def test_a_wrong_key_names_the_setting_and_not_the_key(db: Database) -> None:
    with TranscriptionServer(api_key="sk-right-key") as server, pytest.raises(PermanentFault) as caught:
        await transcribed(db, server, key="sk-wrong-key")
    assert "LANEWAY_TRANSCRIPTION_KEY" in str(caught.value)
    assert "sk-wrong-key" not in str(caught.value)


async def test_a_busy_server_is_asked_again_when_it_said_so(db: Database) -> None:
    pauses: list[float] = []
    with TranscriptionServer("at last", api_key="sk-right-key") as server:
        server.go_wrong(429, retry_after=2)
        server.go_wrong(503)
        assert await transcribed(db, server, pauses=pauses) == "at last"
    assert pauses == [2.0, 1.0]
    assert [row[2] for row in await ledger(db)] == ["released", "released", "settled"]


async def test_a_server_that_stays_down_is_given_up(db: Database) -> None:
    with TranscriptionServer(api_key="sk-right-key") as server:
        server.go_wrong(500, 500, 500, 500)
        with pytest.raises(TransientFault):
            await transcribed(db, server)
    assert server.requests == 3


async def test_a_cut_connection_is_counted_at_its_worst(db: Database) -> None:
    with TranscriptionServer("hello", api_key="sk-right-key") as server:
        server.go_wrong(0)
        assert await transcribed(db, server) == "hello"
    assert [row[2] for row in await ledger(db)] == ["cut", "settled"]


async def test_too_large_a_recording_is_refused(db: Database) -> None:
    with TranscriptionServer(api_key="sk-right-key") as server:
        large = Recording(b"RIFF" + bytes(26 * 1024 * 1024), "voice.wav", "audio/wav", 60.0, True)
        with pytest.raises(PermanentFault, match="too large"):
            await transcribed(db, server, large)


async def test_an_unknown_price_is_refused_unless_allowed(db: Database) -> None:
    with TranscriptionServer("hello", api_key="sk-right-key", models=("my-own-ears",)) as server:
        with pytest.raises(PermanentFault, match="Nobody knows the price"):
            await transcribed(db, server, model="my-own-ears")
        assert server.requests == 0
        assert await transcribed(db, server, model="my-own-ears", allow_unknown_price=True) == "hello"
    assert [(row[2], row[3]) for row in await ledger(db)] == [("settled", 0)]


async def test_no_recording_is_sent_when_the_budget_has_no_room(db: Database) -> None:
    with TranscriptionServer(api_key="sk-right-key") as server, pytest.raises(BudgetExceeded):
        await transcribed(db, server, caps=Caps(day_usd=0.0001))
    assert server.requests == 0


def of(**settings: Any) -> Endpoint | None:
    return Endpoint.of(Settings(home=Path("/nowhere"), **settings))


def test_a_key_goes_only_to_whom_it_was_given_for() -> None:
    assert of() is None
    openai = of(openai_api_key="sk-openai")
    assert openai is not None
    assert (openai.url, openai.key) == ("https://api.openai.com/v1", "sk-openai")
    elsewhere = of(openai_api_key="sk-openai", transcription_url="http://10.0.0.5:9000/v1/")
    assert elsewhere is not None
    assert (elsewhere.url, elsewhere.key) == ("http://10.0.0.5:9000/v1", None)
    own = of(openai_api_key="sk-openai", transcription_url="http://10.0.0.5:9000/v1", transcription_key="own")
    assert own is not None
    assert own.key == "own"
    assert of(openai_api_key="any", openai_base_url="http://127.0.0.1:11434/v1") is None
