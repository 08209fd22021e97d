"""Voice notes are written down by a server that speaks OpenAI's protocol, and paid for like every model call."""

from __future__ import annotations

from collections.abc import Iterator
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
from tests.llm.conftest import Naps, rows
from tests.servers.transcription_server import TranscriptionServer

WAV = Recording(made.wav(3.0), "voice.wav", "audio/wav", 3.0, True)


@pytest.fixture
def server() -> Iterator[TranscriptionServer]:
    with TranscriptionServer("hello", api_key="sk-right-key") as server:
        yield server


async def transcribed(
    db: Database,
    server: TranscriptionServer,
    recording: Recording = WAV,
    *,
    model: str = "whisper-1",
    key: str = "sk-right-key",
    meter: Meter | None = None,
    naps: Naps | None = None,
) -> str:
    listener = Transcriber(Endpoint(server.url, model, key), meter or Meter(db, Caps()), sleep=naps or Naps())
    try:
        return (await listener.transcribe(recording)).text
    finally:
        await listener.close()


async def states(db: Database) -> list[tuple[Any, ...]]:
    return [(row.state, row.cost, row.tokens_total) for row in await rows(db)]


async def test_a_wav_goes_as_multipart_and_comes_back_as_words(db: Database, server: TranscriptionServer) -> None:
    assert await transcribed(db, server) == "hello"
    [heard] = server.heard
    assert heard.content == WAV.content
    assert (heard.name, heard.content_type, heard.model) == ("voice.wav", "audio/wav", "whisper-1")
    assert heard.response_format == "verbose_json"
    # Three seconds at 0.36 USD an hour.
    assert await states(db) == [("settled", Decimal("0.0003"), 0)]


async def test_newer_models_are_asked_for_plain_json_and_paid_by_token(
    db: Database, server: TranscriptionServer
) -> None:
    note = Recording(made.opus(6), "voice.ogg", "audio/ogg", 6.0, True)
    assert await transcribed(db, server, note, model="gpt-4o-mini-transcribe") == "hello"
    assert server.heard[0].response_format == "json"
    assert await states(db) == [("settled", Decimal("0.00019"), 62)]


async def test_what_is_refused_for_good_is_free_and_the_sentence_names_the_setting_and_not_the_key(
    db: Database, server: TranscriptionServer
) -> None:
    broken = Recording(b"RIFF rubbish", "voice.wav", "audio/wav", 1.0, False)
    large = Recording(b"RIFF" + bytes(26 * 1024 * 1024), "voice.wav", "audio/wav", 60.0, True)
    for recording, sentence in ((broken, "HTTP 400"), (large, "too large")):
        with pytest.raises(PermanentFault, match=sentence):
            await transcribed(db, server, recording)
    with pytest.raises(PermanentFault, match="LANEWAY_TRANSCRIPTION_KEY") as caught:
        await transcribed(db, server, key="sk-wrong-key")
    assert "sk-wrong-key" not in str(caught.value)
    assert server.requests == 3
    assert await states(db) == [("released", 0, 0)] * 3


async def test_a_busy_server_is_asked_again_when_it_said_so_and_given_up_after_three_tries_and_a_cut_call_is_counted(
    db: Database, server: TranscriptionServer
) -> None:
    naps = Naps()
    server.go_wrong(429, retry_after=2)
    server.go_wrong(503)
    assert await transcribed(db, server, naps=naps) == "hello"
    assert naps.seconds == [2.0, 1.0]
    server.go_wrong(500, 500, 500)
    with pytest.raises(TransientFault):
        await transcribed(db, server)
    server.go_wrong(0)
    assert await transcribed(db, server) == "hello"
    assert server.requests == 8
    ended = ["released", "released", "settled", *["released"] * 3, "cut", "settled"]
    assert [state for state, _, _ in await states(db)] == ended


async def test_nothing_is_sent_where_the_budget_has_no_room_or_nobody_knows_the_price_of_what_is_elsewhere(
    db: Database, server: TranscriptionServer
) -> None:
    with pytest.raises(BudgetExceeded):
        await transcribed(db, server, meter=Meter(db, Caps(day_usd=0.0001)))
    elsewhere = Transcriber(Endpoint("https://1.1.1.1/v1", "my-own-ears"), Meter(db, Caps()))
    with pytest.raises(PermanentFault, match="Nobody knows the price"):
        await elsewhere.transcribe(WAV)
    await elsewhere.close()
    assert server.requests == 0
    # What listens on this machine is free.
    assert await transcribed(db, server, model="my-own-ears") == "hello"
    assert [(state, cost) for state, cost, _ in await states(db)] == [("settled", 0)]


def test_a_key_goes_only_to_whom_it_was_given_for() -> None:
    def of(**settings: Any) -> tuple[str, str | None] | None:
        found = Endpoint.of(Settings(home=Path("/nowhere"), **settings))
        return (found.url, found.key) if found else None

    elsewhere = "http://10.0.0.5:9000/v1"
    assert of() is None
    assert of(openai_api_key="sk-openai") == ("https://api.openai.com/v1", "sk-openai")
    assert of(openai_api_key="sk-openai", transcription_url=f"{elsewhere}/") == (elsewhere, None)
    both = of(openai_api_key="sk-openai", transcription_url=elsewhere, transcription_key="own")
    assert both == (elsewhere, "own")
    assert of(openai_api_key="any", openai_base_url="http://127.0.0.1:11434/v1") is None
