"""Journeys through Telegram: the real aiogram client, a loopback Bot API, and the whole server in between."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pydantic import SecretStr

from laneway.channels.telegram.view import WORKING
from laneway.lanes.tools import ToolEntry
from laneway.llm.scripted import Asked, Call, Delay, Say, Turn
from tests.journeys.telegram_chat import GROUP, OPERATOR, OWNER, STRANGER, Chat, on_telegram
from tests.journeys.tooling import Counter, calls, too_late
from tests.servers.telegram_server import Flood
from tests.servers.transcription_server import TranscriptionServer


@pytest.mark.parametrize("mode", ["webhook", "polling"])
async def test_a_question_is_answered_in_its_chat(database_url: str, tmp_path: Path, mode: str) -> None:
    async with on_telegram(database_url, tmp_path, mode=mode) as chat:
        await chat.say("what is new?")
        (answer,) = await chat.sees(1)
        assert answer.text == "You said: what is new?"
        await chat.say("and now?")
        assert [one.text for one in await chat.sees(2)][1] == "You said: and now?"


async def test_a_stranger_gets_one_word_and_nothing_done(database_url: str, tmp_path: Path) -> None:
    async with on_telegram(database_url, tmp_path) as chat:
        await chat.say("what is new?", sender=STRANGER)
        (told,) = await chat.sees(1, STRANGER)
        assert "private" in told.text
        assert await chat.jobs() == []


async def test_in_a_group_only_what_calls_the_bot_is_answered(database_url: str, tmp_path: Path) -> None:
    async with on_telegram(database_url, tmp_path) as chat:
        await chat.say("good morning everybody", chat=GROUP)
        await chat.say("@laneway_test_bot what is new?", chat=GROUP)
        await chat.say("@laneway_test_bot what is new?", chat=GROUP, sender=STRANGER)
        (answer,) = await chat.sees(1, GROUP)
        assert answer.text == "You said: what is new?"
        await chat.say("and now?", chat=GROUP, reply_to_message=answer.json())
        assert len(await chat.sees(2, GROUP)) == 2
        assert len(await chat.jobs()) == 2


async def test_topics_are_answered_where_they_are(database_url: str, tmp_path: Path) -> None:
    async with on_telegram(database_url, tmp_path) as chat:
        chat.telegram.world.chat(GROUP).topics = {7}
        await chat.say("/status", chat=GROUP, message_thread_id=7, is_topic_message=True)
        await chat.say("/status", chat=GROUP)
        assert {message.topic for message in await chat.sees(2, GROUP)} == {7, None}
        threads = (await chat.door.http.get("/threads")).json()["items"]
        assert {one["external_id"] for one in threads} == {f"{GROUP}/7", f"{GROUP}/1"}


# Approvals


async def test_a_destructive_request_is_asked_about_and_done_when_it_is_approved(
    database_url: str, tmp_path: Path
) -> None:
    counter = Counter()
    script = calls(Call("press", {"button": "red"}))
    async with on_telegram(database_url, tmp_path, script, [counter.entry(asks=True)]) as chat:
        await chat.say("restart the server web1")
        (question,) = await chat.sees(1)
        assert [text for row in question.buttons for text, _ in row][:2] == ["Yes", "No"]
        assert counter.done == []
        assert await chat.press("Yes", question) == "Approved."
        shown = await chat.sees(2)
        assert shown[1].text == "All done."
        assert counter.done == ["red"]
        await chat.until(lambda: not question.buttons)
        assert "Approved." in question.text
        # The same press once more, as a client that hangs might send it.
        assert "approved already" in await chat.press_data(f"a:{(await _approvals(chat))[0]['id']}", question)
        assert counter.done == ["red"]


async def test_a_rejected_request_is_not_done(database_url: str, tmp_path: Path) -> None:
    counter = Counter()
    script = calls(Call("press", {"button": "red"}))
    async with on_telegram(database_url, tmp_path, script, [counter.entry(asks=True)]) as chat:
        await chat.say("restart the server web1")
        (question,) = await chat.sees(1)
        assert await chat.press("No", question) == "Rejected."
        await chat.sees(2)
        assert counter.done == []
        await chat.until(lambda: not question.buttons)


async def test_a_member_of_the_group_who_may_not_is_refused(database_url: str, tmp_path: Path) -> None:
    counter = Counter()
    script = calls(Call("press", {"button": "red"}))
    async with on_telegram(database_url, tmp_path, script, [counter.entry(asks=True)]) as chat:
        await chat.say("@laneway_test_bot restart the server web1", chat=GROUP)
        (question,) = await chat.sees(1, GROUP)
        assert await chat.press("Yes", question, sender=STRANGER) not in ("", "Approved.")
        assert (await _approvals(chat))[0]["state"] == "pending"
        assert counter.done == []
        assert await chat.press("Yes", question, sender=OWNER) == "Approved."
        await chat.sees(2, GROUP)
        assert counter.done == ["red"]


async def test_an_expired_button_says_so(database_url: str, tmp_path: Path) -> None:
    counter = Counter()
    script = calls(Call("press", {"button": "red"}))
    async with on_telegram(database_url, tmp_path, script, [counter.entry(asks=True)]) as chat:
        await chat.say("restart the server web1")
        (question,) = await chat.sees(1)
        data = question.buttons[0][0][1]
        await chat.on_record()
        await too_late(database_url)
        await chat.until(lambda: not question.buttons)
        assert "expired" in await chat.press_data(data, question)
        assert counter.done == []


@pytest.mark.parametrize("data", ["a:not-an-id", "x", "a:00000000-0000-0000-0000-000000000000", "s:" + "9" * 60])
async def test_invented_buttons_do_nothing_and_are_answered(database_url: str, tmp_path: Path, data: str) -> None:
    async with on_telegram(database_url, tmp_path) as chat:
        await chat.say("what is new?")
        (answer,) = await chat.sees(1)
        assert await chat.press_data(data, answer)


async def _approvals(chat: Chat) -> list[dict[str, Any]]:
    return list((await chat.door.http.get("/approvals")).json()["items"])


# What is live


def sleeper() -> ToolEntry:
    async def sleep_long() -> dict[str, str]:
        """Takes its time."""
        await asyncio.sleep(60)
        return {"status": "success"}

    return ToolEntry(sleep_long)


@pytest.mark.slow
async def test_a_long_job_is_stopped_by_its_button(database_url: str, tmp_path: Path) -> None:
    async with on_telegram(database_url, tmp_path, calls(Call("sleep_long")), [sleeper()]) as chat:
        await chat.say("what does it say?")
        status = await chat.status()
        assert status.text == WORKING
        await chat.until(lambda: len(chat.telegram.world.actions) >= 2)
        assert await chat.press("Stop", status) == "Stopping."
        (stopped,) = await chat.sees(1)
        assert stopped.text.startswith("Stopped.")
        assert status.deleted
        assert (await chat.jobs())[0]["status"] == "cancelled"
        actions = len(chat.telegram.world.actions)
        await asyncio.sleep(5)
        assert len(chat.telegram.world.actions) == actions
        assert len(chat.telegram.world.shown(OWNER)) == 1


async def test_an_answer_is_seen_as_it_grows_and_nothing_comes_after_it(database_url: str, tmp_path: Path) -> None:
    words = "one two three four five six seven eight nine ten"

    def slowly(asked: Asked) -> Turn:
        return Delay(Say(words), per_piece=0.45)

    async with on_telegram(database_url, tmp_path, slowly) as chat:
        await chat.say("what is new?")
        (answer,) = await chat.sees(1)
        assert answer.text == words
        assert chat.telegram.world.actions[0] == (OWNER, "typing")
        drafts = [text for _, _, text in chat.telegram.world.drafts]
        assert len(drafts) >= 2
        assert all(words.startswith(text) for text in drafts)
        sent = chat.telegram.called("sendMessage")[-1].at
        await asyncio.sleep(2)
        late = {"sendMessageDraft", "sendMessage", "editMessageText", "sendChatAction"}
        assert not [call for call in chat.telegram.calls if call.method in late and call.at > sent]


async def test_a_flood_of_the_live_view_does_not_cost_the_answer(database_url: str, tmp_path: Path) -> None:
    def slowly(asked: Asked) -> Turn:
        return Delay(Say("one two three four five six"), per_piece=0.7)

    async with on_telegram(database_url, tmp_path, slowly) as chat:
        chat.telegram.orders.give("sendMessageDraft", Flood(2))
        await chat.say("what is new?")
        (answer,) = await chat.sees(1)
        assert answer.text == "one two three four five six"
        assert len(chat.telegram.called("sendMessageDraft")) == 1


# What must not go wrong


def _long_text() -> str:
    lines = [f"{number:04d} The quick brown fox jumps over the lazy dog, and an emoji 😀." for number in range(70)]
    code = "\n".join(f"print({number})  # a <tag> & more" for number in range(170))
    return "\n".join(lines) + f"\n\n```python\n{code}\n```\n\nThe end."


async def test_an_answer_of_9000_characters_with_code_arrives_whole(database_url: str, tmp_path: Path) -> None:
    long = _long_text()
    assert len(long) > 9000
    async with on_telegram(database_url, tmp_path, lambda asked: Say(long)) as chat:
        await chat.say("what is new?")
        await chat.until(lambda: any(text.endswith("The end.") for text in chat.texts()))
        shown = chat.said()
        assert len(shown) >= 3
        assert all(len(message.text.encode("utf-16-le")) // 2 <= 4096 for message in shown)
        whole = "\n".join(message.text for message in shown)
        for number in range(70):
            assert f"{number:04d} The quick brown fox" in whole
        for number in range(170):
            assert f"print({number})  # a <tag> & more" in whole
        marked = [entity for message in shown for entity in message.entities if entity["type"] == "pre"]
        assert len(marked) >= 2
        assert {entity.get("language") for entity in marked} == {"python"}


async def test_a_storm_of_duplicates_is_answered_once_each(database_url: str, tmp_path: Path) -> None:
    async with on_telegram(database_url, tmp_path, messages_per_minute=1000) as chat:
        updates = [chat.telegram.updates.message(f"what is item {number}?", sender=OWNER) for number in range(6)]
        updates += [
            chat.telegram.updates.message(f"@laneway_test_bot what is item {number}?", chat=GROUP) for number in (6, 7)
        ]
        statuses = await chat.bring(*updates, times=5, at_once=3, shuffle=Random(7))
        assert statuses == [200] * 40
        await chat.sees(6)
        await chat.sees(2, GROUP)
        await asyncio.sleep(1)
        said = sorted(chat.texts() + chat.texts(GROUP))
        assert said == sorted(f"You said: what is item {number}?" for number in range(8))
        assert len(await chat.jobs()) == 8


async def test_a_press_that_is_delivered_five_times_counts_once(database_url: str, tmp_path: Path) -> None:
    counter = Counter()
    script = calls(Call("press", {"button": "red"}))
    async with on_telegram(database_url, tmp_path, script, [counter.entry(asks=True)]) as chat:
        await chat.say("restart the server web1")
        (question,) = await chat.sees(1)
        press = chat.telegram.updates.press(question.buttons[0][0][1], question, sender=OWNER)
        assert await chat.bring(press, times=5, at_once=3) == [200] * 5
        await chat.sees(2)
        assert counter.done == ["red"]
        assert len(chat.telegram.world.shown(OWNER)) == 2


async def test_an_edited_message_takes_the_place_of_what_it_was(database_url: str, tmp_path: Path) -> None:
    asked_for: list[str] = []

    def script(asked: Asked) -> Turn:
        asked_for.append(asked.text)
        return Delay(Say(f"You said: {asked.text}"), seconds=60 if "disk" in asked.text else 0)

    async with on_telegram(database_url, tmp_path, script) as chat:
        first = await chat.say("what is the disk?")
        await chat.until(lambda: asked_for)
        changed = {**first["message"], "text": "what is the load?", "edit_date": 5}
        await chat.bring(chat.telegram.updates.wrap("edited_message", changed))
        await chat.until(lambda: "You said: what is the load?" in chat.texts())
        assert sorted(job["status"] for job in await chat.jobs()) == ["cancelled", "done"]
        await asyncio.sleep(1)
        assert "You said: what is the disk?" not in chat.texts()


async def test_a_voice_note_is_stored_and_never_pasted_into_a_prompt(database_url: str, tmp_path: Path) -> None:
    prompts: list[str] = []

    def script(asked: Asked) -> Turn:
        prompts.append(asked.text)
        return Say("I heard you.")

    async with on_telegram(database_url, tmp_path, script) as chat:
        file_id = chat.telegram.world.file(b"OggS" + bytes(range(256)) * 4)
        voice = {"file_id": file_id, "file_unique_id": "U1", "duration": 2, "mime_type": "audio/ogg", "file_size": 1028}
        await chat.say(voice=voice)
        await chat.sees(1)
        messages = (await chat.door.http.get("/messages")).json()["items"]
        asked = next(one for one in messages if one["author"] == "user")
        (stored,) = (await chat.door.http.get(f"/messages/{asked['id']}")).json()["attachments"]
        assert (stored["kind"], stored["name"], stored["mime"]) == ("voice", "voice.ogg", "audio/ogg")
        assert not any("OggS" in prompt for prompt in prompts)
        assert "not transcribed" in prompts[-1]
        everything = (await chat.door.http.get(f"/messages/{asked['id']}/why")).text + str(stored)
        assert chat.telegram.token not in everything


async def test_a_voice_note_is_written_down_and_answered(database_url: str, tmp_path: Path) -> None:
    prompts: list[str] = []

    def script(asked: Asked) -> Turn:
        prompts.append(asked.text)
        return Say("I heard you.")

    with TranscriptionServer("how much disk is free?", api_key="sk-voice") as ears:
        listening: dict[str, Any] = {"transcription_url": ears.url, "transcription_key": SecretStr("sk-voice")}
        async with on_telegram(database_url, tmp_path, script, **listening) as chat:
            file_id = chat.telegram.world.file(b"OggS" + bytes(range(256)) * 4)
            voice = {"file_id": file_id, "file_unique_id": "U1", "duration": 2, "mime_type": "audio/ogg"}
            await chat.say(voice=voice)
            (answer,) = await chat.sees(1)
            assert answer.text == "I heard you."
    assert "how much disk is free?" in prompts[-1]


async def test_a_group_that_becomes_a_supergroup_goes_on(database_url: str, tmp_path: Path) -> None:
    async with on_telegram(database_url, tmp_path) as chat:
        await chat.say("/status", chat=-5)
        await chat.sees(1, -5)
        await chat.say(chat=-5, migrate_to_chat_id=-1006)
        await chat.say(chat=-1006, migrate_from_chat_id=-5)
        await chat.say("/status", chat=-1006)
        await chat.sees(1, -1006)
        threads = (await chat.door.http.get("/threads")).json()["items"]
        assert [one["external_id"] for one in threads] == ["-1006"]


async def test_an_operator_is_let_in_by_the_list(database_url: str, tmp_path: Path) -> None:
    async with on_telegram(database_url, tmp_path) as chat:
        await chat.say("what is new?", sender=OPERATOR)
        (answer,) = await chat.sees(1, OPERATOR)
        assert answer.text == "You said: what is new?"
