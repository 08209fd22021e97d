"""Journeys through Telegram: the real aiogram client, a loopback Bot API, and the whole server in between."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from pydantic import SecretStr

from laneway.llm.scripted import Asked, Call, Say, Turn
from tests.journeys.telegram_chat import GROUP, OPERATOR, OWNER, STRANGER, Chat
from tests.journeys.tooling import Counter, Start, calls
from tests.servers.transcription_server import TranscriptionServer


@pytest.mark.parametrize("mode", ["webhook", "polling"])
async def test_who_is_let_in_is_answered_in_their_chat_and_a_stranger_gets_one_word(
    telegram: Start[Chat], mode: str
) -> None:
    async with telegram(mode=mode) as chat:
        await chat.say("what is new?")
        (answer,) = await chat.sees(1)
        assert answer.text == "You said: what is new?"
        await chat.say("and now?")
        assert [one.text for one in await chat.sees(2)][1] == "You said: and now?"
        await chat.say("what is new?", sender=OPERATOR)
        (answer,) = await chat.sees(1, OPERATOR)
        assert answer.text == "You said: what is new?"
        await chat.say("what is new?", sender=STRANGER)
        (told,) = await chat.sees(1, STRANGER)
        assert "private" in told.text
        assert len(await chat.jobs()) == 3
        unsigned = await chat.door.http.post(chat.hook, json={"update_id": 1})
        assert unsigned.status_code == (404 if mode == "polling" else 401)


async def test_in_a_group_only_what_calls_the_bot_is_answered(telegram: Start[Chat]) -> None:
    async with telegram() as chat:
        await chat.say("good morning everybody", chat=GROUP)
        await chat.say("@laneway_test_bot what is new?", chat=GROUP)
        await chat.say("@laneway_test_bot what is new?", chat=GROUP, sender=STRANGER)
        (answer,) = await chat.sees(1, GROUP)
        assert answer.text == "You said: what is new?"
        await chat.say("and now?", chat=GROUP, reply_to_message=answer.json())
        assert len(await chat.sees(2, GROUP)) == 2
        assert len(await chat.jobs()) == 2


async def test_a_destructive_request_is_done_once_when_somebody_who_may_presses_yes(telegram: Start[Chat]) -> None:
    counter = Counter()
    async with telegram(calls(Call("press", {"button": "red"})), [counter.entry(asks=True)]) as chat:
        await chat.say("@laneway_test_bot restart the server web1", chat=GROUP)
        (question,) = await chat.sees(1, GROUP)
        assert [text for row in question.buttons for text, _ in row][:2] == ["Yes", "No"]
        assert await chat.press("Yes", question, sender=STRANGER) not in ("", "Approved.")
        for data in ("a:not-an-id", "x", "a:00000000-0000-0000-0000-000000000000", "s:" + "9" * 60):
            assert await chat.press_data(data, question), "every press is answered"
        (asked,) = (await chat.door.http.get("/approvals")).json()["items"]
        assert asked["state"] == "pending"
        assert counter.done == []
        # A client that hangs sends its press again and again.
        press = chat.telegram.updates.press(question.buttons[0][0][1], question, sender=OWNER)
        assert await chat.bring(press, times=5, at_once=3) == [200] * 5
        assert [one.text for one in await chat.sees(2, GROUP)][1] == "All done."
        await chat.until(lambda: not question.buttons)
        assert "Approved." in question.text
        assert "approved already" in await chat.press_data(f"a:{asked['id']}", question)
        assert counter.done == ["red"]


async def test_a_storm_of_duplicates_is_answered_once_each(telegram: Start[Chat]) -> None:
    async with telegram(messages_per_minute=1000) as chat:
        message = chat.telegram.updates.message
        updates = [message(f"what is item {number}?", sender=OWNER) for number in range(3)]
        updates += [message(f"@laneway_test_bot what is item {number}?", chat=GROUP) for number in (3, 4)]
        assert await chat.bring(*updates, times=5, at_once=3, shuffle=Random(7)) == [200] * 25
        # What is asked last is answered last.
        await chat.say("what is item 5?")
        await chat.say("@laneway_test_bot what is item 6?", chat=GROUP)
        await chat.sees(4)
        await chat.sees(3, GROUP)
        said = sorted(chat.texts() + chat.texts(GROUP))
        assert said == [f"You said: what is item {number}?" for number in range(7)]
        assert len(await chat.jobs()) == 7


async def test_a_voice_note_is_stored_written_down_and_answered(telegram: Start[Chat]) -> None:
    prompts: list[str] = []

    def script(asked: Asked) -> Turn:
        prompts.append(asked.text)
        return Say("I heard you.")

    with TranscriptionServer("how much disk is free?", api_key="sk-voice") as ears:
        listening: dict[str, Any] = {"transcription_url": ears.url, "transcription_key": SecretStr("sk-voice")}
        async with telegram(script, **listening) as chat:
            file_id = chat.telegram.world.file(b"OggS" + bytes(range(256)) * 4)
            voice = {"file_id": file_id, "file_unique_id": "U1", "duration": 2, "mime_type": "audio/ogg"}
            await chat.say(voice=voice)
            (answer,) = await chat.sees(1)
            assert answer.text == "I heard you."
            [job] = await chat.jobs()
            asked = (await chat.door.http.get(f"/messages/{job['message_id']}")).json()
            [stored] = asked["attachments"]
            assert (stored["kind"], stored["name"], stored["mime"]) == ("voice", "voice.ogg", "audio/ogg")
            assert chat.telegram.token not in str(asked)
    assert "how much disk is free?" in prompts[-1]
    assert not any("OggS" in prompt for prompt in prompts)
