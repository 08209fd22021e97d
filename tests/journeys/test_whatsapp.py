"""A business number from end to end: Meta's webhooks in, Meta's API out."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from uuid import UUID

from laneway.llm.scripted import Call, Say
from laneway.store import approvals, jobs, outbox
from tests.journeys.tooling import Counter, calls
from tests.servers import whatsapp_errors as errors
from tests.servers.whatsapp_server import Cut, Fail
from tests.whatsapp import KIM, OWNER, Desk, desk, until


async def test_a_customers_question_is_answered_and_shown_as_read(database_url: str, tmp_path: Path) -> None:
    async with desk(database_url, tmp_path) as here:
        await here.say(KIM, "what are your opening hours?", id="wamid.Q")
        (sent,) = await here.sent(1)
        assert sent.to == KIM
        assert "opening hours" in sent.text
        await until(lambda: len(here.server.read) == 1)
        assert here.server.read[0]["message_id"] == "wamid.Q"
        assert here.server.read[0]["typing_indicator"] == {"type": "text"}


async def test_each_message_of_a_storm_of_duplicates_is_answered_once(database_url: str, tmp_path: Path) -> None:
    async with desk(database_url, tmp_path) as here:
        texts = [here.meta.text(KIM, f"what is {n} plus {n}?", id=f"wamid.S{n}") for n in range(4)]
        storm = [message for message in texts for _ in range(5)]
        for begin in range(0, len(storm), 3):
            answers = await asyncio.gather(*(here.push(one) for one in storm[begin : begin + 3]))
            assert [answer.status_code for answer in answers] == [200] * len(answers)
        sent = await here.sent(4)
        await asyncio.sleep(0.5)
        assert len(here.server.sent) == 4
        assert sorted(one.text for one in sent) == sorted(f"You said: what is {n} plus {n}?" for n in range(4))
        assert len(await here.messages()) == 4


async def test_a_batch_in_the_wrong_order_is_answered_in_the_order_it_was_said(
    database_url: str, tmp_path: Path
) -> None:
    async with desk(database_url, tmp_path) as here:
        now = int(time.time())
        first = here.meta.text(KIM, "what comes first?") | {"timestamp": str(now - 5)}
        second = here.meta.text(KIM, "and what comes second?") | {"timestamp": str(now)}
        assert (await here.push(second, first)).status_code == 200
        await here.sent(2)
        assert [one["text"] for one in await here.messages()] == ["what comes first?", "and what comes second?"]


async def test_the_owners_destructive_order_waits_for_a_button(database_url: str, tmp_path: Path) -> None:
    counter = Counter()
    script = calls(Call("press", {"button": "red"}), then="It is pressed.")
    async with desk(database_url, tmp_path, script, counter.entry()) as here:
        await here.say(OWNER, "restart the red button")
        (asked,) = await here.sent(1)
        assert [title for title, _ in asked.buttons] == ["Yes", "No", "Always"]
        assert "red" in asked.text
        assert counter.done == []
        assert (await here.press(OWNER, asked, "Yes")).status_code == 200
        _, told = await here.sent(2)
        assert told.text == "It is pressed."
        assert counter.done == ["red"]
        # An old button that is pressed later says how it ended, and does nothing.
        await here.press(OWNER, asked, "No")
        late = (await here.sent(3))[2]
        assert late.text == "Too late: it was approved already."
        assert counter.done == ["red"]


async def test_a_press_that_comes_twice_counts_once(database_url: str, tmp_path: Path) -> None:
    counter = Counter()
    async with desk(database_url, tmp_path, calls(Call("press", {"button": "red"})), counter.entry()) as here:
        await here.say(OWNER, "restart the red button")
        (asked,) = await here.sent(1)
        press = here.meta.press(OWNER, asked.buttons[0][1], "Yes", on=asked.id)
        answers = await asyncio.gather(*(here.push(press) for _ in range(4)))
        assert {answer.status_code for answer in answers} == {200}
        await here.sent(2)
        await asyncio.sleep(0.3)
        assert counter.done == ["red"]
        assert len(here.server.sent) == 2


async def test_somebody_else_cannot_press_the_owners_button(database_url: str, tmp_path: Path) -> None:
    counter = Counter()
    async with desk(database_url, tmp_path, calls(Call("press", {"button": "red"})), counter.entry()) as here:
        await here.say(OWNER, "restart the red button")
        (asked,) = await here.sent(1)
        await here.press(KIM, asked, "Yes")
        told = (await here.sent(2))[1]
        assert told.to == KIM
        assert counter.done == []


async def offer(here: Desk, question: str, *choices: str) -> UUID:
    """A question with these choices stands in the newest thread."""
    async with here.db.transaction() as tx:
        job = (await jobs.page(tx, limit=1))[0]
        offered = [{"label": f"choice{number}", "text": text} for number, text in enumerate(choices)]
        asked = await approvals.ask(tx, job, {"which": question}, "asked by a test", 600, offered, None, None)
        meta = {"approval": str(asked.id), "choices": offered}
        await outbox.write_reply(tx, job, question, key=question, pulled=(), meta=meta)
    return asked.id


async def test_many_choices_are_a_list_and_the_picked_row_is_the_answer(database_url: str, tmp_path: Path) -> None:
    async with desk(database_url, tmp_path) as here:
        await here.say(OWNER, "hello there")
        await here.sent(1)
        asked = await offer(here, "Which server?", *(f"The web server number {n} in the cellar" for n in range(6)))
        shown = (await here.sent(2))[1]
        assert shown.body["interactive"]["type"] == "list"
        assert len(shown.buttons) == 6
        row = here.meta.press(OWNER, shown.buttons[4][1], shown.buttons[4][0], on=shown.id, kind="list_reply")
        assert (await here.push(row)).status_code == 200
        async with here.db.transaction() as tx:
            answered = await approvals.get(tx, asked)
        assert (answered.state, answered.choice) == ("approved", "choice4")


async def test_more_choices_than_a_list_holds_are_answered_by_typing_a_number(
    database_url: str, tmp_path: Path
) -> None:
    async with desk(database_url, tmp_path) as here:
        await here.say(OWNER, "hello there")
        await here.sent(1)
        asked = await offer(here, "Which server?", *(f"server {n}" for n in range(12)))
        shown = (await here.sent(2))[1]
        assert shown.buttons == []
        assert "12. server 11" in shown.text
        await here.say(OWNER, "12")
        async with here.db.transaction() as tx:
            answered = await approvals.get(tx, asked)
        assert (answered.state, answered.choice) == ("approved", "choice11")


async def test_a_voice_note_is_stored_with_what_is_needed_to_fetch_it(database_url: str, tmp_path: Path) -> None:
    async with desk(database_url, tmp_path) as here:
        media_id = here.server.add_media(b"OggS" + bytes(2000), "audio/ogg")
        note = {"id": media_id, "mime_type": "audio/ogg; codecs=opus", "voice": True, "sha256": "x"}
        assert (await here.push(here.meta.message(KIM, "audio", note))).status_code == 200
        await here.sent(1)
        (message,) = await here.messages()
        assert message["meta"]["voice"] is True
        (attached,) = (await here.door.http.get(f"/messages/{message['id']}")).json()["attachments"]
        assert (attached["kind"], attached["mime"]) == ("voice", "audio/ogg")


async def test_every_type_of_message_is_stored(database_url: str, tmp_path: Path) -> None:
    async with desk(database_url, tmp_path) as here:
        media = {"id": here.server.add_media(b"x", "image/jpeg"), "mime_type": "image/jpeg"}
        contents: dict[str, object] = {
            "image": media, "video": media, "sticker": media, "document": {**media, "filename": "a.pdf"},
            "location": {"latitude": 1, "longitude": 2}, "contacts": [{"name": {"formatted_name": "Lee"}}],
            "order": {"product_items": []}, "reaction": {"message_id": "wamid.x", "emoji": "👍"},
            "button": {"text": "Call me", "payload": "Call me"}, "hologram": {"x": 1}, "unsupported": None,
        }  # fmt: skip
        batch = [here.meta.message(KIM, kind, content) for kind, content in contents.items()]
        assert (await here.push(*batch)).status_code == 200
        stored = await here.messages()
        assert [one["external_id"] for one in stored] == [one["id"] for one in batch]
        await here.sent(8)


async def test_a_changed_number_stays_the_same_customer(database_url: str, tmp_path: Path) -> None:
    async with desk(database_url, tmp_path) as here:
        await here.say(KIM, "what time is it?")
        await here.sent(1)
        new = "4917099999999"
        changed = {"body": "Kim changed number", "wa_id": new, "type": "user_changed_number"}
        await here.push(here.meta.message(KIM, "system", changed))
        await here.say(new, "what day is it?")
        sent = await here.sent(2)
        assert sent[1].to == new
        assert len({one["thread_id"] for one in await here.messages()}) == 1


async def test_a_person_without_a_phone_number_is_answered_by_the_user_id(database_url: str, tmp_path: Path) -> None:
    async with desk(database_url, tmp_path) as here:
        await here.say("DE.aB12cd34", "what time is it?")
        (sent,) = await here.sent(1)
        assert sent.body["recipient"] == "DE.aB12cd34"
        assert "to" not in sent.body


async def test_a_long_answer_with_code_arrives_in_order_and_whole(database_url: str, tmp_path: Path) -> None:
    code = "\n".join(f"    print({number})  # line" for number in range(400))
    answer = f"Here:\n\n```python\n{code}\n```\n\nThat is **all**."

    async with desk(database_url, tmp_path, lambda asked: Say(answer)) as here:
        await here.say(KIM, "what does the program look like?")
        sent = await here.sent(3)
        await asyncio.sleep(0.3)
        assert len(here.server.sent) == len(sent) == 3
        lines = [line for one in sent for line in one.text.splitlines() if not line.startswith("```")]
        assert "\n".join(line for line in lines if line) == f"Here:\n{code}\nThat is *all*."
        assert all(one.text.count("```") % 2 == 0 for one in sent)


async def test_a_cut_connection_is_followed_by_a_marked_repetition(database_url: str, tmp_path: Path) -> None:
    async with desk(database_url, tmp_path) as here:
        here.server.orders.append(Cut(taken=True))
        await here.say(KIM, "what time is it?")
        first, again = await here.sent(2)
        assert again.text == f"(Sent again after an interruption; you may already have this.)\n{first.text}"


async def test_a_busy_api_delays_replies_and_keeps_their_order(database_url: str, tmp_path: Path) -> None:
    async with desk(database_url, tmp_path) as here:
        here.server.orders.extend([Fail(errors.THROUGHPUT), Fail(errors.WENT_WRONG)])
        await here.push(here.meta.text(KIM, "what is one?"), here.meta.text(KIM, "what is two?"))
        first, second = await here.sent(2)
        assert [first.text, second.text] == ["You said: what is one?", "You said: what is two?"]
