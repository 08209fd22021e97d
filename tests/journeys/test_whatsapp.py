"""A business number from end to end: Meta's webhooks in, Meta's API out."""

from __future__ import annotations

import asyncio
import time
from uuid import UUID

from laneway.llm.scripted import Call
from laneway.store import approvals, jobs, outbox
from tests.journeys.tooling import Counter, Start, calls
from tests.whatsapp import KIM, OWNER, Desk, until


async def test_a_customers_question_is_answered_and_shown_as_read(whatsapp: Start[Desk]) -> None:
    async with whatsapp() as here:
        await here.say(KIM, "what are your opening hours?", id="wamid.Q")
        (sent,) = await here.sent(1)
        assert sent.to == KIM
        assert "opening hours" in sent.text
        await until(lambda: len(here.server.read) == 1)
        assert here.server.read[0]["message_id"] == "wamid.Q"
        assert here.server.read[0]["typing_indicator"] == {"type": "text"}


async def test_a_batch_in_the_wrong_order_is_answered_in_the_order_it_was_said(whatsapp: Start[Desk]) -> None:
    async with whatsapp() as here:
        now = int(time.time())
        first = here.meta.text(KIM, "what comes first?") | {"timestamp": str(now - 5)}
        second = here.meta.text(KIM, "and what comes second?") | {"timestamp": str(now)}
        assert (await here.push(second, first)).status_code == 200
        await here.sent(2)
        assert [one["text"] for one in await here.messages()] == ["what comes first?", "and what comes second?"]


async def offer(here: Desk, question: str, *choices: str) -> UUID:
    """A question with these choices stands in the newest thread."""
    async with here.db.transaction() as tx:
        job = (await jobs.page(tx, limit=1))[0]
        offered = [{"label": f"choice{number}", "text": text} for number, text in enumerate(choices)]
        asked = await approvals.ask(tx, job, {"which": question}, "asked by a test", 600, offered, None, None)
        meta = {"approval": str(asked.id), "choices": offered}
        await outbox.write_reply(tx, job, question, key=question, pulled=(), meta=meta)
    return asked.id


async def test_many_choices_are_a_list_and_more_are_answered_by_typing_a_number(whatsapp: Start[Desk]) -> None:
    async with whatsapp() as here:
        await here.say(OWNER, "hello there")
        await here.sent(1)
        few = await offer(here, "Which server?", *(f"The web server number {n} in the cellar" for n in range(6)))
        listed = (await here.sent(2))[1]
        assert listed.body["interactive"]["type"] == "list"
        assert len(listed.buttons) == 6
        row = here.meta.press(OWNER, listed.buttons[4][1], listed.buttons[4][0], on=listed.id, kind="list_reply")
        assert (await here.push(row)).status_code == 200
        many = await offer(here, "Which one?", *(f"server {n}" for n in range(12)))
        await until(lambda: any("12. server 11" in one.text and not one.buttons for one in here.server.sent))
        await here.say(OWNER, "12")
        async with here.db.transaction() as tx:
            answered = [await approvals.get(tx, asked) for asked in (few, many)]
        assert [(one.state, one.choice) for one in answered] == [("approved", "choice4"), ("approved", "choice11")]


async def test_each_message_of_a_storm_of_duplicates_is_answered_once(whatsapp: Start[Desk]) -> None:
    async with whatsapp() as here:
        texts = [here.meta.text(KIM, f"what is {n} plus {n}?", id=f"wamid.S{n}") for n in range(4)]
        storm = [message for message in texts for _ in range(5)]
        for begin in range(0, len(storm), 3):
            answers = await asyncio.gather(*(here.push(one) for one in storm[begin : begin + 3]))
            assert [answer.status_code for answer in answers] == [200] * len(answers)
        # What is asked last is answered last.
        await here.say(KIM, "what is 4 plus 4?")
        sent = await here.sent(5)
        assert sorted(one.text for one in sent) == sorted(f"You said: what is {n} plus {n}?" for n in range(5))
        assert len(await here.messages()) == 5


async def test_the_owners_destructive_order_waits_for_the_owners_button_and_is_done_once(
    whatsapp: Start[Desk],
) -> None:
    counter = Counter()
    script = calls(Call("press", {"button": "red"}), then="It is pressed.")
    async with whatsapp(script, counter.entry()) as here:
        await here.say(OWNER, "restart the red button")
        (asked,) = await here.sent(1)
        assert [title for title, _ in asked.buttons] == ["Yes", "No", "Always"]
        assert "red" in asked.text
        await here.press(KIM, asked, "Yes")
        assert (await here.sent(2))[1].to == KIM
        assert counter.done == []
        press = here.meta.press(OWNER, asked.buttons[0][1], "Yes", on=asked.id)
        answers = await asyncio.gather(*(here.push(press) for _ in range(4)))
        assert {answer.status_code for answer in answers} == {200}
        assert (await here.sent(3))[2].text == "It is pressed."
        # An old button that is pressed later says how it ended, and does nothing.
        await here.press(OWNER, asked, "No")
        assert (await here.sent(4))[3].text == "Too late: it was approved already."
        assert counter.done == ["red"]


async def test_a_changed_number_stays_the_same_customer_and_somebody_without_one_is_answered(
    whatsapp: Start[Desk],
) -> None:
    async with whatsapp() as here:
        await here.say(KIM, "what time is it?")
        await here.sent(1)
        new = "4917099999999"
        changed = {"body": "Kim changed number", "wa_id": new, "type": "user_changed_number"}
        await here.push(here.meta.message(KIM, "system", changed))
        await here.say(new, "what day is it?")
        assert (await here.sent(2))[1].to == new
        assert len({one["thread_id"] for one in await here.messages()}) == 1
        await here.say("DE.aB12cd34", "what time is it?")
        sent = (await here.sent(3))[2]
        assert sent.body["recipient"] == "DE.aB12cd34"
        assert "to" not in sent.body
